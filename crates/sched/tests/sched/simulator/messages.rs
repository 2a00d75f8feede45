//! Calls, oneways and asynchronous requests.

use punctual_sched::{
    dynamic::standard,
    simulator::{Arrival, Call, EventKind, Link, Parameters, Simulation, Start, Step},
};

use crate::simulator::support::*;

#[test]
fn a_call_takes_the_time_of_both_messages() {
    let mut model = hosts(
        2,
        vec![once(
            "t",
            0,
            1,
            vec![compute(1), Step::call(1, [compute(2)]), compute(1)],
        )],
    );
    model.network.latency = MS * 3;
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 20);
    assert_eq!(runs(&events, 0, 20), [(0, 0, 1), (0, 9, 10)]);
    assert_eq!(runs(&events, 1, 20), [(0, 4, 6)]);
    assert_eq!(statistics.tasks[0].response.max(), Some(10_000_000));
    let kinds: Vec<_> = events.iter().map(|event| event.kind.name()).collect();
    assert_eq!(
        kinds,
        [
            "Arrived",
            "Started",
            "Sent",
            "Received",
            "Started",
            "Replied",
            "Returned",
            "Resumed",
            "Completed"
        ]
    );
}

#[test]
fn a_collocated_call_is_not_a_scheduling_point() {
    let model = hosts(
        1,
        vec![once(
            "t",
            0,
            1,
            vec![Step::call(0, [compute(2), Step::call(0, [compute(1)])])],
        )],
    );
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 20);
    assert_eq!(runs(&events, 0, 20), [(0, 0, 3)]);
    assert_eq!(statistics.hosts[0].decisions, 1);
}

#[test]
fn messages_queue_on_a_slow_link() {
    let call = |bytes| {
        Step::Call(Call {
            hosts: vec![1],
            steps: vec![compute(1)],
            request_bytes: bytes,
            reply_bytes: 0,
            deadline: None,
            shedding: None,
        })
    };
    let mut model = hosts(
        2,
        vec![
            once("a", 0, 2, vec![call(5_000)]),
            once("b", 0, 1, vec![call(2_000)]),
        ],
    );
    // A kilobyte per millisecond.
    let slow = Link {
        bytes_per_second: Some(1_000_000),
        ..Link::default()
    };
    model.links = vec![(0, 1, slow)];
    let (events, _) = simulate(&model, "MIF", 1, MS * 20);
    let received = |task| times(&events, task, |kind| *kind == EventKind::Received);
    assert_eq!((received(0), received(1)), (vec![5], vec![7]));
}

#[test]
fn oneways_spawns_and_asynchronous_requests_start_threads() {
    let start = Start {
        task: 1,
        request_bytes: 0,
        reply_bytes: 0,
    };
    let mut remote = once("remote", 0, 5, vec![compute(4)]);
    (remote.arrival, remote.hosts, remote.parameters) = (Arrival::OnDemand, vec![1], None);
    let mut child = once("child", 0, 7, vec![compute(1)]);
    child.arrival = Arrival::OnDemand;
    let parent = vec![
        Step::Oneway(start),
        Step::Async(start),
        compute(1),
        Step::Spawn { task: 2 },
        compute(1),
        Step::Await,
        compute(1),
    ];
    let mut model = hosts(2, vec![once("parent", 0, 3, parent), remote, child]);
    model.network.latency = MS;
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 30);
    // The child is more important. The thread of the oneway runs first, and no thread waits for it.
    assert_eq!(
        runs(&events, 0, 30),
        [(0, 0, 1), (2, 1, 2), (0, 2, 3), (0, 10, 11)]
    );
    assert_eq!(runs(&events, 1, 30), [(1, 1, 5), (1, 5, 9)]);
    assert_eq!(statistics.tasks[1].made, 2);
}

#[test]
fn a_thread_without_parameters_has_those_of_its_starter() {
    let mut child = once("child", 0, 0, vec![compute(2)]);
    (child.arrival, child.parameters) = (Arrival::OnDemand, None);
    let starts = |name, importance| once(name, 0, importance, vec![Step::Spawn { task: 2 }, compute(1)]);
    let other = once("other", 0, 5, vec![compute(1)]);
    let model = hosts(1, vec![starts("high", 9), other, child]);
    let (events, _) = simulate(&model, "MIF", 1, MS * 30);
    assert_eq!(runs(&events, 0, 30), [(0, 0, 1), (2, 1, 3), (1, 3, 4)]);
}

#[test]
fn each_host_has_its_own_scheduler() {
    // Important but not urgent, and vice versa.
    let mut important = once("important", 0, 9, vec![Step::call(1, [compute(2)]), compute(2)]);
    let mut urgent = once("urgent", 0, 1, vec![Step::call(1, [compute(2)]), compute(2)]);
    for (task, deadline) in [(&mut important, 100), (&mut urgent, 10)] {
        if let Some(parameters) = &mut task.parameters {
            parameters.deadline = Some(MS * deadline);
        }
    }
    let model = hosts(2, vec![important, urgent]);
    let mut simulation = Simulation::new(&model, 1, |host| standard(["EDF", "MIF"][host]).unwrap()).unwrap();
    let mut events = Vec::new();
    simulation.run_until(at(20), &mut events).unwrap();
    // The urgent thread calls first, but urgency counts only on this host.
    assert_eq!(
        times(&events, 1, |kind| matches!(kind, EventKind::Sent { .. })),
        [0]
    );
    assert_eq!(runs(&events, 1, 20), [(0, 0, 2), (1, 2, 4)]);
}

/// Attributes that a thread did not carry are derived as in live operation, although the model knows them:
/// importance implies no deadline.
#[test]
fn hosts_with_other_schedulers_translate_the_parameters_of_a_thread() {
    let calls = |name: &str, importance, deadline_ms: u32, steps: Vec<Step>| {
        let mut task = once(name, 0, importance, vec![Step::call(1, steps)]);
        if let Some(parameters) = &mut task.parameters {
            parameters.deadline = Some(MS * deadline_ms);
        }
        task
    };
    let segment = Parameters {
        deadline: Some(MS * 10),
        ..Parameters::default()
    };
    let begins = vec![Step::Begin(segment), compute(5), Step::End];
    let tasks = vec![
        calls("sooner", 1, 20, vec![compute(5)]),
        calls("more important", 9, 90, vec![compute(5)]),
        calls("says it there", 0, 90, begins),
    ];
    let model = hosts(2, tasks);
    let scheduler = |host| standard(["MIF", "EDF"][host]).unwrap();
    let mut simulation = Simulation::new(&model, 1, scheduler).unwrap();
    let mut events = Vec::new();
    simulation.run_until(at(100), &mut events).unwrap();
    // By importance, since none has a deadline there, except the one that begins a segment when it runs.
    assert_eq!(runs(&events, 1, 100), [(1, 0, 5), (0, 5, 10), (2, 10, 15)]);
}
