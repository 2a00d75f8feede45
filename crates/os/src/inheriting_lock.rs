//! Priority-inheriting lock that returns errors where [`PiMutex`](crate::PiMutex) panics.

mod owner;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::{ClockId, Timespec, clock_gettime};

use self::owner::Owner;

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
    /// [`Owner`], stated by the owner itself, after it has acquired the lock and until it releases it.
    owner: AtomicU64,
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
            owner: AtomicU64::new(0),
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
        let own = Owner::current();
        if self.owner() != own {
            return Err(NotOwner);
        }
        // Before the release, so that the next owner is never taken for this one.
        self.state(Owner::UNKNOWN);
        let released = self
            .word
            .compare_exchange(own.id(), 0, Ordering::Release, Ordering::Relaxed);
        if released.is_ok() {
            return Ok(());
        }
        loop {
            // Can only be interrupted: this thread is the owner.
            if futex::unlock_pi(&self.word, futex::Flags::PRIVATE).is_ok() {
                return Ok(());
            }
        }
    }

    /// Returns whether a thread owns the lock.
    pub fn is_locked(&self) -> bool {
        self.word.load(Ordering::Relaxed) != 0
    }

    fn owner(&self) -> Owner {
        Owner::from_bits(self.owner.load(Ordering::Relaxed))
    }

    fn state(&self, owner: Owner) {
        self.owner.store(owner.bits(), Ordering::Relaxed);
    }

    fn acquire(&self, wait: impl Fn(&AtomicU32) -> Result<(), Errno>) -> Result<Acquired, Refused> {
        let own = Owner::current();
        let free = self
            .word
            .compare_exchange(0, own.id(), Ordering::Acquire, Ordering::Relaxed);
        if free.is_ok() {
            self.state(own);
            return Ok(Acquired::Released);
        }
        loop {
            let seen = self.word.load(Ordering::Acquire);
            if self.is_abandoned(seen, own) && self.succeed(seen, own) {
                return Ok(Acquired::Abandoned);
            }
            match wait(&self.word) {
                Ok(()) => {
                    self.state(own);
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
                    if left & !WAITERS == seen & !WAITERS && self.succeed(left, own) {
                        return Ok(Acquired::Abandoned);
                    }
                }
                // The owner is ending, or a signal arrived.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => panic!("the kernel refused FUTEX_LOCK_PI2 (Linux 5.14 or later): {error}"),
            }
        }
    }

    /// Returns whether the owner in `seen` has ended, although a thread with its id may exist. The kernel
    /// would let that thread pass for the owner: others would wait until it ends.
    #[cold]
    fn is_abandoned(&self, seen: u32, own: Owner) -> bool {
        let owner = self.owner();
        // An owner that has not stated itself has not ended.
        let is_stated = seen & (ID | OWNER_DIED) == owner.id() && owner != own;
        is_stated && (owner.id() == own.id() || owner.has_ended())
    }

    /// Replaces an owner that has ended, for which no thread waits. `false`: the lock has changed.
    fn succeed(&self, seen: u32, own: Owner) -> bool {
        // With the id of its predecessor, it marks the lock, so that only one thread succeeds.
        let mark = if seen & ID == own.id() { OWNER_DIED } else { 0 };
        let taken = self
            .word
            .compare_exchange(seen, own.id() | mark, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_ok() {
            self.state(own);
            self.word.fetch_and(!mark, Ordering::Relaxed);
        }
        taken.is_ok()
    }
}

const WAITERS: u32 = libc::FUTEX_WAITERS;
const OWNER_DIED: u32 = libc::FUTEX_OWNER_DIED;
const ID: u32 = !(WAITERS | OWNER_DIED);

/// Converts to the kernel's absolute time; `None` beyond the clock's range.
fn monotonic_deadline(wait: Duration) -> Option<Timespec> {
    let now = clock_gettime(ClockId::Monotonic);
    now.checked_add(Timespec::try_from(wait).ok()?)
}

#[cfg(test)]
mod tests;
