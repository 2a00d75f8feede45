//! Request buffering: what waits, what is refused, in which order requests start, and that nothing is lost.

use std::thread;

use punctual::{
    Completion, CpuSet, LaneWait, Limits, Minor, OrbError, Priority, QueueLimits, SchedulingClass,
    SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    eventually,
    peer::Peer,
    realtime_or_skip,
    server::{Server, Setup, client},
    wire::{CANCEL_REQUEST, CLOSE_CONNECTION, COMMON, DIALECTS, Dialect, LOCATE_REPLY, Message},
};

use crate::wire::probing::{Answer, assert_answered, exception, works};

/// One thread, and room for three requests.
fn with_queue_of_three() -> Server {
    Server::with_pool(|pool| {
        pool.request_buffering(QueueLimits {
            requests: 3,
            octets: 1 << 16,
        })
    })
}

fn at_gate(dialect: Dialect, server: &Server, id: u32) -> Vec<u8> {
    dialect.request(id, &server.key(), "wait_at_gate", |body| body.i32(id as i32))
}

fn await_waiting(server: &Server, requests: usize) {
    eventually("requests wait", || server.seen(0).queue.requests == requests);
}

fn result(message: &Message) -> (u32, i32) {
    let reply = message.reply();
    assert_eq!(reply.status, 0, "{:02x?}", message.octets);
    (reply.id, reply.body.clone().i32())
}

const FULL: Answer = Answer::Exception(Kind::Transient, Minor::REQUEST_QUEUE_FULL, Completion::No);

#[test]
fn as_many_requests_wait_as_are_allowed_and_start_in_order() {
    for dialect in DIALECTS {
        let server = with_queue_of_three();
        // Of several connections, one behind the other.
        let mut peers = [Peer::connect(server.port()), Peer::connect(server.port())];
        peers[0].send(&at_gate(dialect, &server, 1));
        server.hooks.await_at_gate(1);
        for (id, waiting) in [(2, 1), (3, 2), (4, 3)] {
            peers[id as usize % 2].send(&at_gate(dialect, &server, id));
            await_waiting(&server, waiting);
        }
        for id in 5..8 {
            peers[0].send(&at_gate(dialect, &server, id));
            assert_answered(&mut peers[0], id, dialect.minor, &FULL);
        }
        let queue = server.seen(0).queue;
        assert_eq!((queue.requests, queue.most_requests, queue.refused), (3, 3, 3));
        assert_eq!(queue.limits.map(|limits| limits.requests), Some(3));
        assert!(queue.octets > 0);
        server.hooks.open_gate();
        for (peer, ids) in peers.iter_mut().zip([[1, 2, 4].as_slice(), &[3]]) {
            for id in ids {
                let message = peer.receive().expect("a reply");
                assert_eq!(result(&message), (*id, *id as i32));
                assert_eq!(message.dialect.minor, dialect.minor);
            }
        }
        assert_eq!(server.hooks.values_at_gate(), [1, 2, 3, 4]);
        peers.iter_mut().for_each(|peer| works(peer, &server.key()));
        let queue = server.seen(0).queue;
        assert_eq!((queue.requests, queue.octets), (0, 0));
        assert_eq!((queue.accepted, queue.refused), (6, 3));
    }
}

#[test]
fn octets_are_limited_as_well() {
    let server = Server::with_pool(|pool| {
        pool.request_buffering(QueueLimits {
            requests: 100,
            octets: 1000,
        })
    });
    let mut peer = Peer::connect(server.port());
    peer.send(&at_gate(COMMON, &server, 1));
    server.hooks.await_at_gate(1);
    // A sequence of so many octets that the message has this size.
    let sized = |id: u32, size: usize| {
        let message = |count: usize| {
            COMMON.request(id, &server.key(), "reverse", |body| {
                (0..count).fold(body.u32(count as u32), |body, value| body.i32(value as i32))
            })
        };
        let around = message(0).len();
        let message = message((size - around) / 4);
        assert_eq!(message.len(), size);
        message
    };
    let size = |wanted: usize| wanted - (wanted - sized_around(&server)) % 4;
    let (half, all) = (size(500), size(1000));
    peer.send(&sized(2, half));
    await_waiting(&server, 1);
    assert_eq!(server.seen(0).queue.octets, half);
    peer.send(&sized(3, half));
    await_waiting(&server, 2);
    // Only a few octets are left: even the smallest message no longer fits.
    peer.send(&sized(4, size(200)));
    assert_answered(&mut peer, 4, 2, &FULL);
    // One that never will is refused for good.
    peer.send(&sized(5, all + 4));
    let never = Answer::Exception(Kind::ImpLimit, Minor::REQUEST_LARGER_THAN_QUEUE, Completion::No);
    assert_answered(&mut peer, 5, 2, &never);
    server.hooks.open_gate();
    for id in 1..4 {
        assert_eq!(peer.receive().expect("a reply").reply().id, id);
    }
    peer.send(&sized(6, all));
    let message = peer.receive().expect("a reply");
    assert_eq!((message.reply().id, message.reply().status), (6, 0));
    let queue = server.seen(0).queue;
    assert_eq!((queue.octets, queue.accepted, queue.refused), (0, 4, 2));
}

