//! Requests with object keys that are longer than any object's.

use punctual::{AnyServant, Interface as _, Limits, OrbError};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Peer,
    server::{Profile, Server, Setup, client},
    wire::COMMON,
};

const LONGEST: usize = 100;

fn server() -> Server {
    Setup {
        limits: Limits::default().max_object_key(LONGEST),
        ..Setup::default()
    }
    .start()
}

#[test]
fn no_object_has_a_key_above_the_limit() {
    let server = server();
    let name = |octets: usize| "n".repeat(octets);
    server.orb.publish(&name(LONGEST), &server.probe).unwrap();
    let refused = server.orb.publish(&name(LONGEST + 1), &server.probe).unwrap_err();
    let OrbError::KeyTooLong { octets, limit } = refused else {
        panic!("{refused}");
    };
    assert_eq!((octets, limit), (LONGEST + 1, LONGEST));
    let users = server.orb.root_poa().child("users").user_ids().build().unwrap();
    let activate =
        |octets| -> Result<ProbeRef, OrbError> { users.object(server.servant()).id(name(octets)).activate() };
    activate(LONGEST - 50).unwrap();
    assert!(matches!(
        activate(LONGEST).unwrap_err(),
        OrbError::KeyTooLong { .. }
    ));
    let reference: Result<ProbeRef, _> = users.reference().id(name(LONGEST)).create();
    assert!(matches!(reference.unwrap_err(), OrbError::KeyTooLong { .. }));
}

#[test]
fn a_request_with_a_key_above_the_limit_finds_nothing_and_others_go_on() {
    let server = server();
    server.orb.publish("radar", &server.probe).unwrap();
    let mut attacker = Peer::connect(server.port());
    let key = vec![b'x'; 4 << 20];
    for id in 0..3 {
        attacker.send(&COMMON.request(id, &key, "twice", |body| body.i32(1)));
        let message = attacker.receive().unwrap();
        let mut reply = message.reply();
        assert_eq!((reply.id, reply.status), (id, 2), "a system exception");
        assert_eq!(reply.body.string(), b"IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0");
        attacker.send(&COMMON.locate_request(id + 100, &key));
        let located = attacker.receive().unwrap();
        let mut body = located.reader();
        assert_eq!((body.u32(), body.u32()), (id + 100, 0), "UNKNOWN_OBJECT");
    }
    attacker.send(&COMMON.locate_request(7, b"radar"));
    let located = attacker.receive().unwrap();
    let mut body = located.reader();
    assert_eq!((body.u32(), body.u32()), (7, 2), "OBJECT_FORWARD");
    assert_eq!(server.reference_for(&client()).twice(4), Ok(8));
}

#[test]
fn a_default_servant_serves_no_key_above_the_limit() {
    let server = server();
    let adapter = server.orb.root_poa().child("default").threadpool(&server.pool);
    let adapter = adapter.user_ids();
    let adapter = adapter.default_servant(AnyServant::new::<ProbeRef, _>(server.servant()));
    let any: ProbeRef = adapter.build().unwrap().reference().id("x").create().unwrap();
    let key = Profile::of(any.as_object()).key;
    let mut peer = Peer::connect(server.port());
    for octets in [key.len(), LONGEST, LONGEST + 1] {
        let mut key = key.clone();
        key.resize(octets, b'x');
        peer.send(&COMMON.request(1, &key, "twice", |body| body.i32(21)));
        let served = peer.receive().unwrap().reply().status == 0;
        assert_eq!(served, octets <= LONGEST, "a key of {octets} octets");
    }
}
