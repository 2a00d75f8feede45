//! Borrowing and request buffering together: a request waits only while no thread of a lower lane is idle
//! either, and then it goes before theirs.

use std::{sync::Mutex, thread, time::Duration};

use punctual::{
    Completion, LaneSpec, Minor, QueueLimits, SystemException, SystemExceptionKind as Kind,
    ThreadPoolBuilder, WaitStrategy, ior_to_string,
};
use punctual_fixtures::{
    client_propagated,
    conformance::ProbeRef,
    eventually,
    peer::{Listener, Peer},
    real_time::ordinary_client,
    realtime_or_skip,
    server::{Server, Setup, reference},
    wire::COMMON,
};
use punctual_os::{CpuSet, TaskId, scheduling};

use super::{HIGH, LOW, borrowing::stress, priority, wait_at_gate, with_lanes, with_real_time_lanes};

const QUEUE: QueueLimits = QueueLimits {
    requests: 4,
    octets: 1 << 16,
};

/// One thread in each of two lanes.
fn two_lanes(pool: ThreadPoolBuilder) -> ThreadPoolBuilder {
    pool.lane(priority(LOW), 1)
        .lane(priority(HIGH), 1)
        .allow_borrowing(true)
        .request_buffering(QUEUE)
}

/// A call that ends when its test answers it, and a thread that makes it.
struct Held<'scope> {
    caller: thread::ScopedJoinHandle<'scope, i32>,
    peer: Peer,
    request_id: u32,
}

impl Held<'_> {
    /// Has a thread of the server call a peer that answers only when told to.
    fn start<'scope>(
        scope: &'scope thread::Scope<'scope, '_>,
        server: &'scope Server,
        own: i16,
    ) -> Held<'scope> {
        let elsewhere = Listener::open();
        let next = reference([1, 2], elsewhere.port, b"next", &[]);
        let caller = scope.spawn(move || {
            let client = ordinary_client();
            let next: ProbeRef = client.resolve(&ior_to_string(&next)).unwrap();
            client.current().set_priority(priority(own)).unwrap();
            let probe: ProbeRef = server
                .reference_for(&client)
                .with_timeout(Duration::from_secs(15))
                .unchecked();
            probe.forward(Some(&next), 1).unwrap()
        });
        let mut peer = elsewhere.accept_soon();
        let request_id = peer.receive().unwrap().request().id;
        Held {
            caller,
            peer,
            request_id,
        }
    }

    fn end(mut self) {
        self.peer
            .send(&COMMON.reply(self.request_id, 0, |body| body.i32(42)));
        assert_eq!(self.caller.join().unwrap(), 42);
    }
}

#[test]
fn what_no_lower_lane_has_a_thread_for_waits_and_what_finds_no_room_is_refused() {
    let server = with_lanes(|pool| {
        pool.lane(priority(LOW), 2)
            .lane(priority(HIGH), 1)
            .allow_borrowing(true)
            .request_buffering(QUEUE)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        for calls in 1..=3 {
            wait_at_gate(scope, &client, &probe, Some(HIGH), calls);
            server.hooks.await_at_gate(calls as usize);
            let high = server.seen(1);
            assert_eq!(
                (high.threads.borrowed, high.queue.requests),
                (calls as u64 - 1, 0)
            );
        }
        for calls in 4..=7 {
            wait_at_gate(scope, &client, &probe, Some(HIGH), calls);
            eventually("it waits", || server.seen(1).queue.requests == calls as usize - 3);
        }
        client.current().set_priority(priority(HIGH)).unwrap();
        let refused = probe.twice(1).expect_err("it is full");
        assert_eq!(
            (refused.kind, refused.minor, refused.completed),
            (Kind::Transient, Minor::REQUEST_QUEUE_FULL, Completion::No)
        );
        assert_eq!(server.hooks.values_at_gate(), [1, 2, 3]);
        server.hooks.open_gate();
    });
    // Three threads took them, in order; they came to the gate in any.
    let mut values = server.hooks.values_at_gate();
    values.sort_unstable();
    assert_eq!(values, [1, 2, 3, 4, 5, 6, 7]);
    eventually("all are back", || {
        server.seen(0).threads.busy + server.seen(1).threads.busy == 0
    });
    let (low, high) = (server.seen(0), server.seen(1));
    assert_eq!((low.requests, low.threads.borrowed, high.threads.lent), (0, 0, 0));
    assert_eq!(low.threads.lent, high.threads.borrowed);
    assert_eq!((high.queue.accepted, high.queue.refused), (7, 1));
    assert_eq!((high.queue.requests, high.queue.octets), (0, 0));
    assert_eq!(
        (low.threads.present, high.threads.present),
        (3, 2),
        "one of each reads"
    );
}

