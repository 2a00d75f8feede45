//! One caller at a scheduling point.

use punctual_sched::dynamic::{Slot, Time};

use super::Watch;

/// An activation that has reached a scheduling point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchedulingPoint {
    pub(crate) slot: Slot,
    /// Number of the activation.
    pub(crate) activation: u64,
    /// Deadline of the innermost operation: it bounds each wait.
    pub(crate) deadline: Option<Time>,
    /// Work of the innermost segment that may be shed.
    pub(crate) watch: Option<Watch>,
}
