//! Mutexes with priority inheritance or a priority ceiling, and their errors.

use std::{
    collections::HashMap,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use punctual_os::{
    InheritingLock, PiMutex,
    ceiling::{self, RaiseError, Raised},
    inheriting_lock::{Acquired, Refused},
};
use punctual_types::{Completion, Minor, NativePriority, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::notice;

/// Mutex without priority inversion for servants and clients, `RTCORBA::Mutex`.
///
/// Its owner inherits the priority of the highest waiting thread, or runs at the mutex's ceiling
/// ([`crate::Orb::create_mutex_with_ceiling`]). Waiters acquire it in order of priority, then of arrival.
/// Without contention and ceiling, locking and unlocking are one atomic operation each. Clones share the
/// mutex. It contains no data. If the protected data is a Rust value, a mutex that contains it is the better
/// choice; this one protects external resources: a device, a file, a sequence of calls.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::Orb;
///
/// let orb = Orb::builder().build()?;
/// let antenna = orb.create_mutex();
/// {
///     let _turning = antenna.lock()?;
///     // No other thread turns it now.
/// }
/// assert!(antenna.try_lock(std::time::Duration::ZERO)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Mutex {
    pub(crate) core: Arc<MutexCore>,
}

pub(crate) struct MutexCore {
    pub(crate) lock: InheritingLock,
    /// Native priority of the ceiling.
    ceiling: Option<NativePriority>,
    pub(crate) destroyed: AtomicBool,
}

impl Mutex {
    pub(crate) fn new(ceiling: Option<NativePriority>) -> Self {
        Self {
            core: Arc::new(MutexCore {
                lock: InheritingLock::new(),
                ceiling,
                destroyed: AtomicBool::new(false),
            }),
        }
    }

    /// Locks the mutex, waiting without a timeout; dropping the guard unlocks it.
    ///
    /// # Errors
    /// [`LockError`], without waiting.
    ///
    /// ```
    /// # use punctual_orb::{LockError, Orb};
    /// let orb = Orb::builder().build()?;
    /// let mutex = orb.create_mutex();
    /// let guard = mutex.lock()?;
    /// assert!(matches!(mutex.lock(), Err(LockError::Deadlock)), "it would wait for itself");
    /// drop(guard);
    /// assert!(mutex.lock().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock(&self) -> Result<MutexGuard<'_>, LockError> {
        let locked = self.acquire(InheritingLock::lock)?;
        Ok(locked.expect("only a wait with a timeout can end without the mutex"))
    }

    /// Locks the mutex, waiting for at most `max_wait`; returns `None` on timeout. If it is zero, this does
    /// not wait. The CORBA operation has a resolution of 100 ns, this one a resolution of 1 ns on the
    /// monotonic clock.
    ///
    /// # Errors
    /// [`LockError`], without waiting.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use std::{thread, time::Duration};
    ///
    /// let orb = Orb::builder().build()?;
    /// let mutex = orb.create_mutex();
    /// let guard = mutex.lock()?;
    /// thread::scope(|scope| {
    ///     let timed_out = || mutex.try_lock(Duration::from_millis(2)).is_ok_and(|guard| guard.is_none());
    ///     let other = scope.spawn(timed_out);
    ///     assert!(other.join().unwrap(), "it timed out");
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_lock(&self, max_wait: Duration) -> Result<Option<MutexGuard<'_>>, LockError> {
        self.acquire(|lock| lock.try_lock_for(max_wait))
    }

    fn acquire(
        &self,
        wait: impl FnOnce(&InheritingLock) -> Result<Acquired, Refused>,
    ) -> Result<Option<MutexGuard<'_>>, LockError> {
        // Raised before the lock is taken, so that its owner never runs below the ceiling.
        let raised = self.core.ceiling.map(raise).transpose()?;
        let acquired = match wait(&self.core.lock) {
            Ok(acquired) => acquired,
            Err(Refused::TimedOut) => return Ok(None),
            Err(Refused::Deadlock) => return Err(LockError::Deadlock),
        };
        let guard = MutexGuard {
            mutex: self,
            abandoned: acquired == Acquired::Abandoned,
            _raised: raised.flatten(),
            on_this_thread: PhantomData,
        };
        // A mutex is destroyed with the lock held, so its owner sees the flag.
        if self.core.destroyed.load(Ordering::Relaxed) {
            return Err(LockError::Destroyed);
        }
        Ok(Some(guard))
    }
}

/// Raises the thread to the ceiling. Returns `None` without the right to do so, and reports this once on
/// standard error.
fn raise(ceiling: NativePriority) -> Result<Option<Raised>, LockError> {
    match ceiling::raise(ceiling) {
        Ok(raised) => Ok(Some(raised)),
        Err(RaiseError::AboveCeiling { own, ceiling }) => Err(LockError::AboveCeiling { own, ceiling }),
        Err(RaiseError::Os(_)) => {
            notice::realtime_denied();
            Ok(None)
        }
    }
}

