//! Our client, our server.

use std::time::Duration;

use punctual::{Interface, ObjectRef, ior_to_string};
use punctual_giop::{IiopProfile, Version};
use punctual_interop::{
    checks::{Context, client_orb, limits},
    interop::PeerRef,
    server::{PeerServant, Served, Server},
};

use crate::NO_IDLE_CLOSE;

fn check(reference: impl FnOnce(&Server) -> String) {
    let mut server = Server::start(limits(), Served::ByTheOrb);
    let context = Context::new(&reference(&server)).expect("the server's reference");
    context.run(&[NO_IDLE_CLOSE]);
    context
        .peer
        .shutdown()
        .expect("the server answers before it ends");
    assert!(
        server.ends_within(Duration::from_secs(10)),
        "the server does not end after Peer::shutdown"
    );
}

/// The reference as a server of this version at this port would write it.
pub fn as_of(reference: &ObjectRef, version: Version, port: u16) -> String {
    let mut ior = reference.ior().clone();
    let mut profile = IiopProfile::decode(&ior.profiles[0]).expect("our own profile");
    profile.version = version;
    profile.port = port;
    if version == Version::V1_0 {
        profile.components.clear();
    }
    ior.profiles[0] = profile.encode().expect("a profile that was decoded");
    ior_to_string(&ior)
}

/// Where the server of the reference listens.
pub fn port(reference: &ObjectRef) -> u16 {
    let profile = &reference.ior().profiles[0];
    IiopProfile::decode(profile).expect("our own profile").port
}

fn in_version(server: &Server, version: Version) -> String {
    let peer = server.peer.as_object();
    as_of(peer, version, port(peer))
}

#[test]
fn giop_1_0() {
    check(|server| in_version(server, Version::V1_0));
}

#[test]
fn giop_1_1() {
    check(|server| in_version(server, Version::V1_1));
}

#[test]
fn giop_1_2() {
    check(|server| server.peer.to_ior());
}

#[test]
fn corbaloc() {
    check(|server| server.url.clone());
}

/// The server's objects are those of the client's own ORB.
#[test]
fn collocated() {
    let (orb, poa, callbacks) = client_orb();
    let servant = PeerServant::new(orb.clone(), poa.clone());
    let own = servant.own.clone();
    let peer: PeerRef = poa.activate(servant).expect("an object");
    own.set(Clone::clone(&peer)).expect("set once");
    orb.publish("Interop", &peer).expect("a published name");
    let context =
        Context::with_peer((orb.clone(), poa, callbacks), peer).expect("a reference with an IIOP profile");
    let _running = std::thread::spawn({
        let orb = orb.clone();
        move || orb.run()
    });
    let no_deadline = (
        "call_timeout",
        "a call inside one ORB runs on the caller's thread, where nothing can end it",
    );
    context.run(&[NO_IDLE_CLOSE, no_deadline]);
    assert!(context.peer.as_object().validate_connection().is_ok());
    orb.shutdown();
}
