//! The schedule that a channel follows: the places of consumers that subscribe, or get their names, later.

use std::sync::Arc;

use punctual::{Priority, SchedulerState};
use punctual_dispatch::Timing;
use punctual_os::PiMutex;

/// Priority and timing of consumers by their names.
pub(crate) type Places = dyn Fn(&str) -> Option<(Priority, Timing)> + Send + Sync;

/// Returns the state of a scheduler; `None`: it no longer exists.
pub(crate) type Shown = dyn Fn() -> Option<SchedulerState> + Send + Sync;

/// None at first.
#[derive(Default)]
pub(crate) struct FollowedSchedule {
    places: PiMutex<Option<Arc<Places>>>,
    schedulers: PiMutex<Vec<Arc<Shown>>>,
}

impl FollowedSchedule {
    /// Returns the one before.
    pub(crate) fn replace(&self, places: Option<Arc<Places>>) -> Option<Arc<Places>> {
        std::mem::replace(&mut *self.places.lock(), places)
    }

    /// Returns the place of a consumer; `None`: it keeps its own.
    pub(crate) fn place(&self, name: &str) -> Option<(Priority, Timing)> {
        let places = self.places.lock().clone()?;
        places(name)
    }

    /// Shows a scheduler from now on.
    pub(crate) fn show(&self, scheduler: Arc<Shown>) {
        self.schedulers.lock().push(scheduler);
    }

    /// The states of the schedulers that still exist.
    pub(crate) fn states(&self) -> Vec<SchedulerState> {
        let all = self.schedulers.lock().clone();
        all.iter().filter_map(|scheduler| scheduler()).collect()
    }
}
