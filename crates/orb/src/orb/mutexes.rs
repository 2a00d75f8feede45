//! Mutexes of an ORB: `RTCORBA::RTORB::create_mutex` and the operations on named mutexes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use punctual_os::SchedulingClass;
use punctual_types::Priority;

use super::Orb;
use crate::{Mutex, MutexInUse, MutexNotFound, OrbError, notice};

impl Orb {
    /// Creates a mutex whose owner inherits the priority of the highest waiter: `create_mutex`.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let (first, second) = (orb.create_mutex(), orb.create_mutex());
    /// let guards = (first.lock()?, second.lock()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_mutex(&self) -> Mutex {
        Mutex::new(None)
    }

    /// Creates a mutex whose owner runs at `ceiling` from before it locks until after it unlocks: the
    /// immediate ceiling protocol. The ceiling is the highest priority of all threads that use the mutex;
    /// locking at a higher priority fails with [`crate::LockError::AboveCeiling`]. On one CPU no thread waits
    /// for the owner of such a mutex, and cyclic locking cannot deadlock. The first mutex that a thread locks
    /// costs three system calls, each further one at most one, and each unlock at most one. Without the right
    /// to real-time scheduling, or if the ORB uses the ordinary class, the mutex has priority inheritance
    /// instead.
    ///
    /// # Errors
    /// [`OrbError::PriorityUnmappable`].
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{LockError, Orb};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let ceiling = Priority::new(20_000)?;
    /// let mutex = orb.create_mutex_with_ceiling(ceiling)?;
    /// orb.current().set_priority(ceiling)?;
    /// drop(mutex.lock()?);
    /// orb.current().set_priority(Priority::MAX)?;
    /// if orb.threadpool().build()?.is_realtime() {
    ///     assert!(matches!(mutex.lock(), Err(LockError::AboveCeiling { .. })));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_mutex_with_ceiling(&self, ceiling: Priority) -> Result<Mutex, OrbError> {
        let core = self.core();
        let native = core
            .configuration
            .mapping
            .to_native(ceiling)
            .ok_or(OrbError::PriorityUnmappable(ceiling))?;
        if core.configuration.scheduling_class == SchedulingClass::Other {
            return Ok(self.create_mutex());
        }
        // The threads that lock it will be in a real-time class.
        notice::enter_realtime(core.configuration.lock_memory);
        Ok(Mutex::new(Some(native)))
    }

    /// Returns the mutex with this name, and whether this call has created it: `create_named_mutex`. Each ORB
    /// has its own names.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let (mutex, created) = orb.create_named_mutex("antenna");
    /// assert!(created);
    /// let (same, created) = orb.create_named_mutex("antenna");
    /// assert!(!created);
    /// let guard = mutex.lock()?;
    /// assert!(same.lock().is_err(), "both are the same mutex");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_named_mutex(&self, name: &str) -> (Mutex, bool) {
        let mut named = self.core().mutexes.by_name.lock();
        if let Some(mutex) = named.get(name) {
            return (mutex.clone(), false);
        }
        let mutex = self.create_mutex();
        named.insert(name.to_owned(), mutex.clone());
        (mutex, true)
    }

    /// Returns the mutex with this name: `open_named_mutex`.
    ///
    /// # Errors
    /// [`MutexNotFound`].
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.open_named_mutex("antenna").is_err());
    /// orb.create_named_mutex("antenna");
    /// orb.open_named_mutex("antenna")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_named_mutex(&self, name: &str) -> Result<Mutex, MutexNotFound> {
        let named = self.core().mutexes.by_name.lock();
        named
            .get(name)
            .cloned()
            .ok_or_else(|| MutexNotFound(name.to_owned()))
    }

    /// Destroys a mutex for all its users and releases its name: `destroy_mutex`. Later locks fail with
    /// [`crate::LockError::Destroyed`]. This is not necessary to free memory, which the last clone does.
    ///
    /// # Errors
    /// [`MutexInUse`], without effect. Destroying a destroyed mutex is not an error.
    ///
    /// ```
    /// # use punctual_orb::{LockError, Orb};
    /// let orb = Orb::builder().build()?;
    /// let (mutex, _) = orb.create_named_mutex("antenna");
    /// orb.destroy_mutex(&mutex)?;
    /// assert!(matches!(mutex.lock(), Err(LockError::Destroyed)));
    /// assert!(orb.open_named_mutex("antenna").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn destroy_mutex(&self, mutex: &Mutex) -> Result<(), MutexInUse> {
        let core = &mutex.core;
        let mut named = self.core().mutexes.by_name.lock();
        // Not through the guard: the ceiling applies to users of the mutex only.
        core.lock.try_lock_for(Duration::ZERO).map_err(|_| MutexInUse)?;
        core.destroyed.store(true, Ordering::Relaxed);
        named.retain(|_, other| !Arc::ptr_eq(&other.core, core));
        core.lock.unlock().expect("it was locked above");
        Ok(())
    }
}
