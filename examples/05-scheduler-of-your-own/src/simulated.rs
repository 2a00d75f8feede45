//! The workshop in the simulator.

use std::time::Duration;

use punctual::rtscheduling::{
    Scheduler, Time,
    simulator::{Arrival, Event, EventKind, Host, Model, ModelError, Parameters, Simulation, Step, Task},
};

use crate::{HOLD, JOBS, Job};

/// Returns the jobs in the order of their completion in virtual time.
///
/// # Errors
/// If the model is invalid.
pub fn simulated(scheduler: impl Fn() -> Box<dyn Scheduler>) -> Result<Vec<&'static str>, ModelError> {
    let millisecond = Duration::from_millis(1);
    let jobs: Vec<Job> = [HOLD].into_iter().chain(JOBS).collect();
    let tasks = jobs.iter().zip(0_u64..).map(|(job, index)| {
        let mut task = Task::new(job.name);
        task.arrival = Arrival::Once {
            at: Time(index * 1_000),
        };
        task.parameters = Some(Parameters {
            importance: job.customer,
            execution_time: job.takes(),
            ..Parameters::default()
        });
        // The first job keeps the processor until all have arrived.
        task.steps = vec![Step::compute(job.takes().max(millisecond))];
        task
    });
    let model = Model {
        hosts: vec![Host::new("workshop")],
        tasks: tasks.collect(),
        ..Model::default()
    };
    let mut events: Vec<Event> = Vec::new();
    Simulation::new(&model, 1, |_| scheduler())?.run_until(Time(0) + 100 * millisecond, &mut events)?;
    let done = events.iter().filter(|event| event.kind == EventKind::Completed);
    Ok(done
        .map(|event| jobs[event.thread.task as usize].name)
        .skip(1)
        .collect())
}
