//! Work of the layer above for the threads of a lane, such as the handlers of asynchronous calls.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::AtomicUsize},
};

use punctual_os::PiMutex;

/// One piece of work.
pub trait LaneTask: Send + Sync {
    /// Executes the work on a thread of the lane.
    fn run(&self);
}

/// Tasks that wait for a thread of a lane, in the order in which they were posted.
#[derive(Default)]
pub(crate) struct Tasks {
    pub(crate) waiting: PiMutex<VecDeque<Arc<dyn LaneTask>>>,
    /// Number of those that wait, read without the lock.
    pub(crate) count: AtomicUsize,
}
