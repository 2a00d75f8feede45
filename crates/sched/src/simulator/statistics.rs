//! Statistics of a simulation.

use alloc::vec::Vec;
use core::time::Duration;

use crate::dynamic::Time;

use super::Histogram;

/// Statistics of a simulation.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Virtual time at the end.
    pub until: Time,
    /// Number of handled events.
    pub events: u64,
    /// Maximum number of simultaneous distributable threads.
    pub most_threads: usize,
    /// Statistics of each task of the model.
    pub tasks: Vec<TaskStatistics>,
    /// Statistics of each host of the model.
    pub hosts: Vec<HostStatistics>,
}

/// Statistics of a task. Each arrival counts as exactly one of `made`, `late`, `shed`, `cancelled`,
/// `refused`, `skipped`, `overdue` and `unfinished`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TaskStatistics {
    /// Arrivals.
    pub arrived: u64,
    /// Threads that completed in time, or without a deadline.
    pub made: u64,
    /// Threads that completed after their deadline.
    pub late: u64,
    /// Threads cancelled because they would have been late.
    pub shed: u64,
    /// Threads cancelled on request.
    pub cancelled: u64,
    /// Threads ended by a deadlock that the resource manager refused.
    pub refused: u64,
    /// Arrivals dropped because the previous thread had not ended.
    pub skipped: u64,
    /// Threads unfinished at the end of the simulation whose deadline had passed.
    pub overdue: u64,
    /// Other threads unfinished at the end of the simulation.
    pub unfinished: u64,
    /// Threads that received processor time and then missed their deadline: wasted time.
    pub dispatched_and_missed: u64,
    /// Calls cancelled because they would have been late, excluding shed threads.
    pub calls_shed: u64,
    /// Calls that returned after their deadline.
    pub calls_late: u64,
    /// Retries of threads and calls.
    pub retries: u64,
    /// Preemptions.
    pub preemptions: u64,
    /// Response times, from arrival to completion.
    pub response: Histogram,
    /// Accrued utility.
    pub utility: u64,
    /// Utility that would have accrued if all deadlines had been met, without that of `unfinished` threads.
    pub utility_offered: u64,
    /// Processor time of the threads.
    pub processor_time: Duration,
}

impl TaskStatistics {
    /// Returns the number of arrivals that did not meet their deadline, for any reason.
    pub fn missed(&self) -> u64 {
        self.late + self.shed + self.refused + self.skipped + self.overdue
    }
}

/// Statistics of a host.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HostStatistics {
    /// Processor time of threads.
    pub busy: Duration,
    /// Processor time of scheduling.
    pub overhead: Duration,
    /// Scheduling decisions.
    pub decisions: u64,
    /// Switches of a processor to another thread.
    pub switches: u64,
    /// Preemptions.
    pub preemptions: u64,
}

impl HostStatistics {
    /// Returns the utilisation of its processors, including scheduling: 0 to 1.
    pub fn utilization(&self, processors: usize, until: Time) -> f64 {
        let all = until.0 as f64 * processors as f64;
        if all == 0.0 {
            return 0.0;
        }
        (self.busy + self.overhead).as_nanos() as f64 / all
    }
}
