//! Handles of operations.

/// Handle of an operation, its number from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OperationId(pub u32);

impl OperationId {
    /// Returns the handle of its `RT_Info`: in TAO's interfaces, handles begin at 1.
    ///
    /// ```
    /// use punctual_scheduling::reconfigurable::OperationId;
    ///
    /// assert_eq!(OperationId(0).handle(), 1);
    /// ```
    pub fn handle(self) -> i32 {
        i32::try_from(self.0).unwrap_or(i32::MAX).saturating_add(1)
    }

    /// Returns the operation of a handle; `None`: it is none.
    pub(crate) fn of_handle(handle: i32) -> Option<Self> {
        u32::try_from(handle).ok()?.checked_sub(1).map(Self)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
