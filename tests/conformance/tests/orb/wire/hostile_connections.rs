//! Peers that misuse connections: they do not complete, do not read, do not stop, or are too many.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use punctual::LaneStatistics;
use punctual_fixtures::{
    Finally, LONG, eventually,
    peer::Peer,
    server::{Server, Setup},
    wire::{CANCEL_REQUEST, CLOSE_CONNECTION, COMMON, Dialect, FRAGMENT, REQUEST},
};

use crate::wire::probing::{Answer, assert_answered, works};

fn seen(server: &Server) -> LaneStatistics {
    server.pool.statistics()[0].1
}

#[test]
fn messages_that_are_never_complete_end_their_connection() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.message_completion(Duration::from_millis(200));
    let server = setup.start();
    let key = server.key();
    let mut bystander = Peer::connect(server.port());
    works(&mut bystander, &key);
    let request = COMMON.request(1, &key, "twice", |body| body.i32(1));
    let fragmented = COMMON.fragmented(&request, &[16]);
    let starts = [
        (b"GIO".to_vec(), 0),
        (COMMON.header(REQUEST, false, 100).finish(), 2),
        (Dialect::new(1, true).header(REQUEST, false, 100).finish(), 1),
        (request[..request.len() - 1].to_vec(), 2),
        // Between messages the version of a fragmented one is no longer known.
        (fragmented[0].clone(), 0),
    ];
    for (start, minor) in &starts {
        let mut peer = Peer::connect(server.port());
        peer.send(start);
        assert_answered(&mut peer, 1, 0, &Answer::MessageError(*minor));
        assert!(peer.is_closed());
    }
    assert_eq!(seen(&server).connections.protocol_errors, starts.len() as u64);

    // Neither other messages nor further fragments buy time.
    let mut peer = Peer::connect(server.port());
    peer.send(&fragmented[0]);
    let more = COMMON.header(FRAGMENT, true, 4).u32(1).finish();
    let mut calls = 0;
    while seen(&server).connections.protocol_errors == starts.len() as u64 {
        peer.send(&more);
        peer.send(&request_numbered(2, &key));
        calls += 1;
        assert!(calls < 1000, "it goes on forever");
        thread::sleep(Duration::from_millis(10));
    }
    works(&mut bystander, &key);
    eventually("all but one are gone", || seen(&server).connections.open == 1);

    // A peer that is slow but does complete its message is served.
    let mut slow = Peer::connect(server.port());
    for octet in &request {
        slow.send(&[*octet]);
    }
    assert_eq!(slow.receive().unwrap().reply().id, 1);
}

fn request_numbered(id: u32, key: &[u8]) -> Vec<u8> {
    COMMON.request(id, key, "twice", |body| body.i32(id as i32))
}

#[test]
fn a_peer_that_has_sent_all_still_gets_its_replies() {
    for threads in [1, 2, 3] {
        let server = Server::with_pool(match threads {
            1 => |pool| pool,
            2 => |pool| pool.threads(2),
            _ => |pool| pool.threads(3),
        });
        let key = server.key();
        let mut peer = Peer::connect(server.port());
        peer.send(&COMMON.request(1, &key, "wait_at_gate", |body| body.i32(5)));
        server.hooks.await_at_gate(1);
        peer.send(&COMMON.request(2, &key, "wait_at_gate", |body| body.i32(6)));
        peer.finish();
        if threads > 1 {
            server.hooks.await_at_gate(2);
        }
        server.hooks.open_gate();
        let mut answered = [peer.receive().unwrap(), peer.receive().unwrap()].map(|reply| {
            let reply = reply.reply();
            (reply.id, reply.body.clone().i32())
        });
        answered.sort_unstable();
        assert_eq!(answered, [(1, 5), (2, 6)]);
        assert!(peer.is_closed());
        eventually("the server forgets the connection", || {
            seen(&server).connections.open == 0
        });
    }
}

#[test]
fn a_peer_that_vanishes_takes_nothing_with_it() {
    for threads in [1, 2] {
        let mut setup = Setup::default();
        if threads > 1 {
            setup.pool = |pool| pool.threads(2);
        }
        let server = setup.start();
        let key = server.key();
        let mut peer = Peer::connect(server.port());
        peer.send(&COMMON.request(1, &key, "wait_at_gate", |body| body.i32(5)));
        server.hooks.await_at_gate(1);
        drop(peer);
        server.hooks.open_gate();
        eventually("the server forgets the connection", || {
            seen(&server).connections.open == 0
        });
        works(&mut Peer::connect(server.port()), &key);
    }
}

#[test]
fn connections_beyond_the_limit_are_turned_away_in_good_order() {
    let mut setup = Setup::default();
    setup.limits = setup.limits.max_connections(2).message_completion(10 * LONG);
    let server = setup.start();
    let key = server.key();
    let mut peers = [Peer::connect(server.port()), Peer::connect(server.port())];
    peers.iter_mut().for_each(|peer| works(peer, &key));
    // In the middle of a message no connection is idle, so none gives way.
    let (begin, rest) = (request_numbered(7, &key), 20);
    let served = seen(&server).requests;
    for peer in &mut peers {
        peer.send(&begin[..rest]);
    }
    // What they have sent is read before a third one is accepted, or else with it.
    for _ in 0..3 {
        let mut third = Peer::connect(server.port());
        assert_eq!(third.receive().unwrap().message_type, CLOSE_CONNECTION);
        assert!(third.is_closed());
    }
    for peer in &mut peers {
        peer.send(&begin[rest..]);
        assert_eq!(peer.receive().unwrap().reply().id, 7);
    }
    assert_eq!(seen(&server).requests, served + 2);
    assert_eq!(
        (seen(&server).connections.refused, seen(&server).connections.open),
        (3, 2)
    );
    let [first, mut second] = peers;
    drop(first);
    eventually("there is room again", || seen(&server).connections.open == 1);
    works(&mut Peer::connect(server.port()), &key);
    works(&mut second, &key);
}

