//! Keys to objects.

use std::{fmt, mem, sync::Arc};

use punctual_os::PiMutex;

use super::{StorageError, StorageKey};

/// A key to an object of each distributable thread, for values that do not fit into a
/// [`WordKey`](super::WordKey).
///
/// Objects are shared, because a caller whose call has timed out and the upcall that it has abandoned may run
/// concurrently for one distributable thread: mutable state requires an atomic or a lock. Reads and writes
/// lock a mutex that inherits priority, for a few instructions; writes allocate the object. Clones share the
/// key.
///
/// ```
/// # mod punctual { pub(crate) use punctual_rtsched as rtscheduling; }
/// use punctual::rtscheduling::storage::{ObjectKey, StorageError, ThreadStorage};
///
/// let route = ObjectKey::<Vec<String>>::new(16)?;
/// ThreadStorage::new().enter(|| {
///     route.set(vec!["radar".to_owned()])?;
///     assert_eq!(route.get()?.unwrap().len(), 1);
///     Ok::<(), StorageError>(())
/// })?;
/// # Ok::<(), StorageError>(())
/// ```
pub struct ObjectKey<T> {
    /// Its word is an index into the table.
    key: StorageKey,
    table: Arc<PiMutex<Table<T>>>,
}

/// Objects of all threads under one key.
struct Table<T> {
    places: Vec<Option<Arc<T>>>,
    free: Vec<usize>,
}

impl<T: Send + Sync + 'static> ObjectKey<T> {
    /// Creates a key under which no thread has an object, with memory for `room` threads; the table grows
    /// above that.
    ///
    /// When a thread ends, its objects are dropped in reverse order of the creation of their keys.
    ///
    /// # Errors
    /// [`StorageError::TooManyKeys`].
    pub fn new(threads: usize) -> Result<Self, StorageError> {
        let table = Arc::new(PiMutex::new(Table {
            places: Vec::with_capacity(threads),
            free: Vec::with_capacity(threads),
        }));
        let of_destructor = Arc::clone(&table);
        let key = StorageKey::with_destructor(move |word| {
            let object = of_destructor.lock().remove(word as usize);
            drop(object);
        })?;
        Ok(Self { key, table })
    }

    /// Returns the object of the current distributable thread, if it has one.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn get(&self) -> Result<Option<Arc<T>>, StorageError> {
        let Some(word) = self.key.get()? else {
            return Ok(None);
        };
        Ok(self.table.lock().places.get(word as usize).cloned().flatten())
    }

    /// Returns the object of the current distributable thread; without one, stores the result of `first`.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn get_or_set(&self, first: impl FnOnce() -> T) -> Result<Arc<T>, StorageError> {
        if let Some(object) = self.get()? {
            return Ok(object);
        }
        let object = Arc::new(first());
        self.put(Arc::clone(&object))?;
        Ok(object)
    }

    /// Sets the object of the current distributable thread; the previous one is dropped.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn set(&self, object: T) -> Result<(), StorageError> {
        // Checked before the object is put into the table.
        self.key.get()?;
        self.put(Arc::new(object))
    }

    fn put(&self, object: Arc<T>) -> Result<(), StorageError> {
        let replaced = match self.key.get()? {
            Some(word) => self.table.lock().replace(word as usize, object),
            None => {
                let place = self.table.lock().insert(object);
                self.key.set(place as u64)?;
                None
            }
        };
        drop(replaced);
        Ok(())
    }

    /// Removes the object of the current distributable thread, and returns it.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn take(&self) -> Result<Option<Arc<T>>, StorageError> {
        let Some(word) = self.key.take()? else {
            return Ok(None);
        };
        Ok(self.table.lock().remove(word as usize))
    }

    /// Deletes the key for all threads, and drops their objects; clones of the key become stale.
    ///
    /// # Errors
    /// [`StorageError::StaleKey`]: it has been deleted before.
    pub fn delete(&self) -> Result<(), StorageError> {
        self.key.delete()?;
        let objects = mem::replace(
            &mut *self.table.lock(),
            Table {
                places: Vec::new(),
                free: Vec::new(),
            },
        );
        drop(objects);
        Ok(())
    }
}

impl<T> Table<T> {
    fn insert(&mut self, object: Arc<T>) -> usize {
        if let Some(place) = self.free.pop() {
            self.places[place] = Some(object);
            return place;
        }
        self.places.push(Some(object));
        // The same capacity, so that removing does not allocate.
        self.free.reserve(self.places.len());
        self.places.len() - 1
    }

    fn replace(&mut self, place: usize, object: Arc<T>) -> Option<Arc<T>> {
        self.places.get_mut(place)?.replace(object)
    }

    fn remove(&mut self, place: usize) -> Option<Arc<T>> {
        let object = self.places.get_mut(place)?.take()?;
        self.free.push(place);
        Some(object)
    }
}

impl<T> Clone for ObjectKey<T> {
    fn clone(&self) -> Self {
        Self {
            key: self.key,
            table: Arc::clone(&self.table),
        }
    }
}

impl<T> fmt::Debug for ObjectKey<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ObjectKey")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
