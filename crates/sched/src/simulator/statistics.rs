use alloc::vec::Vec;
use core::time::Duration;

use crate::dynamic::Time;

use super::Histogram;

/// What came of it all.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Until when it went.
    pub until: Time,
    /// How many events were handled.
    pub events: u64,
    /// How many distributable threads there were at the same time at most.
    pub most_threads: usize,
    /// One for each task of the model.
    pub tasks: Vec<TaskStatistics>,
    /// One for each host of the model.
    pub hosts: Vec<HostStatistics>,
}

/// What came of the threads of a task. Each arrival counts as exactly one of `made`, `late`, `shed`, `cancelled`, `refused`,
/// `skipped`, `overdue` and `unfinished`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TaskStatistics {
    /// Arrivals.
    pub arrived: u64,
    /// Done in time, or without a deadline.
    pub made: u64,
    /// Done, too late.
    pub late: u64,
    /// Cancelled because they would have been late.
    pub shed: u64,
    /// Cancelled because somebody asked for it.
    pub cancelled: u64,
    /// Ended by a deadlock that the resource manager refused.
    pub refused: u64,
    /// Dropped at once: the one before had not ended.
    pub skipped: u64,
    /// Not done at the end of the simulation, although their deadline had passed.
    pub overdue: u64,
    /// Not done at the end of the simulation.
    pub unfinished: u64,
    /// Of those that did not make it, how many had had a processor: their time was wasted.
    pub dispatched_and_missed: u64,
    /// Calls that were cancelled because they would have been late, without those that are threads' own operations.
    pub calls_shed: u64,
    /// Calls that came back after their deadline.
    pub calls_late: u64,
    /// Tries again, of threads and of calls.
    pub retries: u64,
    /// How often one lost its processor although it could have gone on.
    pub preemptions: u64,
    /// From arrival to end, of those that were done.
    pub response: Histogram,
    /// The utility of what was done.
    pub utility: u64,
    /// The utility had all been in time.
    pub utility_offered: u64,
    /// Processor time that its threads had.
    pub processor_time: Duration,
}

impl TaskStatistics {
    /// Those that did not meet their deadline, for whatever reason.
    pub fn missed(&self) -> u64 {
        self.late + self.shed + self.refused + self.skipped + self.overdue
    }
}

/// What a host did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HostStatistics {
    /// Processor time of threads.
    pub busy: Duration,
    /// Processor time of scheduling.
    pub overhead: Duration,
    /// How often the scheduler was asked.
    pub decisions: u64,
    /// How often a processor went from one thread to another.
    pub switches: u64,
    /// How often a running thread had to wait for another.
    pub preemptions: u64,
}

impl HostStatistics {
    /// The share of its processors that was used, scheduling included: 0 to 1.
    pub fn utilization(&self, processors: usize, until: Time) -> f64 {
        let all = until.0 as f64 * processors as f64;
        if all == 0.0 {
            return 0.0;
        }
        (self.busy + self.overhead).as_nanos() as f64 / all
    }
}
