//! Contracts as CORBA objects: feedback across hosts.

use std::sync::Arc;

use punctual::{Completion, SystemException, SystemExceptionKind};

use crate::{
    Contract, Transition,
    idl::punctual_qos::{self as qos, ObserverRef, ReadingView, contract::*},
    limits::ServantLimits,
    observers::Observers,
};

/// Object over a [`Contract`]: other hosts report conditions, read the state, and observe transitions.
///
/// Observers are notified of all transitions, regardless of the thread that evaluates, by oneway calls of the
/// thread CONTRACT-observers of the ordinary class: nobody who reports or evaluates waits for an observer. A
/// call to one whose host accepts no further octets ends at a timeout, and an observer to which a call fails
/// is forgotten; other observers wait meanwhile.
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
    observers: Arc<Observers>,
}

impl ContractServant {
    /// Creates a servant with default limits.
    pub fn new(contract: Contract) -> Self {
        Self::with_limits(contract, ServantLimits::default())
    }

    /// Creates a servant.
    pub fn with_limits(contract: Contract, limits: ServantLimits) -> Self {
        let observers = Arc::new(Observers::new(limits));
        let notified = Arc::downgrade(&observers);
        contract.listen(move |transition| {
            let observers = notified.upgrade();
            observers.map(|observers| observers.notify(transition)).is_some()
        });
        Self { contract, observers }
    }

    /// Evaluates the contract: [`Contract::evaluate`].
    pub fn evaluate(&self) -> Option<Transition> {
        self.contract.evaluate()
    }

    /// Returns the number of observers.
    pub fn observers(&self) -> usize {
        self.observers.number()
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
        self.observers.append(&observer, self.contract.name())
    }

    fn forget(&self, number: u32) -> Result<(), SystemException> {
        self.observers.remove(number);
        Ok(())
    }
}
