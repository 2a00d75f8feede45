//! Cancellation of threads and operations.

use std::time::Duration;

use punctual_sched::{
    dynamic::SheddingPolicy,
    simulator::{Arrival, Call, Cancellation, EventKind, Model, Parameters, Resource, Step, Task},
};

use crate::simulator::support::*;

fn cancelled_at(
    mut model: Model,
    at_ms: u32,
) -> (
    Vec<punctual_sched::simulator::Event>,
    punctual_sched::simulator::Statistics,
) {
    model.cancellations = vec![Cancellation {
        at: at(at_ms),
        task: 0,
    }];
    simulate(&model, "MIF", 1, MS * 100)
}

#[test]
fn a_computing_thread_ends_at_its_next_scheduling_point() {
    let model = hosts(1, vec![once("t", 0, 1, vec![compute(5), compute(5)])]);
    let (events, statistics) = cancelled_at(model, 2);
    assert_eq!(times(&events, 0, |kind| *kind == EventKind::Cancelled), [5]);
    assert_eq!(
        (statistics.tasks[0].cancelled, statistics.tasks[0].missed()),
        (1, 0)
    );
}

#[test]
fn waits_end_immediately_and_resources_are_released_in_order() {
    let waits = vec![
        Step::Lock(0),
        Step::Lock(1),
        Step::Sleep(MS * 50),
        Step::Unlock(1),
        Step::Unlock(0),
    ];
    let wants = once("other", 1, 1, vec![Step::Lock(0), compute(1), Step::Unlock(0)]);
    let mut model = hosts(1, vec![once("t", 0, 1, waits), wants]);
    model.resources = vec![Resource::new("a"), Resource::new("b")];
    let (events, _) = cancelled_at(model, 10);
    let given_back: Vec<_> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Unlocked { resource } if event.thread.task == 0 => Some((event.time, resource)),
            _ => None,
        })
        .collect();
    assert_eq!(given_back, [(at(10), 1), (at(10), 0)]);
    assert_eq!(times(&events, 1, |kind| *kind == EventKind::Completed), [11]);
}

#[test]
fn a_cancelled_waiter_does_not_get_the_resource() {
    let holder = once("holder", 0, 1, vec![Step::Lock(0), compute(20), Step::Unlock(0)]);
    let waiter = once("waiter", 1, 5, vec![Step::Lock(0), compute(1), Step::Unlock(0)]);
    let mut model = hosts(1, vec![waiter, holder]);
    model.resources = vec![Resource::new("a")];
    let (events, statistics) = cancelled_at(model, 10);
    assert_eq!(times(&events, 0, |kind| *kind == EventKind::Cancelled), [10]);
    assert!(times(&events, 0, |kind| matches!(kind, EventKind::Locked { .. })).is_empty());
    assert_eq!(statistics.tasks[1].made, 1);
}

/// The head is on another host: the exception travels back through all callers.
#[test]
fn a_head_on_another_host_unwinds_through_its_callers() {
    let deep = vec![
        Step::call(1, [Step::call(2, [compute(10), compute(10)]), compute(5)]),
        compute(5),
    ];
    let mut model = hosts(3, vec![once("t", 0, 1, deep)]);
    model.network.latency = MS;
    let (events, statistics) = cancelled_at(model, 5);
    let kinds: Vec<_> = events
        .iter()
        .map(|event| (event.host, event.kind.name(), event.time))
        .collect();
    assert_eq!(
        kinds[8..],
        [
            (2, "CancelAsked", at(5)),
            (2, "Replied", at(12)),
            (1, "Returned", at(13)),
            (1, "Resumed", at(13)),
            (1, "Replied", at(13)),
            (0, "Returned", at(14)),
            (0, "Resumed", at(14)),
            (0, "Cancelled", at(14)),
        ]
    );
    assert_eq!(statistics.tasks[0].cancelled, 1);
}

#[test]
fn one_thread_cancels_another() {
    let victim = once("victim", 0, 1, vec![Step::Sleep(MS * 50)]);
    let model = hosts(
        1,
        vec![
            victim,
            once(
                "other",
                3,
                9,
                vec![compute(1), Step::Cancel { task: 0 }, compute(1)],
            ),
        ],
    );
    let (events, _) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!(times(&events, 0, |kind| *kind == EventKind::CancelAsked), [4]);
    assert_eq!(
        times(&events, 0, |kind| *kind == EventKind::Cancelled),
        [5],
        "when it gets the processor"
    );
}

