//! Calls of threads that serve a lane: its other threads read the replies, if there are any.

use std::{thread, time::Duration};

use punctual::{
    ConnectionMode, LaneWait, Minor, Orb, PolicyOverrides, PriorityModel, QueueLimits, WaitStrategy,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Listener,
    priorities::{HIGH, LOW},
    priority,
    recorder::resolve,
    server::{Server, Setup, client, reference},
};

use super::{Shape, server_with, shared};

/// A server whose servants share connections, and one that they call.
fn pair(shape: Shape, policies: PolicyOverrides) -> (Server, Server) {
    let (middle, last) = (server_with(shape), server_with(|pool| pool.threads(4)));
    middle.orb.add_policies(policies);
    (middle, last)
}

/// Each row: the pool, the policies, and whether a call of its only busy thread shares a connection.
#[test]
fn the_own_lane_reads_where_a_thread_is_left() {
    let serving = || shared().wait_strategy(WaitStrategy::Serving);
    let rows: [(&str, Shape, PolicyOverrides, bool); 10] = [
        ("two threads", |pool| pool.threads(2), shared(), true),
        ("one thread", |pool| pool, shared(), false),
        (
            "one, and a dynamic one",
            |pool| pool.dynamic_threads(1),
            shared(),
            true,
        ),
        (
            "one, and one that reads",
            |pool| pool.request_buffering(QueueLimits::default()),
            shared(),
            true,
        ),
        (
            "two that serve meanwhile",
            |pool| pool.threads(2),
            serving(),
            true,
        ),
        ("one that serves meanwhile", |pool| pool, serving(), true),
        (
            "one that serves its queue meanwhile",
            |pool| pool.request_buffering(QueueLimits::default()),
            serving(),
            true,
        ),
        (
            "two that block in `read`",
            |pool| pool.threads(2).wait(LaneWait::Blocking),
            shared(),
            false,
        ),
        (
            "two, and exclusive",
            |pool| pool.threads(2),
            PolicyOverrides::new().connection_mode(ConnectionMode::Exclusive),
            false,
        ),
        (
            "lanes",
            |pool| pool.lane(priority(LOW), 2).lane(priority(HIGH), 2),
            shared(),
            true,
        ),
    ];
    for (name, shape, policies, shares) in rows {
        let with_lanes = name == "lanes";
        let middle = Setup {
            pool: shape,
            model: with_lanes.then(|| PriorityModel::ServerDeclared(priority(HIGH))),
            ..Setup::default()
        }
        .start();
        let last = server_with(|pool| pool);
        middle.orb.add_policies(policies);
        let orb = client();
        let probe = middle.reference_for(&orb);
        let next: ProbeRef = orb.resolve(&last.probe.to_ior()).unwrap();
        for value in 0..20 {
            assert_eq!(probe.forward(Some(&next), value), Ok(2 * value), "{name}");
        }
        let lane = usize::from(with_lanes);
        let seen = middle.seen(lane);
        assert_eq!(seen.connections.shared, usize::from(shares), "{name}");
        assert_eq!(seen.replies, if shares { 20 } else { 0 }, "{name}");
        assert_eq!(last.seen(0).connections.open, 1, "{name}");
    }
}

/// All threads of the lane wait for replies at once: the last of them for its own, or no thread would read.
#[test]
fn the_last_thread_reads_for_itself() {
    let (middle, last) = pair(|pool| pool.threads(3), shared());
    let orb = client();
    let probe = &middle.reference_for(&orb);
    let next: &ProbeRef = &orb.resolve(&last.probe.to_ior()).unwrap();
    for round in 0..3 {
        thread::scope(|scope| {
            for caller in 0..6 {
                scope.spawn(move || {
                    for value in 0..50 {
                        let value = value + caller + round;
                        assert_eq!(probe.forward(Some(next), value), Ok(2 * value));
                    }
                });
            }
        });
    }
    let seen = middle.seen(0);
    assert_eq!(seen.connections.shared, 1);
    assert!(seen.replies > 0 && seen.replies < 900, "{}", seen.replies);
    assert_eq!(seen.threads.deadlocks, 0);
}

