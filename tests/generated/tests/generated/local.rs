//! Local interfaces: traits whose objects are passed on within the process.

use std::sync::Arc;

use punctual_generated_tests::local::{
    Batch, Burnt, Conflict, Cookie, Jar, LabelOperations, Maker, Origin, Oven, Policy, Refused, Registry,
    Sample, Setting, Settings, label::StickError, maker::CreateError, oven::TasteError, registry::FindError,
};
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

#[derive(Default)]
struct Shelf(std::sync::Mutex<Setting>);

impl Registry for Shelf {
    fn preferred(&self) -> Result<Setting, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn set_preferred(&self, value: &Setting) -> Result<(), SystemException> {
        *self.0.lock().unwrap() = value.clone();
        Ok(())
    }

    fn find(&self, wanted: &Setting, all: &mut Settings) -> Result<(Origin, Origin), FindError> {
        if wanted.name.is_empty() {
            let reason = String::from("no name");
            return Err(Refused { reason }.into());
        }
        let (among, last) = (vec![wanted.value.clone(), None], all[39].clone());
        if *wanted == last {
            return Err(Conflict { among, last }.into());
        }
        all[39] = wanted.clone();
        Ok((Origin::Given(wanted.value.clone()), Origin::Inherited(vec![last])))
    }
}

/// Instead of the value type, which is of another crate.
struct Sticker;

impl LabelOperations for Sticker {
    fn stick(&self, on: &Setting) -> Result<(), StickError> {
        let (among, last) = (Vec::new(), on.clone());
        Err(Conflict { among, last }.into())
    }
}

#[test]
fn what_contains_local_objects_stays_within_the_process() {
    let registry: Arc<dyn Registry> = Arc::new(Shelf::default());
    assert_eq!(registry.preferred(), Ok(Setting::default()));
    let policy: Arc<dyn Policy> = Arc::new(Kind(4));
    let wanted = Setting {
        name: String::from("rate"),
        value: Some(policy.clone()),
    };
    registry.set_preferred(&wanted).unwrap();
    assert_eq!(registry.preferred(), Ok(wanted.clone()));
    let mut all: Settings = std::array::from_fn(|_| Setting::default());
    let (found, other) = registry.find(&wanted, &mut all).unwrap();
    assert_eq!(found, Origin::Given(Some(policy)));
    assert_eq!(other, Origin::Inherited(vec![Setting::default()]));
    // Another object of the same kind is not the same object.
    let similar = Setting {
        value: Some(Arc::new(Kind(4))),
        ..wanted.clone()
    };
    assert_ne!(similar, wanted);
    assert_eq!(all[39], wanted);
    let Err(FindError::Conflict(conflict)) = registry.find(&wanted, &mut all) else {
        panic!("found");
    };
    assert_eq!((conflict.among.len(), &conflict.last), (2, &wanted));
    let text =
        "Conflict { among: [Some(Policy), None], last: Setting { name: \"rate\", value: Some(Policy) } }";
    assert_eq!(conflict.to_string(), text);
    assert!(matches!(Sticker.stick(&wanted), Err(StickError::Conflict(conflict)) if conflict.last == wanted));
}

struct Brick {
    favourite: std::sync::Mutex<Cookie>,
}

/// The number in a native value of this test.
fn number(cookie: &Cookie) -> i64 {
    *cookie.get::<i64>().unwrap()
}

impl Oven for Brick {
    fn favourite(&self) -> Result<Cookie, SystemException> {
        Ok(self.favourite.lock().unwrap().clone())
    }

    fn set_favourite(&self, value: &Cookie) -> Result<(), SystemException> {
        *self.favourite.lock().unwrap() = value.clone();
        Ok(())
    }

    fn taste(&self, from: &Batch, more: &mut Sample) -> Result<Sample, TasteError> {
        let last = from.others.last().unwrap_or(&from.first).clone();
        if last == self.favourite()? {
            let whole = from.clone();
            return Err(Burnt { last, whole }.into());
        }
        Ok(std::mem::replace(more, Sample::One(last)))
    }

    fn bake(&self, of: i32, dough: &mut Cookie) -> Result<(Cookie, Jar), SystemException> {
        let made = number(dough) + i64::from(of);
        *dough = Cookie::new(0_i64);
        Ok((Cookie::new(made), vec![Cookie::new(made)]))
    }

    fn weigh(&self, one: &Cookie, batch: &[Cookie]) -> Result<i32, SystemException> {
        let all = number(one) + batch.iter().map(number).sum::<i64>();
        Ok(all as i32)
    }
}

#[test]
fn native_values_are_any_of_the_program() {
    let oven: Arc<dyn Oven> = Arc::new(Brick {
        favourite: Default::default(),
    });
    oven.set_favourite(&Cookie::new(5_i64)).unwrap();
    let mut dough = oven.favourite().unwrap();
    let (made, jar) = oven.bake(2, &mut dough).unwrap();
    assert_eq!((number(&made), number(&dough), jar.len()), (7, 0, 1));
    assert_eq!(oven.weigh(&made, &jar), Ok(14));
}

#[test]
fn what_contains_native_values_stays_within_the_process() {
    let favourite = Cookie::new(5_i64);
    let oven: Arc<dyn Oven> = Arc::new(Brick {
        favourite: favourite.clone().into(),
    });
    let mut batch = Batch {
        first: Cookie::new("first"),
        named: [(String::from("best"), favourite.clone())].into(),
        ..Batch::default()
    };
    let mut more = Sample::Whole(batch.clone());
    assert_eq!(oven.taste(&batch, &mut more), Ok(Sample::Whole(batch.clone())));
    assert_eq!(more, Sample::One(batch.first.clone()));
    batch.others = vec![Cookie::default(), favourite.clone()];
    let Err(TasteError::Burnt(burnt)) = oven.taste(&batch, &mut more) else {
        panic!("tasted");
    };
    assert_eq!((&burnt.last, &burnt.whole), (&favourite, &batch));
    assert!(
        burnt
            .to_string()
            .contains("others: [no native value, native value]"),
        "{burnt}"
    );
}
