//! The schedule that a channel follows: the places of consumers that subscribe, or get their names, later.

use std::sync::Arc;

use punctual::Priority;
use punctual_dispatch::Timing;
use punctual_os::PiMutex;

/// Priority and timing of consumers by their names.
pub(crate) type Places = dyn Fn(&str) -> Option<(Priority, Timing)> + Send + Sync;

/// None at first.
#[derive(Default)]
pub(crate) struct FollowedSchedule(PiMutex<Option<Arc<Places>>>);

impl FollowedSchedule {
    /// Returns the one before.
    pub(crate) fn replace(&self, places: Option<Arc<Places>>) -> Option<Arc<Places>> {
        std::mem::replace(&mut *self.0.lock(), places)
    }

    /// Returns the place of a consumer; `None`: it keeps its own.
    pub(crate) fn place(&self, name: &str) -> Option<(Priority, Timing)> {
        let places = self.0.lock().clone()?;
        places(name)
    }
}