/// Guard of a locked [`Mutex`], which unlocks it when dropped. It cannot leave the thread that locked the
/// mutex.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::Orb;
///
/// let orb = Orb::builder().build()?;
/// let mutex = orb.create_mutex();
/// let guard = mutex.lock()?;
/// assert!(!guard.is_abandoned(), "its previous owner unlocked it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct MutexGuard<'m> {
    mutex: &'m Mutex,
    abandoned: bool,
    /// Restored after unlocking, since fields are dropped after `drop` has run.
    _raised: Option<Raised>,
    on_this_thread: PhantomData<*const ()>,
}

impl MutexGuard<'_> {
    /// Returns whether the previous owner ended without unlocking, so that the protected state may be
    /// inconsistent. This happens only if the guard was leaked; a panic unlocks the mutex.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let mutex = orb.create_mutex();
    /// let leaks = mutex.clone();
    /// std::thread::spawn(move || std::mem::forget(leaks.lock())).join().unwrap();
    /// assert!(mutex.lock()?.is_abandoned());
    /// assert!(!mutex.lock()?.is_abandoned(), "it is reported once");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }
}

impl Drop for MutexGuard<'_> {
    fn drop(&mut self) {
        let unlocked = self.mutex.core.lock.unlock();
        debug_assert!(
            unlocked.is_ok(),
            "the guard stays on the thread that locked the mutex"
        );
    }
}

/// Reason why a [`Mutex`] was not locked.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{LockError, Minor, Orb, SystemException};
///
/// let orb = Orb::builder().build()?;
/// let mutex = orb.create_mutex();
/// let guard = mutex.lock();
/// let error = mutex.lock().map(drop).unwrap_err();
/// assert_eq!(error, LockError::Deadlock);
/// // Inside a servant `?` makes a system exception of it.
/// assert_eq!(SystemException::from(error).minor, Minor::MUTEX_DEADLOCK);
/// # drop(guard);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum LockError {
    /// The calling thread's native priority is above the ceiling.
    #[error(
        "the calling thread's native priority {own} is above the mutex's ceiling {ceiling}; \
         create the mutex with the highest priority of all threads that use it"
    )]
    AboveCeiling {
        /// Native priority of the thread, regardless of other ceilings.
        own: NativePriority,
        /// Ceiling of the mutex.
        ceiling: NativePriority,
    },
    /// This thread owns the mutex, or the owner waits, directly or through further mutexes, for this thread.
    #[error("the calling thread would wait for itself: it owns this mutex or one that the owner waits for")]
    Deadlock,
    /// The mutex has been destroyed with [`crate::Orb::destroy_mutex`].
    #[error("the mutex has been destroyed")]
    Destroyed,
}

punctual_types::debug_as_display!(LockError, MutexNotFound, MutexInUse);

impl From<LockError> for SystemException {
    fn from(error: LockError) -> Self {
        let (kind, minor) = match error {
            LockError::AboveCeiling { .. } => (SystemExceptionKind::BadParam, Minor::NONE),
            LockError::Deadlock => (SystemExceptionKind::BadInvOrder, Minor::MUTEX_DEADLOCK),
            LockError::Destroyed => (SystemExceptionKind::ObjectNotExist, Minor::NONE),
        };
        Self::new(kind, minor, Completion::No)
    }
}

/// Error: no mutex has this name, `RTCORBA::RTORB::MutexNotFound`.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{MutexNotFound, Orb};
///
/// let orb = Orb::builder().build()?;
/// assert_eq!(orb.open_named_mutex("antenna").err(), Some(MutexNotFound("antenna".to_owned())));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Eq, Error, PartialEq)]
#[error("this ORB has no mutex named `{0}`; create it with `create_named_mutex`")]
pub struct MutexNotFound(pub String);

/// Error: a mutex could not be destroyed because a thread has locked it.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{MutexInUse, Orb};
///
/// let orb = Orb::builder().build()?;
/// let mutex = orb.create_mutex();
/// let guard = mutex.lock();
/// assert_eq!(orb.destroy_mutex(&mutex), Err(MutexInUse));
/// drop(guard);
/// assert_eq!(orb.destroy_mutex(&mutex), Ok(()));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Eq, Error, PartialEq)]
#[error("the mutex is locked by a thread; destroy it after it has been unlocked")]
pub struct MutexInUse;

/// The named mutexes of an ORB.
#[derive(Default)]
pub(crate) struct Mutexes {
    pub(crate) by_name: PiMutex<HashMap<String, Mutex>>,
}
