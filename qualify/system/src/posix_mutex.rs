//! POSIX mutexes with each of their protocols against priority inversion.
//!
//! Used to measure the system's primitives, and to show the effect of a missing protocol. The ORB uses
//! [`PiMutex`](punctual_os::PiMutex) and [`InheritingLock`](punctual_os::InheritingLock).

use std::cell::UnsafeCell;
use std::io;
use std::marker::PhantomData;

use punctual_types::NativePriority;

/// Protocol that determines the owner's priority.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Protocol {
    /// PTHREAD_PRIO_NONE: unchanged, so waiters also wait for every thread that preempts the owner.
    None,
    /// PTHREAD_PRIO_INHERIT: that of the highest waiter.
    Inherit,
    /// PTHREAD_PRIO_PROTECT: this ceiling, 1 to 99. For threads of a real-time class only.
    Protect(NativePriority),
}

/// Mutex without data (`pthread_mutex_t`, PTHREAD_MUTEX_NORMAL): locking it twice in one thread blocks for
/// ever.
///
/// ```
/// use punctual_system::posix_mutex::{PosixMutex, Protocol};
/// let mutex = PosixMutex::new(Protocol::Inherit)?;
/// let owned = mutex.lock()?;
/// drop(owned);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PosixMutex {
    /// Not movable: the C library and the kernel use its address.
    mutex: Box<UnsafeCell<libc::pthread_mutex_t>>,
}

// SAFETY: the C library synchronises all access by several threads.
unsafe impl Send for PosixMutex {}
// SAFETY: as above.
unsafe impl Sync for PosixMutex {}

impl PosixMutex {
    /// Creates an unlocked mutex.
    ///
    /// # Errors
    /// `InvalidInput`: the priority is outside 1 to 99. Others: the system lacks the protocol.
    pub fn new(protocol: Protocol) -> io::Result<Self> {
        let mut attributes = Attributes::new()?;
        attributes.set_protocol(protocol)?;
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        // SAFETY: both pointers are valid, and no other thread has the mutex yet.
        checked(unsafe { libc::pthread_mutex_init(mutex.get(), &attributes.0) })?;
        Ok(Self { mutex })
    }

    /// Waits for the mutex, without a deadline.
    ///
    /// # Errors
    /// `InvalidInput`: the calling thread's priority is above the ceiling, or it is not in a real-time class.
    /// `PermissionDenied`: it has no right to the ceiling.
    pub fn lock(&self) -> io::Result<Owned<'_>> {
        // SAFETY: it was initialised in `new` and is not destroyed before `self`.
        checked(unsafe { libc::pthread_mutex_lock(self.mutex.get()) })?;
        Ok(Owned {
            mutex: self,
            on_this_thread: PhantomData,
        })
    }
}

impl Drop for PosixMutex {
    fn drop(&mut self) {
        // SAFETY: as in `lock`. Nothing borrows it, so only a leaked `Owned` can have left it locked, in
        // which case the C library refuses to destroy it.
        unsafe { libc::pthread_mutex_destroy(self.mutex.get()) };
    }
}

/// Ownership of a mutex by the thread that locked it; unlocks when dropped.
#[derive(Debug)]
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct Owned<'m> {
    mutex: &'m PosixMutex,
    on_this_thread: PhantomData<*const ()>,
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: the mutex is valid, and this thread locked it: `Owned` cannot be sent.
        let result = unsafe { libc::pthread_mutex_unlock(self.mutex.mutex.get()) };
        debug_assert_eq!(result, 0, "the owner may always unlock");
    }
}

struct Attributes(libc::pthread_mutexattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        // SAFETY: the type is a plain structure of integers, for which zeros are valid; it is initialised
        // next.
        let mut attributes = Self(unsafe { std::mem::zeroed() });
        // SAFETY: the pointer is valid.
        checked(unsafe { libc::pthread_mutexattr_init(&mut attributes.0) })?;
        // SAFETY: it is initialised.
        checked(unsafe { libc::pthread_mutexattr_settype(&mut attributes.0, libc::PTHREAD_MUTEX_NORMAL) })?;
        Ok(attributes)
    }

    fn set_protocol(&mut self, protocol: Protocol) -> io::Result<()> {
        let number = match protocol {
            Protocol::None => libc::PTHREAD_PRIO_NONE,
            Protocol::Inherit => libc::PTHREAD_PRIO_INHERIT,
            Protocol::Protect(_) => libc::PTHREAD_PRIO_PROTECT,
        };
        // SAFETY: it is initialised.
        checked(unsafe { pthread_mutexattr_setprotocol(&mut self.0, number) })?;
        if let Protocol::Protect(ceiling) = protocol {
            // SAFETY: as above.
            checked(unsafe { pthread_mutexattr_setprioceiling(&mut self.0, ceiling.0.into()) })?;
        }
        Ok(())
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: it was initialised in `new`, and mutexes keep no reference to their attributes.
        unsafe { libc::pthread_mutexattr_destroy(&mut self.0) };
    }
}

