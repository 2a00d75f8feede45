//! Errors of invalid models.

use std::time::Duration;

use punctual_sched::{
    dynamic::standard,
    simulator::{Arrival, Cancellation, Link, Model, Simulation, Start, Step, Work},
};

use crate::simulator::support::*;

fn problem(model: &Model) -> String {
    match Simulation::new(model, 1, |_| standard("EDF").unwrap()) {
        Ok(_) => String::from("accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_problem_is_described() {
    let base = hosts(1, vec![once("t", 0, 1, vec![compute(1)])]);
    let with = |change: &dyn Fn(&mut Model)| {
        let mut model = base.clone();
        change(&mut model);
        problem(&model)
    };
    let steps = |steps: Vec<Step>| with(&|model| model.tasks[0].steps.clone_from(&steps));
    let start = Start {
        task: 0,
        request_bytes: 0,
        reply_bytes: 0,
    };
    let cases = [
        (
            with(&|model| model.hosts[0].processors = 0),
            "at least 1 processor",
        ),
        (
            with(&|model| model.links = vec![(0, 7, Link::default())]),
            "host 7, which does not exist",
        ),
        (with(&|model| model.tasks[0].hosts.clear()), "begins on no host"),
        (
            with(&|model| model.tasks[0].parameters = None),
            "has no parameters",
        ),
        (
            with(&|model| model.cancellations = vec![Cancellation { at: at(0), task: 3 }]),
            "task 3, which does not exist",
        ),
        (
            with(&|model| {
                model.tasks[0].arrival = Arrival::Random {
                    offset: at(0),
                    mean: Duration::ZERO,
                }
            }),
            "longer than 0",
        ),
        (steps(vec![Step::End]), "does not begin"),
        (steps(vec![Step::Unlock(0)]), "does not lock"),
        (
            steps(vec![Step::Lock(0)]),
            "locks resource 0, which does not exist",
        ),
        (steps(vec![Step::call(1, [])]), "host 1, which does not exist"),
        (
            steps(vec![Step::Spawn { task: 4 }]),
            "task 4, which does not exist",
        ),
        (steps(vec![Step::Oneway(start)]), "has its own arrivals"),
        (
            steps(vec![Step::Compute(Work {
                time: MS,
                least: 2.0,
                most: 1.0,
            })]),
            "invalid time",
        ),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found:?}, expected {expected:?}");
    }
}

#[test]
fn tasks_that_start_themselves_are_refused() {
    let mut tasks = vec![
        once("a", 0, 1, vec![Step::Spawn { task: 1 }]),
        once("b", 0, 1, vec![Step::Spawn { task: 0 }]),
    ];
    tasks.iter_mut().for_each(|task| task.arrival = Arrival::OnDemand);
    tasks.push(once("c", 0, 1, vec![Step::call(0, [Step::Spawn { task: 0 }])]));
    assert!(problem(&hosts(1, tasks)).contains("task `a` starts itself"));
}
