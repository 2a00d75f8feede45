//! Limits of a model: every simulation ends with results or with an error, in bounded memory.

/// Limits of a model and its simulation.
///
/// ```
/// # mod punctual { pub mod rtscheduling { pub use punctual_sched::{dynamic::*, simulator}; } }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MostImportantFirst, Time};
/// use punctual::rtscheduling::simulator::{Arrival, Host, Limits, Model, Simulation, Step, Task};
///
/// let mut task = Task::new("flood");
/// let period = Duration::from_nanos(1);
/// task.arrival = Arrival::Periodic { offset: Time(0), period, jitter: Duration::ZERO };
/// task.steps = vec![Step::compute(Duration::from_secs(1))];
/// let limits = Limits { threads: 1000, ..Limits::default() };
/// let model = Model { hosts: vec![Host::new("host")], tasks: vec![task], limits, ..Model::default() };
/// let mut simulation = Simulation::new(&model, 1, |_| Box::new(MostImportantFirst::new()))?;
/// let error = simulation.run_until(Time(1_000_000_000), &mut ()).unwrap_err();
/// assert!(error.to_string().contains("1001 threads at one time, of at most 1000"), "{error}");
/// # Ok::<(), punctual_sched::simulator::ModelError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Hosts. Default: 100,000.
    pub hosts: usize,
    /// Processors of all hosts. Default: 100,000.
    pub processors: usize,
    /// Resources of all hosts, each of which has one of each. Default: 1,000,000.
    pub resources: usize,
    /// Streams of arrivals of all tasks. Default: 1,000,000.
    pub streams: usize,
    /// Threads at one time: running, travelling, and queued for processors and resources. Default: 200,000.
    pub threads: usize,
    /// Occurrences that are due in future, such as arrivals and messages. Default: 1,000,000.
    pub pending: usize,
    /// Arrivals of all tasks in total. Default: 100,000,000.
    pub arrivals: u64,
    /// Occurrences, decisions and steps in total. Default: 10,000,000,000.
    pub events: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hosts: 100_000,
            processors: 100_000,
            resources: 1_000_000,
            streams: 1_000_000,
            threads: 200_000,
            pending: 1_000_000,
            arrivals: 100_000_000,
            events: 10_000_000_000,
        }
    }
}
