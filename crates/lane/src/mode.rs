//! How the threads of a lane wait for requests.

use crate::{QueueLimits, RequestHandler, blocking_threads::BlockingThreads};

/// Configured way of waiting, without the state that it needs at run time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LaneMode {
    /// All threads wait in the poller, for all connections.
    #[default]
    Polled,
    /// Each thread blocks in `read` for its own connection.
    Blocking,
    /// One I/O thread waits in the poller and fills the request queue, within these limits; the others wait for the queue.
    Buffered(QueueLimits),
}

/// State of a lane's way of waiting.
pub(crate) enum Mode<H: RequestHandler> {
    Polled,
    Blocking(BlockingThreads<H>),
    Buffered(QueueLimits),
}

impl<H: RequestHandler> Mode<H> {
    /// State of a lane that starts with this many threads.
    pub(crate) fn new(mode: LaneMode, threads: usize) -> Self {
        match mode {
            LaneMode::Polled => Self::Polled,
            LaneMode::Blocking => Self::Blocking(BlockingThreads::new(threads)),
            LaneMode::Buffered(limits) => Self::Buffered(limits),
        }
    }

    pub(crate) fn is_blocking(&self) -> bool {
        matches!(self, Self::Blocking(_))
    }

    pub(crate) fn is_buffered(&self) -> bool {
        matches!(self, Self::Buffered(_))
    }
}
