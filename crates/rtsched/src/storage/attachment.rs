//! Which storage the calling thread of the system uses.

use std::cell::Cell;

use super::{ThreadStorage, slots::Slots};

thread_local! {
    // Constant and without a destructor, so that reading it is one load.
    static ATTACHED: Cell<Option<&'static Slots>> = const { Cell::new(None) };
}

/// From here on the calling thread of the system uses this storage; `None`: it runs no distributable thread. Gives back what it used
/// before. One that ends with storage in use leaks it.
///
/// The reference is that of the place while it is there.
pub(crate) fn replace(storage: Option<ThreadStorage>) -> Option<ThreadStorage> {
    let slots = storage.map(ThreadStorage::into_slots);
    ATTACHED.replace(slots).map(ThreadStorage::from_slots)
}

#[inline]
pub(super) fn attached() -> Option<&'static Slots> {
    ATTACHED.get()
}
