use punctual::Priority;
use punctual_sched::analysis::{self, Analysis, Task};

use crate::{Activity, AdapterModel, Schedule, Span, Step};

/// A schedule as the analysis takes it: times in nanoseconds, native priorities, processors by number.
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
    /// One for each activity with a period.
    pub tasks: Vec<Task>,
    /// For each task the place of its activity in the schedule.
    pub activities: Vec<usize>,
}

impl Model {
    /// The model of a checked schedule. Processors are the places of hosts in [`Schedule::hosts`].
    ///
    /// A step on a host and a call to a pool with lanes have the activity's priority; a call to an object with a priority of its own has
    /// that. A pool without lanes reads requests at its own priority and serves them at that of an adapter's model, if it has one: such
    /// a call waits at the lowest of these priorities and keeps others waiting at the highest.
    ///
    /// # Panics
    /// For a schedule that was put together by hand and would not have been read.
    pub fn of(schedule: &Schedule) -> Self {
        let mapping = schedule.native_mapping();
        let native = |priority: Priority| {
            let native = mapping
                .to_native(priority)
                .expect("a checked schedule's priorities can be mapped");
            i32::from(native.0)
        };
        let mut model = Self {
            tasks: Vec::new(),
            activities: Vec::new(),
        };
        for (place, activity) in schedule.activities.iter().enumerate() {
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
                // With the activity's priority alone, a change of that is a change of the step's.
                let own = (priorities != [activity.priority])
                    .then(|| lowest.copied())
                    .flatten();
                let peak = highest.filter(|highest| Some(*highest) != lowest).copied();
                task.step(analysis::Step {
                    processor: processor.expect("a checked host is in the list"),
                    wcet: step.wcet.nanoseconds(),
                    blocking: step.blocking.nanoseconds(),
                    delay: step.delay.nanoseconds(),
                    fixed_priority: own.map(native),
                    peak_priority: peak.map(native),
                })
            });
            model.tasks.push(task);
            model.activities.push(place);
        }
        model
    }

    /// How late everything can be.
    pub fn analyse(&self) -> Analysis {
        analysis::analyse(&self.tasks).expect("a checked activity with a period has steps")
    }
}

impl Schedule {
    /// All priorities at which parts of a step may run.
    fn priorities_of(&self, activity: &Activity, step: &Step) -> Vec<Priority> {
        let Some(pool) = self.pool_of(step) else {
            return vec![activity.priority];
        };
        let object = step.object.as_ref().and_then(|name| self.object(name));
        let declared = object.map(|object| object.priority);
        if pool.has_lanes() {
            return vec![declared.unwrap_or(activity.priority)];
        }
        let mut priorities = vec![pool.priority.unwrap_or(Priority::MIN)];
        match declared {
            Some(declared) => priorities.push(declared),
            // Which of the pool's adapters it calls is not said: any.
            None => priorities.extend(
                self.adapters
                    .iter()
                    .filter(|adapter| adapter.pool == pool.name)
                    .map(|adapter| match adapter.model {
                        AdapterModel::ClientPropagated => activity.priority,
                        AdapterModel::ServerDeclared => adapter.priority,
                    }),
            ),
        }
        priorities
    }

    /// Whether every call is served and every deadline met.
    pub fn is_feasible(&self) -> bool {
        self.refusals().is_empty() && Model::of(self).analyse().is_feasible()
    }

    /// The response time of nanoseconds as a span.
    pub fn span(nanoseconds: u64) -> Span {
        Span(std::time::Duration::from_nanos(nanoseconds))
    }
}
