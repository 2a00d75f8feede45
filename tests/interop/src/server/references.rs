//! Object references as arguments and results, and calls back to the caller.

use std::mem;

use punctual::{Interface, ObjectRef, SystemException};

use super::{
    CounterServant, PeerServant,
    objects::{BottomServant, bounce},
    peer::{nil_argument, not_activated},
};
use crate::interop::{
    BottomRef, Bouncer, BouncerRef, CounterAlias, CounterRef, CounterSeq, Holder, LeftSideRef, ListenerRef,
    NamedRef, PeerRef, References, Target, references::CallBackError,
};

impl Bouncer for PeerServant {
    fn bounce(&self, other: Option<BouncerRef>, depth: i32) -> Result<i32, SystemException> {
        let own = BouncerRef::from(Clone::clone(self.own()));
        bounce(Some(&own), other, depth)
    }
}

type Counters = Option<CounterRef>;
type Objects = Option<ObjectRef>;

impl References for PeerServant {
    fn make_counter(&self, start: i32) -> Result<Counters, SystemException> {
        let counter = CounterServant::activate(&self.poa, start);
        counter.map(Some).map_err(not_activated)
    }

    fn make_bottom(&self, called: &str) -> Result<Option<BottomRef>, SystemException> {
        let bottom = self.poa.activate(BottomServant(called.to_owned()));
        bottom.map(Some).map_err(not_activated)
    }

    fn myself(&self) -> Result<Objects, SystemException> {
        Ok(Some(self.own().as_object().clone()))
    }

    fn no_counter(&self) -> Result<Counters, SystemException> {
        Ok(None)
    }

    fn rotate_counter(
        &self,
        a: Counters,
        b: &mut Counters,
        c: Counters,
    ) -> Result<(Counters, Counters), SystemException> {
        Ok((a, mem::replace(b, c)))
    }

    fn rotate_alias(
        &self,
        a: CounterAlias,
        b: &mut CounterAlias,
        c: CounterAlias,
    ) -> Result<(CounterAlias, CounterAlias), SystemException> {
        Ok((a, mem::replace(b, c)))
    }

    fn rotate_object(
        &self,
        a: Objects,
        b: &mut Objects,
        c: Objects,
    ) -> Result<(Objects, Objects), SystemException> {
        Ok((a, mem::replace(b, c)))
    }

    fn rotate_counters(
        &self,
        a: &[Counters],
        b: &mut CounterSeq,
        c: &[Counters],
    ) -> Result<(CounterSeq, CounterSeq), SystemException> {
        Ok((a.to_vec(), mem::replace(b, c.to_vec())))
    }

    fn rotate_holder(
        &self,
        a: &Holder,
        b: &mut Holder,
        c: &Holder,
    ) -> Result<(Holder, Holder), SystemException> {
        Ok((a.clone(), mem::replace(b, c.clone())))
    }

    fn rotate_target(
        &self,
        a: &Target,
        b: &mut Target,
        c: &Target,
    ) -> Result<(Target, Target), SystemException> {
        Ok((a.clone(), mem::replace(b, c.clone())))
    }

    fn total(&self, counters: &[Counters]) -> Result<i32, SystemException> {
        counters.iter().flatten().map(CounterRef::value).sum()
    }

    fn increase_held(&self, held: &mut Holder, by: i32) -> Result<i32, SystemException> {
        held.after += 1;
        held.counter_ref
            .as_ref()
            .map_or(Ok(-1), |counter| counter.increase(by))
    }

    fn kind_of(&self, r#ref: Objects) -> Result<String, SystemException> {
        let Some(object) = r#ref else {
            return Ok("nil".to_owned());
        };
        let kinds = [
            ("counter", CounterRef::REPOSITORY_ID),
            ("bottom", BottomRef::REPOSITORY_ID),
            ("left", LeftSideRef::REPOSITORY_ID),
            ("listener", ListenerRef::REPOSITORY_ID),
            ("peer", PeerRef::REPOSITORY_ID),
        ];
        for (kind, id) in kinds {
            if object.is_a(id)? {
                return Ok(kind.to_owned());
            }
        }
        Ok("other".to_owned())
    }

    fn equivalent(&self, a: Objects, b: Objects) -> Result<bool, SystemException> {
        Ok(match (a, b) {
            (Some(a), Some(b)) => a.is_equivalent(&b),
            (a, b) => a.is_none() && b.is_none(),
        })
    }

    fn use_left(&self, side: Option<LeftSideRef>, n: i32) -> Result<i32, SystemException> {
        side.ok_or_else(nil_argument)?.twice(n)
    }

    fn widen(&self, whole: Option<BottomRef>) -> Result<Option<NamedRef>, SystemException> {
        Ok(whole.map(NamedRef::from))
    }

    fn call_back(&self, who: Option<ListenerRef>, times: i32, text: &str) -> Result<i32, CallBackError> {
        use crate::interop::listener::HeardError;
        let who = who.ok_or_else(nil_argument)?;
        let mut sum = 0;
        for i in 0..times {
            sum += who.heard(i, text).map_err(|error| match error {
                HeardError::Rejected(rejected) => CallBackError::Rejected(rejected),
                HeardError::System(exception) => CallBackError::System(exception),
            })?;
        }
        Ok(sum)
    }

    fn call_back_oneway(&self, who: Option<ListenerRef>, times: i32) -> Result<(), SystemException> {
        let who = who.ok_or_else(nil_argument)?;
        (0..times).try_for_each(|i| who.told(i))
    }
}
