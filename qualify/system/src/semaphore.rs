//! POSIX semaphores.

use std::cell::UnsafeCell;
use std::io;

/// Counting semaphore (`sem_t`) for the threads of one process.
///
/// It has no owner, hence no priority inheritance; waiters are released in priority order. Measured as one of
/// the system's primitives, and used by measurements to let threads take turns.
///
/// ```
/// use punctual_system::Semaphore;
/// let semaphore = Semaphore::new(1)?;
/// assert!(semaphore.try_acquire());
/// assert!(!semaphore.try_acquire());
/// semaphore.release();
/// semaphore.acquire();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Semaphore {
    /// Not movable: the C library and the kernel use its address.
    semaphore: Box<UnsafeCell<libc::sem_t>>,
}

// SAFETY: the C library synchronises all access by several threads.
unsafe impl Send for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// Creates a semaphore that can be acquired `count` times before it blocks.
    ///
    /// # Errors
    /// `InvalidInput`: `count` is above the system's limit of 2³¹ - 1.
    pub fn new(count: u32) -> io::Result<Self> {
        // SAFETY: the type is a plain structure of integers, for which zeros are valid; it is initialised
        // next.
        let semaphore = Box::new(UnsafeCell::new(unsafe { std::mem::zeroed() }));
        // SAFETY: the pointer is valid, and no other thread has it yet.
        match unsafe { libc::sem_init(semaphore.get(), 0, count) } {
            0 => Ok(Self { semaphore }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Acquires one unit; waits without a deadline. Signals do not end the wait.
    pub fn acquire(&self) {
        loop {
            // SAFETY: it was initialised in `new` and is not destroyed before `self`.
            if unsafe { libc::sem_wait(self.semaphore.get()) } == 0 {
                return;
            }
            debug_assert_eq!(io::Error::last_os_error().kind(), io::ErrorKind::Interrupted);
        }
    }

    /// Acquires one unit if one is available.
    pub fn try_acquire(&self) -> bool {
        // SAFETY: as in `acquire`.
        unsafe { libc::sem_trywait(self.semaphore.get()) == 0 }
    }

    /// Releases one unit: the waiter of the highest priority continues. No system call without a waiter.
    ///
    /// # Panics
    /// If the count would exceed 2³¹ - 1.
    pub fn release(&self) {
        // SAFETY: as in `acquire`.
        let result = unsafe { libc::sem_post(self.semaphore.get()) };
        assert_eq!(result, 0, "a semaphore was released more than 2147483647 times");
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: as in `acquire`; nothing borrows it, so no thread waits.
        unsafe { libc::sem_destroy(self.semaphore.get()) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use punctual_types::NativePriority;

    use super::*;
    use punctual_fixtures::realtime_or_skip;
    use punctual_os::{CpuSet, PiMutex, Scheduling, ThreadSpec, affinity};

    #[test]
    fn a_released_unit_is_acquired_by_another_thread() {
        let pair = Arc::new((Semaphore::new(0).unwrap(), Semaphore::new(0).unwrap()));
        let other = Arc::clone(&pair);
        let echo = ThreadSpec::new("echo").spawn(move || {
            for _ in 0..1_000 {
                other.0.acquire();
                other.1.release();
            }
        });
        for _ in 0..1_000 {
            pair.0.release();
            pair.1.acquire();
        }
        echo.unwrap().join().unwrap();
        assert!(!pair.0.try_acquire() && !pair.1.try_acquire());
    }

    #[test]
    fn a_count_beyond_the_limit_is_refused() {
        assert_eq!(
            Semaphore::new(u32::MAX).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }

    #[test]
    fn the_highest_priority_is_released_first() {
        if !realtime_or_skip() {
            return;
        }
        let cpu = affinity::current().iter().next().unwrap();
        let fifo = move |name: &str, priority| {
            ThreadSpec::new(name)
                .scheduling(Scheduling::fifo(NativePriority(priority)))
                .affinity(CpuSet::single(cpu))
        };
        let order = fifo("releases", 2).spawn(move || {
            let semaphore = Arc::new(Semaphore::new(0).unwrap());
            let order = Arc::new(PiMutex::new(Vec::new()));
            let waiters = [5, 9, 3, 7].map(|priority| {
                let (semaphore, order) = (Arc::clone(&semaphore), Arc::clone(&order));
                // Above the starting thread, so that it waits before that one continues.
                let wait = move || {
                    semaphore.acquire();
                    order.lock().push(priority);
                };
                fifo("waits", priority).spawn(wait).unwrap()
            });
            (0..4).for_each(|_| semaphore.release());
            waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
            order.lock().clone()
        });
        assert_eq!(order.unwrap().join().unwrap(), [9, 7, 5, 3]);
    }
}
