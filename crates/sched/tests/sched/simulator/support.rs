//! Helpers of all tests of the simulator.

use std::time::Duration;

use punctual_sched::{
    dynamic::{Time, standard},
    simulator::{
        Arrival, Event, EventKind, Host, Model, Parameters, Simulation, Statistics, Step, Task,
        dispatch_graph,
    },
};

pub const MS: Duration = Duration::from_millis(1);

/// Simulates with the same scheduler on all hosts.
pub fn simulate(model: &Model, name: &str, seed: u64, until: Duration) -> (Vec<Event>, Statistics) {
    let scheduler = |_| standard(name).unwrap_or_else(|| panic!("unknown scheduler {name}"));
    let mut simulation = Simulation::new(model, seed, scheduler).unwrap();
    let mut events = Vec::new();
    simulation.run_until(Time(0) + until, &mut events).unwrap();
    (events, simulation.finish())
}

pub fn at(milliseconds: u32) -> Time {
    Time(0) + MS * milliseconds
}

/// Creates a model with hosts `h0`, `h1`, ….
pub fn hosts(count: usize, tasks: Vec<Task>) -> Model {
    Model {
        hosts: (0..count).map(|number| Host::new(format!("h{number}"))).collect(),
        tasks,
        ..Model::default()
    }
}

/// Creates a task with one arrival on host 0 and an importance.
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

/// Creates a periodic task on host 0 that computes; its deadline is the next arrival.
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

/// Returns the runs on a host: task, beginning and end in milliseconds.
pub fn runs(events: &[Event], host: u32, until_ms: u32) -> Vec<(u32, u64, u64)> {
    let runs = dispatch_graph(events, at(until_ms), false);
    let own = runs.into_iter().filter(|run| run.host == host);
    own.map(|run| (run.thread.task, run.from.0 / 1_000_000, run.to.0 / 1_000_000))
        .collect()
}

/// Returns the times of events of a task in milliseconds.
pub fn times(events: &[Event], task: u32, kind: fn(&EventKind) -> bool) -> Vec<u64> {
    let own = events
        .iter()
        .filter(|event| event.thread.task == task && kind(&event.kind));
    own.map(|event| event.time.0 / 1_000_000).collect()
}
