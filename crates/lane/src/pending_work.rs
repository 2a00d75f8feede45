//! Work of a lane that is due although no descriptor is ready.

use std::{sync::atomic::AtomicBool, time::Instant};

use punctual_os::PiMutex;

/// Work that is due although no descriptor is ready.
pub(crate) struct PendingWork {
    /// A connection may be in the middle of a message, whose completion time must be watched.
    pub(crate) incomplete_messages: AtomicBool,
    /// A search for such connections has not reached the end of the table.
    pub(crate) unfinished_search: AtomicBool,
    /// First index of the table that the search has not examined.
    pub(crate) search: PiMutex<usize>,
    /// Time of the last search for idle connections.
    pub(crate) idle_checked: PiMutex<Instant>,
}

impl Default for PendingWork {
    fn default() -> Self {
        Self {
            incomplete_messages: AtomicBool::new(false),
            unfinished_search: AtomicBool::new(false),
            search: PiMutex::new(0),
            idle_checked: PiMutex::new(Instant::now()),
        }
    }
}
