use alloc::{format, string::String, vec, vec::Vec};
use core::{error::Error, fmt};

use super::{Arrival, Model, Protocol, Resource, Step, Task};

/// What is wrong with a model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ModelError {
    text: String,
    task: Option<usize>,
}

impl ModelError {
    /// The task that it is in, as a place in the model; `None`: it is elsewhere.
    pub fn task(&self) -> Option<usize> {
        self.task
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for ModelError {}

impl Model {
    /// Whether it can be simulated: what it names is there, and time goes on.
    ///
    /// # Errors
    /// [`ModelError`] names the first thing that is wrong, and what would be right.
    pub fn check(&self) -> Result<(), ModelError> {
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
                    "a cancellation names task {}, which is not there",
                    cancellation.task
                ));
            }
        }
        for (place, task) in self.tasks.iter().enumerate() {
            self.task(task).map_err(|error| ModelError {
                task: Some(place),
                ..error
            })?;
        }
        self.cycles()
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
                "{name} has no parameters, and nobody whose it could take"
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
                "{name} arrives without end at one time; its period must be longer than 0"
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
                        "{name} ends a segment that was not begun in the same steps"
                    ));
                }
                Step::End => segments -= 1,
                Step::Compute(work)
                    if !(work.least >= 0.0 && work.most >= work.least && work.most.is_finite()) =>
                {
                    return wrong(format!("{name} computes for no possible time; 0 ≤ least ≤ most"));
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
                    return wrong(format!("{name} cancels task {task}, which is not there"));
                }
                Step::Lock(resource) if *resource >= self.resources.len() => {
                    return wrong(format!("{name} locks resource {resource}, which is not there"));
                }
                Step::Lock(resource) => held.push(*resource),
                Step::Unlock(resource) => match held.iter().rposition(|other| other == resource) {
                    Some(place) => drop(held.remove(place)),
                    None => return wrong(format!("{name} unlocks what it did not lock in the same steps")),
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn started(&self, name: &str, task: usize) -> Result<(), ModelError> {
        match self.tasks.get(task) {
            None => wrong(format!("{name} starts task {task}, which is not there")),
            Some(other) if other.arrival != Arrival::OnDemand => wrong(format!(
                "{name} starts `{}`, which arrives by itself; let it arrive on demand",
                other.name
            )),
            Some(_) => Ok(()),
        }
    }

    fn host(&self, host: usize, who: &str) -> Result<(), ModelError> {
        if host < self.hosts.len() {
            return Ok(());
        }
        wrong(format!("{who} names host {host}, which is not there"))
    }

    /// Threads that start threads that start the first ones would be ever more.
    fn cycles(&self) -> Result<(), ModelError> {
        // Not seen, under way, done.
        let mut colors = vec![0u8; self.tasks.len()];
        for task in 0..self.tasks.len() {
            self.visit(task, &mut colors)?;
        }
        Ok(())
    }

    fn visit(&self, task: usize, colors: &mut [u8]) -> Result<(), ModelError> {
        match colors[task] {
            0 => {}
            1 => {
                let name = &self.tasks[task].name;
                let text =
                    format!("task `{name}` starts itself, at once or over others: threads without end");
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
    Err(ModelError { text, task: None })
}

impl Resource {
    /// With inheritance.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            protocol: Protocol::default(),
        }
    }
}
