//! The small objects: those the server makes on request, and those that a client has called back.

use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicI32, Ordering},
};

use punctual::{OrbError, Poa, SystemException};

use crate::interop::{
    Bottom, Bouncer, BouncerRef, Counter, CounterRef, LeftSide, Listener, Named, Rejected, RightSide,
    listener, prefixed,
};

/// `Interop::Counter`.
pub struct CounterServant {
    poa: Poa,
    own: Arc<OnceLock<CounterRef>>,
    value: AtomicI32,
}

impl CounterServant {
    /// A new object that stands at `start`.
    pub fn activate(poa: &Poa, start: i32) -> Result<CounterRef, OrbError> {
        let own = Arc::new(OnceLock::new());
        let servant = Self {
            poa: poa.clone(),
            own: Arc::clone(&own),
            value: AtomicI32::new(start),
        };
        let reference: CounterRef = poa.activate(servant)?;
        own.set(reference.clone()).expect("set once");
        Ok(reference)
    }
}

impl Counter for CounterServant {
    fn value(&self) -> Result<i32, SystemException> {
        Ok(self.value.load(Ordering::SeqCst))
    }

    fn increase(&self, n: i32) -> Result<i32, SystemException> {
        Ok(self.value.fetch_add(n, Ordering::SeqCst) + n)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let own = self.own.get().expect("set at activation");
        self.poa.deactivate(own).expect("active until now");
        Ok(())
    }
}

pub(super) struct BottomServant(pub(super) String);

impl Named for BottomServant {
    fn given_name(&self) -> Result<String, SystemException> {
        Ok(self.0.clone())
    }

    fn greet(&self, whom: &str) -> Result<String, SystemException> {
        Ok(format!("{} greets {whom}", self.0))
    }
}

impl LeftSide for BottomServant {
    fn twice(&self, n: i32) -> Result<i32, SystemException> {
        Ok(2 * n)
    }
}

impl RightSide for BottomServant {
    fn square(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n * n)
    }
}

impl Bottom for BottomServant {
    fn both(&self, n: i32) -> Result<i32, SystemException> {
        Ok(self.twice(n)? + self.square(n)?)
    }
}

pub(super) struct VersionedServant;

impl prefixed::Versioned for VersionedServant {
    fn who(&self) -> Result<String, SystemException> {
        Ok("versioned".to_owned())
    }

    fn fail_odd(&self, number: i32) -> Result<(), prefixed::versioned::FailOddError> {
        Err(prefixed::Odd { number }.into())
    }
}

/// `Interop::Listener`, which the client implements. Clones share what was heard.
#[derive(Clone, Default)]
pub struct ListenerServant {
    /// The numbers of `heard`, in order.
    pub heard: Arc<Mutex<Vec<i32>>>,
    /// The numbers of `told`, in the order in which they came.
    pub told: Arc<Mutex<Vec<i32>>>,
}

impl Listener for ListenerServant {
    fn heard(&self, n: i32, text: &str) -> Result<i32, listener::HeardError> {
        self.heard.lock().expect("not poisoned").push(n);
        if text == "reject" && n == 2 {
            let reason = text.to_owned();
            return Err(Rejected { reason, code: n }.into());
        }
        Ok(n * 10)
    }

    fn told(&self, n: i32) -> Result<(), SystemException> {
        self.told.lock().expect("not poisoned").push(n);
        Ok(())
    }
}

/// `Interop::Bouncer` on the client's side.
#[derive(Clone, Default)]
pub struct BouncerServant {
    /// Its own reference, to be set after activation.
    pub own: Arc<OnceLock<BouncerRef>>,
}

impl Bouncer for BouncerServant {
    fn bounce(&self, other: Option<BouncerRef>, depth: i32) -> Result<i32, SystemException> {
        bounce(self.own.get(), other, depth)
    }
}

/// Action of every `bounce`.
pub(super) fn bounce(
    own: Option<&BouncerRef>,
    other: Option<BouncerRef>,
    depth: i32,
) -> Result<i32, SystemException> {
    if depth <= 0 {
        return Ok(0);
    }
    let other = other.ok_or_else(super::peer::nil_argument)?;
    Ok(1 + other.bounce(own, depth - 1)?)
}
