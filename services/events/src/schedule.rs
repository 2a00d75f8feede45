//! The schedule that a channel follows: the places of consumers that subscribe, or get their names, later.

use std::sync::Arc;

use punctual::{Priority, SchedulerState};
use punctual_dispatch::{OperationLevels, Placement, Timing};
use punctual_os::PiMutex;

use crate::consumer::Consumer;

/// Priority and timing of consumers.
pub(crate) type Places = dyn Fn(&Consumer) -> Option<(Priority, Timing)> + Send + Sync;

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
    pub(crate) fn place(&self, consumer: &Consumer) -> Option<(Priority, Timing)> {
        let places = self.places.lock().clone()?;
        places(consumer)
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

/// The placement of a consumer: that of the most urgent operation whose handle its subscription states, as
/// its events keep their order; without any, that of the operation of its name.
pub(crate) fn placement(schedule: &impl OperationLevels, consumer: &Consumer) -> Option<Placement> {
    let stated = consumer.qos.rt_infos.iter();
    let stated = stated.filter_map(|rt_info| schedule.placement_of_handle(*rt_info));
    let most_urgent = stated.min_by_key(|placed| (placed.level, placed.timing.deadline));
    most_urgent.or_else(|| schedule.placement_of(consumer.name()))
}
