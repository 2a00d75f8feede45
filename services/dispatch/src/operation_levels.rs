//! Levels of named operations, as a scheduler decides them and others carry them out.

/// A schedule, for those who only dispatch by it: an event channel adopts the levels of a scheduler without
/// knowing the scheduler.
pub trait OperationLevels {
    /// Returns the number of levels; level 0 is dispatched first.
    fn level_count(&self) -> u32;

    /// Returns the level of an operation; `None`: it does not run, or there is none of this name.
    fn level_of(&self, operation: &str) -> Option<u32>;
}
