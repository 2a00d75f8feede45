//! Borrowing where lanes buffer: threads wait for their lane's queue and not in its waiting place, so it is by way of the queues
//! that they are called.
//!
//! A lane *asks for help* while all its threads are in upcalls and its queue holds requests. A thread of a lower lane that is
//! about to wait, or is woken, looks first whether a lane above asks, the highest first, and only then at its own queue. So a
//! request waits in its queue only while nobody below is idle either, and then it goes before the requests of lower lanes.
//!
//! # Why no wake-up is lost
//!
//! A lane begins to ask at two places: where a request is put into its queue ([`after_push`]), and where the last of its threads
//! goes into an upcall (`Lane::reinforce`). Each makes its own half true and looks at the other half then, sequentially
//! consistent, so one of the two sees both and calls. The call takes the lower queue's lock and notifies: a thread that looked
//! before that is asleep by then, and is woken; one that looks later sees that the lane asks. Each call wakes one thread of each
//! lower lane, and a thread that takes a request calls again if the lane still asks: if others are idle, they come for the rest.
//! A thread that was woken for its own queue and goes up instead passes that wake-up on.
//!
//! The price of several lower lanes is that all but one of these threads wake in vain. That costs the lane that asks one lock and
//! one wake-up for each, and nothing at all while it has a thread of its own.

use std::sync::Arc;

use super::{Lane, RequestQueue, lend};
use crate::orb_core::OrbCore;

/// Calls the threads that wait for the queues of lower lanes, if there is something to do.
pub(super) fn call_for_help(lane: &Lane, lower: &[Arc<RequestQueue>]) {
    if lane.queue.has_requests() {
        // The highest first: of the threads that come it is the one that runs first.
        lower.iter().rev().for_each(|queue| queue.wake_for_others());
    }
}

/// Calls for help, if nobody else would take what was put into the lane's queue.
pub(in super::super) fn after_push(lane: &Lane) {
    if lane.borrowing.get().is_some() && lane.crew.occupancy.is_exhausted() {
        super::call_for_help(lane);
    }
}

/// Whether a lane above this one asks for help.
pub(in super::super) fn is_asked(lane: &Lane) -> bool {
    asking(lane).is_some()
}

/// The highest lane above that asks for help.
fn asking(lane: &Lane) -> Option<&Arc<Lane>> {
    let mut highest_first = lane.borrowing.get()?.above.iter().rev().map(|above| &above.lane);
    highest_first.find(|above| {
        above.queue.has_requests() && above.crew.occupancy.is_exhausted() && !above.is_stopping()
    })
}

/// Serves one request of the queue of a lane above `via`, if one asks. `false`: none did, or another thread was faster.
///
/// `home` is the lane that the thread belongs to, and `via` is that one, or one that it is already helping.
pub(in super::super) fn help_with_queue(home: &Arc<Lane>, via: &Arc<Lane>, core: &Arc<OrbCore>) -> bool {
    let Some(lane) = asking(via) else {
        return false;
    };
    lend(
        (home, via),
        lane,
        core,
        |desk| lane.queue.try_take(desk).0,
        |worker, request| worker.serve_queued(request),
    )
}
