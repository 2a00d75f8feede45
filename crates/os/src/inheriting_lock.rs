//! Mutual exclusion that answers where [`PiMutex`](crate::PiMutex) panics.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::TaskId;

/// A lock without data whose owner inherits the priority of the highest thread that waits for it.
///
/// As [`PiMutex`](crate::PiMutex) (FUTEX_LOCK_PI), for those who lock and unlock in separate calls: what a `PiMutex` panics
/// at is a result here. Without contention it costs one atomic operation each way and no system call.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_os::{InheritingLock, inheriting_lock::{Acquired, Refused}};
///
/// let lock = InheritingLock::new();
/// assert_eq!(lock.lock(), Ok(Acquired::Released));
/// assert_eq!(lock.try_lock_for(Duration::from_millis(1)), Err(Refused::Deadlock), "it is ours already");
/// assert_eq!(lock.unlock(), Ok(()));
/// ```
#[derive(Debug, Default)]
pub struct InheritingLock {
    /// 0, or the kernel's number of the owner with [`WAITERS`] and [`OWNER_DIED`]; shared with the kernel.
    word: AtomicU32,
}

/// How a lock was acquired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Acquired {
    /// Nobody had it, or the owner let go.
    Released,
    /// The owner's thread has ended without unlocking: what the lock protects may be half done.
    Abandoned,
}

/// Why a lock was not acquired.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refused {
    /// This thread has it, or its owner waits for a lock that this thread has, over however many threads.
    Deadlock,
    /// Another thread has it, to the end of the time given.
    TimedOut,
}

/// The lock is not this thread's.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NotOwner;

impl InheritingLock {
    /// Nobody has it.
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

    /// Waits for the lock for `max_wait` at most, on the monotonic clock; with zero not at all. A time beyond the clock's end is
    /// no limit.
    ///
    /// # Errors
    /// [`Refused::Deadlock`], at once, or [`Refused::TimedOut`].
    pub fn try_lock_for(&self, max_wait: Duration) -> Result<Acquired, Refused> {
        if max_wait.is_zero() {
            let attempt = |word: &AtomicU32| match futex::trylock_pi(word, futex::Flags::PRIVATE) {
                Ok(_) => Ok(()),
                // Elsewhere it asks for another attempt.
                Err(Errno::AGAIN) => Err(Errno::TIMEDOUT),
                Err(error) => Err(error),
            };
            return self.acquire(attempt);
        }
        let deadline = monotonic_deadline(max_wait);
        self.acquire(|word| futex::lock_pi2(word, futex::Flags::PRIVATE, deadline.as_ref()))
    }

    /// Lets go; the waiter of the highest priority has it next.
    ///
    /// # Errors
    /// [`NotOwner`]; nothing has changed then.
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
            // Interrupted only: the kernel was shown above that the lock is this thread's.
            if futex::unlock_pi(&self.word, futex::Flags::PRIVATE).is_ok() {
                return Ok(());
            }
        }
    }

    /// Whether some thread has it.
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
                // The owner had ended before anybody waited. Whoever takes its place first has the lock.
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
                // The owner is just ending, or a signal came.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => panic!("the kernel refused FUTEX_LOCK_PI2 (Linux 5.14 or later): {error}"),
            }
        }
    }
}

const WAITERS: u32 = libc::FUTEX_WAITERS;
const OWNER_DIED: u32 = libc::FUTEX_OWNER_DIED;

/// A point in time as the kernel compares it; `None` where the clock does not reach that far.
fn monotonic_deadline(wait: Duration) -> Option<Timespec> {
    let now = clock_gettime(ClockId::Monotonic);
    now.checked_add(Timespec::try_from(wait).ok()?)
}

/// The calling thread as the kernel numbers it, asked for once.
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
