//! The description of operations from which schedules are computed.

use super::{Operation, Strategy};

/// Operations, and how they are admitted.
#[derive(Clone, Copy)]
pub(super) struct System<'a> {
    pub(super) strategy: Strategy,
    /// Utilisations up to which critical work, and other work, is admitted.
    pub(super) thresholds: (f64, f64),
    pub(super) operations: &'a [Operation],
}
