//! Limits of a simulation: every model ends with results or with an error, in bounded memory.

use alloc::format;

use crate::dynamic::Time;

use super::ModelError;

/// Limits of a model and its simulation.
///
/// ```
/// use core::time::Duration;
/// use punctual_sched::dynamic::{MostImportantFirst, Time};
/// use punctual_sched::simulator::{Arrival, Host, Limits, Model, Simulation, Step, Task};
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

/// What a simulation has used of its limits.
#[derive(Debug, Default)]
pub(super) struct Used {
    arrivals: u64,
    events: u64,
    /// The first limit that was reached; nothing happens afterwards.
    pub(super) exceeded: Option<ModelError>,
}

impl Used {
    /// Counts an occurrence, a decision or a step.
    pub(super) fn event(&mut self, limits: &Limits, now: Time) {
        self.events += 1;
        if self.events > limits.events {
            let advice = "simulate a shorter time or fewer tasks";
            self.exceed(self.events, "events", limits.events, now, advice);
        }
    }

    /// Counts an arrival, after which there are so many threads.
    pub(super) fn arrival(&mut self, limits: &Limits, threads: usize, now: Time) {
        self.arrivals += 1;
        if self.arrivals > limits.arrivals {
            let advice = "simulate a shorter time, or use longer periods";
            self.exceed(self.arrivals, "arrivals", limits.arrivals, now, advice);
        }
        if threads > limits.threads {
            let advice = "they arrive faster than the processors serve them; use longer periods or shorter \
                          steps, or skip overruns";
            let (number, limit) = (threads as u64, limits.threads as u64);
            self.exceed(number, "threads at one time", limit, now, advice);
        }
    }

    /// Notes the number of pending occurrences.
    pub(super) fn pending(&mut self, limits: &Limits, pending: usize, now: Time) {
        if pending > limits.pending {
            let advice = "use fewer messages or streams";
            let (number, limit) = (pending as u64, limits.pending as u64);
            self.exceed(number, "pending occurrences", limit, now, advice);
        }
    }

    #[cold]
    fn exceed(&mut self, number: u64, what: &str, limit: u64, now: Time, advice: &str) {
        self.exceeded.get_or_insert_with(|| {
            ModelError::of(format!(
                "the simulation stopped after {} ns of virtual time with {number} {what}, of at most {limit}; \
                 {advice}",
                now.0
            ))
        });
    }
}
