//! Local interfaces: traits whose objects are passed on within the process.

use std::sync::Arc;

use punctual_generated_tests::local::{Maker, Policy, Refused, maker::CreateError};
use punctual_stub::rt::SystemException;

#[derive(Clone)]
struct Kind(i32);

impl Policy for Kind {
    fn kind(&self) -> Result<i32, SystemException> {
        Ok(self.0)
    }

    fn copy(&self) -> Result<Option<Arc<dyn Policy>>, SystemException> {
        Ok(Some(Arc::new(self.clone())))
    }
}

impl Maker for Kind {
    fn create(
        &self,
        bases: &[Option<Arc<dyn Policy>>],
        name: &str,
    ) -> Result<(Option<Arc<dyn Policy>>, i32), CreateError> {
        match bases.iter().flatten().next_back() {
            Some(last) => Ok((last.copy()?, bases.len() as i32)),
            None => Err(Refused { reason: name.into() }.into()),
        }
    }

    fn visit(&self, one: &mut Option<Arc<dyn Policy>>) -> Result<(), SystemException> {
        *one = self.copy()?;
        Ok(())
    }
}

#[test]
fn local_objects_travel_as_parameters_results_and_elements() {
    let maker: Arc<dyn Maker> = Arc::new(Kind(3));
    let bases = [
        maker.copy().unwrap(),
        None,
        Some(Arc::new(Kind(7)) as Arc<dyn Policy>),
    ];
    let (made, count) = maker.create(&bases, "last").unwrap();
    assert_eq!((made.unwrap().kind(), count), (Ok(7), 3));
    let mut one = None;
    maker.visit(&mut one).unwrap();
    assert_eq!(one.unwrap().kind(), Ok(3));
    match maker.create(&[None], "nothing").err() {
        Some(CreateError::Refused(refused)) => assert_eq!(refused.reason, "nothing"),
        other => panic!("{other:?}"),
    }
}
