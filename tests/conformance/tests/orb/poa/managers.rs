//! Managers: what adapters do with requests in each state, and which states follow which.

use std::{
    sync::mpsc,
    thread::{self, Scope, ScopedJoinHandle},
    time::Duration,
};

use punctual::{
    Completion, LaneWait, Minor, OrbError, Poa, PoaManagerState, QueueLimits, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    LONG, asleep,
    conformance::ProbeRef,
    eventually,
    peer::Peer,
    server::{Server, client},
    wire::COMMON,
};
use punctual_os::TaskId;
use punctual_system::ContextSwitches;

const LIMITS: QueueLimits = QueueLimits {
    requests: 2,
    octets: 64 << 10,
};

fn exception(kind: Kind, minor: Minor) -> SystemException {
    SystemException::new(kind, minor, Completion::No)
}

#[test]
fn each_state_has_its_answer() {
    let server = Server::start();
    let client = client();
    let manager = server.poa.manager();
    let remote = server.reference_for(&client);
    assert_eq!(manager.state(), PoaManagerState::Active);
    for probe in [&remote, &server.probe] {
        manager.activate().unwrap();
        assert_eq!(probe.twice(1), Ok(2));
        manager.discard().unwrap();
        let discarded = exception(Kind::Transient, Minor::OMG_REQUEST_DISCARDED);
        // More often than a peer may be refused: it is not the peer's fault.
        for _ in 0..100 {
            assert_eq!(probe.twice(1), Err(discarded));
        }
        manager.activate().unwrap();
        assert_eq!(probe.twice(2), Ok(4));
    }
    manager.deactivate();
    for probe in [&remote, &server.probe] {
        assert_eq!(
            probe.twice(1),
            Err(exception(Kind::ObjAdapter, Minor::ADAPTER_INACTIVE))
        );
    }
    assert!(matches!(manager.activate(), Err(OrbError::ManagerInactive)));
    assert!(matches!(manager.discard(), Err(OrbError::ManagerInactive)));
    assert!(matches!(manager.hold(LIMITS), Err(OrbError::ManagerInactive)));
    manager.deactivate();
    assert_eq!(manager.state(), PoaManagerState::Inactive);
}

#[test]
fn held_requests_are_served_in_their_order_and_others_meanwhile() {
    let server = Server::start();
    let client = client();
    let free = server
        .orb
        .root_poa()
        .child("free")
        .threadpool(&server.pool)
        .build()
        .unwrap();
    let free: ProbeRef = client.resolve(&server.another_in(&free).to_ior()).unwrap();
    let probe = server.reference_for(&client);
    server.poa.manager().hold(LIMITS).unwrap();
    // Oneway, so that one client can have several.
    probe.note(1).unwrap();
    probe.note(2).unwrap();
    thread::scope(|scope| {
        // There is no room for a third one.
        let full = scope.spawn(|| probe.twice(1));
        let full = full.join().unwrap();
        assert_eq!(full, Err(exception(Kind::Transient, Minor::HELD_REQUESTS_FULL)));
    });
    assert_eq!(free.twice(5), Ok(10), "the lane goes on");
    assert_eq!(free.noted(), Ok(0), "and holds what came before");
    server.poa.manager().activate().unwrap();
    eventually("both are served", || server.hooks.journal() == [1, 2]);
    assert_eq!(probe.twice(3), Ok(6));
}

#[test]
fn a_caller_waits_while_its_request_is_held() {
    for pool in [
        |pool: punctual::ThreadPoolBuilder| pool,
        |pool: punctual::ThreadPoolBuilder| pool.request_buffering(LIMITS).threads(2),
        |pool: punctual::ThreadPoolBuilder| pool.wait(LaneWait::Blocking),
    ] {
        let server = Server::with_pool(pool);
        let client = client();
        let probe = server.reference_for(&client);
        let manager = server.poa.manager();
        manager.hold(LIMITS).unwrap();
        thread::scope(|scope| {
            let call = scope.spawn(|| probe.twice(4));
            eventually("it has arrived", || server.seen(0).requests == 1);
            manager.activate().unwrap();
            assert_eq!(call.join().unwrap(), Ok(8));
            // From holding to discarding: what was held is answered, too.
            manager.hold(LIMITS).unwrap();
            let call = scope.spawn(|| probe.twice(4));
            eventually("it has arrived", || server.seen(0).requests == 2);
            manager.discard().unwrap();
            let discarded = exception(Kind::Transient, Minor::OMG_REQUEST_DISCARDED);
            assert_eq!(call.join().unwrap(), Err(discarded));
        });
    }
}

