//! Storage attached to the calling OS thread.

use std::cell::Cell;

use super::{slots::Slots, thread_storage::ThreadStorage};

thread_local! {
    // Constant and without a destructor, so that reading it is one load.
    static ATTACHED: Cell<Option<&'static Slots>> = const { Cell::new(None) };
}

/// Attaches storage: from now on, the calling OS thread runs the distributable thread with this storage.
/// Returns the storage attached before, which [`detach`] does not restore.
///
/// For runtimes, at the points where a distributable thread arrives and leaves; `RtScheduling` does it for
/// its threads. An OS thread that ends with storage attached leaks it.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{ThreadStorage, attach, detach, is_attached};
///
/// assert!(attach(ThreadStorage::new()).is_none());
/// assert!(is_attached());
/// assert!(detach().is_some_and(|storage| storage.is_empty()));
/// ```
pub fn attach(storage: ThreadStorage) -> Option<ThreadStorage> {
    replace(Some(storage))
}

/// Detaches the storage: from now on, the calling OS thread runs no distributable thread. Returns the
/// storage.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{detach, is_attached};
///
/// assert!(detach().is_none());
/// assert!(!is_attached());
/// ```
pub fn detach() -> Option<ThreadStorage> {
    replace(None)
}

/// Whether the calling OS thread runs a distributable thread.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{ThreadStorage, is_attached};
///
/// assert!(ThreadStorage::new().enter(is_attached));
/// assert!(!is_attached());
/// ```
pub fn is_attached() -> bool {
    attached().is_some()
}

impl ThreadStorage {
    /// Runs `work` on the calling OS thread as a part of the distributable thread; restores the storage
    /// attached before on every way out.
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let _restore = scopeguard::guard(replace(Some(self.clone())), |before| drop(replace(before)));
        work()
    }
}

/// The attached reference counts as one `ThreadStorage`.
pub(super) fn replace(storage: Option<ThreadStorage>) -> Option<ThreadStorage> {
    let slots = storage.map(ThreadStorage::into_slots);
    ATTACHED.replace(slots).map(ThreadStorage::from_slots)
}

#[inline]
pub(super) fn attached() -> Option<&'static Slots> {
    ATTACHED.get()
}
