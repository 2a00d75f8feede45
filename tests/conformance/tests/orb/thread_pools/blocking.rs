//! Lanes whose threads block in `read`: two system calls for a request, and every connection is served all
//! the same.

use std::thread;

use punctual::LaneWait;
use punctual_fixtures::{
    eventually,
    peer::Peer,
    server::{Server, client},
    skip_error,
    wire::COMMON,
};
use punctual_os::TaskId;
use punctual_system::perf::Counter;

use super::{prefix, threads_of, wait_at_gate};

fn thread_of(peer: &mut Peer, key: &[u8]) -> i32 {
    peer.send(&COMMON.request(1, key, "thread", |body| body));
    peer.receive().unwrap().reply().body.i32()
}

#[test]
fn each_thread_has_its_connection_and_one_has_the_rest() {
    let server = Server::with_pool(|pool| pool.threads(2).wait(LaneWait::Blocking));
    let (port, key) = (server.port(), server.key());
    let mut peers = [(); 5].map(|()| Peer::connect(port));
    let threads = peers.each_mut().map(|peer| thread_of(peer, &key));
    for _ in 0..3 {
        assert_eq!(
            peers.each_mut().map(|peer| thread_of(peer, &key)),
            threads,
            "they stay"
        );
    }
    let mut different = threads.to_vec();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 3, "{threads:?}: two of their own, one for three");
    assert_eq!(
        (server.seen(0).threads.present, server.seen(0).connections.open),
        (3, 5)
    );
    // A connection ends, and its thread takes one of those that have waited longest.
    let [first, second, rest @ ..] = peers;
    drop(first);
    eventually("it is closed", || server.seen(0).connections.open == 4);
    let mut rest = rest;
    eventually("one is adopted", || {
        rest.each_mut()
            .map(|peer| thread_of(peer, &key))
            .contains(&threads[0])
    });
    let moved = rest.each_mut().map(|peer| thread_of(peer, &key));
    assert_eq!(
        moved.iter().filter(|thread| **thread == threads[0]).count(),
        1,
        "one for one"
    );
    drop(rest);
    eventually("they are closed", || server.seen(0).connections.open == 1);
    let mut late = Peer::connect(port);
    assert_eq!(
        thread_of(&mut late, &key),
        threads[0],
        "who comes to a free thread gets it"
    );
    drop(second);
    let pool = prefix(&server);
    let names = ["0.0", "0.1", "0.poll"].map(|name| format!("{pool}{name}"));
    assert_eq!(threads_of(&pool), names);
}

#[test]
fn a_request_costs_a_read_and_a_write() {
    let server = Server::with_pool(|pool| pool.wait(LaneWait::Blocking));
    let client = client();
    let probe = server.reference_for(&client);
    let lane = TaskId::new(probe.thread().unwrap()).unwrap();
    let counter = match Counter::syscalls(lane, false) {
        Ok(counter) => counter,
        Err(error) => return skip_error(&error),
    };
    const CALLS: u64 = 200;
    (0..10).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    counter.enable().unwrap();
    (0..CALLS).for_each(|_| assert_eq!(probe.twice(1), Ok(2)));
    counter.disable().unwrap();
    let count = counter.read().unwrap();
    assert!((2 * CALLS - 1..=2 * CALLS + 1).contains(&count), "{count}");
}

#[test]
fn a_busy_thread_does_not_keep_others_from_being_accepted() {
    let server = Server::with_pool(|pool| pool.wait(LaneWait::Blocking));
    let clients = [client(), client()];
    let probes = clients.each_ref().map(|client| server.reference_for(client));
    thread::scope(|scope| {
        wait_at_gate(scope, &clients[0], &probes[0], None, 1);
        server.hooks.await_at_gate(1);
        assert_eq!(probes[1].twice(1), Ok(2));
        server.hooks.open_gate();
    });
}

#[test]
fn who_does_not_complete_a_message_is_closed() {
    let mut setup = punctual_fixtures::server::Setup {
        pool: |pool| pool.wait(LaneWait::Blocking),
        ..Default::default()
    };
    setup.limits = setup
        .limits
        .message_completion(std::time::Duration::from_millis(40));
    let server = setup.start();
    let mut peer = Peer::connect(server.port());
    let key = server.key();
    let request = COMMON.request(1, &key, "twice", |body| body.i32(1));
    // In two parts, soon one after the other.
    peer.send(&request[..20]);
    peer.send(&request[20..]);
    assert_eq!(peer.receive().unwrap().reply().body.i32(), 2);
    peer.send(&request[..20]);
    assert_eq!(peer.receive().unwrap().message_type, 6, "MessageError");
    assert!(peer.is_closed());
    let protocol_errors = server.seen(0).connections.protocol_errors;
    assert_eq!(protocol_errors, 1);
    assert_eq!(
        server.reference_for(&client()).twice(1),
        Ok(2),
        "its thread is free"
    );
}

#[test]
fn many_messages_in_one_read_are_all_served() {
    let server = Server::with_pool(|pool| pool.wait(LaneWait::Blocking));
    let (mut peer, key) = (Peer::connect(server.port()), server.key());
    let burst: Vec<u8> = (0..100)
        .flat_map(|id| COMMON.request(id, &key, "twice", |body| body.i32(id as i32)))
        .collect();
    peer.send(&burst);
    for id in 0..100 {
        assert_eq!(peer.receive().unwrap().reply().body.i32(), 2 * id);
    }
}

#[test]
fn a_peer_that_does_not_read_does_not_keep_a_pool_alive() {
    let mut setup = punctual_fixtures::server::Setup {
        pool: |pool| pool.wait(LaneWait::Blocking),
        ..Default::default()
    };
    setup.limits = setup
        .limits
        .message_completion(std::time::Duration::from_millis(50));
    let server = setup.start();
    let (mut peer, key) = (Peer::connect(server.port()), server.key());
    // More than the sockets hold.
    for id in 0..4 {
        peer.send(&COMMON.request(id, &key, "filled", |body| body.u32(4 << 20)));
    }
    eventually("its thread waits", || {
        let before = server.seen(0);
        thread::sleep(std::time::Duration::from_millis(50));
        before.requests > 0 && before.threads.busy == 0 && server.seen(0).requests == before.requests
    });
    assert!(server.seen(0).requests < 4, "for room");
    server.poa.destroy().unwrap();
    server.pool.destroy().unwrap();
    assert_eq!(server.seen(0).threads.present, 0);
}