/// Octets of a request `reverse` of nothing.
fn sized_around(server: &Server) -> usize {
    COMMON
        .request(1, &server.key(), "reverse", |body| body.u32(0))
        .len()
}

#[test]
fn a_request_that_waits_can_be_taken_back() {
    for dialect in DIALECTS {
        let server = with_queue_of_three();
        let cancel = |id: u32| dialect.message(CANCEL_REQUEST, |body| body.u32(id));
        let mut peer = Peer::connect(server.port());
        let mut other = Peer::connect(server.port());
        peer.send(&at_gate(dialect, &server, 1));
        server.hooks.await_at_gate(1);
        for (id, waiting) in [(2, 1), (3, 2), (4, 3)] {
            peer.send(&at_gate(dialect, &server, id));
            await_waiting(&server, waiting);
        }
        // Of another connection, under way already, and never heard of.
        other.send(&cancel(3));
        peer.send(&[cancel(1), cancel(99), cancel(3)].concat());
        await_waiting(&server, 2);
        peer.send(&at_gate(dialect, &server, 5));
        await_waiting(&server, 3);
        assert_eq!(server.seen(0).queue.cancelled, 1);
        server.hooks.open_gate();
        for id in [1, 2, 4, 5] {
            assert_eq!(result(&peer.receive().expect("a reply")), (id, id as i32));
        }
        assert_eq!(server.hooks.values_at_gate(), [1, 2, 4, 5]);
        works(&mut peer, &server.key());
        works(&mut other, &server.key());
    }
}

#[test]
fn a_client_that_cancels_everything_and_leaves_is_forgotten() {
    let server = with_queue_of_three();
    let mut first = Peer::connect(server.port());
    first.send(&at_gate(COMMON, &server, 1));
    server.hooks.await_at_gate(1);
    let mut peer = Peer::connect(server.port());
    peer.send(&at_gate(COMMON, &server, 2));
    await_waiting(&server, 1);
    assert_eq!(server.seen(0).connections.open, 2);
    peer.send(&COMMON.message(CANCEL_REQUEST, |body| body.u32(2)));
    peer.finish();
    assert!(peer.is_closed());
    assert_eq!(server.seen(0).connections.open, 1);
}

#[test]
fn oneway_requests_are_refused_in_silence_and_locate_requests_never() {
    let server = with_queue_of_three();
    let mut peer = Peer::connect(server.port());
    for (id, waiting) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        peer.send(&at_gate(COMMON, &server, id));
        server.hooks.await_at_gate(1);
        await_waiting(&server, waiting);
    }
    peer.send(&COMMON.request_with(5, 0, &server.key(), "note", &[], |body| body.i32(5)));
    peer.send(&COMMON.locate_request(6, &server.key()));
    let message = peer.receive().expect("an answer");
    assert_eq!(message.message_type, LOCATE_REPLY);
    assert_eq!(server.seen(0).queue.refused, 1);
    server.hooks.open_gate();
    for id in 1..5 {
        assert_eq!(result(&peer.receive().expect("a reply")), (id, id as i32));
    }
    assert_eq!(server.hooks.noted(), 0, "refused");
}

#[test]
fn fragments_are_put_together_before_they_wait() {
    let server = with_queue_of_three();
    let mut peer = Peer::connect(server.port());
    for dialect in [Dialect::new(1, true), Dialect::new(1, false), COMMON] {
        // In GIOP 1.1 what follows a cut is aligned as if the message began there.
        let message = dialect.request(3, &server.key(), "greet", |body| body.string(b"Stefan"));
        let cut = message.len() - 12 - 16;
        for part in dialect.fragmented(&message, &[cut / 8 * 8]) {
            peer.send(&part);
        }
        let message = peer.receive().expect("a reply");
        assert_eq!((message.reply().id, message.reply().status), (3, 0));
        assert_eq!(message.reply().body.string(), b"Hello, Stefan");
    }
}

