use punctual::Priority;
use punctual_sched::analysis::{self, Analysis, Task};

use crate::{Place, Schedule, Span};

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
/// # Ok::<(), punctual_scheduling::ScheduleError>(())
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
    /// A step on a host and a call to a pool with lanes have the activity's priority; a call to a pool without lanes has the pool's,
    /// and one to an object with a priority of its own has that.
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
                let own = match step.place() {
                    Some(Place::Object(name)) => schedule.object(name).map(|object| object.priority),
                    Some(Place::Pool(name)) => schedule
                        .pool(name)
                        .filter(|pool| !pool.has_lanes())
                        .map(|pool| pool.priority.unwrap_or(Priority::MIN)),
                    _ => None,
                };
                task.step(analysis::Step {
                    processor: processor.expect("a checked host is in the list"),
                    wcet: step.wcet.nanoseconds(),
                    blocking: step.blocking.nanoseconds(),
                    delay: step.delay.nanoseconds(),
                    fixed_priority: own.map(native),
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
    /// Whether every call is served and every deadline met.
    pub fn is_feasible(&self) -> bool {
        self.refusals().is_empty() && Model::of(self).analyse().is_feasible()
    }

    /// The response time of nanoseconds as a span.
    pub fn span(nanoseconds: u64) -> Span {
        Span(std::time::Duration::from_nanos(nanoseconds))
    }
}