/// The thread of the low lane comes back to requests of both: those of the high lane go first, each lane's in
/// their order.
#[test]
fn the_queue_above_goes_before_the_own_one() {
    let server = with_lanes(two_lanes);
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        wait_at_gate(scope, &client, &probe, Some(HIGH), 1);
        server.hooks.await_at_gate(1);
        let held = Held::start(scope, &server, HIGH);
        assert_eq!(
            (server.seen(1).threads.borrowed, server.seen(0).threads.lent),
            (1, 1)
        );
        let note = |own: i16, value: i32, lane: usize, waiting: usize| {
            client.current().set_priority(priority(own)).unwrap();
            probe.note(value).unwrap();
            eventually("it waits", || server.seen(lane).queue.requests == waiting);
        };
        note(LOW, 10, 0, 1);
        note(LOW, 11, 0, 2);
        note(HIGH, 20, 1, 1);
        note(HIGH, 21, 1, 2);
        assert_eq!(server.hooks.journal(), Vec::<i32>::new());
        held.end();
        eventually("they are served", || server.hooks.journal().len() == 4);
        assert_eq!(server.hooks.journal(), [20, 21, 10, 11]);
        assert_eq!(
            server.hooks.arrived_at_gate(),
            1,
            "the high lane's thread had no part in it"
        );
        assert_eq!(server.seen(1).threads.borrowed, 3);
        server.hooks.open_gate();
    });
    let (low, high) = (server.seen(0), server.seen(1));
    assert_eq!((low.requests, low.queue.accepted), (2, 2));
    assert_eq!((high.requests, high.queue.accepted), (4, 4));
}

#[test]
fn a_low_lane_does_not_take_from_above_its_own() {
    let server = with_lanes(two_lanes);
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        wait_at_gate(scope, &client, &probe, Some(LOW), 1);
        server.hooks.await_at_gate(1);
        wait_at_gate(scope, &client, &probe, Some(LOW), 2);
        eventually("it waits", || server.seen(0).queue.requests == 1);
        client.current().set_priority(priority(HIGH)).unwrap();
        for _ in 0..50 {
            assert_eq!(probe.twice(1), Ok(2), "the high lane is as free as ever");
        }
        let (low, high) = (server.seen(0), server.seen(1));
        assert_eq!(
            (low.queue.requests, low.threads.borrowed, high.threads.borrowed),
            (1, 0, 0)
        );
        server.hooks.open_gate();
    });
}

#[test]
fn own_dynamic_threads_come_before_borrowed_ones() {
    let server = with_lanes(|pool| {
        pool.lane(priority(LOW), 1)
            .lane_with(LaneSpec::new(priority(HIGH)).dynamic_threads(1))
            .allow_borrowing(true)
            .request_buffering(QUEUE)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        for (calls, borrowed) in [(1, 0), (2, 0), (3, 1)] {
            wait_at_gate(scope, &client, &probe, Some(HIGH), calls);
            server.hooks.await_at_gate(calls as usize);
            let high = server.seen(1);
            assert_eq!((high.threads.borrowed, high.threads.dynamic), (borrowed, 1));
        }
        server.hooks.open_gate();
    });
}

