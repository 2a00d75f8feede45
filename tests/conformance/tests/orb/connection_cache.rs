//! Cached connections: their owners, their number, and the choice of those closed to make room.

use std::{sync::Barrier, thread};

use punctual::{Completion, Limits, Minor, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Listener,
    recorder::{Recorder, resolve},
    server::{Setup, client_with, reference},
    wire::{CLOSE_CONNECTION, COMMON},
};

const NONE: [usize; 0] = [];

fn exhausted() -> SystemException {
    SystemException::new(
        Kind::ImpLimit,
        Minor::CLIENT_CONNECTIONS_EXHAUSTED,
        Completion::No,
    )
}

/// Each row: both limits, the servers that one thread calls in turn, and how many connections each has seen
/// and has open.
#[test]
fn what_was_unused_for_longest_makes_room() {
    type Row = (&'static str, usize, usize, &'static [usize], [(usize, usize); 4]);
    let rows: &[Row] = &[
        ("room for all", 4, 4, &[0, 1, 2, 3, 0, 1, 2, 3], [(1, 1); 4]),
        (
            "of the thread",
            2,
            4,
            &[0, 1, 2, 3, 2, 3],
            [(1, 0), (1, 0), (1, 1), (1, 1)],
        ),
        (
            "of the ORB",
            4,
            2,
            &[0, 1, 2, 3, 2, 3],
            [(1, 0), (1, 0), (1, 1), (1, 1)],
        ),
        (
            "in use again",
            4,
            2,
            &[0, 1, 0, 2, 0, 3],
            [(1, 1), (1, 0), (1, 0), (1, 1)],
        ),
        (
            "round and round",
            3,
            3,
            &[0, 1, 2, 3, 0, 1, 2, 3],
            [(2, 0), (2, 1), (2, 1), (2, 1)],
        ),
        (
            "one at a time",
            1,
            4,
            &[0, 1, 0, 1],
            [(2, 0), (2, 1), (0, 0), (0, 0)],
        ),
    ];
    for (name, per_thread, per_orb, calls, expected) in rows {
        println!("{name}");
        let limits = Limits::default()
            .max_connections_per_thread(*per_thread)
            .max_client_connections(*per_orb);
        let orb = client_with(limits);
        let servers = [(); 4].map(|()| Recorder::start());
        let probes = servers.each_ref().map(|server| server.reference(&orb, &[]));
        for index in *calls {
            assert_eq!(probes[*index].twice(1), Ok(42));
        }
        for (server, (made, open)) in servers.iter().zip(expected) {
            let closed = server.await_open(*open, CLOSE_CONNECTION);
            assert_eq!(server.connections(), *made);
            assert_eq!(closed.len(), made - open, "all gracefully");
        }
    }
}

/// Threads keep theirs apart while they live, within the ORB's limit, and leave them to others.
#[test]
fn threads_share_a_limit_and_leave_what_they_had() {
    let orb = client_with(Limits::default().max_client_connections(2));
    let server = Recorder::start();
    let probe = server.reference(&orb, &[]);
    let (called, end) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        let threads = [(); 2].map(|()| {
            scope.spawn(|| {
                assert_eq!(probe.twice(1), Ok(42));
                called.wait();
                end.wait();
                assert_eq!(probe.twice(1), Ok(42), "its own is still there");
            })
        });
        called.wait();
        assert_eq!(probe.twice(1), Err(exhausted()), "theirs are not mine");
        assert_eq!(probe.note(1), Err(exhausted()));
        assert_eq!(server.seen().len(), 2, "nothing was sent");
        end.wait();
        // To the end of the thread: the end of the scope comes before.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(probe.twice(1), Ok(42), "left by one that has ended");
    // To another server: what was left longest ago makes room.
    let other = Recorder::start();
    assert_eq!(other.reference(&orb, &[]).twice(1), Ok(42));
    assert_eq!(server.await_open(1, CLOSE_CONNECTION).len(), 1);
    assert_eq!((server.connections(), other.connections()), (2, 1));
}

