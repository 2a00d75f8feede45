//! Configuration of one level of a dispatcher.

use std::time::Duration;

use punctual_os::{CpuSet, Scheduling};
use punctual_sched::dynamic::SheddingPolicy;

use crate::DispatchError;

/// One preemption priority: its threads, and the queue that they serve. Corresponds to Kokyu's `ConfigInfo`
/// and to a `Config_Info` of the reconfigurable scheduler.
///
/// ```
/// # mod punctual { pub use {punctual_os::*, punctual_sched::dynamic as rtscheduling}; }
/// use punctual_dispatch::Level;
/// use punctual::{Scheduling, rtscheduling::SheddingPolicy};
/// # use punctual_types::NativePriority;
///
/// let level = Level::new(0)
///     .scheduling(Scheduling::fifo(NativePriority(40)))
///     .by_laxity()
///     .capacity(256)
///     .shedding(SheddingPolicy::before_dispatch().sparing_critical());
/// assert_eq!(level.preemption_priority(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Level {
    pub(crate) preemption_priority: u32,
    pub(crate) scheduling: Scheduling,
    pub(crate) cpus: Option<CpuSet>,
    pub(crate) threads: usize,
    pub(crate) order: Order,
    pub(crate) capacity: usize,
    pub(crate) overflow: Overflow,
    pub(crate) shedding: SheddingPolicy,
}

/// Order in which the commands of a level are executed. Corresponds to Kokyu's `Dispatching_Type_t`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Order {
    /// Order of arrival (`FIFO`, `STATIC_DISPATCHING`), which is that of [`Qos::released`](crate::Qos).
    #[default]
    Arrival,
    /// The earliest deadline first (`DEADLINE`), also if it has passed, as under
    /// [`EarliestDeadlineFirst`](punctual_sched::dynamic::EarliestDeadlineFirst); among equals the more
    /// important, then the earlier one.
    Deadline,
    /// The smallest laxity first, the time by which the beginning can still be delayed (`LAXITY`); among
    /// equals the more important, then the earlier one.
    ///
    /// Commands that can no longer be in time, whose laxity is negative, come last, in the same order: first,
    /// they would make others late as well. This is the order of
    /// [`MaximumUrgencyFirst`](punctual_sched::dynamic::MaximumUrgencyFirst) among equally critical work.
    /// A command that stands for several pieces of work goes on to the next one that can
    /// ([`Command::taken_up`](crate::Command::taken_up)).
    /// Those that [`Level::shedding`] cancels are cancelled at once. Source: \[Gill 2004\] section 3.2.
    Laxity,
}

/// Treatment of a command whose queue is full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Overflow {
    /// It is returned to its supplier.
    #[default]
    Reject,
    /// The command that has waited longest is cancelled. Costs time proportional to the capacity where the
    /// queue is not ordered by arrival.
    DropOldest,
    /// Its supplier waits for room, this long at most; then it is returned.
    Block(Duration),
}

impl Level {
    /// Default capacity of a queue.
    pub const DEFAULT_CAPACITY: usize = 1_024;

    /// Configures a level with one thread of the ordinary scheduling class, [`Order::Arrival`],
    /// [`Overflow::Reject`] and no shedding. Preemption priority 0 is the highest.
    pub fn new(preemption_priority: u32) -> Self {
        Self {
            preemption_priority,
            scheduling: Scheduling::OTHER,
            cpus: None,
            threads: 1,
            order: Order::Arrival,
            capacity: Self::DEFAULT_CAPACITY,
            overflow: Overflow::Reject,
            shedding: SheddingPolicy::never(),
        }
    }

    /// Returns the preemption priority; 0 is the highest.
    pub fn preemption_priority(&self) -> u32 {
        self.preemption_priority
    }

    /// Sets scheduling class and native priority of the threads.
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.scheduling = scheduling;
        self
    }

    /// Sets the CPUs on which the threads may run.
    pub fn cpus(mut self, cpus: impl Into<Option<CpuSet>>) -> Self {
        self.cpus = cpus.into();
        self
    }

    /// Sets the number of threads, at least 1. Commands of a level with one thread never overlap.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the order of execution.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets [`Order::Deadline`].
    pub fn by_deadline(self) -> Self {
        self.order(Order::Deadline)
    }

    /// Sets [`Order::Laxity`].
    pub fn by_laxity(self) -> Self {
        self.order(Order::Laxity)
    }

    /// Sets the maximum number of queued commands, at least 1. Memory for them is reserved at once.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.capacity = capacity;
        self
    }

    /// Sets what happens to a command whose queue is full.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Sets the treatment of commands that can no longer meet their deadlines.
    pub fn shedding(mut self, shedding: SheddingPolicy) -> Self {
        self.shedding = shedding;
        self
    }
}

/// Checks a set of levels, and orders it from the highest preemption priority to the lowest.
pub(crate) fn check(mut levels: Vec<Level>) -> Result<Vec<Level>, DispatchError> {
    if levels.is_empty() {
        return Err(DispatchError::NoLevel);
    }
    levels.sort_by_key(|level| level.preemption_priority);
    for pair in levels.windows(2) {
        if pair[0].preemption_priority == pair[1].preemption_priority {
            return Err(DispatchError::DuplicateLevel(pair[0].preemption_priority));
        }
    }
    for level in &levels {
        let zero = match (level.threads, level.capacity) {
            (0, _) => "threads",
            (_, 0) => "capacity",
            _ => continue,
        };
        return Err(DispatchError::Zero {
            level: level.preemption_priority,
            what: zero,
        });
    }
    Ok(levels)
}