/// More than can be served: each request is either served, once, or refused.
#[test]
fn nothing_that_was_let_in_is_lost_under_overload() {
    const PEERS: u32 = 6;
    const REQUESTS: u32 = 400;
    let server = Server::with_pool(|pool| {
        pool.threads(3).request_buffering(QueueLimits {
            requests: 8,
            octets: 4096,
        })
    });
    // So that all of it runs at the gate, which counts, and no thread waits there.
    server.hooks.open_gate();
    let (mut served, mut refused) = (0, 0);
    thread::scope(|scope| {
        let peers: Vec<_> = (0..PEERS)
            .map(|peer| {
                let server = &server;
                scope.spawn(move || talk(server, peer * REQUESTS, REQUESTS))
            })
            .collect();
        for peer in peers {
            let (by_peer, refused_to_peer) = peer.join().expect("no panic");
            served += by_peer;
            refused += refused_to_peer;
        }
    });
    assert_eq!(served + refused, PEERS * REQUESTS);
    let seen = server.seen(0);
    assert_eq!(seen.requests, u64::from(PEERS * REQUESTS));
    assert_eq!(
        (seen.queue.accepted, seen.queue.refused),
        (served.into(), refused.into())
    );
    assert_eq!((seen.queue.requests, seen.queue.octets), (0, 0));
    assert!(seen.queue.most_requests <= 8);
    let mut started = server.hooks.values_at_gate();
    started.sort_unstable();
    started.dedup();
    assert_eq!(started.len(), served as usize, "each once");
}

/// Sends requests in bunches, and counts those that are served and refused.
fn talk(server: &Server, first: u32, requests: u32) -> (u32, u32) {
    const AT_ONCE: u32 = 40;
    let mut peer = Peer::connect(server.port());
    let (mut served, mut refused) = (0, 0);
    for bunch in (first..first + requests).step_by(AT_ONCE as usize) {
        let ids = bunch..bunch + AT_ONCE;
        let messages: Vec<_> = ids.clone().flat_map(|id| at_gate(COMMON, server, id)).collect();
        peer.send(&messages);
        let mut answered: Vec<u32> = ids
            .clone()
            .map(|_| {
                let message = peer.receive().expect("an answer");
                let id = message.reply().id;
                if message.reply().status == 0 {
                    assert_eq!(result(&message).1, id as i32);
                    served += 1;
                } else {
                    let kind = Kind::Transient.repository_id().to_owned();
                    assert_eq!(
                        exception(&message, id),
                        (kind, Minor::REQUEST_QUEUE_FULL, Completion::No)
                    );
                    refused += 1;
                }
                id
            })
            .collect();
        answered.sort_unstable();
        assert_eq!(answered, ids.collect::<Vec<_>>());
    }
    (served, refused)
}

#[test]
fn what_waits_at_the_end_was_not_handled_and_its_client_is_told() {
    let server = with_queue_of_three();
    let mut peer = Peer::connect(server.port());
    peer.send(&at_gate(COMMON, &server, 1));
    server.hooks.await_at_gate(1);
    for (id, waiting) in [(2, 1), (3, 2)] {
        peer.send(&at_gate(COMMON, &server, id));
        await_waiting(&server, waiting);
    }
    server.orb.shutdown();
    server.hooks.open_gate();
    assert_eq!(result(&peer.receive().expect("a reply")), (1, 1));
    let message = peer.receive().expect("CloseConnection");
    assert_eq!(message.message_type, CLOSE_CONNECTION);
    assert!(peer.is_closed());
    server.orb.shutdown_and_wait().expect("not in an upcall");
    assert_eq!(server.hooks.values_at_gate(), [1]);
    assert_eq!(server.seen(0).queue.requests, 0);
}

#[test]
fn a_peer_that_does_not_read_costs_its_connection() {
    let setup = Setup {
        limits: Limits::default().max_message_size(1 << 20),
        pool: |pool| pool.request_buffering(QueueLimits::default()),
        ..Setup::default()
    };
    let server = setup.start();
    let mut first = Peer::connect(server.port());
    first.send(&at_gate(COMMON, &server, 1));
    server.hooks.await_at_gate(1);
    let mut peer = Peer::connect(server.port());
    for id in 0..100 {
        peer.send(&COMMON.request(id, &server.key(), "filled", |body| body.u32(1_000_000)));
    }
    await_waiting(&server, 100);
    server.hooks.open_gate();
    assert_eq!(result(&first.receive().expect("a reply")), (1, 1));
    eventually("it is closed", || server.seen(0).connections.open == 1);
    works(&mut first, &server.key());
    assert_eq!(server.seen(0).queue.requests, 0);
}

