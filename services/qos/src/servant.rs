//! Contracts as CORBA objects: feedback across hosts.

use std::{sync::Arc, time::Duration};

use punctual::{Completion, Interface, SystemException, SystemExceptionKind};
use punctual_os::PiMutex;

use crate::{
    Contract, Transition,
    idl::punctual_qos::{self as qos, ObserverRef, ReadingView, contract::*},
};

/// Object over a [`Contract`]: other hosts report conditions, read the state, and observe transitions.
///
/// Observers are notified by oneway calls from the thread that reports or evaluates through
/// [`Self::evaluate`]. A call to an observer whose host accepts no further octets ends at a timeout; an
/// observer to which a call fails is forgotten. Thus a dead observer costs one timeout, and nothing later.
///
/// ```
/// use punctual::Orb;
/// use punctual_qos::{
///     Condition, Contract, ContractServant, Region,
///     idl::punctual_qos::{ContractRef, Reading},
/// };
///
/// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
/// let misses = Condition::new("misses");
/// let contract = Contract::builder("tiles")
///     .region(Region::new("in time").at_most(&misses, 0.0))
///     .region(Region::new("late"))
///     .build()?;
/// let object: ContractRef = orb.root_poa().activate(ContractServant::new(contract))?;
/// // On another host:
/// let reading = Reading { condition: "misses".into(), value: 0.0 };
/// assert_eq!(object.report(&[reading])?, "in time");
/// # orb.shutdown_and_wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ContractServant {
    contract: Contract,
    observers: Arc<PiMutex<Observers>>,
    limits: ServantLimits,
}

/// Limits of a [`ContractServant`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ServantLimits {
    /// Number of observers; more get `TooManyObservers`. Default: 64.
    pub observers: usize,
    /// Timeout of a call to an observer. Default: 100 ms.
    pub timeout: Duration,
}

impl Default for ServantLimits {
    fn default() -> Self {
        Self {
            observers: 64,
            timeout: Duration::from_millis(100),
        }
    }
}

#[derive(Default)]
struct Observers {
    next: u32,
    list: Vec<(u32, ObserverRef)>,
}

impl ContractServant {
    /// Creates a servant with default limits.
    pub fn new(contract: Contract) -> Self {
        Self::with_limits(contract, ServantLimits::default())
    }

    /// Creates a servant.
    pub fn with_limits(contract: Contract, limits: ServantLimits) -> Self {
        Self {
            contract,
            observers: Arc::default(),
            limits,
        }
    }

    /// Evaluates the contract, and notifies observers of a transition.
    pub fn evaluate(&self) -> Option<Transition> {
        let transition = self.contract.evaluate()?;
        // Not under the lock: observers may call back.
        let list = self.observers.lock().list.clone();
        let failed = list.iter().filter(|(_, observer)| {
            let told = observer.entered(
                &transition.contract,
                &transition.from,
                &transition.to,
                transition.number,
            );
            told.is_err()
        });
        for (number, _) in failed {
            self.remove(*number);
        }
        Some(transition)
    }

    /// Returns the number of observers.
    pub fn observers(&self) -> usize {
        self.observers.lock().list.len()
    }

    fn remove(&self, number: u32) {
        self.observers.lock().list.retain(|(own, _)| *own != number);
    }
}

impl qos::Contract for ContractServant {
    fn report(&self, readings: &[ReadingView<'_>]) -> Result<String, ReportError> {
        let find = |reading: &ReadingView<'_>| {
            let condition = self.contract.condition(reading.condition);
            condition.map(|condition| (condition, reading.value))
        };
        // All or none.
        let found: Option<Vec<_>> = readings.iter().map(find).collect();
        for (condition, value) in found.ok_or(qos::UnknownCondition {})? {
            condition.set(value);
        }
        self.evaluate();
        Ok(self.contract.region().to_owned())
    }

    fn state(&self) -> Result<qos::ContractState, SystemException> {
        let state = self.contract.state();
        let measured = state.conditions.into_iter();
        let readings = measured.filter_map(|(condition, value)| {
            Some(qos::Reading {
                condition,
                value: value?,
            })
        });
        Ok(qos::ContractState {
            contract: state.contract,
            region: state.region,
            transitions: state.transitions,
            evaluations: state.evaluations,
            measured: readings.collect(),
        })
    }

    fn observe(&self, observer: Option<ObserverRef>) -> Result<u32, ObserveError> {
        let refused = || SystemException::new(SystemExceptionKind::BadParam, 0, Completion::No);
        let observer = observer.ok_or_else(refused)?;
        let observer = bounded(&observer, self.limits.timeout);
        let mut observers = self.observers.lock();
        if observers.list.len() >= self.limits.observers {
            return Err(qos::TooManyObservers {}.into());
        }
        observers.next = observers.next.wrapping_add(1);
        let number = observers.next;
        observers.list.push((number, observer));
        Ok(number)
    }

    fn forget(&self, number: u32) -> Result<(), SystemException> {
        self.remove(number);
        Ok(())
    }
}

/// Returns the observer with a timeout for calls to it, also for oneway ones.
fn bounded(observer: &ObserverRef, timeout: Duration) -> ObserverRef {
    ObserverRef::from_object(observer.as_object().with_timeout(timeout))
}