/// More lanes than the kernel would let wait for each other, and a helper that is wanted further up.
#[test]
fn lanes_borrow_from_all_below_them_however_many() {
    let server = with_lanes(|pool| {
        (1..=8)
            .map(|n| priority(n * 4_000))
            .fold(pool, |pool, own| pool.lane(own, 1))
            .allow_borrowing(true)
            .request_buffering(QUEUE)
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        for calls in 1..=8 {
            let own = if calls <= 2 { 8_000 } else { 32_000 };
            wait_at_gate(scope, &client, &probe, Some(own), calls);
            server.hooks.await_at_gate(calls as usize);
        }
        server.hooks.open_gate();
    });
    assert_eq!(
        (server.seen(1).threads.borrowed, server.seen(7).threads.borrowed),
        (1, 5)
    );
}

#[test]
fn the_borrowed_thread_runs_at_the_priority_of_the_queue() {
    let server = with_real_time_lanes(|pool| two_lanes(pool).affinity(CpuSet::single(0)));
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

/// It waits for the reply to a call of its own, and for the queues of its lane and those above.
#[test]
fn a_thread_that_serves_while_it_waits_is_lent_as_well() {
    let setup = Setup {
        pool: two_lanes,
        model: Some(client_propagated(priority(LOW))),
        wait_strategy: WaitStrategy::Serving,
        ..Setup::default()
    };
    let server = setup.start();
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        let held = Held::start(scope, &server, LOW);
        wait_at_gate(scope, &client, &probe, Some(HIGH), 1);
        server.hooks.await_at_gate(1);
        for (own, lane) in [(HIGH, 1), (LOW, 0), (HIGH, 1)] {
            client.current().set_priority(priority(own)).unwrap();
            for value in 1..20 {
                let before = server.seen(lane).requests;
                assert_eq!(probe.twice(value), Ok(2 * value));
                assert_eq!(server.seen(lane).requests, before + 1);
            }
        }
        assert_eq!(server.seen(1).threads.borrowed, 2 * 19);
        held.end();
        server.hooks.open_gate();
    });
}

fn three_lanes(pool: ThreadPoolBuilder) -> ThreadPoolBuilder {
    pool.lane(priority(LOW), 2)
        .lane(priority(20_000), 1)
        .lane(priority(HIGH), 1)
        .allow_borrowing(true)
        .request_buffering(QueueLimits::default())
}

#[test]
fn no_request_is_lost_under_load() {
    let server = with_lanes(three_lanes);
    assert!(stress(&server) > 0);
    for lane in [0, 1, 2].map(|lane| server.seen(lane)) {
        assert_eq!((lane.queue.accepted, lane.queue.refused), (lane.requests, 0));
    }
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

/// Requests in service are completed, those of a borrowed thread included; waiting ones are not handled, and
/// their clients are notified.
#[test]
fn at_the_end_nothing_is_left_undecided() {
    let server = with_lanes(two_lanes);
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        let own = wait_at_gate(scope, &client, &probe, Some(HIGH), 1);
        server.hooks.await_at_gate(1);
        let held = Held::start(scope, &server, HIGH);
        let waits = scope.spawn(|| {
            client.current().set_priority(priority(HIGH)).unwrap();
            let probe: ProbeRef = probe.with_timeout(Duration::from_secs(15)).unchecked();
            probe.wait_at_gate(3)
        });
        eventually("it waits", || server.seen(1).queue.requests == 1);
        server.orb.shutdown();
        server.hooks.open_gate();
        own.join().unwrap();
        held.end();
        let refused = waits.join().unwrap().expect_err("no thread is left to serve it");
        assert_eq!(refused.completed, Completion::No, "{refused:?}");
    });
    server.orb.shutdown_and_wait().unwrap();
    assert_eq!(server.hooks.values_at_gate(), [1]);
    let high = server.seen(1);
    assert_eq!(
        (high.threads.present, high.connections.open, high.queue.requests),
        (0, 0, 0)
    );
}

/// Outcomes of calls, by the values that they carried.
#[derive(Default)]
struct Fates {
    served: Vec<i32>,
    /// Not handled, as they were told.
    refused: Vec<SystemException>,
    not_handled: Vec<i32>,
    /// They cannot know.
    unknown: Vec<i32>,
}

