//! Peers that make a lane keep memory: messages that they do not finish, replies that they do not read.

use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
    thread,
    time::Duration,
};

use punctual::LaneWait;
use punctual_fixtures::{
    eventually,
    peer::Peer,
    server::Setup,
    wire::{COMMON, REQUEST},
};

use crate::idle_connections::{object_key, path};

const MESSAGE: usize = 1 << 20;
const LIMIT: usize = 4 << 20;

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_message_size(MESSAGE).max_lane_memory(LIMIT);
    setup
}

#[test]
fn half_messages_keep_no_more_than_the_limit_and_cost_those_that_keep_most() {
    for pool in [
        |pool: punctual::ThreadPoolBuilder| pool,
        |pool: punctual::ThreadPoolBuilder| pool.threads(3),
        |pool: punctual::ThreadPoolBuilder| pool.threads(3).wait(LaneWait::Blocking),
    ] {
        let server = Setup { pool, ..setup() }.start();
        let key = server.key();
        let request = COMMON.request(1, &key, "twice", |body| body.i32(21).raw(&[0; 100_000]));
        let mut bystander = Peer::connect(server.port());
        bystander.send(&request[..50_000]);
        eventually("its part", || server.seen(0).connections.memory > 0);

        let half = COMMON.header(REQUEST, false, MESSAGE as u32 - 12);
        let half = half.raw(&vec![0; MESSAGE - 1000]).finish();
        let attackers: Vec<_> = (0..20)
            .map(|_| {
                let mut peer = Peer::connect(server.port());
                peer.send(&half);
                peer
            })
            .collect();
        eventually("most of them are closed", || {
            server.seen(0).connections.exhausted_memory >= 16
        });
        assert!(
            server.seen(0).connections.memory <= LIMIT + MESSAGE,
            "{}",
            server.seen(0).connections.memory
        );

        bystander.send(&request[50_000..]);
        assert_eq!(bystander.receive().unwrap().reply().body.clone().i32(), 42);
        drop(attackers);
        drop(bystander);
        eventually("all is given back", || server.seen(0).connections.memory == 0);
        // No thread has read what the closed ones had sent: those reads would be work without service.
        let put_off = server.seen(0).connections.put_off;
        assert!(put_off < 100, "{put_off}");
    }
}

#[test]
fn peers_that_do_not_read_are_closed_and_keep_no_memory() {
    let mut setup = setup();
    setup.limits = setup.limits.message_completion(Duration::from_millis(300));
    for pool in [
        |pool: punctual::ThreadPoolBuilder| pool,
        // One more than threads that may wait in `write`.
        |pool: punctual::ThreadPoolBuilder| pool.threads(2).wait(LaneWait::Blocking),
    ] {
        let server = Setup {
            pool,
            limits: setup.limits,
            ..Setup::default()
        }
        .start();
        let key = server.key();
        let request = COMMON.request(9, &key, "filled", |body| body.u32(1_000_000));
        let attackers: Vec<_> = (0..3)
            .map(|_| {
                let mut peer = Peer::connect(server.port());
                peer.send(&request.repeat(50));
                peer
            })
            .collect();
        eventually("they are closed", || {
            server.seen(0).connections.unread_replies == 3
        });
        eventually("all is given back", || server.seen(0).connections.memory == 0);
        let mut bystander = Peer::connect(server.port());
        bystander.send(&COMMON.request(1, &key, "twice", |body| body.i32(21)));
        assert_eq!(bystander.receive().unwrap().reply().body.clone().i32(), 42);
        drop(attackers);
    }
}

#[test]
fn a_peer_that_reads_a_little_at_a_time_gains_no_time() {
    // A Unix socket, which has room again after each 100 KB; TCP after megabytes.
    let mut setup = Setup {
        listen: &["uiop://"],
        ..Setup::default()
    };
    setup.limits = setup
        .limits
        .message_completion(Duration::from_millis(600))
        .max_message_size(16 << 20);
    let server = setup.start();
    let mut stream = UnixStream::connect(path(&server.probe)).unwrap();
    let key = object_key(&server.probe);
    let request = COMMON.request(9, &key, "filled", |body| body.u32(12_000_000));
    stream.write_all(&request).unwrap();
    let (mut octets, mut read) = (vec![0; 40_000], 0);
    // It takes 5 s to read all.
    while server.seen(0).connections.unread_replies == 0 {
        assert!(read < 10_000_000, "{read} octets read");
        read += stream.read(&mut octets).unwrap();
        thread::sleep(Duration::from_millis(15));
    }
}

#[test]
fn replies_that_are_not_read_count_against_the_limit() {
    let server = setup().start();
    let key = server.key();
    // Replies of different sizes: what the kernel takes of the last one differs, too.
    let attackers: Vec<_> = (0..40)
        .map(|number| {
            let length = 500_000 + 13_000 * number;
            let request = COMMON.request(9, &key, "filled", |body| body.u32(length));
            let mut peer = Peer::connect(server.port());
            peer.send(&request.repeat(50));
            peer
        })
        .collect();
    eventually("the lane defends itself", || {
        server.seen(0).connections.exhausted_memory > 0
    });
    assert!(
        server.seen(0).connections.memory <= LIMIT + 2 * MESSAGE,
        "{}",
        server.seen(0).connections.memory
    );
    drop(attackers);
    eventually("all is given back", || server.seen(0).connections.memory == 0);
}
