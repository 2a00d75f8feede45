//! One connection cannot keep a lane's thread from the others.

use punctual_conformance::{peer::Peer, wire::COMMON};

use super::plain;

#[test]
fn a_flood_waits_its_turn() {
    let server = plain(|pool| pool.threads(1));
    let key = server.key();
    let mut gate = Peer::connect(server.port());
    let (mut flood, mut other) = (Peer::connect(server.port()), Peer::connect(server.port()));
    gate.send(&COMMON.request(1, &key, "wait_at_gate", |body| body.i32(1)));
    server.hooks.await_at_gate(1);
    // All of it is there before the one request of the other, and before the thread looks.
    let note = |value| COMMON.request_with(value as u32, 0, &key, "note", &[], |body| body.i32(value));
    const FLOOD: i32 = 500;
    let burst: Vec<u8> = (1..=FLOOD).flat_map(note).collect();
    flood.send(&burst);
    other.send(&COMMON.request(1, &key, "noted", |body| body));
    server.hooks.open_gate();
    let noted = other.receive().unwrap().reply().body.i32();
    assert!(noted > 0, "the flood came first");
    assert!(
        noted <= FLOOD / 2,
        "{noted} of {FLOOD} were served before the one request of another client"
    );
}
