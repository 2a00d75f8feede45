//! Locations at which handlers run: threads that take them from a queue, or a lane.

use std::sync::{Arc, Weak};

use punctual_lane::LaneTask;
use punctual_os::{Scheduling, scheduling};
use punctual_types::Priority;

use super::ready::{Continue, Ready, ReadyCalls};
use crate::{config::configuration::Configuration, current, pools::lane::Lane};

/// A queue of calls that have ended, with the threads that run their handlers.
#[derive(Clone)]
pub(super) struct Location {
    pub(super) ready: Arc<ReadyCalls>,
    /// `None`: threads of the user.
    lane: Option<Arc<AtLane>>,
}

/// Task of a lane that runs the next handler of a queue.
struct AtLane {
    lane: Weak<Lane>,
    ready: Arc<ReadyCalls>,
    configuration: Arc<Configuration>,
    /// Whether its threads run at the priority of the lane, instead of that of the call.
    has_priority: bool,
}

impl Location {
    pub(super) fn of_user(ready: Arc<ReadyCalls>) -> Self {
        Self { ready, lane: None }
    }

    pub(super) fn of_lane(
        lane: &Arc<Lane>,
        ready: Arc<ReadyCalls>,
        configuration: &Arc<Configuration>,
    ) -> Self {
        let at_lane = AtLane {
            lane: Arc::downgrade(lane),
            ready: Arc::clone(&ready),
            configuration: Arc::clone(configuration),
            has_priority: lane.priority().is_some(),
        };
        Self {
            ready,
            lane: Some(Arc::new(at_lane)),
        }
    }

    pub(super) fn push(&self, priority: Priority, call: Arc<dyn Continue>) {
        self.ready.push(priority, call);
        let Some(at_lane) = &self.lane else { return };
        if let Some(lane) = at_lane.lane.upgrade() {
            lane.post(Arc::clone(at_lane) as Arc<dyn LaneTask>);
        }
    }

    pub(super) fn release(&self) {
        self.ready.release();
    }
}

impl LaneTask for AtLane {
    fn run(&self) {
        if let Some(ready) = self.ready.pop() {
            run(ready, &self.configuration, !self.has_priority);
        }
    }
}

/// Continues a call at its priority. `sets_native`: the thread takes on the native one, if it is real-time.
pub(super) fn run(Ready { priority, call, .. }: Ready, configuration: &Configuration, sets_native: bool) {
    let _native = sets_native.then(|| at_native(configuration, priority));
    let _current = current::during_upcall(Some(priority), None);
    call.run();
}

/// Changes the native priority of the calling thread until the result is dropped. Threads in the ordinary
/// class have none.
fn at_native(configuration: &Configuration, priority: Priority) -> impl Drop + use<> {
    let before = scheduling::current();
    let native = configuration.to_native(priority).ok();
    let during = native.map(|priority| Scheduling { priority, ..before });
    let during = during.filter(|during| before.is_realtime() && *during != before);
    let changed = during.is_some_and(|during| scheduling::set_current(during).is_ok());
    scopeguard::guard(changed.then_some(before), |before| {
        if let Some(before) = before {
            let _ = scheduling::set_current(before);
        }
    })
}