#[test]
fn a_peer_that_does_not_read_blocks_nobody_and_gets_everything_in_the_end() {
    for threads in [1, 2] {
        let mut setup = Setup::default();
        setup.limits = setup.limits.max_message_size(1 << 20);
        if threads > 1 {
            setup.pool = |pool| pool.threads(2);
        }
        let server = setup.start();
        let key = server.key();
        let mut lazy = Peer::connect(server.port());
        let request = COMMON.request(9, &key, "filled", |body| body.u32(60_000).raw(&[0; 30_000]));
        // The kernel's buffers take some megabytes; the server must stop to read when they are full.
        let sent = lazy.send_until_full(&request, 64 << 20);
        assert!(sent < 64 << 20, "the server reads without end");
        let served = seen(&server).requests;
        for _ in 0..20 {
            works(&mut Peer::connect(server.port()), &key);
        }
        assert_eq!(
            seen(&server).requests,
            served + 20,
            "no request of the lazy peer is served meanwhile"
        );
        let complete = sent / request.len();
        let mut sender = lazy.another();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(&request[sent % request.len()..]));
            for _ in 0..=complete {
                let reply = lazy.receive().unwrap();
                assert_eq!(reply.reply().body.clone().sequence(), [7; 60_000]);
            }
        });
        works(&mut lazy, &key);
    }
}

#[test]
fn a_peer_that_never_pauses_starves_nobody() {
    let server = Server::start();
    let key = server.key();
    // Text that must be converted takes longer to serve than to send.
    let text = [0xe9; 6000];
    let flood = COMMON
        .request_with(0, 0, &key, "greet", &[], |body| body.string(&text))
        .repeat(20);
    let (started, done) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = Peer::connect(server.port());
            while !done.load(Ordering::SeqCst) {
                peer.send(&flood);
                started.store(true, Ordering::SeqCst);
            }
        });
        let _end = Finally(|| done.store(true, Ordering::SeqCst));
        eventually("the flood comes", || started.load(Ordering::SeqCst));
        for _ in 0..20 {
            works(&mut Peer::connect(server.port()), &key);
        }
    });
}

#[test]
fn fragments_of_several_requests_may_alternate() {
    let server = Server::start();
    let key = server.key();
    let mut peer = Peer::connect(server.port());
    let parts = |id: u32| {
        let request = COMMON.request(id, &key, "reverse", |body| {
            (0..64).fold(body.u32(64), |body, value| body.i32(value + id as i32))
        });
        COMMON.fragmented(&request, &[24, 40, 80, 80])
    };
    let (first, second) = (parts(100), parts(200));
    for (a, b) in first.iter().zip(&second) {
        peer.send(a);
        peer.send(b);
        // What is cancelled is not what is under way.
        peer.send(&COMMON.message(CANCEL_REQUEST, |message| message.u32(300)));
        if a == &first[2] {
            // Whole messages may stand in between.
            works(&mut peer, &key);
        }
    }
    for id in [100, 200] {
        let message = peer.receive().unwrap();
        let reply = message.reply();
        let mut body = reply.body.clone();
        assert_eq!((reply.id, body.u32()), (id, 64));
        assert_eq!(body.i32(), 63 + id as i32);
    }
    works(&mut peer, &key);
}

/// As long as a thread of the lane is idle, no request waits behind another one, of the same peer or not.
#[test]
fn every_thread_of_a_lane_takes_its_share() {
    let server = Server::with_pool(|pool| pool.threads(4));
    let mut peers = [Peer::connect(server.port()), Peer::connect(server.port())];
    let request = COMMON.request(1, &server.key(), "wait_at_gate", |body| body.i32(1));
    peers.iter_mut().for_each(|peer| peer.send(&request.repeat(2)));
    server.hooks.await_at_gate(4);
    server.hooks.open_gate();
    for peer in &mut peers {
        for _ in 0..2 {
            assert_eq!(peer.receive().unwrap().reply().body.i32(), 1);
        }
    }
}

/// Each peer pipelines everything at once; the lane has three threads and answers in any order.
#[test]
fn pipelined_requests_are_answered_exactly_once() {
    const PEERS: usize = 4;
    const REQUESTS: u32 = 2000;
    let server = Server::with_pool(|pool| pool.threads(3));
    let key = server.key();
    thread::scope(|scope| {
        for _ in 0..PEERS {
            scope.spawn(|| {
                let mut peer = Peer::connect(server.port());
                let mut sender = peer.another();
                scope.spawn({
                    let key = &key;
                    move || {
                        for id in 0..REQUESTS {
                            sender.send(&request_numbered(id, key));
                        }
                    }
                });
                let mut answered = vec![false; REQUESTS as usize];
                for _ in 0..REQUESTS {
                    let message = peer.receive().unwrap();
                    let reply = message.reply();
                    assert_eq!((reply.status, reply.body.clone().i32()), (0, 2 * reply.id as i32));
                    assert!(
                        !std::mem::replace(&mut answered[reply.id as usize], true),
                        "twice"
                    );
                }
                works(&mut peer, &key);
            });
        }
    });
    assert_eq!(seen(&server).requests, PEERS as u64 * u64::from(REQUESTS + 1));
}
