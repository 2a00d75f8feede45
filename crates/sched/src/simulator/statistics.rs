//! Statistics of a simulation.

use alloc::vec::Vec;
use core::time::Duration;

use crate::dynamic::Time;

use super::Histogram;

/// Statistics of a simulation.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Simulation, Statistics, Step, Task};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// simulation.run_until(Time(1_000_000_000), &mut ())?;
/// let statistics: Statistics = simulation.finish();
/// assert_eq!((statistics.most_threads, statistics.until), (2, Time(1_000_000_000)));
/// assert_eq!(statistics.hosts[0].busy, Duration::from_millis(4));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
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
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, Model, Simulation, Step, Task, TaskStatistics};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// # simulation.run_until(Time(1_000_000_000), &mut ())?;
/// // Two threads of 2 ms on one processor.
/// let track: &TaskStatistics = &simulation.finish().tasks[0];
/// assert_eq!((track.arrived, track.made, track.missed()), (2, 2, 0));
/// assert_eq!((track.response.min(), track.response.max()), (Some(2_000_000), Some(4_000_000)));
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
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
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Host, HostStatistics, Model, Simulation, Step, Task};
///
/// # let mut task = Task::new("track");
/// # task.hosts = vec![0, 0];
/// # task.steps = vec![Step::compute(Duration::from_millis(2))];
/// # let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// # let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// # simulation.run_until(Time(1_000_000_000), &mut ())?;
/// // Two threads of 2 ms on one processor, within a second.
/// let statistics = simulation.finish();
/// let radar: &HostStatistics = &statistics.hosts[0];
/// assert_eq!((radar.busy, radar.preemptions), (Duration::from_millis(4), 0));
/// assert_eq!(radar.utilization(1, statistics.until), 0.004);
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
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