fn with_deadline(name: &str, importance: i32, deadline_ms: u32, compute_ms: u32) -> Task {
    let mut task = once(name, 0, importance, vec![compute(compute_ms)]);
    task.parameters = task.parameters.map(|parameters| Parameters {
        deadline: Some(MS * deadline_ms),
        ..parameters
    });
    task
}

#[test]
fn an_operation_that_cannot_be_in_time_is_not_dispatched() {
    let mut model = hosts(
        1,
        vec![
            with_deadline("first", 2, 100, 6),
            with_deadline("hopeless", 1, 10, 5),
        ],
    );
    let (_, wasted) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!(
        (wasted.tasks[1].late, wasted.tasks[1].dispatched_and_missed),
        (1, 1)
    );
    model.hosts[0].shedding = SheddingPolicy::before_dispatch().sparing_critical();
    model.hosts[0].costs.cancellation = Duration::from_micros(50);
    let (events, shed) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!((shed.tasks[1].shed, shed.tasks[1].dispatched_and_missed), (1, 0));
    assert_eq!(shed.hosts[0].overhead, Duration::from_micros(50));
    assert_eq!(
        times(&events, 1, |kind| *kind == EventKind::OperationCancelled),
        [6]
    );
}

/// A thread that becomes ready waits for one cancellation, not for all that are due.
#[test]
fn checks_and_cancellations_take_time_one_after_the_other() {
    let hopeless = |number: u32| with_deadline(&format!("hopeless {number}"), 1, 10, 5);
    let mut tasks = vec![with_deadline("first", 2, 100, 6)];
    tasks.extend((0..5).map(hopeless));
    let mut model = hosts(1, tasks);
    model.tasks.push(once("urgent", 8, 9, vec![compute(1)]));
    model.hosts[0].shedding = SheddingPolicy::before_dispatch().sparing_critical();
    model.hosts[0].costs.cancellation = MS;
    model.hosts[0].costs.check = Duration::from_micros(10);
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 100);
    let shed: u64 = statistics.tasks.iter().map(|task| task.shed).sum();
    assert_eq!(shed, 5);
    assert_eq!(
        statistics.hosts[0].overhead,
        MS * 5 + Duration::from_micros(10) * 7
    );
    // Cancellations begin at 6.01 and 7.02 ms; the thread arrives during the second one.
    let begun = events
        .iter()
        .find(|event| event.thread.task == 6 && event.kind.name() == "Started");
    assert_eq!(
        begun.map(|event| event.time),
        Some(punctual_sched::dynamic::Time(8_030_000))
    );
}

#[test]
fn critical_operations_are_cancelled_only_if_all_are() {
    let mut hopeless = with_deadline("hopeless", 1, 10, 5);
    if let Some(parameters) = &mut hopeless.parameters {
        parameters.criticality = 3;
    }
    let mut model = hosts(1, vec![with_deadline("first", 2, 100, 6), hopeless]);
    let all = SheddingPolicy::before_dispatch();
    for (shedding, late, shed) in [(all.sparing_critical(), 1, 0), (all, 0, 1)] {
        model.hosts[0].shedding = shedding;
        let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
        assert_eq!((statistics.tasks[1].late, statistics.tasks[1].shed), (late, shed));
    }
}

#[test]
fn an_operation_that_ends_at_its_deadline_is_in_time() {
    let mut model = hosts(
        1,
        vec![with_deadline("first", 2, 100, 5), with_deadline("just", 1, 10, 5)],
    );
    model.hosts[0].shedding = SheddingPolicy::before_dispatch();
    let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!((statistics.tasks[1].made, statistics.tasks[1].shed), (1, 0));
}

#[test]
fn a_cancelled_operation_is_retried_with_a_new_deadline() {
    let mut again = with_deadline("again", 1, 10, 5);
    let all = SheddingPolicy::before_dispatch();
    again.shedding = Some(all.retrying(2).retrying_after(MS));
    let mut model = hosts(1, vec![with_deadline("first", 2, 100, 6), again.clone()]);
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!((statistics.tasks[1].retries, statistics.tasks[1].made), (1, 1));
    assert_eq!(times(&events, 1, |kind| *kind == EventKind::Completed), [12]);
    // A limited number of times.
    let busy = |at_ms| once("busy", at_ms, 9, vec![compute(8)]);
    model.tasks = vec![again, busy(0), busy(9), busy(18)];
    let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!((statistics.tasks[0].retries, statistics.tasks[0].shed), (2, 1));
}

