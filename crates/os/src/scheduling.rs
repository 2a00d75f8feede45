//! Scheduling classes and priorities of threads.

use std::io;
use std::ops::RangeInclusive;

use punctual_types::NativePriority;

use crate::{TaskId, ceiling};

/// How the kernel orders the runnable threads of one CPU.
///
/// ```
/// use punctual_os::{SchedulingClass, scheduling::priority_range};
///
/// assert_eq!(priority_range(SchedulingClass::Fifo), 1..=99);
/// assert_eq!(priority_range(SchedulingClass::Other), 0..=0);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SchedulingClass {
    /// SCHED_OTHER: fair sharing of the CPU, below every real-time thread. Its only priority is 0.
    Other,
    /// SCHED_FIFO: runs until it blocks or a higher priority becomes runnable.
    Fifo,
    /// SCHED_RR: like [`Fifo`](Self::Fifo), with time slices (100 ms by default) among threads of equal
    /// priority.
    RoundRobin,
}

/// Scheduling class and priority.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Scheduling {
    /// Scheduling class.
    pub class: SchedulingClass,
    /// Priority, in the [`priority_range`] of the class.
    pub priority: NativePriority,
}

impl Scheduling {
    /// The ordinary class, in which every thread starts.
    pub const OTHER: Self = Self {
        class: SchedulingClass::Other,
        priority: NativePriority(0),
    };

    /// Returns [`SchedulingClass::Fifo`] at `priority`, 1 to 99.
    pub const fn fifo(priority: NativePriority) -> Self {
        Self {
            class: SchedulingClass::Fifo,
            priority,
        }
    }

    /// Returns [`SchedulingClass::RoundRobin`] at `priority`, 1 to 99.
    pub const fn round_robin(priority: NativePriority) -> Self {
        Self {
            class: SchedulingClass::RoundRobin,
            priority,
        }
    }

    /// Returns whether the class is a real-time class.
    pub const fn is_realtime(self) -> bool {
        !matches!(self.class, SchedulingClass::Other)
    }
}

/// Returns the priorities of a class: 0 for [`SchedulingClass::Other`], 1 (lowest) to 99 (highest) for the
/// others.
pub const fn priority_range(class: SchedulingClass) -> RangeInclusive<i16> {
    match class {
        SchedulingClass::Other => 0..=0,
        SchedulingClass::Fifo | SchedulingClass::RoundRobin => 1..=99,
    }
}

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
    apply_to_current(scheduling)
}

/// Like [`set_current`], regardless of ceilings.
pub(crate) fn apply_to_current(scheduling: Scheduling) -> io::Result<()> {
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

fn set(thread: libc::pid_t, scheduling: Scheduling) -> io::Result<()> {
    let policy = match scheduling.class {
        SchedulingClass::Other => libc::SCHED_OTHER,
        SchedulingClass::Fifo => libc::SCHED_FIFO,
        SchedulingClass::RoundRobin => libc::SCHED_RR,
    };
    let parameters = libc::sched_param {
        sched_priority: scheduling.priority.0.into(),
    };
    // SAFETY: `parameters` is a valid sched_param, only read during the call.
    match unsafe { libc::sched_setscheduler(thread, policy, &parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get(thread: libc::pid_t) -> io::Result<Scheduling> {
    // SAFETY: takes and returns a number.
    let policy = unsafe { libc::sched_getscheduler(thread) };
    if policy < 0 {
        return Err(io::Error::last_os_error());
    }
    let class = match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_FIFO => SchedulingClass::Fifo,
        libc::SCHED_RR => SchedulingClass::RoundRobin,
        _ => return Ok(Scheduling::OTHER),
    };
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` is a valid sched_param that the call may write to.
    if unsafe { libc::sched_getparam(thread, &mut parameters) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let priority = i16::try_from(parameters.sched_priority).expect("Linux priorities end at 99");
    Ok(Scheduling {
        class,
        priority: NativePriority(priority),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadSpec;
    use punctual_fixtures::realtime_or_skip;

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
