//! Limits of contract objects.

use std::time::Duration;

/// Limits of a [`ContractServant`](crate::ContractServant).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ServantLimits {
    /// Number of observers; more get `TooManyObservers`. Default: 64.
    pub observers: usize,
    /// Timeout of a call to an observer. Default: 100 ms.
    pub timeout: Duration,
    /// Number of transitions, at least 1, that may wait until the observers have been notified of earlier
    /// ones. Beyond, the oldest are lost: their numbers are missing. Default: 64.
    pub pending: usize,
}

impl Default for ServantLimits {
    fn default() -> Self {
        Self {
            observers: 64,
            timeout: Duration::from_millis(100),
            pending: 64,
        }
    }
}
