//! Managers: what adapters do with requests in each state, and which states follow which.

use std::thread;

use punctual::{
    Completion, Minor, OrbError, Poa, PoaManagerState, QueueLimits, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    server::{Server, Setup, client},
};

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
    ] {
        let server = Setup {
            pool,
            ..Setup::default()
        }
        .start();
        let client = client();
        let probe = server.reference_for(&client);
        let manager = server.poa.manager();
        manager.hold(LIMITS).unwrap();
        let collocated = exception(Kind::Transient, Minor::HELD_REQUESTS_FULL);
        assert_eq!(
            server.probe.twice(1),
            Err(collocated),
            "its caller could not wait for itself"
        );
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

#[test]
fn no_request_is_forgotten_when_it_is_held_and_released_at_once() {
    let server = Server::start();
    let client = client();
    let probe = server.reference_for(&client);
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