/// The connections of the thread that drops the ORB are closed, and so are those of ended threads.
#[test]
fn connections_close_in_good_order_with_their_orb() {
    let orb = client_with(Limits::default());
    let server = Recorder::start();
    let probe = server.reference(&orb, &[]);
    let both = Barrier::new(2);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            assert_eq!(probe.twice(1), Ok(42));
            both.wait();
        });
        assert_eq!(probe.twice(1), Ok(42));
        both.wait();
        other.join().unwrap();
    });
    assert_eq!(server.await_open(2, CLOSE_CONNECTION), NONE);
    drop((probe, orb));
    assert_eq!(server.await_open(0, CLOSE_CONNECTION).len(), 2);
}

/// Few of the connections that ended threads have left are kept.
#[test]
fn ended_threads_leave_no_more_than_is_of_use() {
    let orb = client_with(Limits::default());
    let server = Recorder::start();
    let probe = server.reference(&orb, &[]);
    let all = Barrier::new(20);
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                assert_eq!(probe.twice(1), Ok(42));
                all.wait();
            });
        }
    });
    assert_eq!(server.connections(), 20);
    assert_eq!(server.await_open(8, CLOSE_CONNECTION).len(), 12);
}

/// Calls that servants make: the threads of a lane share what the lane has open, and lanes share nothing.
#[test]
fn a_lane_has_a_cache_of_its_own() {
    let setup = Setup {
        limits: Limits::default().max_client_connections(2),
        pool: |pool| pool.threads(3),
        ..Setup::default()
    };
    let lane = setup.start();
    let orb = client_with(Limits::default());
    let relay = lane.reference_for(&orb);
    let servers = [(); 3].map(|()| Recorder::start());
    let targets = servers.each_ref().map(|server| server.reference(&orb, &[]));
    let threads: std::collections::HashSet<_> = (0..100)
        .map(|call| {
            assert_eq!(relay.forward(Some(&targets[call % 2]), 1), Ok(42));
            relay.thread().unwrap()
        })
        .collect();
    // However many threads have served them, one at a time.
    assert!(!threads.is_empty());
    assert_eq!(servers.each_ref().map(Recorder::connections), [1, 1, 0]);
    // Threads that are no lane's, of the same ORB, count by themselves.
    let own = servers.each_ref().map(|server| server.reference(&lane.orb, &[]));
    assert_eq!((own[0].twice(1), own[1].twice(1)), (Ok(42), Ok(42)));
    assert_eq!(servers.each_ref().map(Recorder::connections), [2, 2, 0]);
    // A third server: the lane closes the connection that it has not used for longest, and none of another
    // lane.
    assert_eq!(relay.forward(Some(&targets[2]), 1), Ok(42));
    assert_eq!(servers[0].await_open(1, CLOSE_CONNECTION), [0]);
    assert_eq!(servers[1].await_open(2, CLOSE_CONNECTION), NONE);
    // With the lane's last thread goes all that it had.
    drop(own);
    let orb = lane.orb.clone();
    drop(lane);
    assert_eq!(servers[2].await_open(0, CLOSE_CONNECTION), [0]);
    drop(orb);
}

/// A lane whose connections are all in use opens no further one; other lanes go on.
#[test]
fn a_lane_at_its_limit_refuses_and_others_go_on() {
    let [busy, free] = [(); 2].map(|()| {
        let setup = Setup {
            limits: Limits::default().max_client_connections(1),
            pool: |pool| pool.threads(2),
            ..Setup::default()
        };
        setup.start()
    });
    let orb = client_with(Limits::default());
    let (slow, quick) = (Listener::open(), Recorder::start());
    let waits = resolve(&orb, &reference([1, 2], slow.port, b"slow", &[]));
    let [busy, free] = [&busy, &free].map(|server| server.reference_for(&orb));
    let quick = quick.reference(&orb, &[]);
    let call = |relay: &ProbeRef| relay.forward(Some(&quick), 1);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| busy.forward(Some(&waits), 1));
        let mut peer = slow.accept();
        let request = peer.receive().unwrap().request().id;
        assert_eq!(call(&busy), Err(exhausted().with_completion(Completion::Maybe)));
        assert_eq!(call(&free), Ok(42));
        peer.send(&COMMON.reply(request, 0, |body| body.i32(7)));
        assert_eq!(waiting.join().unwrap(), Ok(7));
        assert_eq!(call(&busy), Ok(42), "the one that is unused now made room");
        assert_eq!(peer.receive().unwrap().message_type, CLOSE_CONNECTION);
    });
}
