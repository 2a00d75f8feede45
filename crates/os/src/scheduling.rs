//! Scheduling classes and priorities of threads.

use std::io;

use crate::scheduling_class::{Scheduling, get, set};
use crate::{TaskId, ceiling};

pub use crate::scheduling_class::priority_range;

/// Changes class and priority of the calling thread, in one system call.
///
/// While the thread holds a higher [`ceiling`], the change takes effect when that ends.
///
/// # Errors
/// `PermissionDenied`: the process has neither CAP_SYS_NICE nor a sufficient RLIMIT_RTPRIO, or its control
/// group has no real-time budget. `InvalidInput`: the priority is outside [`priority_range`].
pub fn set_current(scheduling: Scheduling) -> io::Result<()> {
    if ceiling::set_base(scheduling)? {
        return Ok(());
    }
    set(0, scheduling)
}

/// Returns class and priority of the calling thread.
pub fn current() -> Scheduling {
    get(0).expect("the calling thread exists, and its scheduling may always be read")
}

/// Yields once to runnable threads of equal priority (not to lower ones). One system call.
///
/// A real-time thread keeps its CPU until it blocks: one that always finds work would starve threads of equal
/// priority that were woken earlier. Not suitable for waiting for another thread, which may have a lower
/// priority and never run.
pub fn give_way() {
    rustix::thread::sched_yield();
}

/// Changes class and priority of one thread; the other threads of its process are not affected.
///
/// # Errors
/// Those of [`set_current`]; ESRCH: no such thread exists.
pub fn set_of(thread: TaskId, scheduling: Scheduling) -> io::Result<()> {
    set(thread.get(), scheduling)
}

/// Returns class and priority of one thread. The batch, idle and deadline classes are reported as
/// [`Scheduling::OTHER`].
///
/// # Errors
/// ESRCH: no such thread exists.
pub fn of(thread: TaskId) -> io::Result<Scheduling> {
    get(thread.get())
}

#[cfg(test)]
mod tests {
    use punctual_fixtures::realtime_or_skip;
    use punctual_types::NativePriority;

    use super::*;
    use crate::{SchedulingClass, ThreadSpec};

    #[test]
    fn a_priority_outside_the_class_is_refused() {
        let error = set_current(Scheduling::fifo(NativePriority(100))).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let other = Scheduling {
            class: SchedulingClass::Other,
            priority: NativePriority(1),
        };
        assert_eq!(
            set_current(other).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }

    #[test]
    fn priority_ranges_are_the_kernels() {
        // SAFETY: both calls take a number and return a number.
        let kernel = unsafe {
            libc::sched_get_priority_min(libc::SCHED_FIFO)..=libc::sched_get_priority_max(libc::SCHED_FIFO)
        };
        let ours = priority_range(SchedulingClass::Fifo);
        assert_eq!(kernel, i32::from(*ours.start())..=i32::from(*ours.end()));
    }

    #[test]
    fn another_thread_sees_and_changes_the_class() {
        if !realtime_or_skip() {
            return;
        }
        let (seen, after) = ThreadSpec::new("changes")
            .spawn(|| {
                set_current(Scheduling::round_robin(NativePriority(3))).unwrap();
                let me = TaskId::current_thread();
                let helper = ThreadSpec::new("changer")
                    .spawn(move || {
                        let seen = of(me).unwrap();
                        set_of(me, Scheduling::OTHER).unwrap();
                        seen
                    })
                    .unwrap();
                (helper.join().unwrap(), current())
            })
            .unwrap()
            .join()
            .unwrap();
        assert_eq!(seen, Scheduling::round_robin(NativePriority(3)));
        assert_eq!(after, Scheduling::OTHER);
    }

    #[test]
    fn a_thread_that_does_not_exist_is_an_error() {
        let missing = TaskId::new(i32::MAX).unwrap();
        assert_eq!(of(missing).unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }
}
