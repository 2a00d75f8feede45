//! What the kernel says about threads and CPUs, as far as the analysis needs it.

use std::fmt;

/// How urgent the kernel takes a thread to be: 0 for ordinary ones, whatever their niceness, 1 to 99 for real-time ones, 100
/// for those with a deadline. The higher runs first.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Level(pub u8);

impl Level {
    /// Every class but the real-time ones.
    pub const ORDINARY: Self = Self(0);

    /// From the kernel's own number: -1 for a deadline, 0 to 98 for real-time priorities 99 to 1, more for ordinary threads.
    pub fn of_kernel(priority: i32) -> Self {
        Self(u8::try_from((99 - priority).clamp(0, 100)).expect("0 to 100"))
    }

    /// Whether it belongs to a real-time class.
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

/// The number of a thread; 0 is a CPU that idles.
pub type ThreadId = i32;

/// A thread at one moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Task {
    /// Its number.
    pub thread: ThreadId,
    /// At that moment, inherited priority included.
    pub level: Level,
}

/// What kind of interrupt a CPU handles. Outside of threads' priorities: it runs before all of them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Interrupt {
    /// The CPU's own timer.
    Timer,
    /// A device.
    Device(u32),
    /// The deferred half, with the kernel's number: 1 timers, 3 packets received, ...
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

/// Something that the kernel did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KernelEvent {
    /// When, by the monotonic clock in nanoseconds.
    pub time_ns: u64,
    /// Where it was recorded.
    pub cpu: u32,
    /// What.
    pub what: What,
}

/// What the kernel did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum What {
    /// The CPU went over to another thread (`sched_switch`).
    Switch {
        /// Who ran.
        previous: Task,
        /// Whether it could have gone on.
        still_runnable: bool,
        /// Who runs now.
        next: Task,
    },
    /// Somebody begins to wake a thread (`sched_waking`), which is to run on `cpu`.
    Waking {
        /// The thread.
        task: Task,
        /// Where.
        cpu: u32,
    },
    /// A thread is in the queue of `cpu` (`sched_wakeup`, `sched_wakeup_new`).
    Woken {
        /// The thread.
        task: Task,
        /// Where.
        cpu: u32,
    },
    /// A thread that holds what a more important one wants has inherited its priority, or gives it back
    /// (`sched_pi_setprio`).
    Inherited {
        /// The thread.
        thread: ThreadId,
        /// Its level before.
        from: Level,
        /// Its level now.
        to: Level,
    },
    /// A thread goes over to the queue of `cpu` (`sched_migrate_task`).
    Migrated {
        /// The thread.
        thread: ThreadId,
        /// Where to.
        cpu: u32,
    },
    /// The CPU handles an interrupt.
    InterruptBegin(Interrupt),
    /// It has handled it.
    InterruptEnd(Interrupt),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_rise_as_the_kernel_s_numbers_fall() {
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
