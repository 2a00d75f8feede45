//! Scheduling classes, and the system calls that set and read them.

use std::io;
use std::ops::RangeInclusive;

use punctual_types::NativePriority;

/// How the kernel orders the runnable threads of one CPU.
///
/// ```
/// # mod punctual { pub use {punctual_os::*, punctual_types::*}; }
/// use punctual::{NativePriority, Scheduling, SchedulingClass};
///
/// assert_eq!(Scheduling::fifo(NativePriority(40)).class, SchedulingClass::Fifo);
/// assert_eq!(Scheduling::OTHER.class, SchedulingClass::Other);
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
///
/// ```
/// # mod punctual { pub use {punctual_os::*, punctual_types::*}; }
/// use punctual::{NativePriority, Scheduling, SchedulingClass};
///
/// let slices = Scheduling::round_robin(NativePriority(40));
/// assert_eq!(slices, Scheduling { class: SchedulingClass::RoundRobin, priority: NativePriority(40) });
/// assert!(slices.is_realtime());
/// ```
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

/// Sets class and priority of a thread; 0 means the calling one.
pub(crate) fn set(thread: libc::pid_t, scheduling: Scheduling) -> io::Result<()> {
    let policy = match scheduling.class {
        SchedulingClass::Other => libc::SCHED_OTHER,
        SchedulingClass::Fifo => libc::SCHED_FIFO,
        SchedulingClass::RoundRobin => libc::SCHED_RR,
    };
    // The kernel's `sched_param` is this number. The functions of musl refuse; the system calls do not.
    let priority = libc::c_int::from(scheduling.priority.0);
    // SAFETY: `priority` is a valid sched_param of the kernel, only read during the call.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, thread, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns class and priority of a thread; 0 means the calling one.
pub(crate) fn get(thread: libc::pid_t) -> io::Result<Scheduling> {
    let class = match policy(thread)? {
        libc::SCHED_FIFO => SchedulingClass::Fifo,
        libc::SCHED_RR => SchedulingClass::RoundRobin,
        _ => return Ok(Scheduling::OTHER),
    };
    let mut priority: libc::c_int = 0;
    // SAFETY: `priority` is a valid sched_param of the kernel, to which the call may write.
    if unsafe { libc::syscall(libc::SYS_sched_getparam, thread, &raw mut priority) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let priority = i16::try_from(priority).expect("Linux priorities end at 99");
    Ok(Scheduling {
        class,
        priority: NativePriority(priority),
    })
}

/// Returns the kernel's number for the class of a thread; 0 means the calling one.
pub(crate) fn policy(thread: libc::pid_t) -> io::Result<libc::c_int> {
    // SAFETY: takes and returns a number.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, thread) };
    match libc::c_int::try_from(policy) {
        Ok(policy @ 0..) => Ok(policy & !libc::SCHED_RESET_ON_FORK),
        _ => Err(io::Error::last_os_error()),
    }
}