type Result = std::result::Result<i32, SystemException>;

/// Calls on a thread of its own, and waits until that sleeps in the call. A test that fails does not wait for
/// ever.
fn sleeping_call<'scope>(
    scope: &'scope Scope<'scope, '_>,
    probe: &ProbeRef,
    value: i32,
) -> ScopedJoinHandle<'scope, Result> {
    let (ready, is_ready) = mpsc::channel();
    let probe: ProbeRef = probe.with_timeout(LONG).unchecked();
    let call = scope.spawn(move || {
        ready.send(TaskId::current_thread().get()).unwrap();
        probe.twice(value)
    });
    asleep(is_ready.recv().unwrap());
    call
}

/// Event that ends the state in which requests are held, by name, and the result for the callers.
type End = (&'static str, fn(&Server), Result);

fn ends() -> [End; 5] {
    let failed = |kind, minor| Err(exception(kind, minor));
    let discarded = failed(Kind::Transient, Minor::OMG_REQUEST_DISCARDED);
    let inactive = failed(Kind::ObjAdapter, Minor::ADAPTER_INACTIVE);
    let destroyed = failed(Kind::ObjectNotExist, Minor::OBJECT_DEACTIVATED);
    let shut_down = failed(Kind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN);
    [
        (
            "activate",
            |server| server.poa.manager().activate().unwrap(),
            Ok(8),
        ),
        (
            "discard",
            |server| server.poa.manager().discard().unwrap(),
            discarded,
        ),
        ("deactivate", |server| server.poa.manager().deactivate(), inactive),
        ("destroy", |server| server.poa.destroy().unwrap(), destroyed),
        ("shut down", |server| server.orb.shutdown(), shut_down),
    ]
}

#[test]
fn collocated_callers_wait_until_the_state_ends() {
    for (what, end, expected) in ends() {
        let server = Server::start();
        server.poa.manager().hold(LIMITS).unwrap();
        thread::scope(|scope| {
            let calls = [(); 2].map(|()| sleeping_call(scope, &server.probe, 4));
            // There is no room for a third one.
            let full = exception(Kind::Transient, Minor::HELD_REQUESTS_FULL);
            assert_eq!(server.probe.twice(1), Err(full), "{what}");
            end(&server);
            for call in calls {
                assert_eq!(call.join().unwrap(), expected, "{what}");
            }
        });
    }
}

/// An object is not in use by collocated calls that wait for its POA manager.
#[test]
fn an_object_is_deactivated_while_its_collocated_callers_wait() {
    let server = Server::start();
    server.poa.manager().hold(LIMITS).unwrap();
    thread::scope(|scope| {
        let call = sleeping_call(scope, &server.probe, 4);
        server.poa.deactivate(&server.probe).unwrap();
        server.poa.manager().activate().unwrap();
        let gone = exception(Kind::ObjectNotExist, Minor::OBJECT_DEACTIVATED);
        assert_eq!(call.join().unwrap(), Err(gone));
    });
}

#[test]
fn a_collocated_caller_waits_until_its_deadline_and_leaves_its_place() {
    let server = Server::start();
    server.poa.manager().hold(LIMITS).unwrap();
    let prompt: ProbeRef = server.probe.with_timeout(Duration::from_millis(5)).unchecked();
    let late = exception(Kind::Timeout, Minor::REQUEST_TIMED_OUT);
    // More often than there are places.
    for _ in 0..4 {
        assert_eq!(prompt.twice(1), Err(late));
    }
    assert_eq!(server.hooks.journal(), [0; 0]);
    server.poa.manager().activate().unwrap();
    assert_eq!(server.probe.twice(2), Ok(4));
}

/// Applies to objects that are not active, too.
#[test]
fn collocated_callers_wait_for_a_default_servant() {
    let server = Server::start();
    let servant = punctual::AnyServant::new::<ProbeRef, _>(server.servant());
    let poa = server.orb.root_poa().child("any").threadpool(&server.pool);
    let poa = poa.user_ids().default_servant(servant).build().unwrap();
    let probe: ProbeRef = poa.reference().id("one").create().unwrap();
    poa.manager().hold(LIMITS).unwrap();
    thread::scope(|scope| {
        let call = sleeping_call(scope, &probe, 4);
        poa.manager().activate().unwrap();
        assert_eq!(call.join().unwrap(), Ok(8));
    });
}

/// A blocking lane, whose thread has the only connection, and which has no room for another request.
fn blocking() -> (Server, punctual::Orb, ProbeRef) {
    let server = Server::with_pool(|pool| pool.wait(LaneWait::Blocking));
    let client = client();
    let probe: ProbeRef = server.reference_for(&client).with_timeout(LONG).unchecked();
    (server, client, probe)
}

#[test]
fn the_thread_of_a_blocking_lane_waits_until_the_state_ends() {
    for (what, end, expected) in ends() {
        if what == "shut down" {
            continue;
        }
        let (server, _client, probe) = blocking();
        let (serving, served) = mpsc::channel();
        let (hold, held) = mpsc::channel();
        thread::scope(|scope| {
            // Over the connection of this thread, which the lane's thread blocks for.
            let probe = &probe;
            let call = scope.spawn(move || {
                serving.send(probe.thread().unwrap()).unwrap();
                held.recv().unwrap();
                probe.twice(4)
            });
            let lane = served.recv().unwrap();
            server.poa.manager().hold(LIMITS).unwrap();
            hold.send(()).unwrap();
            eventually("it has arrived", || server.seen(0).requests == 2);
            asleep(lane);
            end(&server);
            let result = call.join().unwrap();
            // The minor codes of the two sides differ where the object is gone.
            let kind = |result: Result| result.map_err(|exception| exception.kind);
            assert_eq!(kind(result), kind(expected), "{what}");
        });
    }
}

#[test]
fn a_blocking_lane_that_stops_does_not_wait_for_the_request_that_its_thread_keeps() {
    let server = blocking().0;
    let (mut peer, key) = (Peer::connect(server.port()), server.key());
    peer.send(&COMMON.request(1, &key, "thread", |body| body));
    let lane = peer.receive().unwrap().reply().body.i32();
    server.poa.manager().hold(LIMITS).unwrap();
    peer.send(&COMMON.request(2, &key, "twice", |body| body.i32(1)));
    eventually("it has arrived", || server.seen(0).requests == 2);
    asleep(lane);
    server.orb.shutdown();
    assert_eq!(
        peer.receive().unwrap().message_type,
        5,
        "CloseConnection: not handled"
    );
    assert!(peer.is_closed());
}

#[test]
fn the_thread_of_a_blocking_lane_serves_what_came_first_and_the_others_wait_in_the_queue() {
    let (server, client, probe) = blocking();
    let other = punctual_fixtures::server::client();
    let other: ProbeRef = server.reference_for(&other);
    probe.twice(1).unwrap();
    other.twice(1).unwrap();
    server.poa.manager().hold(LIMITS).unwrap();
    for value in 1..=4 {
        probe.note(value).unwrap();
    }
    eventually("the first is held", || server.seen(0).requests == 3);
    for value in 5..=6 {
        other.note(value).unwrap();
    }
    eventually("the others are held", || server.seen(0).requests == 5);
    server.poa.manager().activate().unwrap();
    assert_eq!(probe.noted().map(|_| ()), Ok(()));
    assert_eq!(other.noted().map(|_| ()), Ok(()));
    let journal = server.hooks.journal();
    let of = |values: std::ops::RangeInclusive<i32>| {
        let own = journal.iter().filter(|value| values.contains(value));
        own.copied().collect::<Vec<_>>()
    };
    assert_eq!((of(1..=4), of(5..=6)), (vec![1, 2, 3, 4], vec![5, 6]));
    drop(client);
}

/// Other requests than those of the thread in `read`.
#[test]
fn requests_that_are_held_get_an_answer_when_their_adapter_is_destroyed() {
    let server = Server::start();
    let client = client();
    let probe: ProbeRef = server.reference_for(&client).with_timeout(LONG).unchecked();
    server.poa.manager().hold(LIMITS).unwrap();
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.twice(4));
        eventually("it has arrived", || server.seen(0).requests == 1);
        server.poa.destroy().unwrap();
        assert_eq!(call.join().unwrap().unwrap_err().kind, Kind::ObjectNotExist);
    });
}

