use std::{fmt, mem, sync::Arc};

use punctual_os::PiMutex;

use super::{StorageError, StorageKey};

/// A key to an object of each distributable thread: for what does not fit into a [`WordKey`](super::WordKey).
///
/// Objects are shared, because a caller whose call has timed out and the upcall that this has left behind may both be at work for
/// one distributable thread: what changes inside wants an atomic or a lock. Reading and writing lock a mutex that inherits priority,
/// for a few instructions; writing allocates for the object. Cloning the key shares it.
///
/// ```
/// use punctual_rtsched::storage::{ObjectKey, StorageError, ThreadStorage};
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
    /// Its word is a place in the table.
    key: StorageKey,
    table: Arc<PiMutex<Table<T>>>,
}

/// Objects of all threads under one key.
struct Table<T> {
    places: Vec<Option<Arc<T>>>,
    free: Vec<usize>,
}

impl<T: Send + Sync + 'static> ObjectKey<T> {
    /// A key under which no thread has an object, with room for those of so many threads. With more the table grows.
    ///
    /// The objects of a thread that ends are dropped, the one under the key that was made last first.
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

    /// The object of the distributable thread that runs here; `None` where it has none.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn get(&self) -> Result<Option<Arc<T>>, StorageError> {
        let Some(word) = self.key.get()? else {
            return Ok(None);
        };
        Ok(self.table.lock().places.get(word as usize).cloned().flatten())
    }

    /// The object of the distributable thread that runs here; where it has none, what `first` makes.
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

    /// Gives the distributable thread that runs here an object, in place of the one it had, which is dropped.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn set(&self, object: T) -> Result<(), StorageError> {
        // Before it is made into something that has to be dropped.
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

    /// Takes the object away from the distributable thread that runs here, and gives it to the caller.
    ///
    /// # Errors
    /// [`StorageError::NoDistributableThread`], [`StorageError::StaleKey`].
    pub fn take(&self) -> Result<Option<Arc<T>>, StorageError> {
        let Some(word) = self.key.take()? else {
            return Ok(None);
        };
        Ok(self.table.lock().remove(word as usize))
    }

    /// Deletes the key for all threads, and drops the objects that they have; clones of it are stale.
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
        // As much room, so that removing allocates nothing.
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
