//! Keys to words.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use super::{
    attachment::attached,
    constants::UNSET,
    error::StorageError,
    key_table::{self, KeyEntry},
    slots::Slots,
};

/// A key to a word of each distributable thread: as `pthread_key_t`, by distributable thread instead of OS
/// thread.
///
/// Small and `Copy`. The owner defines the meaning of the word: a number, or an index into a table.
/// [`WordKey`] and [`ObjectKey`](super::ObjectKey) are built on it.
///
/// [`WordKey`]: super::WordKey
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{StorageError, StorageKey, ThreadStorage};
///
/// let key = StorageKey::with_destructor(|descriptor| assert_eq!(descriptor, 7))?;
/// ThreadStorage::new().enter(|| {
///     assert_eq!(key.get()?, None);
///     key.set(7)?;
///     assert_eq!(key.get()?, Some(7));
///     Ok::<(), StorageError>(())
/// })?;
/// assert_eq!(key.get(), Err(StorageError::NoDistributableThread));
/// # Ok::<(), StorageError>(())
/// ```
#[derive(Clone, Copy)]
pub struct StorageKey {
    entry: &'static KeyEntry,
    generation: u32,
    index: u16,
}

impl StorageKey {
    /// Creates a key under which no thread has a value.
    ///
    /// Takes the same time for the ten-thousandth key as for the first. Every 64th key allocates.
    ///
    /// # Errors
    /// [`StorageError::TooManyKeys`].
    pub fn new() -> Result<Self, StorageError> {
        Self::create(None)
    }

    /// Like [`new`](Self::new); `destructor` is called with the word of each thread that ends with one.
    ///
    /// The destructors of a thread are called in reverse order of the creation of their keys, with the
    /// thread's storage attached. Values that they set are destroyed in turn, in at most
    /// [`ThreadStorage::DESTRUCTOR_PASSES`](super::ThreadStorage::DESTRUCTOR_PASSES) passes. A panic ends
    /// only that destructor.
    ///
    /// # Errors
    /// [`StorageError::TooManyKeys`].
    pub fn with_destructor(destructor: impl Fn(u64) + Send + Sync + 'static) -> Result<Self, StorageError> {
        Self::create(Some(Arc::new(destructor)))
    }

    fn create(destructor: Option<key_table::Destructor>) -> Result<Self, StorageError> {
        let (index, entry, generation) = key_table::create(destructor)?;
        Ok(Self {
            entry,
            generation,
            index,
        })
    }

    /// Returns the word of the current distributable thread, if it has one.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    #[inline]
    pub fn get(self) -> Result<Option<u64>, StorageError> {
        let slots = attached().ok_or(StorageError::NoDistributableThread)?;
        if !self.is_live() {
            return Err(StorageError::StaleKey);
        }
        let word = slots.slot(self.index).and_then(|slot| {
            let is_own = slot.generation.load(Ordering::Acquire) == self.generation;
            is_own.then(|| slot.word.load(Ordering::Relaxed))
        });
        Ok(word)
    }

    /// Sets the word of the current distributable thread. No destructor is called for the previous word.
    ///
    /// Allocates if the storage never had a word for one of the 128 keys around this one.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    #[inline]
    pub fn set(self, word: u64) -> Result<(), StorageError> {
        let slots = attached().ok_or(StorageError::NoDistributableThread)?;
        if !self.is_live() {
            return Err(StorageError::StaleKey);
        }
        if let Some(slot) = slots.slot(self.index)
            && slot.generation.load(Ordering::Relaxed) == self.generation
        {
            slot.word.store(word, Ordering::Relaxed);
        } else {
            self.set_first(slots, word);
        }
        Ok(())
    }

    #[cold]
    fn set_first(self, slots: &'static Slots, word: u64) {
        slots.used.store(true, Ordering::Relaxed);
        let slot = slots.slot_to_write(self.index);
        slot.word.store(word, Ordering::Relaxed);
        slot.generation.store(self.generation, Ordering::Release);
    }

    /// Removes the word of the current distributable thread, and returns it. No destructor is called.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn take(self) -> Result<Option<u64>, StorageError> {
        let Some(word) = self.get()? else { return Ok(None) };
        let slot = attached().and_then(|slots| slots.slot(self.index));
        let taken = slot.is_some_and(|slot| {
            let generation = &slot.generation;
            let unset =
                generation.compare_exchange(self.generation, UNSET, Ordering::Relaxed, Ordering::Relaxed);
            unset.is_ok()
        });
        Ok(taken.then_some(word))
    }

    /// Deletes the key for all threads; copies of it become stale. No destructor is called for words of
    /// threads.
    ///
    /// # Errors
    /// [`StorageError::StaleKey`]: it has been deleted before.
    pub fn delete(self) -> Result<(), StorageError> {
        key_table::delete(self.index, self.entry, self.generation).map(drop)
    }

    #[inline]
    fn is_live(self) -> bool {
        self.entry.generation.load(Ordering::Relaxed) == self.generation
    }
}

impl fmt::Debug for StorageKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "StorageKey({}, generation {})",
            self.index, self.generation
        )
    }
}
