//! Local interfaces: traits whose objects are passed on within the process.

use std::sync::Arc;

use punctual_generated_tests::local::{Cookie, Jar, Maker, Oven, Policy, Refused, maker::CreateError};
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

struct Brick {
    favourite: std::sync::Mutex<i64>,
}

/// The number in a native value of this test.
fn number(cookie: &Cookie) -> i64 {
    *cookie.downcast_ref::<i64>().unwrap()
}

impl Oven for Brick {
    fn favourite(&self) -> Result<Cookie, SystemException> {
        Ok(Box::new(*self.favourite.lock().unwrap()))
    }

    fn set_favourite(&self, value: &Cookie) -> Result<(), SystemException> {
        *self.favourite.lock().unwrap() = number(value);
        Ok(())
    }

    fn bake(&self, of: i32, dough: &mut Cookie) -> Result<(Cookie, Jar), SystemException> {
        let made = number(dough) + i64::from(of);
        *dough = Box::new(0_i64);
        Ok((Box::new(made), vec![Box::new(made) as Cookie]))
    }

    fn weigh(&self, one: &Cookie, batch: &[Cookie]) -> Result<i32, SystemException> {
        let all = number(one) + batch.iter().map(number).sum::<i64>();
        Ok(all as i32)
    }
}

#[test]
fn native_values_are_of_any_type_of_the_program() {
    let oven: Arc<dyn Oven> = Arc::new(Brick {
        favourite: Default::default(),
    });
    oven.set_favourite(&(Box::new(5_i64) as Cookie)).unwrap();
    let mut dough = oven.favourite().unwrap();
    let (made, jar) = oven.bake(2, &mut dough).unwrap();
    assert_eq!((number(&made), number(&dough), jar.len()), (7, 0, 1));
    assert_eq!(oven.weigh(&made, &jar), Ok(14));
}
