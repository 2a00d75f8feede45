//! Objects and ORBs that come and go while calls are under way.

use std::{net::TcpStream, sync::Arc, thread, time::Duration};

use punctual::{Completion, Minor, OrbError, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    peer::Peer,
    server::{Server, Setup, UNLUCKY, client, client_with},
    wire::{CLOSE_CONNECTION, COMMON},
};

use crate::wire::probing::works;

fn gone() -> SystemException {
    SystemException::new(Kind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN, Completion::No)
}

#[test]
fn orbs_of_one_process_call_each_other() {
    let servers = [Server::start(), Server::start(), Server::start()];
    let client = client();
    let [first, second, third] = servers.each_ref().map(|server| server.reference_for(&client));
    assert_eq!(first.forward(Some(&second), 3), Ok(6));
    assert_eq!(second.forward(Some(&third), 4), Ok(8));
    // To itself: the servant's call stays inside its ORB, so a lane of one thread does not wait for itself.
    assert_eq!(third.forward(Some(&third), 5), Ok(10));
    let requests = servers
        .each_ref()
        .map(|server| server.pool.statistics()[0].1.requests);
    assert_eq!(requests, [1, 2, 2]);
    drop(servers);
    assert!(first.twice(1).is_err());
}

#[test]
fn a_deactivated_object_finishes_what_it_is_doing() {
    let server = Server::with_pool(|pool| pool.threads(2));
    let client = client();
    let probe = server.reference_for(&client);
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.wait_at_gate(5));
        server.hooks.await_at_gate(1);
        let deactivation = scope.spawn(|| server.poa.deactivate(&server.probe).unwrap());
        eventually("no further request gets in", || probe.twice(1) == Err(gone()));
        assert!(!deactivation.is_finished(), "it waits for the call under way");
        server.hooks.open_gate();
        assert_eq!(call.join().unwrap(), Ok(5));
        deactivation.join().unwrap();
    });
    assert!(probe.non_existent().unwrap());
    let another = server.another();
    assert_eq!(another.twice(1), Ok(2));
    assert_eq!(
        probe.twice(1),
        Err(gone()),
        "a slot used again is not the old object"
    );
}

#[test]
fn deactivation_has_a_deadline() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.deactivation(Duration::from_millis(20));
    let server = setup.start();
    let client = client();
    let probe = server.reference_for(&client);
    let living = || Arc::strong_count(&server.hooks);
    let before = living();
    thread::scope(|scope| {
        let call = scope.spawn(|| probe.wait_at_gate(5));
        server.hooks.await_at_gate(1);
        let result = server.poa.deactivate(&server.probe);
        assert!(matches!(result, Err(OrbError::StillInUse(_))), "{result:?}");
        assert_eq!(living(), before, "the request under way keeps its servant");
        server.hooks.open_gate();
        assert_eq!(call.join().unwrap(), Ok(5));
    });
    assert_eq!(probe.twice(1), Err(gone()));
    eventually("a later deactivation drops the servant that was in use", || {
        server.poa.deactivate(&server.another()).unwrap();
        living() == before - 1
    });
}

#[test]
fn an_object_deactivates_itself() {
    let server = Server::start();
    let client = client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.retire(), Ok(()));
    assert_eq!(probe.twice(1), Err(gone()));
    assert_eq!(server.another().twice(1), Ok(2));
}

/// No thread activates or deactivates objects outside of upcalls, and the servants go all the same.
#[test]
fn servants_deactivated_in_upcalls_do_not_pile_up() {
    let server = Server::start();
    let client = client();
    let probe = server.reference_for(&client);
    let living = || Arc::strong_count(&server.hooks);
    let before = living();
    for _ in 0..3 {
        probe.churn(1000).unwrap();
        assert_eq!(living(), before);
    }
    // One that is in use when it is deactivated goes with those that come after it.
    let own = server.another();
    probe.retire().unwrap();
    assert_eq!(living(), before + 1);
    let other: ProbeRef = client.resolve(&own.to_ior()).unwrap();
    other.churn(10).unwrap();
    assert_eq!(living(), before);
}

#[test]
fn the_lane_outlives_panics() {
    let server = Server::start();
    let client = client();
    let probe = server.reference_for(&client);
    let thread = probe.thread().unwrap();
    let panicked = SystemException::new(Kind::Unknown, Minor::SERVANT_PANICKED, Completion::Maybe);
    for _ in 0..3 {
        assert_eq!(probe.twice(UNLUCKY), Err(panicked));
        assert_eq!(probe.twice(1), Ok(2));
    }
    assert_eq!(probe.thread().unwrap(), thread, "the same thread");
    assert_eq!(
        server.pool.statistics()[0].1.connections.open,
        1,
        "the same connection"
    );
}

#[test]
fn calls_inside_calls_have_a_limit() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_nested_calls(5);
    let server = setup.start();
    let client = client_with(Default::default());
    let probe = server.reference_for(&client);
    assert_eq!(probe.nest(Some(&probe), 5), Ok(5));
    let too_deep = SystemException::new(
        Kind::ImpLimit,
        Minor::NESTING_OF_CALLS_TOO_DEEP,
        Completion::Maybe,
    );
    assert_eq!(probe.nest(Some(&probe), 6), Err(too_deep));
    assert_eq!(
        probe.nest(Some(&probe), 5),
        Ok(5),
        "the count is right afterwards"
    );
}

#[test]
fn shutdown_finishes_calls_and_takes_leave_of_every_client() {
    let server = Server::with_pool(|pool| pool.threads(2));
    let (key, port) = (server.key(), server.port());
    let mut idle = [(); 3].map(|()| Peer::connect(port));
    idle.iter_mut().for_each(|peer| works(peer, &key));
    let mut busy = Peer::connect(port);
    busy.send(&COMMON.request(9, &key, "wait_at_gate", |body| body.i32(5)));
    server.hooks.await_at_gate(1);
    server.orb.shutdown();
    server.hooks.open_gate();
    assert_eq!(
        busy.receive().unwrap().reply().body.i32(),
        5,
        "the call under way is finished"
    );
    for peer in idle.iter_mut().chain([&mut busy]) {
        let leave = peer.receive().unwrap();
        assert_eq!((leave.message_type, leave.dialect.minor), (CLOSE_CONNECTION, 2));
        assert!(peer.is_closed());
    }
    server.orb.shutdown_and_wait().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "no listener");
    assert!(server.poa.deactivate(&server.probe).is_err());
}

/// The same for a client: the request that was not handled is sent again, to a server that no longer exists.
#[test]
fn a_client_of_a_server_that_was_shut_down_knows_that_nothing_was_done() {
    let server = Server::start();
    let client = client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(1), Ok(2));
    drop(server);
    let refused = SystemException::new(Kind::Transient, Minor::CONNECT_REFUSED, Completion::No);
    assert_eq!(probe.twice(1), Err(refused));
}
