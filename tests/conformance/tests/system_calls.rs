//! The system calls of one call, as the kernel counts them.

use punctual::{Orb, Priority, PriorityModel, SchedulingClass};
use punctual_conformance::{
    conformance::ProbeRef,
    server::{self, Server, Setup},
};
use punctual_os::{
    TaskId,
    perf::{Counter, PerfError},
};

const CALLS: u64 = 100;

/// System calls of `CALLS` calls on this thread and on the thread that serves them.
fn count(probe: &ProbeRef) -> Result<(u64, u64), PerfError> {
    let lane = TaskId::new(probe.thread().unwrap()).unwrap();
    let (client, lane) = (
        Counter::syscalls(TaskId::current_thread(), false)?,
        Counter::syscalls(lane, false)?,
    );
    (0..10).for_each(|_| assert_eq!(probe.twice(1).unwrap(), 2));
    lane.enable().unwrap();
    client.enable().unwrap();
    for _ in 0..CALLS {
        assert_eq!(probe.twice(21).unwrap(), 42);
    }
    client.disable().unwrap();
    lane.disable().unwrap();
    // Without the call that pauses the counter of this thread.
    Ok((client.read().unwrap() - 1, lane.read().unwrap()))
}

/// Exactly one write and one read here; there a wait, a read and a write.
fn assert_within_budget(name: &str, probe: &ProbeRef) {
    match count(probe) {
        Ok((client, lane)) => {
            assert_eq!(client, 2 * CALLS, "{name}: the client");
            // The wait behind the last call of the warm-up may fall into the count.
            assert!(
                (2 * CALLS..=3 * CALLS + 1).contains(&lane),
                "{name}: the lane, {lane}"
            );
        }
        Err(error) => eprintln!("SKIPPED {name}: {error}"),
    }
}

#[test]
fn a_call_costs_two_here_and_three_there() {
    let server = Server::start();
    assert_within_budget("plain", &server.reference_for(&server::client()));
}

#[test]
fn a_coarse_deadline_costs_nothing() {
    let (server, client) = (Server::start(), server::client());
    let probe = server.reference_for(&client);
    let probe = probe.with_timeout(std::time::Duration::from_secs(5));
    assert_within_budget("deadline", &probe.unchecked());
}

#[test]
fn nor_does_a_priority_that_selects_a_lane() {
    let setup = Setup {
        model: Some(PriorityModel::ClientPropagated {
            default: Priority::MIN,
        }),
        pool: |pool| pool.lane(Priority::MIN, 1).lane(Priority::MAX, 1),
        ..Setup::default()
    };
    let server = setup.start();
    let client = Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .build()
        .unwrap();
    client.current().set_priority(Priority::MAX).unwrap();
    assert_within_budget("lanes", &server.reference_for(&client));
    let [low, high] = [0, 1].map(|lane| server.pool.statistics()[lane].1.requests);
    assert!(low == 0 && high > 0, "{low} {high}");
}

/// Each request leaves nobody waiting in its lane of one thread: that arms the lane below, unless it is armed still.
#[test]
fn a_lane_that_may_borrow_pays_one_for_each_lane_below() {
    let setup = Setup {
        model: Some(PriorityModel::ClientPropagated {
            default: Priority::MIN,
        }),
        pool: |pool| {
            pool.lane(Priority::MIN, 1)
                .lane(Priority::MAX, 1)
                .allow_borrowing(true)
        },
        ..Setup::default()
    };
    let server = setup.start();
    let client = Orb::builder()
        .scheduling_class(SchedulingClass::Other)
        .lock_memory(false)
        .build()
        .unwrap();
    client.current().set_priority(Priority::MAX).unwrap();
    let probe = server.reference_for(&client);
    match count(&probe) {
        Ok((client, lane)) => {
            assert_eq!(client, 2 * CALLS, "the client");
            assert!((2 * CALLS..=4 * CALLS + 1).contains(&lane), "the lane, {lane}");
        }
        Err(error) => eprintln!("SKIPPED a_lane_that_may_borrow_pays_one_for_each_lane_below: {error}"),
    }
}

#[test]
fn calls_inside_one_orb_cost_none() {
    let server = Server::start();
    let probe = &server.probe;
    let Ok(counter) = Counter::syscalls(TaskId::current_thread(), false) else {
        return eprintln!("SKIPPED calls_inside_one_orb_cost_none: no right to count");
    };
    (0..10).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    counter.enable().unwrap();
    (0..CALLS).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    counter.disable().unwrap();
    assert_eq!(counter.read().unwrap() - 1, 0);
}
