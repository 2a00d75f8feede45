//! The description of operations from which schedules are computed.

use super::{Criticality, Operation, Strategy};

/// Operations, and how they are admitted.
#[derive(Clone, Copy)]
pub(super) struct System<'a> {
    pub(super) strategy: Strategy,
    /// Utilisations up to which critical work, and other work, is admitted.
    pub(super) thresholds: (f64, f64),
    pub(super) operations: &'a [Operation],
}

impl System<'_> {
    /// Returns the utilisation up to which work of this criticality is admitted.
    pub(super) fn threshold(&self, criticality: Criticality) -> f64 {
        let (critical, other) = self.thresholds;
        match self.strategy.knows_criticality() && criticality.is_critical() {
            true => critical,
            false => other,
        }
    }
}
