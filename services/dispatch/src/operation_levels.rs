//! Levels and timing of named operations, as a scheduler decides them and others carry them out.

use std::time::Duration;

use punctual_sched::dynamic::Time;

use crate::{Order, Qos};

/// A schedule, for code that only dispatches by it: an event channel adopts the levels of a scheduler without
/// knowing the scheduler.
pub trait OperationLevels {
    /// Returns the number of levels; level 0 is dispatched first.
    fn level_count(&self) -> u32;

    /// Returns the order of execution within a level.
    fn order_of(&self, level: u32) -> Order;

    /// Returns level and timing of an operation; `None`: it does not run, or there is none of this name.
    fn placement_of(&self, operation: &str) -> Option<Placement>;

    /// Returns the same of the operation with this handle of an `RT_Info`, by which clients of TAO's
    /// scheduling service name operations. Default: no operation has a handle.
    fn placement_of_handle(&self, rt_info: i32) -> Option<Placement> {
        let _ = rt_info;
        None
    }
}

/// Level and timing of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Placement {
    /// Its level; 0 is the first to be dispatched.
    pub level: u32,
    /// Timing of its executions.
    pub timing: Timing,
}

impl Placement {
    /// Returns the quality of service of an execution that is released at this time.
    pub fn qos(&self, release: Time) -> Qos {
        self.timing.qos(self.level, release)
    }
}

/// Timing of the executions of an operation.
///
/// ```
/// use std::time::Duration;
/// use punctual_dispatch::Timing;
///
/// let ms = Duration::from_millis;
/// let timing = Timing { execution_time: ms(3), ..Timing::within(ms(20)) };
/// assert_eq!((timing.deadline, timing.is_critical), (ms(20), false));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timing {
    /// Time from the release of an execution to its deadline.
    pub deadline: Duration,
    /// Worst-case execution time; zero if unknown.
    pub execution_time: Duration,
    /// Decides among executions that are equally urgent; higher is more important.
    pub importance: i32,
    /// Whether policies may [spare](punctual_sched::dynamic::SheddingPolicy::sparing_critical) it.
    pub is_critical: bool,
}

impl Timing {
    /// Creates the timing of executions that are to be complete this long after their release.
    pub const fn within(deadline: Duration) -> Self {
        Self {
            deadline,
            execution_time: Duration::ZERO,
            importance: 0,
            is_critical: false,
        }
    }

    /// Returns the quality of service of an execution that is released at this time.
    pub fn qos(&self, preemption_priority: u32, release: Time) -> Qos {
        Qos {
            preemption_priority,
            deadline: release + self.deadline,
            execution_time: self.execution_time,
            importance: self.importance,
            is_critical: self.is_critical,
            released: release,
        }
    }
}
