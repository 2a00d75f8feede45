//! The mutex with priority inheritance.

use priority_inheriting_lock::{PriorityInheritingLock, PriorityInheritingLockGuard};

/// A mutex whose owner inherits the priority of its highest waiter until it unlocks.
///
/// Without a waiter, locking and unlocking take one atomic operation each and no system call. With waiters,
/// the kernel passes ownership on (FUTEX_LOCK_PI): highest priority first, FIFO among equals. Inheritance is
/// transitive along chains of owners that wait for other mutexes.
///
/// Keep critical sections short and free of blocking operations: a waiter of any priority waits for the
/// owner's whole critical section.
///
/// Panics, where other mutexes would block forever, when
/// - the owner locks or `try_lock`s it again;
/// - a thread locks it after its owner has ended without unlocking (a guard was leaked).
///
/// It does not survive `fork` without `exec`: the child's thread id differs from the one stored in its locks
/// and thread-local state. Start processes with [`std::process::Command`]. It must not be in memory shared
/// between processes. There is no poisoning: after a panic inside a critical section the next owner sees the
/// data as they are.
///
/// `try_lock_for` and `try_lock_until` wait on the monotonic clock (FUTEX_LOCK_PI2, Linux 5.14).
///
/// ```
/// use punctual_os::PiMutex;
/// static CONNECTIONS: PiMutex<Vec<u32>> = punctual_os::lock::mutex(Vec::new());
/// CONNECTIONS.lock().push(7);
/// assert_eq!(CONNECTIONS.lock().len(), 1);
/// ```
pub type PiMutex<T> = PriorityInheritingLock<T>;

/// Access to the data of a [`PiMutex`]; unlocks when dropped. Not `Send`.
pub type PiMutexGuard<'a, T> = PriorityInheritingLockGuard<'a, T>;

/// Creates a [`PiMutex`] in a constant expression; `PiMutex::new` is not `const`.
pub const fn mutex<T>(value: T) -> PiMutex<T> {
    PiMutex::from_raw(priority_inheriting_lock::RawPriorityInheritingLock::new(), value)
}

#[cfg(test)]
mod tests;
