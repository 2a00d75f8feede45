//! Contracts of adaptive quality of service that programs show beside the lanes.

use std::sync::Arc;

use punctual_os::PiMutex;

/// State of a contract: its region, and the conditions that decide it.
///
/// ```
/// use punctual_inspect::{ContractState, Contracts};
///
/// let contracts = Contracts::default();
/// contracts.add(|| {
///     Some(ContractState {
///         contract: "image".to_owned(),
///         region: "coarse".to_owned(),
///         transitions: 1,
///         evaluations: 5,
///         conditions: vec![("latency_ms".to_owned(), Some(70.0))],
///     })
/// });
/// contracts.add(|| None);
/// assert_eq!(contracts.states().len(), 1, "the other one has ended");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContractState {
    /// Name of the contract.
    pub contract: String,
    /// Its region.
    pub region: String,
    /// Number of transitions.
    pub transitions: u64,
    /// Number of evaluations.
    pub evaluations: u64,
    /// Names of its conditions and their values, if measured.
    pub conditions: Vec<(String, Option<f64>)>,
}

/// The contracts that an ORB shows, in the order in which they were added.
#[derive(Default)]
pub struct Contracts {
    sources: PiMutex<Vec<Source>>,
}

type Source = Arc<dyn Fn() -> Option<ContractState> + Send + Sync>;

impl Contracts {
    /// Shows a contract until `state` returns `None`. It is called by the inspection thread.
    pub fn add(&self, state: impl Fn() -> Option<ContractState> + Send + Sync + 'static) {
        self.sources.lock().push(Arc::new(state));
    }

    /// Returns the states of all contracts, and forgets those that have ended.
    pub fn states(&self) -> Vec<ContractState> {
        // Not under the lock: programs add contracts meanwhile.
        let sources = self.sources.lock().clone();
        let mut states = Vec::new();
        for source in sources {
            match source() {
                Some(state) => states.push(state),
                None => self.sources.lock().retain(|own| !Arc::ptr_eq(own, &source)),
            }
        }
        states
    }
}
