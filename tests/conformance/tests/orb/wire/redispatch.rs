//! Bounded redispatch: requests that came to the wrong lane, and how many of them the right one takes.

use std::thread;

use punctual::{Completion, LaneSpec, LaneWait, Minor, QueueLimits, SystemExceptionKind as Kind};
use punctual_fixtures::{
    client_propagated, eventually,
    peer::Peer,
    priorities::LOW,
    priority,
    server::{Profile, Server, Setup},
    wire::{COMMON, DIALECTS, Dialect, Message, Reader},
};

use crate::wire::probing::{exception, works};

const PRIORITY: u32 = 10;
const HIGH: i16 = 32_000;
const LIMITS: QueueLimits = QueueLimits {
    requests: 2,
    octets: 4096,
};

fn server(buffering: bool) -> Server {
    let setup = Setup {
        model: Some(client_propagated(priority(LOW))),
        pool: if buffering {
            |pool| {
                pool.lane(priority(LOW), 1)
                    .lane(priority(HIGH), 1)
                    .request_buffering(LIMITS)
            }
        } else {
            |pool| pool.lane(priority(LOW), 1).lane(priority(HIGH), 1)
        },
        redispatch: Some(LIMITS),
        ..Setup::default()
    };
    setup.start()
}

/// The ports of the low and of the high lane.
fn ports(server: &Server) -> [u16; 2] {
    let profile = Profile::of(&server.probe);
    let (_, data) = profile
        .components
        .iter()
        .find(|(tag, _)| *tag == 0x5441_4f02)
        .expect("endpoints");
    let mut data = Reader::encapsulation(data);
    assert_eq!(data.u32(), 2);
    [LOW, HIGH].map(|own| {
        assert_eq!(data.string(), b"127.0.0.1");
        let port = data.u16();
        assert_eq!(data.u16() as i16, own);
        port
    })
}

fn request(
    dialect: Dialect,
    server: &Server,
    id: u32,
    asked: Option<i16>,
    operation: &str,
    value: i32,
) -> Vec<u8> {
    let contexts: Vec<_> = asked
        .map(|asked| (PRIORITY, dialect.encapsulation(|data| data.u16(asked as u16))))
        .into_iter()
        .collect();
    dialect.request_with(id, 3, &server.key(), operation, &contexts, |body| body.i32(value))
}

fn short(message: &Message) -> i16 {
    assert_eq!(message.reply().status, 0);
    message.reply().body.u16() as i16
}

#[test]
fn a_request_that_came_to_the_wrong_lane_runs_on_the_right_one() {
    for buffering in [false, true] {
        let server = server(buffering);
        let ports = ports(&server);
        let mut moved = [0, 0];
        for dialect in DIALECTS {
            for (lane, port) in ports.iter().enumerate() {
                let mut peer = Peer::connect(*port);
                // Without a priority it is the default's.
                for (asked, expected) in [(Some(LOW), LOW), (Some(HIGH), HIGH), (None, LOW)] {
                    peer.send(&request(dialect, &server, 1, asked, "corba_priority", 0));
                    assert_eq!(short(&peer.receive().expect("a reply")), expected);
                    moved[lane] += u64::from(expected != [LOW, HIGH][lane]);
                }
                // Above what is accepted: refused by the thread that read it, and handed to no other.
                let (asked, kind) = (Some(i16::MAX), Kind::NoPermission.repository_id().to_owned());
                peer.send(&request(dialect, &server, 2, asked, "corba_priority", 0));
                let expected = (kind, Minor::PRIORITY_ABOVE_ACCEPTED, Completion::No);
                assert_eq!(exception(&peer.receive().expect("a reply"), 2), expected);
                // No lane has this one, so it belongs to no other: it runs where it came.
                peer.send(&request(dialect, &server, 3, Some(LOW + 1), "corba_priority", 0));
                assert_eq!(short(&peer.receive().expect("a reply")), [LOW, HIGH][lane]);
            }
        }
        for lane in [0, 1] {
            let seen = server.seen(lane);
            assert_eq!(seen.redispatched, moved[lane]);
            assert_eq!(seen.misdirected, moved[lane]);
            let own = if buffering { seen.requests } else { 0 };
            assert_eq!(seen.queue.accepted, moved[1 - lane] + own);
        }
    }
}

