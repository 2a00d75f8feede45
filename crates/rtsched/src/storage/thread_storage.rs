//! The storage of one distributable thread.

use std::{
    cmp::Reverse,
    mem::{self, ManuallyDrop},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    constants::UNSET,
    key_table::{KeyEntry, entry_of},
    slots::{Pending, Slots},
};

/// The storage of one distributable thread at this host. Clones share it; dropping the last one calls the
/// destructors of its values on the current OS thread.
///
/// The runtime creates one for each distributable thread, attaches it wherever the thread runs, and hands it
/// to [`RetainedStorage`](super::RetainedStorage) when a thread of another host leaves. Memory is reused and
/// never freed: creating, cloning and dropping do not allocate unless more exist than ever before.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{StorageError, ThreadStorage, WordKey};
///
/// let key = WordKey::<bool>::new()?;
/// let storage = ThreadStorage::new();
/// storage.enter(|| key.set(true))?;
/// assert!(!storage.is_empty());
/// storage.clear();
/// assert_eq!(storage.enter(|| key.get())?, None);
/// # Ok::<(), StorageError>(())
/// ```
#[derive(Debug)]
pub struct ThreadStorage {
    slots: &'static Slots,
}

impl ThreadStorage {
    /// Maximum number of passes over values that destructors have set meanwhile:
    /// PTHREAD_DESTRUCTOR_ITERATIONS of POSIX. Remaining values are forgotten.
    pub const DESTRUCTOR_PASSES: usize = 4;

    /// Creates empty storage.
    pub fn new() -> Self {
        Self::from_slots(Slots::obtain())
    }

    /// Returns whether nothing has been stored in it.
    pub fn is_empty(&self) -> bool {
        !self.slots.used.load(Ordering::Relaxed)
    }

    /// Calls the destructors of all values now, in order, and leaves the storage empty.
    pub fn clear(&self) {
        if !self.is_empty() {
            self.enter(|| destroy(self.slots));
        }
    }

    pub(super) fn from_slots(slots: &'static Slots) -> Self {
        Self { slots }
    }

    pub(super) fn into_slots(self) -> &'static Slots {
        ManuallyDrop::new(self).slots
    }
}

impl Default for ThreadStorage {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for ThreadStorage {
    fn clone(&self) -> Self {
        self.slots.references.fetch_add(1, Ordering::Relaxed);
        Self { slots: self.slots }
    }
}

impl Drop for ThreadStorage {
    fn drop(&mut self) {
        let references = &self.slots.references;
        if references.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        if !self.is_empty() {
            // One reference again while destructors run, which may attach and clone the storage.
            references.store(1, Ordering::Relaxed);
            self.clear();
            if references.fetch_sub(1, Ordering::AcqRel) != 1 {
                return;
            }
        }
        self.slots.put_back();
    }
}

/// Returns the number of destructors that have panicked in this process.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// assert_eq!(punctual::rtscheduling::storage::panicked_destructors(), 0);
/// ```
pub fn panicked_destructors() -> u64 {
    PANICKED.load(Ordering::Relaxed)
}

static PANICKED: AtomicU64 = AtomicU64::new(0);

/// Destroys values in passes until none with a destructor remains, and unsets all slots.
fn destroy(slots: &Slots) {
    let mut pending = mem::take(&mut *slots.scratch.lock());
    for _ in 0..ThreadStorage::DESTRUCTOR_PASSES {
        let written = slots.written();
        pending.extend(
            written.filter_map(|(index, slot)| Pending::of(index, slot.generation.load(Ordering::Acquire))),
        );
        if pending.is_empty() {
            break;
        }
        pending.sort_unstable_by_key(|pending| Reverse(pending.serial));
        for Pending {
            index, generation, ..
        } in pending.drain(..)
        {
            destroy_one(slots, index, generation);
        }
    }
    slots.clear();
    *slots.scratch.lock() = pending;
}

/// Destroys one value. Until then it stays readable: a destructor finds the values of keys that are older
/// than its own.
fn destroy_one(slots: &Slots, index: u16, generation: u32) {
    let Some(slot) = slots.slot(index) else { return };
    let Some(destructor) = entry_of(index, generation).and_then(KeyEntry::destructor) else {
        return;
    };
    let word = slot.word.load(Ordering::Relaxed);
    let taken = slot
        .generation
        .compare_exchange(generation, UNSET, Ordering::Acquire, Ordering::Relaxed);
    if taken.is_ok() && catch_unwind(AssertUnwindSafe(|| destructor(word))).is_err() {
        PANICKED.fetch_add(1, Ordering::Relaxed);
    }
}