#[test]
fn no_request_is_forgotten_when_it_is_held_and_released_at_once() {
    let server = Server::start();
    let (blocking, _other, dedicated) = blocking();
    let client = client();
    for (server, probe) in [
        // The first connection that comes to a blocking lane is that of its thread.
        (&server, &server.reference_for(&client)),
        (&server, &server.probe),
        (&blocking, &dedicated),
    ] {
        let manager = server.poa.manager();
        thread::scope(|scope| {
            let calls = scope.spawn(|| {
                for value in 0..500 {
                    assert_eq!(probe.twice(value), Ok(2 * value));
                }
            });
            while !calls.is_finished() {
                manager.hold(LIMITS).unwrap();
                manager.activate().unwrap();
            }
            calls.join().unwrap();
        });
    }
}

#[test]
fn adapters_share_a_manager_or_have_their_own() {
    let server = Server::start();
    let child = |name: &str| server.orb.root_poa().child(name).threadpool(&server.pool);
    let own = child("own").build().unwrap();
    let shared = child("shared").manager(&server.poa.manager()).build().unwrap();
    server.poa.manager().discard().unwrap();
    // An adapter that comes later follows the state, too.
    let later = child("later").manager(&server.poa.manager()).build().unwrap();
    let works = |poa: &Poa| server.another_in(poa).twice(1).is_ok();
    assert_eq!(
        [&own, &shared, &later, &server.poa].map(works),
        [true, false, false, false]
    );
    server.poa.manager().activate().unwrap();
    assert_eq!([&own, &shared, &later, &server.poa].map(works), [true; 4]);
}

