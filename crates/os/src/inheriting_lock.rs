//! Priority-inheriting lock that returns errors where [`PiMutex`](crate::PiMutex) panics.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::TaskId;

/// A lock without data whose owner inherits the priority of its highest waiter.
///
/// Like [`PiMutex`](crate::PiMutex) (FUTEX_LOCK_PI), with separate calls to lock and unlock, and with results
/// where a `PiMutex` panics. Without contention each takes one atomic operation and no system call.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_os::{InheritingLock, inheriting_lock::{Acquired, Refused}};
///
/// let lock = InheritingLock::new();
/// assert_eq!(lock.lock(), Ok(Acquired::Released));
/// assert_eq!(lock.try_lock_for(Duration::from_millis(1)), Err(Refused::Deadlock), "already owned");
/// assert_eq!(lock.unlock(), Ok(()));
/// ```
#[derive(Debug, Default)]
pub struct InheritingLock {
    /// 0, or the owner's kernel thread id with [`WAITERS`] and [`OWNER_DIED`]; shared with the kernel.
    word: AtomicU32,
}

/// How a lock was acquired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Acquired {
    /// It was free, or the owner released it.
    Released,
    /// The owner's thread ended without unlocking: the protected data may be inconsistent.
    Abandoned,
}

/// Why a lock was not acquired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refused {
    /// This thread owns it, or its owner waits, directly or indirectly, for a lock that this thread owns.
    Deadlock,
    /// Another thread owned it until the timeout expired.
    TimedOut,
}

/// The calling thread does not own the lock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotOwner;

impl InheritingLock {
    /// Creates an unlocked lock.
    pub const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
        }
    }

    /// Waits for the lock, without a deadline.
    ///
    /// # Errors
    /// [`Refused::Deadlock`], at once.
    pub fn lock(&self) -> Result<Acquired, Refused> {
        self.acquire(|word| futex::lock_pi2(word, futex::Flags::PRIVATE, None))
    }

    /// Waits for the lock for at most `timeout` on the monotonic clock; zero means not at all. A timeout
    /// beyond the clock's range is no limit.
    ///
    /// # Errors
    /// [`Refused::Deadlock`], at once, or [`Refused::TimedOut`].
    pub fn try_lock_for(&self, timeout: Duration) -> Result<Acquired, Refused> {
        if timeout.is_zero() {
            let attempt = |word: &AtomicU32| match futex::trylock_pi(word, futex::Flags::PRIVATE) {
                Ok(_) => Ok(()),
                // In the other calls this error requests another attempt.
                Err(Errno::AGAIN) => Err(Errno::TIMEDOUT),
                Err(error) => Err(error),
            };
            return self.acquire(attempt);
        }
        let deadline = monotonic_deadline(timeout);
        self.acquire(|word| futex::lock_pi2(word, futex::Flags::PRIVATE, deadline.as_ref()))
    }

    /// Unlocks; the waiter of the highest priority becomes the owner.
    ///
    /// # Errors
    /// [`NotOwner`]; nothing is changed.
    pub fn unlock(&self) -> Result<(), NotOwner> {
        let own = own_number();
        if self
            .word
            .compare_exchange(own, 0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
        {
            return Ok(());
        }
        if self.owner() != own {
            return Err(NotOwner);
        }
        loop {
            // Can only be interrupted: the check above has shown that this thread is the owner.
            if futex::unlock_pi(&self.word, futex::Flags::PRIVATE).is_ok() {
                return Ok(());
            }
        }
    }

    /// Returns whether a thread owns the lock.
    pub fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) != 0
    }

    fn owner(&self) -> u32 {
        self.word.load(Ordering::Relaxed) & !(WAITERS | OWNER_DIED)
    }

    fn acquire(&self, wait: impl Fn(&AtomicU32) -> Result<(), Errno>) -> Result<Acquired, Refused> {
        let own = own_number();
        let free = self
            .word
            .compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed);
        if free.is_ok() {
            return Ok(Acquired::Released);
        }
        loop {
            let seen = self.word.load(Ordering::Relaxed);
            match wait(&self.word) {
                Ok(()) => {
                    let word = self.word.fetch_and(!OWNER_DIED, Ordering::Acquire);
                    return Ok(if word & OWNER_DIED == 0 {
                        Acquired::Released
                    } else {
                        Acquired::Abandoned
                    });
                }
                Err(Errno::DEADLK) => return Err(Refused::Deadlock),
                Err(Errno::TIMEDOUT) => return Err(Refused::TimedOut),
                // The owner ended before another thread waited. The first to replace it owns the lock.
                Err(Errno::SRCH) => {
                    let left = self.word.load(Ordering::Relaxed);
                    let is_same = left & !WAITERS == seen & !WAITERS;
                    let take = || {
                        self.word
                            .compare_exchange(left, own, Ordering::Acquire, Ordering::Relaxed)
                    };
                    if is_same && take().is_ok() {
                        return Ok(Acquired::Abandoned);
                    }
                }
                // The owner is ending, or a signal arrived.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => panic!("the kernel refused FUTEX_LOCK_PI2 (Linux 5.14 or later): {error}"),
            }
        }
    }
}

const WAITERS: u32 = libc::FUTEX_WAITERS;
const OWNER_DIED: u32 = libc::FUTEX_OWNER_DIED;

/// Converts to the kernel's absolute time; `None` beyond the clock's range.
fn monotonic_deadline(wait: Duration) -> Option<Timespec> {
    let now = clock_gettime(ClockId::Monotonic);
    now.checked_add(Timespec::try_from(wait).ok()?)
}

/// Returns the calling thread's kernel id, which is requested once per thread.
fn own_number() -> u32 {
    thread_local! {
        static OWN: Cell<u32> = const { Cell::new(0) };
    }
    OWN.with(|own| {
        if own.get() == 0 {
            own.set(TaskId::current_thread().get().unsigned_abs());
        }
        own.get()
    })
}

#[cfg(test)]
mod tests;
