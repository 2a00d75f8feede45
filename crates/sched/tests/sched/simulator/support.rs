//! What all tests here need.

use std::time::Duration;

use punctual_sched::{
    dynamic::{Time, standard},
    simulator::{
        Arrival, Event, EventKind, Host, Model, Parameters, Simulation, Statistics, Step, Task,
        dispatch_graph,
    },
};

pub const MS: Duration = Duration::from_millis(1);

/// With one scheduler everywhere.
pub fn simulate(model: &Model, name: &str, seed: u64, until: Duration) -> (Vec<Event>, Statistics) {
    let scheduler = |_| standard(name).unwrap_or_else(|| panic!("no scheduler is named {name}"));
    let mut simulation = Simulation::new(model, seed, scheduler).unwrap();
    let mut events = Vec::new();
    simulation.run_until(Time(0) + until, &mut events);
    (events, simulation.finish())
}

pub fn at(milliseconds: u32) -> Time {
    Time(0) + MS * milliseconds
}

/// Hosts `h0`, `h1`, ….
pub fn hosts(count: usize, tasks: Vec<Task>) -> Model {
    Model {
        hosts: (0..count).map(|number| Host::new(format!("h{number}"))).collect(),
        tasks,
        ..Model::default()
    }
}

/// Comes once on host 0, with an importance.
pub fn once(name: &str, at_ms: u32, importance: i32, steps: Vec<Step>) -> Task {
    let mut task = Task::new(name);
    task.arrival = Arrival::Once { at: at(at_ms) };
    task.parameters = Some(Parameters {
        importance,
        execution_time: Step::execution_time(&steps),
        ..Parameters::default()
    });
    task.steps = steps;
    task
}

/// Comes again and again on host 0, computes, and is to be done by its next arrival.
pub fn periodic(name: &str, period_ms: u32, compute_ms: u32) -> Task {
    let mut task = Task::new(name);
    let period = MS * period_ms;
    task.arrival = Arrival::Periodic {
        offset: at(0),
        period,
        jitter: Duration::ZERO,
    };
    task.parameters = Some(Parameters {
        period,
        deadline: Some(period),
        execution_time: MS * compute_ms,
        ..Parameters::default()
    });
    task.steps = vec![Step::compute(MS * compute_ms)];
    task
}

pub fn compute(milliseconds: u32) -> Step {
    Step::compute(MS * milliseconds)
}

/// Who runs on a host: task, from and to in milliseconds.
pub fn runs(events: &[Event], host: u32, until_ms: u32) -> Vec<(u32, u64, u64)> {
    let runs = dispatch_graph(events, at(until_ms), false);
    let own = runs.into_iter().filter(|run| run.host == host);
    own.map(|run| (run.thread.task, run.from.0 / 1_000_000, run.to.0 / 1_000_000))
        .collect()
}

/// When something happened to threads of a task, in milliseconds.
pub fn times(events: &[Event], task: u32, kind: fn(&EventKind) -> bool) -> Vec<u64> {
    let own = events
        .iter()
        .filter(|event| event.thread.task == task && kind(&event.kind));
    own.map(|event| event.time.0 / 1_000_000).collect()
}
