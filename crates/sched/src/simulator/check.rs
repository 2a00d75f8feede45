//! Checks of a model.

use alloc::{format, string::String, vec, vec::Vec};
use core::{error::Error, fmt};

use super::{Arrival, Model, Step, Task};

/// The first problem of a model.
///
/// ```
/// # mod punctual { pub(crate) use punctual_sched as rtscheduling; }
/// use punctual::rtscheduling::simulator::{Host, Model, ModelError, Step, Task};
///
/// let mut task = Task::new("track");
/// task.steps = vec![Step::call(7, [])];
/// let model = Model { hosts: vec![Host::new("radar")], tasks: vec![task], ..Model::default() };
/// let error: ModelError = model.check().unwrap_err();
/// assert_eq!(error.task(), Some(0), "it calls a host that does not exist");
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct ModelError {
    text: String,
    task: Option<usize>,
}

punctual_types::debug_as_display!(ModelError);

impl ModelError {
    /// Returns the index of the task with the problem; `None` if it is elsewhere.
    pub fn task(&self) -> Option<usize> {
        self.task
    }
}

impl ModelError {
    pub(super) fn of(text: String) -> Self {
        Self { text, task: None }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for ModelError {}

impl Model {
    /// Checks that it can be simulated: all indices exist, time advances, and its size is within its limits.
    ///
    /// # Errors
    /// [`ModelError`] describes the first problem.
    pub fn check(&self) -> Result<(), ModelError> {
        self.size()?;
        for host in &self.hosts {
            if host.processors == 0 {
                return wrong(format!("host `{}` needs at least 1 processor", host.name));
            }
        }
        for (from, to, _) in &self.links {
            self.host(*from, "a link")?;
            self.host(*to, "a link")?;
        }
        for cancellation in &self.cancellations {
            if cancellation.task >= self.tasks.len() {
                return wrong(format!(
                    "a cancellation names task {}, which does not exist",
                    cancellation.task
                ));
            }
        }
        for (index, task) in self.tasks.iter().enumerate() {
            self.task(task).map_err(|error| ModelError {
                task: Some(index),
                ..error
            })?;
        }
        self.cycles()
    }

    fn size(&self) -> Result<(), ModelError> {
        let (hosts, limits) = (self.hosts.len(), &self.limits);
        let processors = self.hosts.iter().map(|host| host.processors);
        let streams = self.tasks.iter().map(|task| task.hosts.len());
        let sum = |numbers: &mut dyn Iterator<Item = usize>| numbers.fold(0, usize::saturating_add);
        let sizes = [
            ("hosts", hosts, limits.hosts),
            ("processors", sum(&mut { processors }), limits.processors),
            (
                "resources on its hosts",
                hosts.saturating_mul(self.resources.len()),
                limits.resources,
            ),
            ("streams of arrivals", sum(&mut { streams }), limits.streams),
        ];
        match sizes.iter().find(|(_, number, limit)| number > limit) {
            Some((what, number, limit)) => wrong(format!(
                "the model has {number} {what}; at most {limit} are possible"
            )),
            None => Ok(()),
        }
    }

    fn task(&self, task: &Task) -> Result<(), ModelError> {
        let name = format!("task `{}`", task.name);
        if task.hosts.is_empty() {
            return wrong(format!("{name} begins on no host"));
        }
        for host in &task.hosts {
            self.host(*host, &name)?;
        }
        if task.arrival != Arrival::OnDemand && task.parameters.is_none() {
            return wrong(format!(
                "{name} has no parameters, and no thread starts it whose parameters it could take"
            ));
        }
        let advances = match task.arrival {
            Arrival::OnDemand | Arrival::Once { .. } => true,
            Arrival::Periodic { period, .. } => !period.is_zero(),
            Arrival::Sporadic { least, most, .. } => !most.is_zero() && least <= most,
            Arrival::Random { mean, .. } => !mean.is_zero(),
        };
        if !advances {
            return wrong(format!(
                "{name} arrives endlessly at one time; its period must be longer than 0"
            ));
        }
        self.steps(&name, &task.steps)
    }

    fn steps(&self, name: &str, steps: &[Step]) -> Result<(), ModelError> {
        let mut segments = 0u32;
        let mut held: Vec<usize> = Vec::new();
        for step in steps {
            match step {
                Step::Begin(_) => segments += 1,
                Step::End if segments == 0 => {
                    return wrong(format!(
                        "{name} ends a segment that does not begin in the same steps"
                    ));
                }
                Step::End => segments -= 1,
                Step::Compute(work)
                    if !(work.least >= 0.0 && work.most >= work.least && work.most.is_finite()) =>
                {
                    return wrong(format!(
                        "{name} computes for an invalid time; 0 ≤ least ≤ most is required"
                    ));
                }
                Step::Call(call) => {
                    if call.hosts.is_empty() {
                        return wrong(format!("{name} calls no host"));
                    }
                    for host in &call.hosts {
                        self.host(*host, name)?;
                    }
                    self.steps(name, &call.steps)?;
                }
                Step::Oneway(start) | Step::Async(start) => self.started(name, start.task)?,
                Step::Spawn { task } => self.started(name, *task)?,
                Step::Cancel { task } if *task >= self.tasks.len() => {
                    return wrong(format!("{name} cancels task {task}, which does not exist"));
                }
                Step::Lock(resource) if *resource >= self.resources.len() => {
                    return wrong(format!("{name} locks resource {resource}, which does not exist"));
                }
                Step::Lock(resource) => held.push(*resource),
                Step::Unlock(resource) => match held.iter().rposition(|other| other == resource) {
                    Some(index) => drop(held.remove(index)),
                    None => {
                        return wrong(format!(
                            "{name} unlocks a resource that it does not lock in the same steps"
                        ));
                    }
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn started(&self, name: &str, task: usize) -> Result<(), ModelError> {
        match self.tasks.get(task) {
            None => wrong(format!("{name} starts task {task}, which does not exist")),
            Some(other) if other.arrival != Arrival::OnDemand => wrong(format!(
                "{name} starts `{}`, which has its own arrivals; make it arrive on demand",
                other.name
            )),
            Some(_) => Ok(()),
        }
    }

    fn host(&self, host: usize, user: &str) -> Result<(), ModelError> {
        if host < self.hosts.len() {
            return Ok(());
        }
        wrong(format!("{user} names host {host}, which does not exist"))
    }

    /// Checks that no task starts itself, directly or through others.
    fn cycles(&self) -> Result<(), ModelError> {
        // 0: not visited, 1: in progress, 2: done.
        let mut colors = vec![0u8; self.tasks.len()];
        for task in 0..self.tasks.len() {
            self.visit(task, &mut colors)?;
        }
        Ok(())
    }

    /// Visits a task and those that it starts, depth first.
    fn visit(&self, task: usize, colors: &mut [u8]) -> Result<(), ModelError> {
        match colors[task] {
            0 => {}
            1 => {
                let name = &self.tasks[task].name;
                let text = format!("task `{name}` starts itself, directly or through other tasks, endlessly");
                return Err(ModelError {
                    text,
                    task: Some(task),
                });
            }
            _ => return Ok(()),
        }
        colors[task] = 1;
        let mut started = Vec::new();
        starts(&self.tasks[task].steps, &mut started);
        for other in started {
            self.visit(other, colors)?;
        }
        colors[task] = 2;
        Ok(())
    }
}

/// Collects the tasks that steps start.
fn starts(steps: &[Step], found: &mut Vec<usize>) {
    for step in steps {
        match step {
            Step::Call(call) => starts(&call.steps, found),
            Step::Oneway(start) | Step::Async(start) => found.push(start.task),
            Step::Spawn { task } => found.push(*task),
            _ => {}
        }
    }
}

fn wrong<T>(text: String) -> Result<T, ModelError> {
    Err(ModelError::of(text))
}
