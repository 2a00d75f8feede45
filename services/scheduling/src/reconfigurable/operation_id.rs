//! Handles of operations.

/// Handle of an operation, its number from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OperationId(pub u32);

impl OperationId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
