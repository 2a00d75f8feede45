//! States that programs show beside the lanes.

use std::sync::Arc;

use punctual_os::PiMutex;

/// States of one kind that an ORB shows, in the order in which they were added.
///
/// ```
/// use punctual_inspect::{ContractState, Shown};
///
/// let contracts = Shown::default();
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
pub struct Shown<S> {
    sources: PiMutex<Vec<Source<S>>>,
}

type Source<S> = Arc<dyn Fn() -> Option<S> + Send + Sync>;

impl<S> Default for Shown<S> {
    fn default() -> Self {
        Self {
            sources: PiMutex::default(),
        }
    }
}

impl<S> Shown<S> {
    /// Shows a state until `state` returns `None`. It is called by the inspection thread.
    pub fn add(&self, state: impl Fn() -> Option<S> + Send + Sync + 'static) {
        self.sources.lock().push(Arc::new(state));
    }

    /// Returns all states, and removes those that have ended.
    pub fn states(&self) -> Vec<S> {
        // Not under the lock: programs add states meanwhile.
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
