//! Limits: models that would take all memory, or all time, end with a number and its limit.

use std::time::Duration;

use punctual_sched::{
    dynamic::{Time, standard},
    simulator::{Arrival, Limits, Model, ModelError, Resource, Simulation, Start, Step, Task},
};

use super::support::{compute, hosts, once, periodic};

/// Simulates up to ten seconds.
fn error_of(model: &Model) -> Option<String> {
    let run = || -> Result<(), ModelError> {
        let mut simulation = Simulation::new(model, 1, |_| standard("EDF").unwrap())?;
        simulation.run_until(Time(10_000_000_000), &mut ())
    };
    run().err().map(|error| error.to_string())
}

fn assert_refused(model: &Model, expected: &str) {
    let error = error_of(model).unwrap();
    assert!(error.contains(expected), "{error}");
}

/// A task whose threads are started by others.
fn on_demand(name: &str, steps: Vec<Step>) -> Task {
    let mut task = once(name, 0, 0, steps);
    task.arrival = Arrival::OnDemand;
    task
}

#[test]
fn models_beyond_their_size_are_refused_before_they_take_memory() {
    let with = |change: fn(&mut Model)| {
        let mut model = hosts(2, vec![once("task", 0, 0, vec![compute(1)])]);
        change(&mut model);
        model
    };
    for processors in [1 << 63, 1_000_000_000] {
        let mut model = with(|_| {});
        model.hosts[1].processors = processors;
        let number = processors + 1;
        assert_refused(
            &model,
            &format!("{number} processors; at most 100000 are possible"),
        );
    }
    let model = with(|model| model.hosts[0].processors = usize::MAX);
    assert_refused(&model, &format!("{} processors", usize::MAX));
    let model = with(|model| model.tasks[0].hosts = vec![0; 1_000_001]);
    assert_refused(&model, "1000001 streams of arrivals; at most 1000000");
    let model = with(|model| {
        model.resources = vec![Resource::new("resource"); 11];
        model.limits.resources = 20;
    });
    assert_refused(&model, "22 resources on its hosts; at most 20");
    let model = with(|model| model.limits.hosts = 1);
    assert_refused(&model, "2 hosts; at most 1");
}

#[test]
fn work_that_arrives_faster_than_it_is_done_has_a_limit() {
    let mut model = hosts(1, vec![periodic("flood", 1, 1000)]);
    if let Arrival::Periodic { period, .. } = &mut model.tasks[0].arrival {
        *period = Duration::from_nanos(1);
    }
    assert_refused(
        &model,
        "the simulation stopped after 200000 ns of virtual time with 200001 threads at one time, of at most \
         200000",
    );
}

#[test]
fn threads_that_start_others_without_end_at_one_time_have_a_limit() {
    // Each level starts a hundred threads of the next: 10^8 at the last, none of which takes time.
    let names = ["a", "b", "c", "d", "e"];
    let tasks = (0..names.len()).map(|level| {
        let next = Step::Spawn { task: level + 1 };
        let steps = if level + 1 < names.len() {
            vec![next; 100]
        } else {
            Vec::new()
        };
        match level {
            0 => once(names[0], 0, 0, steps),
            _ => on_demand(names[level], steps),
        }
    });
    let mut model = hosts(1, tasks.collect());
    model.limits.threads = usize::MAX;
    model.limits.arrivals = 1_000_000;
    assert_refused(&model, "1000001 arrivals, of at most 1000000");
    model.limits.threads = 1_000;
    assert_refused(&model, "1001 threads at one time, of at most 1000");
}

#[test]
fn messages_in_transit_have_a_limit() {
    let post = Step::Oneway(Start {
        task: 1,
        request_bytes: 0,
        reply_bytes: 0,
    });
    let mut model = hosts(
        2,
        vec![
            once("sender", 0, 0, vec![post; 1_000]),
            on_demand("receiver", Vec::new()),
        ],
    );
    model.tasks[1].hosts = vec![1];
    model.network.latency = Duration::from_secs(1);
    model.limits.pending = 500;
    assert_refused(&model, "501 pending occurrences, of at most 500");
}

#[test]
fn a_simulation_ends_after_a_number_of_events() {
    let mut model = hosts(1, vec![periodic("task", 1, 0)]);
    model.limits = Limits {
        events: 1_000,
        ..Limits::default()
    };
    assert_refused(&model, "1001 events, of at most 1000");
    model.limits.events = 1_000_000;
    assert_eq!(error_of(&model), None);
}

#[test]
fn a_simulation_that_has_stopped_stays_so() {
    let mut model = hosts(1, vec![periodic("task", 1, 0)]);
    model.limits.arrivals = 3;
    let mut simulation = Simulation::new(&model, 1, |_| standard("EDF").unwrap()).unwrap();
    let first = simulation.run_until(Time(10_000_000), &mut ()).unwrap_err();
    assert_eq!(simulation.run_until(Time(20_000_000), &mut ()), Err(first));
    assert_eq!(simulation.finish().tasks[0].arrived, 4);
}