#[test]
fn limits_without_room_are_refused() {
    let server = Server::start();
    let none = QueueLimits {
        requests: 0,
        octets: 1,
    };
    assert!(matches!(
        server.poa.manager().hold(none),
        Err(OrbError::QueueWithoutRoom)
    ));
}

#[test]
fn a_thread_that_waits_for_completion_sleeps_until_something_ends() {
    let server = Server::start();
    let client = client();
    // A test that fails does not wait for ever.
    let probe: ProbeRef = server.reference_for(&client).with_timeout(LONG).unchecked();
    let manager = server.poa.manager();
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.wait_at_gate(1));
        server.hooks.await_at_gate(1);
        manager.discard().unwrap();
        let before = ContextSwitches::of_current_thread();
        let waited = manager.wait_for_completion(Duration::from_millis(100));
        assert!(matches!(waited, Err(OrbError::RequestsInProgress(_))));
        let slept = ContextSwitches::of_current_thread().voluntary - before.voluntary;
        assert!(slept < 10, "it slept {slept} times");
        // Two threads wait for the same object, of which one gives up.
        let wait = |timeout| {
            let (ready, is_ready) = mpsc::channel();
            let manager = manager.clone();
            let waiter = scope.spawn(move || {
                ready.send(TaskId::current_thread().get()).unwrap();
                manager.wait_for_completion(timeout)
            });
            (is_ready.recv().unwrap(), waiter)
        };
        let ends: [(&str, &dyn Fn()); 2] = [
            ("the manager is active again", &|| manager.activate().unwrap()),
            ("the request ends", &|| server.hooks.open_gate()),
        ];
        for (what, end) in ends {
            manager.discard().unwrap();
            let (patient, other) = (wait(LONG), wait(Duration::from_millis(20)));
            assert!(other.1.join().unwrap().is_err());
            asleep(patient.0);
            end();
            assert!(patient.1.join().unwrap().is_ok(), "{what}");
        }
        assert_eq!(call.join().unwrap(), Ok(1));
        manager.wait_for_completion(Duration::ZERO).unwrap();
    });
}
