//! Relations among lanes that lend and borrow threads.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use punctual_os::{Interest, PiMutex, Poller, Trigger};

use super::Lane;
use crate::{RequestHandler, queue::request_queue::RequestQueue, threads::worker_buffers::WorkerBuffers};

/// Relations of a lane to the lanes that it lends threads to and borrows threads from.
pub(crate) struct Borrowing<H: RequestHandler> {
    /// Lanes above, the lowest first, that threads are lent to.
    pub(crate) above: Vec<Above<H>>,
    /// Lanes below, the lowest first, whose threads serve this lane.
    pub(crate) below: Below<H>,
    /// Buffers of helpers: they stay with the lane whose requests they are for.
    pub(crate) buffers: PiMutex<Vec<WorkerBuffers<H>>>,
}

/// Lane that threads are lent to.
pub(crate) struct Above<H: RequestHandler> {
    pub(crate) lane: Arc<Lane<H>>,
    /// Index of this lane in [`Borrowing::below`] of that lane.
    pub(crate) index: usize,
}

/// Waiting points of the threads of lower lanes.
pub(crate) enum Below<H: RequestHandler> {
    /// Pollers in which this lane's poller is registered.
    Pollers(Vec<Registration>),
    /// Queues of the lanes, which buffer requests.
    Queues(Vec<Arc<RequestQueue<H>>>),
}

/// Registration of a lane's poller in a lower lane's poller.
pub(crate) struct Registration {
    pub(crate) poller: Arc<Poller>,
    pub(crate) token: u64,
    pub(crate) armed: AtomicBool,
}

impl<H: RequestHandler> Borrowing<H> {
    /// Returns whether threads of other lanes may serve the lane.
    pub(crate) fn has_helpers(&self) -> bool {
        match &self.below {
            Below::Pollers(pollers) => !pollers.is_empty(),
            Below::Queues(queues) => !queues.is_empty(),
        }
    }

    pub(crate) fn set_disarmed(&self, index: usize) {
        if let Below::Pollers(pollers) = &self.below {
            pollers[index].armed.store(false, Ordering::SeqCst);
        }
    }

    pub(crate) fn take_buffers(&self, handler: &Arc<H>) -> WorkerBuffers<H> {
        // None are left if dynamic threads of lower lanes help; new ones stay here afterwards.
        let buffers = self.buffers.lock().pop();
        buffers.unwrap_or_else(|| WorkerBuffers::new(handler))
    }
}

impl Registration {
    /// Has it report what is, or will be, ready in `poller`.
    pub(crate) fn arm(&self, poller: &Poller) {
        if !self.armed.swap(true, Ordering::SeqCst) {
            // It fails only if kernel memory is exhausted; then the next thread that leaves none waiting
            // tries again.
            let again = self
                .poller
                .modify(poller, self.token, Interest::READ, Trigger::OneShot);
            if again.is_err() {
                self.armed.store(false, Ordering::SeqCst);
            }
        }
    }
}