#[test]
fn what_finds_no_room_runs_where_it_came() {
    let server = server(false);
    let [low, high] = ports(&server);
    let mut busy = Peer::connect(high);
    busy.send(&request(COMMON, &server, 1, Some(HIGH), "wait_at_gate", 1));
    server.hooks.await_at_gate(1);
    let mut peer = Peer::connect(low);
    for (id, waiting) in [(2, 1), (3, 2)] {
        peer.send(&request(
            COMMON,
            &server,
            id,
            Some(HIGH),
            "wait_at_gate",
            id as i32,
        ));
        eventually("it waits", || server.seen(1).queue.requests == waiting);
    }
    for id in 4..8 {
        peer.send(&request(COMMON, &server, id, Some(HIGH), "corba_priority", 0));
        let message = peer.receive().expect("a reply, while the other lane is busy");
        assert_eq!((message.reply().id, short(&message)), (id, LOW));
    }
    let seen = server.seen(0);
    assert_eq!((seen.misdirected, seen.redispatched), (6, 2));
    assert_eq!(server.seen(1).queue.refused, 4);
    server.hooks.open_gate();
    for id in [2, 3] {
        assert_eq!(peer.receive().expect("a reply").reply().id, id);
    }
    assert_eq!(server.hooks.values_at_gate(), [1, 2, 3]);
    works(&mut peer, &server.key());
    assert_eq!(busy.receive().expect("a reply").reply().id, 1);
    works(&mut busy, &server.key());
}

/// A thread that blocks for one connection may have to wait for its peer; no other lane's thread is to.
#[test]
fn a_lane_that_blocks_hands_nothing_on() {
    let setup = Setup {
        model: Some(client_propagated(priority(LOW))),
        pool: |pool| {
            pool.lane_with(LaneSpec::new(priority(LOW)).wait(LaneWait::Blocking))
                .lane(priority(HIGH), 1)
        },
        redispatch: Some(LIMITS),
        ..Setup::default()
    };
    let server = setup.start();
    let [low, high] = ports(&server);
    for (port, asked, expected) in [(low, HIGH, LOW), (high, LOW, LOW)] {
        let mut peer = Peer::connect(port);
        // The first connection has the thread, which takes messages that other threads hand on when it is
        // free.
        peer.send(&request(COMMON, &server, 1, Some(asked), "corba_priority", 0));
        assert_eq!(short(&peer.receive().expect("a reply")), expected);
    }
    assert_eq!([0, 1].map(|lane| server.seen(lane).redispatched), [0, 1]);
    assert_eq!([0, 1].map(|lane| server.seen(lane).misdirected), [1, 1]);
}

/// The lane that has the request outlives its interest in the connection, and the other way round.
#[test]
fn a_client_that_leaves_meanwhile_leaves_nothing_behind() {
    let server = server(false);
    let [low, high] = ports(&server);
    let mut busy = Peer::connect(high);
    busy.send(&request(COMMON, &server, 1, Some(HIGH), "wait_at_gate", 1));
    server.hooks.await_at_gate(1);
    let mut peer = Peer::connect(low);
    peer.send(&request(COMMON, &server, 2, Some(HIGH), "wait_at_gate", 2));
    eventually("it waits", || server.seen(1).queue.requests == 1);
    peer.finish();
    let mut gone = Peer::connect(low);
    gone.send(&request(COMMON, &server, 3, Some(HIGH), "wait_at_gate", 3));
    eventually("it waits", || server.seen(1).queue.requests == 2);
    drop(gone);
    server.hooks.open_gate();
    assert_eq!(peer.receive().expect("its reply, all the same").reply().id, 2);
    assert!(peer.is_closed());
    eventually("all are closed", || server.seen(0).connections.open == 0);
    assert_eq!(busy.receive().expect("a reply").reply().id, 1);
    works(&mut busy, &server.key());
}

#[test]
fn every_request_is_answered_once_when_many_go_the_wrong_way() {
    const REQUESTS: u32 = 300;
    for buffering in [false, true] {
        let server = server(buffering);
        let ports = ports(&server);
        let refused: u64 = thread::scope(|scope| {
            let peers: Vec<_> = (0..6)
                .map(|number| {
                    let server = &server;
                    scope.spawn(move || {
                        let mut peer = Peer::connect(ports[number % 2]);
                        let asked = [LOW, HIGH][number / 2 % 2];
                        let mut refused = 0;
                        for id in 0..REQUESTS {
                            peer.send(&request(COMMON, server, id, Some(asked), "twice", 21));
                            let message = peer.receive().expect("a reply");
                            assert_eq!(message.reply().id, id);
                            if message.reply().status == 0 {
                                assert_eq!(message.reply().body.i32(), 42);
                            } else {
                                refused += 1;
                            }
                        }
                        refused
                    })
                })
                .collect();
            peers.into_iter().map(|peer| peer.join().expect("no panic")).sum()
        });
        let (low, high) = (server.seen(0), server.seen(1));
        assert_eq!(low.requests + high.requests, 6 * u64::from(REQUESTS));
        if buffering {
            assert!(refused <= low.queue.refused + high.queue.refused);
        } else {
            assert_eq!(refused, 0, "what finds no room runs where it came");
            assert_eq!(low.redispatched, high.queue.accepted);
            assert_eq!(high.redispatched, low.queue.accepted);
        }
        assert!(low.redispatched > 0 && high.redispatched > 0);
        assert_eq!((low.queue.requests, high.queue.requests), (0, 0));
    }
}