/// Two servers whose objects call each other, deeper than either has threads.
#[test]
fn back_and_forth_without_end_is_seen_or_ends() {
    let (one, other) = (
        server_with(|pool| pool.threads(4)),
        server_with(|pool| pool.threads(4)),
    );
    for server in [&one, &other] {
        server.orb.add_policies(shared());
    }
    one.hooks.choose_partner(other.reference_for(&one.orb));
    other.hooks.choose_partner(one.reference_for(&other.orb));
    let client = client();
    let probe = one.reference_for(&client);
    for depth in 0..7 {
        assert_eq!(probe.rally(depth), Ok(depth));
    }
}

/// With one thread each: the thread that waits serves, and reads its own reply or that of a call further out.
#[test]
fn one_thread_serves_and_reads_while_it_waits() {
    let pools: [Shape; 2] = [|pool| pool, |pool| pool.request_buffering(QueueLimits::default())];
    for pool in pools {
        let serving = || Setup {
            wait_strategy: WaitStrategy::Serving,
            pool,
            ..Setup::default()
        };
        let (one, other) = (serving().start(), serving().start());
        for server in [&one, &other] {
            server
                .orb
                .add_policies(shared().wait_strategy(WaitStrategy::Serving));
        }
        one.hooks.choose_partner(other.reference_for(&one.orb));
        other.hooks.choose_partner(one.reference_for(&other.orb));
        let client = client();
        let probe = one.reference_for(&client);
        for depth in 0..10 {
            assert_eq!(probe.rally(depth), Ok(depth));
        }
        assert_eq!(
            [&one, &other].map(|server| server.seen(0).connections.shared),
            [1, 1]
        );
        assert_eq!(
            one.seen(0).connections.open,
            2,
            "the client's, and one for all calls back"
        );
        // With a deadline that passes.
        let callers = one.orb.policies().roundtrip_timeout(Duration::from_millis(30));
        one.orb.add_policies(callers);
        let (_silent, gone) = silent(&client);
        let error = probe.corba_priority_of(Some(&gone)).unwrap_err();
        assert_eq!(error.minor, Minor::REPLY_TIMED_OUT);
    }
}

/// A server that connects and answers nothing.
fn silent(orb: &Orb) -> (Listener, ProbeRef) {
    let listener = Listener::open();
    let probe = resolve(orb, &reference([1, 2], listener.port, b"silent", &[]));
    (listener, probe)
}

/// A priority above its lane's: no thread there would read in time.
#[test]
fn a_raised_caller_reads_for_itself() {
    let middle = Setup {
        pool: |pool| pool.lane(priority(LOW), 2),
        model: Some(PriorityModel::ServerDeclared(priority(LOW))),
        ..Setup::default()
    }
    .start();
    middle.orb.add_policies(shared());
    let last = server_with(|pool| pool);
    let orb = client();
    let probe = middle.reference_for(&orb);
    let next: ProbeRef = orb.resolve(&last.probe.to_ior()).unwrap();
    probe.set_corba_priority(Some(&next), LOW + 1).unwrap();
    assert_eq!(middle.seen(0).replies, 0);
    probe.set_corba_priority(Some(&next), LOW).unwrap();
    assert_eq!(middle.seen(0).replies, 1);
}

/// The pool ends while its own threads wait for replies that never come.
#[test]
fn a_pool_ends_under_its_own_callers() {
    let middle = server_with(|pool| pool.threads(2));
    middle.orb.add_policies(shared());
    let orb = client();
    let probe = middle.reference_for(&orb);
    let (silent, silent_probe) = silent(&orb);
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.forward(Some(&silent_probe), 1));
        let mut peer = silent.accept();
        peer.receive().expect("a request");
        middle.orb.shutdown_and_wait().unwrap();
        let error = call.join().unwrap().unwrap_err();
        assert!(
            [Minor::REPLY_THREADPOOL_ENDED, Minor::CONNECTION_LOST].contains(&error.minor),
            "{error}"
        );
    });
}
