//! Settings of the dispatcher.

use super::mechanism::{NativePriorities, Preemption};

/// Settings that never change.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) processors: usize,
    pub(crate) preemption: Preemption,
    pub(crate) native: NativePriorities,
    pub(crate) max_threads: usize,
    /// Number of decisions that are recorded.
    pub(crate) decisions: usize,
}
