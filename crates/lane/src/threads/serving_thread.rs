//! Lane that the calling thread serves.

use std::{cell::RefCell, sync::Arc, thread::LocalKey};

use crate::{
    Lane, RequestHandler,
    connections::connection::{Connection, Readiness},
    threads::worker_buffers::WorkerBuffers,
};

/// Request handler with a thread-local slot for the lane that the calling thread serves: a thread-local
/// variable cannot be generic.
pub trait ServingSlot: RequestHandler {
    /// Slot of the calling thread.
    fn serving_thread() -> &'static LocalKey<RefCell<Option<ServingThread<Self>>>>;
}

/// Lane that a thread serves.
pub struct ServingThread<H: RequestHandler> {
    pub(crate) lane: Arc<Lane<H>>,
    /// Lane that the thread belongs to: another one while the thread is lent.
    pub(crate) home: Arc<Lane<H>>,
    pub(crate) handler: Arc<H>,
    /// Buffers for upcalls inside upcalls.
    pub(crate) buffers: Vec<WorkerBuffers<H>>,
    /// Connection that is being served and has more messages.
    pub(crate) pending_input: Option<(Arc<Connection<H>>, Readiness)>,
}

impl<H: ServingSlot> ServingThread<H> {
    /// Calls `inspect` with the calling thread's slot, if the thread serves a lane.
    #[inline(always)]
    pub(crate) fn current<R>(inspect: impl FnOnce(&mut Self) -> R) -> Option<R> {
        H::serving_thread().with_borrow_mut(|serving| serving.as_mut().map(inspect))
    }

    /// Returns whether the thread belongs to the lane that it serves.
    pub(crate) fn is_at_home(&self) -> bool {
        Arc::ptr_eq(&self.lane, &self.home)
    }
}

/// Marks the calling thread, which belongs to `home`, as one that serves `lane`, until the result is dropped.
pub(crate) fn enter<H: ServingSlot>(
    lane: &Arc<Lane<H>>,
    home: &Arc<Lane<H>>,
    handler: &Arc<H>,
) -> impl Drop + use<H> {
    let serving = ServingThread {
        lane: Arc::clone(lane),
        home: Arc::clone(home),
        handler: Arc::clone(handler),
        buffers: Vec::new(),
        pending_input: None,
    };
    let outer = H::serving_thread().replace(Some(serving));
    scopeguard::guard(outer, |outer| drop(H::serving_thread().replace(outer)))
}

/// Notes that the connection has more than the message whose upcall follows, until the result is dropped.
pub(crate) fn set_pending_input<H: ServingSlot>(
    connection: &Arc<Connection<H>>,
    readiness: Readiness,
) -> impl Drop + use<H> {
    replace_pending_input(Some((Arc::clone(connection), readiness)));
    scopeguard::guard((), |()| replace_pending_input::<H>(None))
}

fn replace_pending_input<H: ServingSlot>(pending_input: Option<(Arc<Connection<H>>, Readiness)>) {
    // Dropped outside the borrow.
    let before =
        ServingThread::current(|serving| std::mem::replace(&mut serving.pending_input, pending_input));
    drop(before);
}
