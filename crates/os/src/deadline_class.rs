//! The kernel's earliest-deadline-first class, SCHED_DEADLINE.

use std::io;
use std::time::Duration;

use crate::{TaskId, scheduling_class};

/// Reservation of a thread in SCHED_DEADLINE: `runtime` in each `period`, within `deadline` of the period's
/// start.
///
/// The kernel requires 1024 ns ≤ runtime ≤ deadline ≤ period, and admits a thread only if all reservations
/// together fit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reservation {
    /// Processor time in each period.
    pub runtime: Duration,
    /// Deadline, relative to the start of the period.
    pub deadline: Duration,
    /// Time from one period's start to the next.
    pub period: Duration,
}

/// Moves one thread of this process into SCHED_DEADLINE, or changes its reservation. One system call.
///
/// Threads that it starts are in the ordinary class (SCHED_FLAG_RESET_ON_FORK). Other functions of this crate
/// report the ordinary class for such a thread; [`scheduling::set_of`](crate::scheduling::set_of) moves it
/// out again.
///
/// ```
/// use std::time::Duration;
///
/// use punctual_os::{Scheduling, TaskId, deadline_class::{self, Reservation}, scheduling};
///
/// let millisecond = Duration::from_millis(1);
/// let me = TaskId::current_thread();
/// let asked = Reservation { runtime: millisecond, deadline: 10 * millisecond, period: 10 * millisecond };
/// match deadline_class::set_of(me, asked) {
///     Ok(()) => scheduling::set_of(me, Scheduling::OTHER)?,
///     Err(error) => assert!(deadline_class::is_refusal(&error), "{error}"),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// - EPERM: the process has no CAP_SYS_NICE, or the thread may not run on every CPU of its root domain.
///   SCHED_DEADLINE admits no pinned threads; use an exclusive cpuset instead, whose CPUs form a separate
///   root domain.
/// - EBUSY: the reservation does not fit beside those already admitted (at most
///   `/proc/sys/kernel/sched_rt_runtime_us` of each period).
/// - EINVAL: the times violate the order above.
pub fn set_of(thread: TaskId, reservation: Reservation) -> io::Result<()> {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_DEADLINE as u32,
        sched_flags: libc::SCHED_FLAG_RESET_ON_FORK as u64,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: nanoseconds(reservation.runtime),
        sched_deadline: nanoseconds(reservation.deadline),
        sched_period: nanoseconds(reservation.period),
    };
    // SAFETY: `attributes` is a valid sched_attr of the stated size, only read during the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, thread.get(), &raw const attributes, 0) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns whether the thread is in SCHED_DEADLINE.
///
/// # Errors
/// ESRCH: no such thread exists.
pub fn has(thread: TaskId) -> io::Result<bool> {
    Ok(scheduling_class::policy(thread.get())? == libc::SCHED_DEADLINE)
}

/// Returns whether an error of [`set_of`] means that the kernel refuses the class (rights, affinity,
/// admission) rather than that the reservation is invalid.
pub fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EPERM | libc::EBUSY | libc::ENOSYS | libc::EACCES)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuSet, Scheduling, ThreadSpec, scheduling};
    use punctual_fixtures::{Missing, skip, skip_error};

    const MILLISECOND: Duration = Duration::from_millis(1);
    const ASKED: Reservation = Reservation {
        runtime: MILLISECOND,
        deadline: Duration::from_millis(20),
        period: Duration::from_millis(20),
    };

    #[test]
    fn a_thread_enters_and_leaves_the_class() {
        let test = || {
            let me = TaskId::current_thread();
            if let Err(error) = set_of(me, ASKED) {
                assert!(is_refusal(&error), "{error}");
                return skip_error(&error);
            }
            assert!(has(me).unwrap());
            let child = ThreadSpec::new("child").spawn(|| has(TaskId::current_thread()).unwrap());
            assert!(!child.unwrap().join().unwrap(), "not inherited");
            scheduling::set_of(me, Scheduling::OTHER).unwrap();
            assert!(!has(me).unwrap());
        };
        ThreadSpec::new("deadline").spawn(test).unwrap().join().unwrap();
    }

    #[test]
    fn a_pinned_thread_is_refused() {
        if crate::affinity::current().len() < 2 {
            return skip(Missing::Machine, "only one CPU");
        }
        let cpu = crate::affinity::current().iter().next().unwrap();
        let refused = ThreadSpec::new("pinned")
            .affinity(CpuSet::single(cpu))
            .spawn(|| set_of(TaskId::current_thread(), ASKED).unwrap_err())
            .unwrap()
            .join()
            .unwrap();
        assert!(is_refusal(&refused), "{refused}");
    }

    #[test]
    fn times_in_the_wrong_order_are_invalid_and_not_refused() {
        let wrong = Reservation {
            runtime: 30 * MILLISECOND,
            ..ASKED
        };
        let error = set_of(TaskId::current_thread(), wrong).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
    }
}
