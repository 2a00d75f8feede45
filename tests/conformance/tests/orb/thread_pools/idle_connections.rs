//! Idle connections are closed where the settings request it.

use std::time::{Duration, Instant};

use punctual_fixtures::{
    eventually,
    peer::Peer,
    server::{Server, Setup, client},
    wire::{CLOSE_CONNECTION, COMMON},
};

const IDLE: Duration = Duration::from_millis(60);

fn server() -> Server {
    let mut setup = Setup {
        pool: |pool| pool.threads(2),
        ..Setup::default()
    };
    setup.limits = setup.limits.connection_idle(Some(IDLE));
    setup.start()
}

#[test]
fn who_says_nothing_is_taken_leave_of() {
    let server = server();
    let key = server.key();
    let started = Instant::now();
    let (mut silent, mut busy) = (Peer::connect(server.port()), Peer::connect(server.port()));
    let mut waiting = Peer::connect(server.port());
    waiting.send(&COMMON.request(1, &key, "wait_at_gate", |body| body.i32(7)));
    server.hooks.await_at_gate(1);
    let mut call = |id| {
        busy.send(&COMMON.request(id, &key, "twice", |body| body.i32(1)));
        assert_eq!(busy.receive().unwrap().reply().body.i32(), 2);
    };
    let mut id = 0;
    eventually("the silent one is closed", || {
        id += 1;
        call(id);
        server.seen(0).connections.idle == 1
    });
    assert!(started.elapsed() >= IDLE, "not before its time");
    assert_eq!(silent.receive().unwrap().message_type, CLOSE_CONNECTION);
    assert!(silent.is_closed());
    server.hooks.open_gate();
    assert_eq!(
        waiting.receive().unwrap().reply().body.i32(),
        7,
        "who waits for a reply is not idle"
    );
}

#[test]
fn a_client_connects_again_and_does_not_notice() {
    let (server, client) = (server(), client());
    let probe = server.reference_for(&client);
    for round in 1..=3 {
        assert_eq!(probe.twice(1), Ok(2));
        eventually("it is closed", || server.seen(0).connections.idle == round);
    }
    assert_eq!(server.seen(0).requests, 3, "none is handled twice");
}
