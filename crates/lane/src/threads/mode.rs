//! How the threads of a lane wait for requests.

use crate::{LaneMode, QueueLimits, RequestHandler, threads::blocking_threads::BlockingThreads};

/// State of a lane's way of waiting.
pub(crate) enum Mode<H: RequestHandler> {
    Polled,
    Blocking(BlockingThreads<H>),
    Buffered(QueueLimits),
}

impl<H: RequestHandler> Mode<H> {
    /// Creates the state of a lane that starts with this many threads.
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
