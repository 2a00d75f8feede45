//! Threads of a lane that wait for the lane itself.

use std::sync::atomic::AtomicUsize;

use punctual_os::Notice;

/// Threads of a lane that wait for the lane itself.
pub(crate) struct SelfWaits {
    pub(crate) waiting: AtomicUsize,
    pub(crate) notice: Notice,
}

impl SelfWaits {
    pub(crate) fn new(lane: &str) -> Self {
        Self {
            waiting: AtomicUsize::new(0),
            notice: deadlock_notice(lane),
        }
    }
}

fn deadlock_notice(lane: &str) -> Notice {
    Notice::formatted(format!(
        "punctual: a servant on lane `{lane}` called an object of the same lane, which has no other \
         thread to serve the call or to read its reply; the call failed with BAD_INV_ORDER. Give the lane \
         another thread, or call with `WaitStrategy::Serving`.\n"
    ))
}
