//! The schedule as input of the schedulability analysis.

use punctual::Priority;
use punctual_sched::analysis::{self, Analysis, Section, StepBudget, Task};

use crate::{HostOrder, Lock, Protocol, Schedule, Span, lanes::Lanes};

/// Input of the schedulability analysis: times in nanoseconds, native priorities, processors by number.
///
/// ```
/// use punctual_scheduling::{Model, Schedule};
///
/// let schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
/// let model = Model::of(&schedule);
/// // `maintenance` has no period.
/// assert_eq!(model.activities, [0, 1]);
/// assert!(model.analyse().is_feasible());
/// # Ok::<(), punctual_scheduling::FileError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Model {
    /// One task per activity with a period.
    pub tasks: Vec<Task>,
    /// Index of each task's activity in the schedule.
    pub activities: Vec<usize>,
}

impl Model {
    /// Creates the model of a checked schedule. Processors are the indices of [`Schedule::processors`].
    ///
    /// A step on a host has the activity's priority. So has a call, unless its adapter is server-declared, or
    /// its object has its own priority. A call to a pool may be one to any of its adapters, and a pool
    /// without lanes reads requests at its own priority and serves them at that of the adapter's model: such
    /// a call waits at the lowest of its priorities and delays others at the highest.
    ///
    /// A call occupies a thread of its lane until its servant has made its own calls, which have the priority
    /// of the lane; if lanes borrow threads, it may occupy one of a lower lane. Where a call may go to
    /// several lanes, all lanes of the pool count as one with the fewest threads of any. Threads that block
    /// count as one, because all calls may come over one connection.
    ///
    /// # Panics
    /// If the schedule was not checked and is invalid.
    pub fn of(schedule: &Schedule) -> Self {
        let mapping = schedule.native_mapping();
        let native = |priority: Priority| {
            let native = mapping
                .to_native(priority)
                .expect("the priorities of a checked schedule can be mapped");
            i32::from(native.0)
        };
        let mut model = Self {
            tasks: Vec::new(),
            activities: Vec::new(),
        };
        let lanes = Lanes::of(schedule);
        let processors = schedule.processors();
        for (index, activity) in schedule.activities.iter().enumerate() {
            let Some(period) = activity.period else { continue };
            let deadline = activity.deadline.unwrap_or(period);
            let task = Task::new(period.nanoseconds(), native(activity.priority))
                .deadline(deadline.nanoseconds())
                .jitter(activity.jitter.nanoseconds());
            let parts = schedule.parts_of(activity);
            let task = parts.parts.iter().fold(task, |task, part| {
                let processor = schedule.processor_of(part);
                let processor = processor.expect("the threads of a checked schedule are bound to one CPU");
                let (lowest, highest) = (part.priorities.first(), part.priorities.last());
                // A step at the activity's priority follows changes of that.
                let own = lowest.filter(|_| part.priorities != [activity.priority]).copied();
                let peak = highest.filter(|highest| Some(*highest) != lowest).copied();
                task.step(analysis::Step {
                    processor,
                    wcet: part.wcet.nanoseconds(),
                    bcet: part.bcet.nanoseconds(),
                    blocking: part.blocking.nanoseconds(),
                    sections: part.locks.iter().map(|lock| section(schedule, lock)).collect(),
                    delay: part.delay.nanoseconds(),
                    least_delay: part.least_delay.nanoseconds(),
                    by_deadline: processors[processor].host.order == HostOrder::Deadline,
                    fixed_priority: own.map(native),
                    peak_priority: peak.map(native),
                })
            });
            let task = lanes.holds(&parts).into_iter().fold(task, Task::hold);
            model.tasks.push(task);
            model.activities.push(index);
        }
        model
    }

    /// Returns the composition of the response times, step by step.
    pub fn explain(&self) -> Vec<Vec<Option<StepBudget>>> {
        analysis::explain(&self.tasks).expect("a checked activity with a period has steps")
    }

    /// Returns the greatest factor, in thousandths, by which the execution times of all activities, or of
    /// one, may be multiplied: [`analysis::growth`]. `task` is an index in [`Self::tasks`].
    ///
    /// ```
    /// use punctual_scheduling::{Model, Schedule};
    ///
    /// let text = "[[activity]]\nname = \"track\"\npriority = 5\nperiod = \"10 ms\"\n\
    ///             step = [{ host = \"localhost\", wcet = \"4 ms\" }]\n";
    /// let model = Model::of(&Schedule::parse("track.toml", text)?);
    /// assert_eq!(model.growth(None), Some(2_500));
    /// # Ok::<(), punctual_scheduling::FileError>(())
    /// ```
    pub fn growth(&self, task: Option<usize>) -> Option<u32> {
        let selects = |other: usize, _: usize| task.is_none_or(|task| task == other);
        analysis::growth(&self.tasks, selects).expect("a checked activity with a period has steps")
    }

    /// Computes the worst-case response times.
    pub fn analyse(&self) -> Analysis {
        analysis::analyse(&self.tasks).expect("a checked activity with a period has steps")
    }
}

fn section(schedule: &Schedule, lock: &Lock) -> Section {
    let place = schedule
        .resources
        .iter()
        .position(|resource| resource.name == lock.resource);
    let resource = place.expect("the resources of a checked schedule exist");
    Section {
        resource,
        length: lock.length.nanoseconds(),
        ceiling: schedule.resources[resource].protocol == Protocol::Ceiling,
    }
}

impl Schedule {
    /// Returns whether every call is served and every deadline met.
    pub fn is_feasible(&self) -> bool {
        self.refusals().is_empty() && Model::of(self).analyse().is_feasible()
    }

    /// Converts a response time in nanoseconds.
    pub fn span(nanoseconds: u64) -> Span {
        Span(std::time::Duration::from_nanos(nanoseconds))
    }
}
