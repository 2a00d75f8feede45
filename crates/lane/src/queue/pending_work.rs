//! Work of a lane that is due although no descriptor is ready.

use std::sync::atomic::AtomicBool;

use punctual_os::PiMutex;

/// Work that is due although no descriptor is ready.
#[derive(Default)]
pub(crate) struct PendingWork {
    /// A connection may be in the middle of a message, whose completion time must be watched.
    pub(crate) incomplete_messages: AtomicBool,
    /// A search for such connections has not reached the end of the table.
    pub(crate) unfinished_search: AtomicBool,
    /// First index of the table that the search has not examined.
    pub(crate) search: PiMutex<usize>,
}
