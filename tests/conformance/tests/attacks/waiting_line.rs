//! A peer that sends requests without a pause takes its turns with other busy peers: what arrives while its
//! connection waits for a thread gains it no further turn.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use punctual_fixtures::{Finally, eventually, peer::Peer, server::Server, wire::COMMON};

/// Requests that a thread serves of one connection before others have their turn.
const TURN: usize = 16;
const TURNS: usize = 20;

#[test]
fn a_connection_that_waits_for_a_thread_waits_once() {
    let server = Server::start();
    let key = server.key();
    let note = |value| COMMON.request_with(0, 0, &key, "note", &[], |body| body.i32(value));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut flood = Peer::connect(server.port());
            let batch = note(1).repeat(2 * TURN);
            while !done.load(Ordering::SeqCst) {
                flood.send(&batch);
            }
        });
        let _end = Finally(|| done.store(true, Ordering::SeqCst));
        eventually("the flood", || !server.hooks.journal().is_empty());
        thread::sleep(Duration::from_millis(500));
        let mut peer = Peer::connect(server.port());
        peer.send(&note(2).repeat(TURN * TURNS));
        peer.send(&COMMON.request(1, &key, "twice", |body| body.i32(21)));
        assert_eq!(peer.receive().unwrap().reply().body.clone().i32(), 42);
    });
    let journal = server.hooks.journal();
    let first = journal.iter().position(|value| *value == 2).unwrap();
    let last = journal.iter().rposition(|value| *value == 2).unwrap();
    let between = journal[first..last].iter().filter(|value| **value == 1).count();
    // In each round the flood has a turn for what waits and one for what has just arrived.
    assert!(between <= 4 * TURN * TURNS, "{between} requests of the flood");
}
