//! Borrowing: a lane without a thread is served by threads of lower lanes, at its own priority, and never the
//! other way round.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use punctual::{LaneSpec, LaneStatistics, ThreadPoolBuilder, ior_to_string};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    peer::Listener,
    realtime_or_skip,
    server::{Server, reference},
    wire::COMMON,
};
use punctual_os::{CpuSet, TaskId, scheduling};

use super::{HIGH, LOW, ordinary_client, priority, wait_at_gate, with_lanes, with_real_time_lanes};

const BURST: Duration = Duration::from_millis(50);

#[test]
fn an_exhausted_lane_borrows_from_below() {
    let server = with_lanes(|pool| {
        pool.lane(priority(LOW), 2)
            .lane(priority(HIGH), 1)
            .allow_borrowing(true)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        for calls in 1..=3 {
            wait_at_gate(scope, &client, &probe, Some(HIGH), calls);
            server.hooks.await_at_gate(calls as usize);
            assert_eq!(server.seen(1).threads.borrowed, calls as u64 - 1);
        }
        // No thread is left in either lane.
        wait_at_gate(scope, &client, &probe, Some(HIGH), 4);
        wait_at_gate(scope, &client, &probe, Some(LOW), 5);
        thread::sleep(BURST);
        assert_eq!(server.hooks.arrived_at_gate(), 3);
        server.hooks.open_gate();
    });
    // A thread is busy until a moment after its reply.
    eventually("no thread is busy", || {
        server.seen(0).threads.busy + server.seen(1).threads.busy == 0
    });
    let (low, high) = (server.seen(0), server.seen(1));
    assert_eq!(
        (low.requests, high.requests),
        (1, 4),
        "connections stay with their lane"
    );
    assert_eq!(
        (low.threads.lent, low.threads.borrowed, high.threads.lent),
        (high.threads.borrowed, 0, 0)
    );
    assert!((2..=3).contains(&high.threads.borrowed), "{high:?}");
}

#[test]
fn a_low_lane_does_not_borrow_from_above() {
    let server = with_lanes(|pool| {
        pool.lane(priority(LOW), 1)
            .lane(priority(HIGH), 2)
            .allow_borrowing(true)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        (1..=3).for_each(|value| drop(wait_at_gate(scope, &client, &probe, Some(LOW), value)));
        server.hooks.await_at_gate(1);
        thread::sleep(BURST);
        assert_eq!(server.hooks.arrived_at_gate(), 1);
        client.current().set_priority(priority(HIGH)).unwrap();
        assert_eq!(probe.twice(1), Ok(2), "the high lane is as free as ever");
        server.hooks.open_gate();
    });
    assert_eq!(server.seen(0).threads.borrowed, 0);
}

#[test]
fn without_borrowing_a_lane_waits_for_its_own_threads() {
    let server = with_lanes(|pool| pool.lane(priority(LOW), 1).lane(priority(HIGH), 1));
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        (1..=2).for_each(|value| drop(wait_at_gate(scope, &client, &probe, Some(HIGH), value)));
        server.hooks.await_at_gate(1);
        thread::sleep(BURST);
        assert_eq!(server.hooks.arrived_at_gate(), 1);
        server.hooks.open_gate();
    });
    assert_eq!(server.seen(1).threads.borrowed, 0);
}

/// Own dynamic threads come before those of others.
#[test]
fn a_lane_grows_before_it_borrows() {
    let server = with_lanes(|pool| {
        pool.lane(priority(LOW), 1)
            .lane_with(LaneSpec::new(priority(HIGH)).dynamic_threads(1))
            .allow_borrowing(true)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        for (calls, borrowed) in [(1, 0), (2, 0), (3, 1)] {
            wait_at_gate(scope, &client, &probe, Some(HIGH), calls);
            server.hooks.await_at_gate(calls as usize);
            assert_eq!(
                (server.seen(1).threads.borrowed, server.seen(1).threads.dynamic),
                (borrowed, 1)
            );
        }
        server.hooks.open_gate();
    });
}

/// Five lanes, and everything at once: threads of all lanes end up in the highest, the nested ones included.
#[test]
fn lanes_borrow_from_all_below_them() {
    let server = with_lanes(|pool| {
        (1..=5)
            .map(|n| priority(n * 6_000))
            .fold(pool, |pool, own| pool.lane(own, 1))
            .allow_borrowing(true)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        // First the second lane takes the lowest one's thread, so that a helper may be needed further up.
        for calls in 1..=5 {
            let own = if calls <= 2 { 12_000 } else { 30_000 };
            wait_at_gate(scope, &client, &probe, Some(own), calls);
            server.hooks.await_at_gate(calls as usize);
        }
        server.hooks.open_gate();
    });
    assert_eq!(
        (server.seen(1).threads.borrowed, server.seen(4).threads.borrowed),
        (1, 2)
    );
}

