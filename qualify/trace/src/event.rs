//! Kernel events about threads and CPUs, as far as the analysis needs them.

use std::fmt;

/// Urgency of a thread to the kernel: 0 for ordinary threads of any niceness, 1 to 99 for real-time ones, 100
/// for those with a deadline. Higher levels run first.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Level(pub u8);

impl Level {
    /// All classes except the real-time ones.
    pub const ORDINARY: Self = Self(0);

    /// Converts the kernel's number: -1 for a deadline, 0 to 98 for real-time priorities 99 to 1, more for
    /// ordinary threads.
    pub fn of_kernel(priority: i32) -> Self {
        Self(u8::try_from((99 - priority).clamp(0, 100)).expect("0 to 100"))
    }

    /// Returns whether it is the level of a real-time class.
    pub fn is_realtime(self) -> bool {
        self > Self::ORDINARY
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("ordinary"),
            100 => f.write_str("deadline"),
            level => write!(f, "rt {level}"),
        }
    }
}

/// Id of a thread; 0 is an idle CPU.
pub type ThreadId = i32;

/// Thread at one moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Task {
    /// Id.
    pub thread: ThreadId,
    /// Level at that moment, with inherited priority.
    pub level: Level,
}

/// Kind of interrupt. Interrupts run before threads of all levels.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Interrupt {
    /// Timer of the CPU.
    Timer,
    /// Device.
    Device(u32),
    /// Deferred half, with the kernel's number: 1 timers, 3 received packets, ...
    Soft(u32),
}

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SOFT: [&str; 10] = [
            "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
        ];
        match self {
            Self::Timer => f.write_str("timer interrupt"),
            Self::Device(number) => write!(f, "interrupt {number}"),
            Self::Soft(number) => match SOFT.get(*number as usize) {
                Some(name) => write!(f, "softirq {name}"),
                None => write!(f, "softirq {number}"),
            },
        }
    }
}

/// Kernel event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KernelEvent {
    /// Time in nanoseconds of the monotonic clock.
    pub time_ns: u64,
    /// CPU that recorded it.
    pub cpu: u32,
    /// Content.
    pub what: What,
}

/// Content of a kernel event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum What {
    /// The CPU switched to another thread (`sched_switch`).
    Switch {
        /// Previous thread.
        previous: Task,
        /// Whether the previous thread is still runnable.
        still_runnable: bool,
        /// Next thread.
        next: Task,
    },
    /// The kernel starts to wake a thread (`sched_waking`), which will run on `cpu`.
    Waking {
        /// Thread.
        task: Task,
        /// CPU.
        cpu: u32,
    },
    /// A thread has been queued on `cpu` (`sched_wakeup`, `sched_wakeup_new`).
    Woken {
        /// Thread.
        task: Task,
        /// CPU.
        cpu: u32,
    },
    /// A thread has inherited the priority of a waiter, or has returned it (`sched_pi_setprio`).
    Inherited {
        /// Thread.
        thread: ThreadId,
        /// Level before.
        from: Level,
        /// Level afterwards.
        to: Level,
    },
    /// A thread moves to the queue of `cpu` (`sched_migrate_task`).
    Migrated {
        /// Thread.
        thread: ThreadId,
        /// New CPU.
        cpu: u32,
    },
    /// The CPU starts to handle an interrupt.
    InterruptBegin(Interrupt),
    /// The CPU has handled the interrupt.
    InterruptEnd(Interrupt),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_kernel_numbers_are_higher_levels() {
        let table = [
            (-1, 100),
            (0, 99),
            (98, 1),
            (99, 0),
            (100, 0),
            (120, 0),
            (139, 0),
            (1, 98),
        ];
        for (kernel, level) in table {
            assert_eq!(Level::of_kernel(kernel), Level(level), "{kernel}");
        }
    }
}
