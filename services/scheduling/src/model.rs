//! The schedule as input of the schedulability analysis.

use punctual::{Priority, PriorityModel};
use punctual_sched::analysis::{self, Analysis, Task};

use crate::{Activity, Adapter, Place, Schedule, Span, Step};

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
    /// Creates the model of a checked schedule. Processors are the indices of [`Schedule::hosts`].
    ///
    /// A step on a host has the activity's priority. So has a call, unless its adapter is server-declared, or
    /// its object has its own priority. A call to a pool may be one to any of its adapters, and a pool
    /// without lanes reads requests at its own priority and serves them at that of the adapter's model: such
    /// a call waits at the lowest of its priorities and delays others at the highest.
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
        for (index, activity) in schedule.activities.iter().enumerate() {
            let Some(period) = activity.period else { continue };
            let deadline = activity.deadline.unwrap_or(period);
            let task = Task::new(period.nanoseconds(), native(activity.priority))
                .deadline(deadline.nanoseconds())
                .jitter(activity.jitter.nanoseconds());
            let task = activity.steps.iter().fold(task, |task, step| {
                let host = schedule.host_of(step).expect("a checked step has a host");
                let processor = schedule.hosts.iter().position(|other| other == host);
                let priorities = schedule.priorities_of(activity, step);
                let (lowest, highest) = (priorities.iter().min(), priorities.iter().max());
                // A step at the activity's priority follows changes of that.
                let own = lowest.filter(|_| priorities != [activity.priority]).copied();
                let peak = highest.filter(|highest| Some(*highest) != lowest).copied();
                task.step(analysis::Step {
                    processor: processor.expect("a checked host is listed"),
                    wcet: step.wcet.nanoseconds(),
                    blocking: step.blocking.nanoseconds(),
                    delay: step.delay.nanoseconds(),
                    fixed_priority: own.map(native),
                    peak_priority: peak.map(native),
                })
            });
            model.tasks.push(task);
            model.activities.push(index);
        }
        model
    }

    /// Computes the worst-case response times.
    pub fn analyse(&self) -> Analysis {
        analysis::analyse(&self.tasks).expect("a checked activity with a period has steps")
    }
}

impl Schedule {
    /// Returns all priorities at which parts of a step may run.
    pub fn priorities_of(&self, activity: &Activity, step: &Step) -> Vec<Priority> {
        let Some(pool) = self.pool_of(step) else {
            return vec![activity.priority];
        };
        let mut priorities = self.served_at(activity, step);
        if !pool.has_lanes() {
            priorities.push(pool.priority.unwrap_or(Priority::MIN));
        } else if priorities.is_empty() {
            priorities.push(activity.priority);
        }
        priorities.sort_unstable();
        priorities.dedup();
        priorities
    }

    /// Returns the priorities of the adapters that a call may go to, or of its object; none for a pool
    /// without adapters.
    pub(crate) fn served_at(&self, activity: &Activity, step: &Step) -> Vec<Priority> {
        let of_model = |adapter: &Adapter| match adapter.model {
            PriorityModel::ClientPropagated { .. } => activity.priority,
            PriorityModel::ServerDeclared(priority) => priority,
        };
        match step.place() {
            Some(Place::Object(name)) => self
                .object(name)
                .map(|object| object.priority)
                .into_iter()
                .collect(),
            Some(Place::Adapter(name)) => self.adapter(name).map(of_model).into_iter().collect(),
            Some(Place::Pool(name)) => {
                let adapters = self.adapters.iter().filter(|adapter| adapter.pool == name);
                adapters.map(of_model).collect()
            }
            Some(Place::Host(_)) | None => Vec::new(),
        }
    }

    /// Returns whether every call is served and every deadline met.
    pub fn is_feasible(&self) -> bool {
        self.refusals().is_empty() && Model::of(self).analyse().is_feasible()
    }

    /// Converts a response time in nanoseconds.
    pub fn span(nanoseconds: u64) -> Span {
        Span(std::time::Duration::from_nanos(nanoseconds))
    }
}
