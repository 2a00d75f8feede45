//! Which storage the calling thread of the system uses.

use std::cell::Cell;

use super::{slots::Slots, thread_storage::ThreadStorage};

thread_local! {
    // Constant and without a destructor, so that reading it is one load.
    static ATTACHED: Cell<Option<&'static Slots>> = const { Cell::new(None) };
}

/// From here on the calling thread of the system runs the distributable thread with this storage. Gives back that of the one that
/// it ran before, which [`detach`] does not restore.
///
/// For runtimes, at the points where a distributable thread comes and goes; `RtScheduling` does it for its threads. A thread of the
/// system that ends with storage attached leaks it.
///
/// ```
/// use punctual_rtsched::storage::{ThreadStorage, attach, detach, is_attached};
///
/// assert!(attach(ThreadStorage::new()).is_none());
/// assert!(is_attached());
/// assert!(detach().is_some_and(|storage| storage.is_empty()));
/// ```
pub fn attach(storage: ThreadStorage) -> Option<ThreadStorage> {
    replace(Some(storage))
}

/// From here on the calling thread of the system runs no distributable thread. Gives back the storage of the one it ran.
///
/// ```
/// use punctual_rtsched::storage::{detach, is_attached};
///
/// assert!(detach().is_none());
/// assert!(!is_attached());
/// ```
pub fn detach() -> Option<ThreadStorage> {
    replace(None)
}

/// Whether the calling thread of the system runs a distributable thread.
///
/// ```
/// use punctual_rtsched::storage::{ThreadStorage, is_attached};
///
/// assert!(ThreadStorage::new().enter(is_attached));
/// assert!(!is_attached());
/// ```
pub fn is_attached() -> bool {
    attached().is_some()
}

impl ThreadStorage {
    /// Runs `work` on the calling thread of the system as a part of the distributable thread; restores what was attached before, on
    /// every way out.
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let _restore = scopeguard::guard(replace(Some(self.clone())), |before| drop(replace(before)));
        work()
    }
}

/// The reference is that of the place while it is there.
pub(super) fn replace(storage: Option<ThreadStorage>) -> Option<ThreadStorage> {
    let slots = storage.map(ThreadStorage::into_slots);
    ATTACHED.replace(slots).map(ThreadStorage::from_slots)
}

#[inline]
pub(super) fn attached() -> Option<&'static Slots> {
    ATTACHED.get()
}