/// Calls of many clients at once, each at its priority, until each has made its calls or has been told that
/// no thread is there.
fn call_from_all_sides(server: &Server, calls: i32, meanwhile: impl FnOnce()) -> Fates {
    server.hooks.open_gate();
    let fates = Mutex::new(Fates::default());
    thread::scope(|scope| {
        for (number, own) in [LOW, LOW, HIGH, HIGH, HIGH, HIGH, HIGH, HIGH]
            .into_iter()
            .enumerate()
        {
            let fates = &fates;
            scope.spawn(move || {
                let client = ordinary_client();
                client.current().set_priority(priority(own)).unwrap();
                let probe = server.reference_for(&client);
                let probe: ProbeRef = probe.with_timeout(Duration::from_secs(20)).unchecked();
                for call in 0..calls {
                    let value = (call << 4) | number as i32;
                    let result = probe.wait_at_gate(value);
                    let mut fates = fates.lock().unwrap();
                    match result {
                        Ok(echo) => {
                            assert_eq!(echo, value);
                            fates.served.push(value);
                        }
                        Err(refused) => {
                            fates.refused.push(refused);
                            if refused.completed == Completion::No {
                                fates.not_handled.push(value);
                            } else {
                                fates.unknown.push(value);
                            }
                        }
                    }
                }
            });
        }
        meanwhile();
    });
    fates.into_inner().unwrap()
}

/// Each call is either served once, by any thread, or refused.
#[test]
fn nothing_that_was_let_in_is_lost_under_overload() {
    let server = with_lanes(|pool| {
        two_lanes(pool).request_buffering(QueueLimits {
            requests: 2,
            octets: 1 << 16,
        })
    });
    const CALLS: i32 = 400;
    let fates = call_from_all_sides(&server, CALLS, || {});
    let full = SystemException::new(Kind::Transient, Minor::REQUEST_QUEUE_FULL, Completion::No);
    assert!(
        fates.refused.iter().all(|refused| *refused == full),
        "{:?}",
        fates.refused
    );
    assert_eq!(fates.served.len() + fates.refused.len(), 8 * CALLS as usize);
    let mut at_gate = server.hooks.values_at_gate();
    at_gate.sort_unstable();
    let mut served = fates.served;
    served.sort_unstable();
    assert_eq!(at_gate, served, "each once, and nothing else");
    eventually("all are back", || {
        server.seen(0).threads.busy + server.seen(1).threads.busy == 0
    });
    let (low, high) = (server.seen(0), server.seen(1));
    let accepted = low.queue.accepted + high.queue.accepted;
    let refused = low.queue.refused + high.queue.refused;
    assert_eq!(
        (accepted, refused),
        (served.len() as u64, fates.refused.len() as u64)
    );
    assert_eq!((low.queue.requests, high.queue.requests), (0, 0));
    assert_eq!(low.threads.lent, high.threads.borrowed);
    assert!(high.queue.most_requests <= 2);
}

/// A caller that learns that its call was not handled can send it again: it has not been, and no call hangs.
#[test]
fn a_shutdown_in_the_middle_lies_to_nobody() {
    for _ in 0..5 {
        let server = with_lanes(two_lanes);
        let fates = call_from_all_sides(&server, 300, || {
            eventually("some are served", || server.hooks.arrived_at_gate() > 100);
            server.orb.shutdown();
        });
        server.orb.shutdown_and_wait().unwrap();
        let at_gate = server.hooks.values_at_gate();
        assert!(fates.served.len() >= 50 && !fates.not_handled.is_empty());
        assert!(fates.served.iter().all(|value| at_gate.contains(value)));
        assert!(fates.not_handled.iter().all(|value| !at_gate.contains(value)));
        assert_eq!(fates.served.len() + fates.refused.len(), 8 * 300);
        assert!(fates.unknown.len() <= 8, "one for each client at most");
        for lane in [0, 1].map(|lane| server.seen(lane)) {
            assert_eq!((lane.threads.present, lane.queue.requests), (0, 0));
        }
    }
}