#[test]
fn clients_notice_nothing_but_the_refusal() {
    let server = with_queue_of_three();
    let client = client();
    let probe = server.reference_for(&client);
    assert_eq!(probe.twice(21), Ok(42));
    assert_eq!(probe.greet("you").as_deref(), Ok("Hello, you"));
    let mut peer = Peer::connect(server.port());
    for (id, waiting) in [(1, 0), (2, 1), (3, 2), (4, 3)] {
        peer.send(&at_gate(COMMON, &server, id));
        server.hooks.await_at_gate(1);
        await_waiting(&server, waiting);
    }
    let refused = probe.twice(21).expect_err("it is full");
    assert_eq!(
        (refused.kind, refused.minor, refused.completed),
        (Kind::Transient, Minor::REQUEST_QUEUE_FULL, Completion::No)
    );
    server.hooks.open_gate();
    eventually("all are served", || server.seen(0).queue.requests == 0);
    assert_eq!(probe.twice(21), Ok(42));
}

/// On one CPU the reading thread and the serving one, of one priority, take turns: neither a flood of
/// requests nor one of refusals keeps what was let in from being served.
#[test]
fn a_flood_does_not_starve_the_thread_that_serves() {
    const REQUESTS: u32 = 4000;
    let setup = Setup {
        pool: |pool| {
            pool.affinity(CpuSet::single(0))
                .default_priority(Priority::MAX)
                .request_buffering(QueueLimits {
                    requests: 4,
                    octets: 4096,
                })
        },
        class: SchedulingClass::Fifo,
        ..Setup::default()
    };
    let server = setup.start();
    if !realtime_or_skip() {
        return;
    }
    server.hooks.open_gate();
    let (served, refused) = thread::scope(|scope| {
        let peers: Vec<_> = (0..3)
            .map(|peer| {
                let server = &server;
                scope.spawn(move || talk(server, peer * REQUESTS, REQUESTS))
            })
            .collect();
        let sum = |(served, refused), peer: thread::ScopedJoinHandle<'_, (u32, u32)>| {
            let (by_peer, refused_to_peer) = peer.join().expect("no panic");
            (served + by_peer, refused + refused_to_peer)
        };
        peers.into_iter().fold((0, 0), sum)
    });
    assert_eq!(served + refused, 3 * REQUESTS);
    // Each turn serves what the queue holds, and a turn reads a bunch at most.
    assert!(served >= 3 * REQUESTS / 40, "{served} of {}", 3 * REQUESTS);
    let queue = server.seen(0).queue;
    assert_eq!((queue.accepted, queue.refused), (served.into(), refused.into()));
}

#[test]
fn dynamic_threads_come_before_requests_wait() {
    let server = Server::with_pool(|pool| {
        pool.threads(1).dynamic_threads(2).request_buffering(QueueLimits {
            requests: 2,
            octets: 1 << 16,
        })
    });
    let mut peer = Peer::connect(server.port());
    for id in 1..4 {
        peer.send(&at_gate(COMMON, &server, id));
        server.hooks.await_at_gate(id as usize);
        assert_eq!(server.seen(0).threads.busy, id as usize);
    }
    for (id, waiting) in [(4, 1), (5, 2)] {
        peer.send(&at_gate(COMMON, &server, id));
        await_waiting(&server, waiting);
    }
    peer.send(&at_gate(COMMON, &server, 6));
    assert_answered(&mut peer, 6, 2, &FULL);
    let seen = server.seen(0);
    assert_eq!(
        (seen.threads.present, seen.threads.dynamic),
        (4, 2),
        "one of them reads"
    );
    server.hooks.open_gate();
    let mut answered: Vec<_> = (1..6)
        .map(|_| result(&peer.receive().expect("a reply")).0)
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, [1, 2, 3, 4, 5]);
    eventually("all are back", || server.seen(0).threads.busy == 0);
}

#[test]
fn what_does_not_go_together_is_refused_by_name() {
    let orb = client();
    let limits = QueueLimits::default();
    let pool = || orb.threadpool().request_buffering(limits);
    match pool().wait(LaneWait::Blocking).build() {
        Err(OrbError::ThreadPool(rule)) => {
            let named = ["Blocking", "request_buffering"].map(|name| rule.contains(name));
            assert_eq!(named, [true; 2], "{rule}");
        }
        _ => panic!("a thread that blocks in `read` cannot wait for a queue"),
    }
    for limits in [
        QueueLimits {
            requests: 0,
            ..limits
        },
        QueueLimits { octets: 0, ..limits },
    ] {
        let refused = orb.threadpool().request_buffering(limits).build();
        assert!(matches!(refused, Err(OrbError::QueueWithoutRoom)));
        let refused = orb.root_poa().child("redispatching").redispatch(limits).build();
        assert!(matches!(refused, Err(OrbError::QueueWithoutRoom)));
    }
}
