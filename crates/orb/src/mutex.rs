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

/// A mutex for servants and clients that does not invert priorities: `RTCORBA::Mutex`.
///
/// Its owner inherits the priority of the highest thread that waits, or runs at the mutex's ceiling
/// ([`crate::Orb::create_mutex_with_ceiling`]). Waiters get it highest priority first, in order of arrival among equals. Without
/// contention and ceiling, locking and unlocking are one atomic operation each. Cloning shares it.
///
/// It protects no data of its own. Where Rust can hold the data, a mutex around them is the better choice; this one is for what
/// lies outside: a device, a file, a sequence of calls.
///
/// ```
/// use punctual_orb::Orb;
///
/// let orb = Orb::builder().build()?;
/// let antenna = orb.create_mutex();
/// {
///     let _turning = antenna.lock()?;
///     // Nobody else turns it now.
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
    /// Native.
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

    /// Waits for the mutex, without a deadline; dropping the guard unlocks it.
    ///
    /// # Errors
    /// [`LockError`], at once.
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
        Ok(locked.expect("only a wait with a deadline ends without the mutex"))
    }

    /// Waits for the mutex for `max_wait` at most, with zero not at all; `None` where another thread has it to the end.
    ///
    /// The CORBA operation counts in units of 100 ns; this one to the nanosecond, on the monotonic clock.
    ///
    /// # Errors
    /// [`LockError`], at once.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use std::{thread, time::Duration};
    ///
    /// let orb = Orb::builder().build()?;
    /// let mutex = orb.create_mutex();
    /// let guard = mutex.lock()?;
    /// thread::scope(|scope| {
    ///     let other = scope.spawn(|| mutex.try_lock(Duration::from_millis(2)).is_ok_and(|guard| guard.is_none()));
    ///     assert!(other.join().unwrap(), "it gave up");
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
        // Before the lock is taken: who has it is never below the ceiling.
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
        // It is destroyed with the lock held, so whoever has it knows.
        if self.core.destroyed.load(Ordering::Relaxed) {
            return Err(LockError::Destroyed);
        }
        Ok(Some(guard))
    }
}

/// `None` where the process has no right to the ceiling, which standard error then says once.
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

/// The right to what a [`Mutex`] protects; unlocks when dropped. It stays on the thread that locked.
///
/// ```
/// use punctual_orb::Orb;
///
/// let orb = Orb::builder().build()?;
/// let mutex = orb.create_mutex();
/// let guard = mutex.lock()?;
/// assert!(!guard.is_abandoned(), "whoever had it before let go in order");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct MutexGuard<'m> {
    mutex: &'m Mutex,
    abandoned: bool,
    /// Given back after the lock: fields are dropped when `drop` has run.
    _raised: Option<Raised>,
    on_this_thread: PhantomData<*const ()>,
}

impl MutexGuard<'_> {
    /// Whether the thread that had it before has ended without unlocking, so that what it protects may be half done.
    ///
    /// That takes a guard that was leaked; a panic unlocks.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let mutex = orb.create_mutex();
    /// let leaks = mutex.clone();
    /// std::thread::spawn(move || std::mem::forget(leaks.lock())).join().unwrap();
    /// assert!(mutex.lock()?.is_abandoned());
    /// assert!(!mutex.lock()?.is_abandoned(), "it has been seen");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }
}

impl Drop for MutexGuard<'_> {
    fn drop(&mut self) {
        let unlocked = self.mutex.core.lock.unlock();
        debug_assert!(unlocked.is_ok(), "the guard is on the thread that locked");
    }
}

/// Why a [`Mutex`] was not locked.
///
/// ```
/// use punctual_orb::{LockError, Orb};
/// use punctual_types::{Minor, SystemException};
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
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum LockError {
    /// The calling thread's native priority is above the ceiling.
    #[error(
        "the calling thread's native priority {own} is above the mutex's ceiling {ceiling}; \
         create the mutex with the highest priority of all threads that use it"
    )]
    AboveCeiling {
        /// The thread's own, without that of other ceilings.
        own: NativePriority,
        /// The mutex's.
        ceiling: NativePriority,
    },
    /// This thread has it, or its owner waits, over however many mutexes, for this thread.
    #[error("the calling thread would wait for itself: it has this mutex, or one that the owner waits for")]
    Deadlock,
    /// [`crate::Orb::destroy_mutex`] has ended it.
    #[error("the mutex has been destroyed")]
    Destroyed,
}

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

/// No mutex has this name: `RTCORBA::RTORB::MutexNotFound`.
///
/// ```
/// use punctual_orb::{MutexNotFound, Orb};
///
/// let orb = Orb::builder().build()?;
/// assert_eq!(orb.open_named_mutex("antenna").err(), Some(MutexNotFound("antenna".to_owned())));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("no mutex of this ORB has the name `{0}`; make it with `create_named_mutex`")]
pub struct MutexNotFound(pub String);

/// A mutex could not be destroyed, because some thread has it.
///
/// ```
/// use punctual_orb::{MutexInUse, Orb};
///
/// let orb = Orb::builder().build()?;
/// let mutex = orb.create_mutex();
/// let guard = mutex.lock();
/// assert_eq!(orb.destroy_mutex(&mutex), Err(MutexInUse));
/// drop(guard);
/// assert_eq!(orb.destroy_mutex(&mutex), Ok(()));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("a thread has the mutex; destroy it when all have let go")]
pub struct MutexInUse;

/// The named mutexes of an ORB.
#[derive(Default)]
pub(crate) struct Mutexes {
    pub(crate) by_name: PiMutex<HashMap<String, Mutex>>,
}