#[test]
fn the_borrowed_thread_runs_at_the_priority_of_the_request() {
    let server = with_real_time_lanes(|pool| {
        pool.lane(priority(LOW), 1)
            .lane(priority(HIGH), 1)
            .allow_borrowing(true)
            .affinity(CpuSet::single(0))
    });
    if !realtime_or_skip() {
        return;
    }
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    client.current().set_priority(priority(LOW)).unwrap();
    let lender = TaskId::new(probe.thread().unwrap()).unwrap();
    let resting = scheduling::of(lender).unwrap();
    assert_eq!(resting.priority.0, 33);
    thread::scope(|scope| {
        wait_at_gate(scope, &client, &probe, Some(HIGH), 1);
        server.hooks.await_at_gate(1);
        client.current().set_priority(priority(HIGH)).unwrap();
        for _ in 0..10 {
            assert_eq!(probe.thread(), Ok(lender.get()), "the low lane's");
            assert_eq!(probe.native_priority(), Ok(99));
            assert_eq!(probe.corba_priority(), Ok(HIGH));
        }
        assert_eq!(server.seen(1).threads.borrowed, 30);
        client.current().set_priority(priority(LOW)).unwrap();
        assert_eq!(probe.native_priority(), Ok(33), "back at its own");
        assert_eq!(scheduling::of(lender).unwrap(), resting);
        server.hooks.open_gate();
    });
}

fn three_lanes(pool: ThreadPoolBuilder) -> ThreadPoolBuilder {
    pool.lane(priority(LOW), 2)
        .lane(priority(20_000), 1)
        .lane(priority(HIGH), 1)
        .allow_borrowing(true)
}

#[test]
fn no_request_is_lost_under_load() {
    let borrowed = stress(&with_lanes(three_lanes));
    assert!(borrowed > 0);
}

/// Where helpers are preempted by those they help: all threads of the server on one CPU.
#[test]
fn nor_is_any_on_one_real_time_cpu() {
    let server = with_real_time_lanes(|pool| three_lanes(pool).affinity(CpuSet::single(0)));
    if !realtime_or_skip() {
        return;
    }
    stress(&server);
}

/// Many clients, and lanes that have fewer threads than these: every call is answered, by any thread, and
/// the counts agree.
pub(super) fn stress(server: &Server) -> u64 {
    server.hooks.open_gate();
    const CALLS: u64 = 1_500;
    let clients = [LOW, LOW, 20_000, 20_000, 20_000, HIGH, HIGH, HIGH, HIGH];
    let served = AtomicU64::new(0);
    let clients_of = |own: i16| clients.iter().filter(|other| **other == own).count() as u64;
    thread::scope(|scope| {
        for (number, own) in clients.into_iter().enumerate() {
            let served = &served;
            scope.spawn(move || {
                let client = ordinary_client();
                let probe = server
                    .reference_for(&client)
                    .with_timeout(Duration::from_secs(20));
                let probe: ProbeRef = probe.unchecked();
                client.current().set_priority(priority(own)).unwrap();
                for call in 0..CALLS {
                    let value = (call as i32) << 4 | number as i32;
                    // A oneway in front: two messages in one read.
                    if call % 7 == 0 {
                        probe.note(value).unwrap();
                    }
                    assert_eq!(probe.twice(value), Ok(2 * value));
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(served.load(Ordering::Relaxed), CALLS * clients.len() as u64);
    // The last oneways may still be on their way.
    eventually("all are served", || {
        let sum =
            |count: fn(&LaneStatistics) -> u64| (0..3).map(|lane| count(&server.seen(lane))).sum::<u64>();
        sum(|lane| lane.requests) >= (CALLS + CALLS.div_ceil(7)) * clients.len() as u64
            && sum(|lane| lane.threads.busy as u64) == 0
    });
    let lanes = [0, 1, 2].map(|lane| server.seen(lane));
    let oneways = CALLS.div_ceil(7);
    for (lane, own) in lanes.iter().zip([LOW, 20_000, HIGH]) {
        assert_eq!(lane.requests, clients_of(own) * (CALLS + oneways), "{lane:?}");
    }
    let sum = |count: fn(&LaneStatistics) -> u64| lanes.iter().map(count).sum::<u64>();
    assert_eq!(sum(|lane| lane.threads.borrowed), sum(|lane| lane.threads.lent));
    assert_eq!(lanes[0].threads.borrowed, 0);
    sum(|lane| lane.threads.borrowed)
}

/// The lane's own thread has ended by then: the lane is kept open by the one that it has borrowed.
#[test]
fn a_shutdown_finishes_what_a_borrowed_thread_serves() {
    let server = with_lanes(|pool| {
        pool.lane(priority(LOW), 1)
            .lane(priority(HIGH), 1)
            .allow_borrowing(true)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    let elsewhere = Listener::open();
    let next = reference([1, 2], elsewhere.port, b"next", &[]);
    let next: ProbeRef = client.resolve(&ior_to_string(&next)).unwrap();
    thread::scope(|scope| {
        let own = wait_at_gate(scope, &client, &probe, Some(HIGH), 1);
        server.hooks.await_at_gate(1);
        let borrowed = scope.spawn(|| {
            client.current().set_priority(priority(HIGH)).unwrap();
            let probe: ProbeRef = probe.with_timeout(Duration::from_secs(15)).unchecked();
            probe.forward(Some(&next), 21)
        });
        let mut peer = elsewhere.accept();
        let request = peer.receive().unwrap();
        assert_eq!(
            (server.seen(1).threads.borrowed, server.seen(0).threads.lent),
            (1, 1)
        );
        server.orb.shutdown();
        server.hooks.open_gate();
        // Time for the lane's own thread to end, which is not reported.
        own.join().unwrap();
        thread::sleep(BURST);
        assert_eq!(server.seen(1).threads.present, 1, "the borrowed one");
        peer.send(&COMMON.reply(request.request().id, 0, |body| body.i32(42)));
        assert_eq!(borrowed.join().unwrap(), Ok(42));
    });
    server.orb.shutdown_and_wait().unwrap();
    assert_eq!(
        (server.seen(1).threads.present, server.seen(1).connections.open),
        (0, 0)
    );
}