/// A call that has its own deadline: the caller continues without it, or retries.
#[test]
fn a_call_is_cancelled_alone() {
    let all = SheddingPolicy::before_dispatch();
    let call = |shedding| {
        Step::Call(Call {
            hosts: vec![1],
            steps: vec![compute(5)],
            request_bytes: 0,
            reply_bytes: 0,
            deadline: Some(MS * 8),
            shedding,
        })
    };
    let busy = |arrival_ms| {
        let mut busy = once("busy", arrival_ms, 9, vec![compute(6)]);
        busy.hosts = vec![1];
        busy
    };
    let mut model = hosts(2, vec![once("t", 0, 1, vec![call(None), compute(1)]), busy(0)]);
    model.hosts[1].shedding = all;
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!((statistics.tasks[0].calls_shed, statistics.tasks[0].made), (1, 1));
    assert_eq!(times(&events, 0, |kind| *kind == EventKind::Completed), [7]);

    let retry = all.retrying(1).retrying_after(MS * 2);
    model.tasks[0] = once("t", 0, 1, vec![call(Some(retry)), compute(1)]);
    let (events, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!(
        (statistics.tasks[0].calls_shed, statistics.tasks[0].retries),
        (1, 1)
    );
    // 6 + 2 + 5 + 1.
    assert_eq!(times(&events, 0, |kind| *kind == EventKind::Completed), [14]);
}

#[test]
fn cancelling_an_ended_thread_changes_nothing() {
    let mut never = once("never", 0, 1, vec![compute(1)]);
    never.arrival = Arrival::OnDemand;
    let model = hosts(
        1,
        vec![never, once("t", 0, 1, vec![Step::Cancel { task: 0 }, compute(1)])],
    );
    let (_, statistics) = cancelled_at(model, 0);
    assert_eq!((statistics.tasks[0].arrived, statistics.tasks[1].made), (0, 1));
}

/// A computation that is longer than declared makes the rest of the thread hopeless.
#[test]
fn running_work_is_shed_at_checkpoints_only() {
    let mut late = with_deadline("late", 1, 10, 5);
    late.steps = vec![compute(8), compute(4), compute(4)];
    if let Some(parameters) = &mut late.parameters {
        parameters.execution_time = MS * 12;
    }
    let mut model = hosts(1, vec![late]);
    for (policy, late, shed, busy) in [
        (SheddingPolicy::never(), 1, 0, 16),
        (SheddingPolicy::at_checkpoints(), 0, 1, 0),
    ] {
        model.hosts[0].shedding = policy;
        let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
        assert_eq!((statistics.tasks[0].late, statistics.tasks[0].shed), (late, shed));
        assert_eq!(statistics.hosts[0].busy, MS * busy);
    }
    // Declared too short: it is dispatched, and found hopeless between two computations.
    if let Some(parameters) = &mut model.tasks[0].parameters {
        parameters.execution_time = MS * 9;
    }
    for (policy, late, wasted, busy) in [
        (SheddingPolicy::before_dispatch(), 1, 1, 16),
        (SheddingPolicy::at_checkpoints(), 0, 1, 12),
    ] {
        model.hosts[0].shedding = policy;
        let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
        let task = &statistics.tasks[0];
        assert_eq!((task.late, task.dispatched_and_missed), (late, wasted));
        assert_eq!(statistics.hosts[0].busy, MS * busy);
    }
}

#[test]
fn the_policy_of_an_operation_replaces_that_of_the_host() {
    let mut kept = with_deadline("kept", 1, 10, 5);
    kept.shedding = Some(SheddingPolicy::never());
    let shed = with_deadline("shed", 1, 10, 5);
    let mut model = hosts(1, vec![with_deadline("first", 2, 100, 6), kept, shed]);
    model.hosts[0].shedding = SheddingPolicy::before_dispatch();
    let (_, statistics) = simulate(&model, "MIF", 1, MS * 100);
    assert_eq!((statistics.tasks[1].late, statistics.tasks[1].shed), (1, 0));
    assert_eq!((statistics.tasks[2].late, statistics.tasks[2].shed), (0, 1));
}