/// Converts the result of these functions, which return the error number.
fn checked(error: libc::c_int) -> io::Result<()> {
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

// SAFETY: the declarations of POSIX. The C library has these functions; the crate `libc` lacks them for
// Linux.
unsafe extern "C" {
    fn pthread_mutexattr_setprotocol(
        attributes: *mut libc::pthread_mutexattr_t,
        protocol: libc::c_int,
    ) -> libc::c_int;
    fn pthread_mutexattr_setprioceiling(
        attributes: *mut libc::pthread_mutexattr_t,
        ceiling: libc::c_int,
    ) -> libc::c_int;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use punctual_fixtures::realtime_or_skip;
    use punctual_os::{CpuSet, Scheduling, TaskId, ThreadSpec, affinity, scheduling};

    #[test]
    fn one_thread_at_a_time_owns_the_mutex() {
        for protocol in [Protocol::None, Protocol::Inherit] {
            let shared = Arc::new((PosixMutex::new(protocol).unwrap(), AtomicU32::new(0)));
            let add = |shared: &(PosixMutex, AtomicU32)| {
                for _ in 0..5_000 {
                    let _owned = shared.0.lock().unwrap();
                    // Two steps, so that two owners would lose increments.
                    let value = shared.1.load(Ordering::Relaxed);
                    shared.1.store(value + 1, Ordering::Relaxed);
                }
            };
            let other = Arc::clone(&shared);
            let thread = ThreadSpec::new("other").spawn(move || add(&other)).unwrap();
            add(&shared);
            thread.join().unwrap();
            assert_eq!(shared.1.load(Ordering::Relaxed), 10_000, "{protocol:?}");
        }
    }

    #[test]
    fn a_ceiling_outside_the_range_is_refused() {
        for wrong in [0, 100] {
            let error = PosixMutex::new(Protocol::Protect(NativePriority(wrong))).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{wrong}");
        }
    }

    #[test]
    fn a_ceiling_applies_while_the_mutex_is_owned() {
        if !realtime_or_skip() {
            return;
        }
        let spec = ThreadSpec::new("owner").scheduling(Scheduling::fifo(NativePriority(7)));
        let seen = spec.spawn(|| {
            let mutex = PosixMutex::new(Protocol::Protect(NativePriority(23))).unwrap();
            let owned = mutex.lock().unwrap();
            let within = kernel_priority();
            drop(owned);
            (within, kernel_priority())
        });
        // The kernel counts downwards from 98 for priority 1, and shows it as -2 and below.
        assert_eq!(seen.unwrap().join().unwrap(), (-24, -8));
    }

    #[test]
    fn a_thread_above_the_ceiling_may_not_lock() {
        if !realtime_or_skip() {
            return;
        }
        let spec = ThreadSpec::new("above").scheduling(Scheduling::fifo(NativePriority(8)));
        let kind = spec.spawn(|| {
            let mutex = PosixMutex::new(Protocol::Protect(NativePriority(7))).unwrap();
            mutex.lock().map(|_| ()).unwrap_err().kind()
        });
        assert_eq!(kind.unwrap().join().unwrap(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn an_owner_inherits_the_priority_of_its_waiter() {
        if !realtime_or_skip() {
            return;
        }
        let cpu = affinity::current().iter().next().unwrap();
        let fifo = move |name: &str, priority| {
            ThreadSpec::new(name)
                .scheduling(Scheduling::fifo(NativePriority(priority)))
                .affinity(CpuSet::single(cpu))
        };
        let owner = fifo("low", 7).spawn(move || {
            let mutex = Arc::new(PosixMutex::new(Protocol::Inherit).unwrap());
            let owned = mutex.lock().unwrap();
            let wanted = Arc::clone(&mutex);
            // It has a higher priority on the same CPU: it blocks before this thread runs again.
            let waiter = fifo("high", 9)
                .spawn(move || drop(wanted.lock().unwrap()))
                .unwrap();
            let within = kernel_priority();
            drop(owned);
            waiter.join().unwrap();
            (within, kernel_priority())
        });
        assert_eq!(owner.unwrap().join().unwrap(), (-10, -8));
        assert_eq!(scheduling::current(), Scheduling::OTHER);
    }

    /// Returns the priority shown in `/proc`, with inheritance.
    fn kernel_priority() -> i32 {
        let stat =
            std::fs::read_to_string(format!("/proc/self/task/{}/stat", TaskId::current_thread())).unwrap();
        let after_name = stat.rsplit_once(')').unwrap().1;
        after_name.split_whitespace().nth(15).unwrap().parse().unwrap()
    }
}
