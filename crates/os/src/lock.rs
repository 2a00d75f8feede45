//! Mutual exclusion without priority inversion.

use priority_inheriting_lock::{PriorityInheritingLock, PriorityInheritingLockGuard};

/// A mutex whose owner runs at the priority of the highest thread that waits for it, until it lets go.
///
/// Without a waiter, locking and unlocking are one atomic operation each and no system call. With waiters the kernel
/// hands it over (FUTEX_LOCK_PI): highest priority first, in order of arrival among equals. Inheritance passes along
/// chains of owners that wait for each other's mutexes.
///
/// Keep the time that it is held short and free of anything that blocks: a waiter waits for the owner's whole
/// critical section, however high its priority.
///
/// Panics, where other mutexes would stop for ever:
/// - locking or `try_lock`ing it by the thread that already owns it;
/// - locking it when its owner has ended without unlocking (a guard was leaked).
///
/// It does not survive `fork` without `exec`: the child's thread has another number than the one that its locks and
/// thread-local state remember. Start other processes with [`std::process::Command`]. It is not for memory shared
/// between processes either. There is no poisoning: after a panic inside the critical section the next owner sees the
/// data as they were left.
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

/// The right to use what a [`PiMutex`] protects; unlocks when dropped. It stays on the thread that locked.
pub type PiMutexGuard<'a, T> = PriorityInheritingLockGuard<'a, T>;

/// A [`PiMutex`] in a constant expression; elsewhere `PiMutex::new` does.
pub const fn mutex<T>(value: T) -> PiMutex<T> {
    PiMutex::from_raw(priority_inheriting_lock::RawPriorityInheritingLock::new(), value)
}

#[cfg(test)]
mod tests;
