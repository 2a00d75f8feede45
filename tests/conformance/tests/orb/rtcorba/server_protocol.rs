//! Protocols that references name, and their order: TAO's `Server_Protocol`.

use punctual::{InvalidPolicy, OrbBuilder, OrbError, Protocol, ProtocolPolicy};
use punctual_fixtures::{
    protocols::{WatchedClient, only, tags},
    real_time::ordinary,
    server::Server,
};

const IIOP: u32 = 0;
const UIOP: u32 = 0x5441_4f00;

/// The protocols of objects in an adapter with this policy.
fn named_by(orb: OrbBuilder, protocols: ProtocolPolicy) -> Vec<u32> {
    let orb = orb.build().unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb
        .root_poa()
        .child("probes")
        .threadpool(&pool)
        .server_protocols(protocols)
        .build()
        .unwrap();
    let server = Server::with_poa(orb, pool, poa);
    // Every protocol that it names leads there.
    for tag in tags(&server.probe) {
        let client = WatchedClient::new(only(Protocol::tagged(tag)));
        assert_eq!(client.reference(&server.probe).twice(1), Ok(2));
    }
    tags(&server.probe)
}

#[test]
fn the_adapters_policy_goes_before_the_orbs() {
    let default = ProtocolPolicy::default;
    let reversed = || ProtocolPolicy::new([Protocol::UIOP, Protocol::IIOP]);
    let both = || ordinary().listen("iiop://127.0.0.1").listen("uiop://");
    let as_it_listens = both();
    assert_eq!(named_by(as_it_listens, default()), [IIOP, UIOP]);
    assert_eq!(named_by(both(), reversed()), [UIOP, IIOP]);
    assert_eq!(named_by(both(), only(Protocol::UIOP)), [UIOP]);
    let as_the_orb_says = both().server_protocols(reversed());
    assert_eq!(named_by(as_the_orb_says, default()), [UIOP, IIOP]);
    assert_eq!(
        named_by(both().server_protocols(reversed()), only(Protocol::IIOP)),
        [IIOP]
    );
    let listens_as_its_policy_says = ordinary().server_protocols(reversed());
    assert_eq!(named_by(listens_as_its_policy_says, default()), [UIOP, IIOP]);
}

#[test]
fn protocols_without_an_acceptor_are_an_invalid_policy() {
    let is_invalid = |result: Result<(), OrbError>| {
        matches!(
            result,
            Err(OrbError::InvalidPolicy {
                conflict: InvalidPolicy::ProtocolWithoutAcceptor,
                ..
            })
        )
    };
    let orb = ordinary().listen("iiop://127.0.0.1").build().unwrap();
    for protocols in [
        only(Protocol::UIOP),
        ProtocolPolicy::new([Protocol::IIOP, Protocol::tagged(77)]),
    ] {
        let poa = orb
            .root_poa()
            .child("child")
            .server_protocols(protocols.clone())
            .build();
        assert!(is_invalid(poa.map(drop)), "{protocols:?}");
        let orb = ordinary()
            .listen("iiop://127.0.0.1")
            .server_protocols(protocols.clone())
            .build();
        assert!(is_invalid(orb.map(drop)), "{protocols:?}");
    }
}
