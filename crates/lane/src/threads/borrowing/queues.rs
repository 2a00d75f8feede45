//! Borrowing among lanes that buffer requests: threads wait for their lane's queue and not in its poller, so
//! the queues notify them.

use std::sync::Arc;

use crate::{Lane, ServingSlot, queue::request_queue::RequestQueue};

impl<H: ServingSlot> Lane<H> {
    /// Calls the threads that wait for the queues of lower lanes, if there is a request for them.
    ///
    /// # Why no wake-up is lost
    ///
    /// A lane begins to ask in two places: where a request is put into its queue ([`Lane::after_push`]), and
    /// where the last of its threads goes into an upcall (`Lane::reinforce`). Each makes its own half true
    /// and then checks the other half, sequentially consistent, so one of the two sees both and calls. The
    /// call takes the lower queue's lock and notifies: a thread that checked before that is asleep by then,
    /// and is woken; a thread that checks later sees that the lane asks. Each call wakes one thread of each
    /// lower lane, and a thread that takes a request calls again if the lane still asks: if others are idle,
    /// they take the rest. A thread that was woken for its own queue and helps instead passes that wake-up
    /// on.
    ///
    /// The price of several lower lanes is that all but one of these threads wake in vain. That costs the
    /// lane that asks one lock and one wake-up for each, and nothing while one of its own threads is free.
    pub(super) fn call_for_help_with_queue(&self, lower: &[Arc<RequestQueue<H>>]) {
        if self.queue.has_requests() {
            // The highest first: of the threads that are woken it is the one that runs first.
            lower.iter().rev().for_each(|queue| queue.wake_for_others());
        }
    }

    /// Calls for help if no other thread would take what was put into the lane's queue.
    pub(crate) fn after_push(&self) {
        if self.pool.borrowing.get().is_some() && self.threads.occupancy.is_exhausted() {
            self.call_for_help();
        }
    }

    /// Returns whether a lane above this one asks for help.
    pub(crate) fn is_asked_for_help(&self) -> bool {
        self.highest_asking().is_some()
    }

    /// Highest lane above this one that asks for help.
    fn highest_asking(&self) -> Option<&Arc<Self>> {
        let mut highest_first = self
            .pool
            .borrowing
            .get()?
            .above
            .iter()
            .rev()
            .map(|above| &above.lane);
        highest_first.find(|above| {
            above.queue.has_requests() && above.threads.occupancy.is_exhausted() && !above.is_stopping()
        })
    }

    /// Serves one request of the queue of a lane above, if one asks. `false`: none did, or another thread was
    /// faster.
    ///
    /// `home` is the lane that the thread belongs to; `self` is that lane, or one that the thread is already
    /// helping.
    ///
    /// A lane *asks for help* while all its threads are in upcalls and its queue holds requests. A thread of
    /// a lower lane that is about to wait, or is woken, first checks whether a lane above asks, the highest
    /// first, and only then its own queue. So a request waits in its queue only while no thread below is idle
    /// either, and then it precedes the requests of lower lanes.
    pub(crate) fn help_with_queue(&self, home: &Arc<Self>, handler: &Arc<H>) -> bool {
        let Some(lane) = self.highest_asking() else {
            return false;
        };
        self.lend(
            home,
            lane,
            handler,
            |buffers| lane.queue.try_take(buffers).0,
            |worker, request| worker.serve_queued(request),
        )
    }
}
