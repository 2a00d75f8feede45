//! Protocol of a call, by the client's policy at each scope and by the server's: TAO's
//! `Client_Protocol`.

use punctual::{Interface, Minor, PolicyOverrides, Protocol, ProtocolPolicy, SystemExceptionKind};
use punctual_fixtures::{
    conformance::ProbeRef,
    protocols::{WatchedClient, only},
    real_time::ordinary,
    server::Server,
};

/// A server over TCP and Unix sockets, whose references name protocols.
fn server(exposed: ProtocolPolicy) -> Server {
    let orb = ordinary()
        .listen("iiop://127.0.0.1")
        .listen("uiop://")
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .client_protocols(exposed)
        .build()
        .unwrap();
    Server::with_poa(orb, pool, poa)
}

fn overriding(protocol: Protocol) -> PolicyOverrides {
    PolicyOverrides::new().client_protocols(only(protocol))
}

/// The object under policies of this reference.
fn of(probe: &ProbeRef, policies: PolicyOverrides) -> ProbeRef {
    probe.as_object().with_policies(policies).unchecked()
}

fn any() -> ProtocolPolicy {
    ProtocolPolicy::default()
}

#[test]
fn each_scope_goes_before_the_one_around_it() {
    let server = server(any());
    let client = WatchedClient::new(only(Protocol::IIOP));
    let probe = client.reference(&server.probe);
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(client.connections(), (1, 0), "the ORB's");
    client.orb.current().replace_policies(overriding(Protocol::UIOP));
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(client.connections(), (1, 1), "the thread's");
    let own = of(&probe, overriding(Protocol::tagged(77)));
    let error = own.twice(1).unwrap_err();
    assert_eq!(
        (error.kind, error.minor),
        (SystemExceptionKind::InvPolicy, Minor::NO_PROTOCOL_ALLOWED)
    );
    let own = of(&probe, overriding(Protocol::IIOP));
    assert_eq!(own.twice(1), Ok(2));
    client.orb.current().replace_policies(PolicyOverrides::new());
    assert_eq!(probe.twice(1), Ok(2));
    assert_eq!(client.connections(), (1, 1), "what was opened once is used again");
}

#[test]
fn what_the_server_exposes_holds_for_clients_that_say_nothing() {
    for (exposed, expected) in [
        (any(), (0, 1)),
        (only(Protocol::UIOP), (0, 1)),
        (only(Protocol::IIOP), (1, 0)),
        (ProtocolPolicy::new([Protocol::IIOP, Protocol::UIOP]), (1, 0)),
        (
            ProtocolPolicy::new([Protocol::tagged(77), Protocol::IIOP]),
            (1, 0),
        ),
    ] {
        let server = server(exposed);
        let client = WatchedClient::new(any());
        assert_eq!(client.reference(&server.probe).twice(1), Ok(2));
        assert_eq!(client.connections(), expected);
    }
}

#[test]
fn both_sides_saying_so_is_a_conflict_whatever_they_say() {
    let server = server(only(Protocol::UIOP));
    for clients in [Protocol::UIOP, Protocol::IIOP] {
        let client = WatchedClient::new(only(clients));
        let error = client.reference(&server.probe).twice(1).unwrap_err();
        let expected = (SystemExceptionKind::InvPolicy, Minor::PROTOCOLS_ON_BOTH_SIDES);
        assert_eq!((error.kind, error.minor), expected);
        assert_eq!(client.connections(), (0, 0), "nothing was opened for it");
    }
}
