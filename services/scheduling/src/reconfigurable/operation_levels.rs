//! The schedule for those who only dispatch by it.

use punctual_dispatch::OperationLevels;

use super::ReconfigurableScheduler;

impl OperationLevels for ReconfigurableScheduler {
    fn level_count(&self) -> u32 {
        u32::try_from(self.levels().len()).unwrap_or(u32::MAX)
    }

    fn level_of(&self, operation: &str) -> Option<u32> {
        self.assignment(self.lookup(operation)?)?.level
    }
}
