//! Long messages in fragments (`Limits::fragment_size`), between which others pass: counted in octets, at a
//! stream that takes as many as the test says.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use punctual::{
    Limits,
    transport::{Layer, Layered, Side, Stream, Tcp, WrappedStream},
};
use punctual_fixtures::{
    eventually,
    peer::{Listener, Peer},
    real_time::ordinary,
    recorder::resolve,
    server::{Server, Setup, reference},
    wire::{COMMON, FRAGMENT, HEADER, REPLY, REQUEST},
};

use super::{Client, shared};

const FRAGMENT_SIZE: usize = 4096;

/// Long enough for 256 fragments.
const LONG: usize = 1 << 20;

fn in_fragments() -> Limits {
    Limits::default().fragment_size(Some(FRAGMENT_SIZE))
}

/// A layer whose streams take so many octets in all, and no more until they are allowed to.
#[derive(Clone, Default)]
struct Valve {
    left: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Valve {
    fn allowing(octets: usize) -> Self {
        let valve = Self::default();
        valve.open(octets);
        valve
    }

    fn open(&self, octets: usize) {
        self.left.store(octets, Ordering::SeqCst);
    }

    /// Waits until a writer has given up: it tries twice.
    fn await_refusal(&self) {
        eventually("the stream is full", || self.refused.load(Ordering::SeqCst) >= 2);
    }
}

impl Layer for Valve {
    fn wrap(&self, stream: Box<dyn Stream>, _: Side) -> io::Result<Box<dyn Stream>> {
        let valve = self.clone();
        Ok(Box::new(Valved { valve, stream }))
    }
}

struct Valved {
    valve: Valve,
    stream: Box<dyn Stream>,
}

impl WrappedStream for Valved {
    fn inner(&self) -> &dyn Stream {
        &*self.stream
    }

    fn write(&self, octets: &[u8]) -> io::Result<usize> {
        let left = self.valve.left.load(Ordering::SeqCst);
        if left == 0 {
            self.valve.refused.fetch_add(1, Ordering::SeqCst);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = self.inner().write(&octets[..octets.len().min(left)])?;
        self.valve.left.fetch_sub(count, Ordering::SeqCst);
        Ok(count)
    }

    fn wait_writable(&self, timeout: Duration) -> io::Result<bool> {
        thread::sleep(timeout.min(Duration::from_millis(1)));
        Ok(true)
    }
}

/// Part of a message as it was on the wire.
struct Part {
    message_type: u8,
    id: u32,
    size: usize,
}

fn part(peer: &mut Peer) -> Part {
    let header = peer.receive_octets(HEADER);
    let long = |octets: &[u8]| u32::from_le_bytes(octets[..4].try_into().unwrap());
    let rest = peer.receive_octets(long(&header[8..]) as usize);
    Part {
        message_type: header[7],
        id: long(&rest),
        size: HEADER + rest.len(),
    }
}

/// Octets that precede the message with this id, and what they are parts of; it comes in one part.
fn octets_before(peer: &mut Peer, id: u32, whole: u8) -> usize {
    let mut before = 0;
    loop {
        let part = part(peer);
        if part.id == id {
            assert_eq!(part.message_type, whole);
            return before;
        }
        let number = before / FRAGMENT_SIZE;
        assert_eq!(part.message_type, if number == 0 { whole } else { FRAGMENT });
        before += part.size;
    }
}

fn valved_server(limits: Limits, valve: &Valve) -> Server {
    let orb = ordinary()
        .transport(Layered::new(Tcp, valve.clone()))
        .listen("iiop://127.0.0.1:0")
        .limits(limits)
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    Server::with_poa(orb, pool, poa)
}

const TAKEN: usize = 10_000;

/// The peer has taken 10,000 octets of a reply, and no more, when a short reply is to be sent.
#[test]
fn a_short_reply_waits_for_one_fragment_of_a_long_one() {
    let valve = Valve::allowing(TAKEN);
    let server = valved_server(in_fragments(), &valve);
    let (mut peer, key) = (Peer::connect(server.port()), server.key());
    peer.send(&COMMON.request(1, &key, "filled", |body| body.u32(LONG as u32)));
    valve.await_refusal();
    peer.send(&COMMON.request(2, &key, "twice", |body| body.i32(21)));
    let note = |id, value| COMMON.request_with(id, 0, &key, "note", &[], |body| body.i32(value));
    peer.send(&note(3, 7));
    // The only thread has served the short request before.
    eventually("the requests are served", || server.hooks.noted() == 7);
    valve.open(usize::MAX);
    // The lane sees at the next request that there is room.
    peer.send(&note(4, 8));
    let before = octets_before(&mut peer, 2, REPLY);
    assert_eq!(
        before,
        TAKEN.next_multiple_of(FRAGMENT_SIZE),
        "one fragment at most"
    );
    while part(&mut peer).size == FRAGMENT_SIZE {}
}

/// The control: without fragments, it waits for all of it.
#[test]
fn without_fragments_it_waits_for_the_whole_reply() {
    let valve = Valve::allowing(TAKEN);
    let server = valved_server(Limits::default(), &valve);
    let (mut peer, key) = (Peer::connect(server.port()), server.key());
    peer.send(&COMMON.request(1, &key, "filled", |body| body.u32(LONG as u32)));
    valve.await_refusal();
    peer.send(&COMMON.request(2, &key, "twice", |body| body.i32(21)));
    valve.open(usize::MAX);
    peer.send(&COMMON.request_with(3, 0, &key, "note", &[], |body| body.i32(7)));
    assert!(octets_before(&mut peer, 2, REPLY) > LONG);
}

/// The server takes 10,000 octets of a request, and no more, when a short one is to be sent.
#[test]
fn a_short_request_waits_for_one_fragment_of_a_long_one() {
    let valve = Valve::allowing(TAKEN);
    let orb = ordinary()
        .transport(Layered::new(Tcp, valve.clone()))
        .limits(in_fragments())
        .build()
        .unwrap();
    let pool = orb.threadpool().build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    orb.add_policies(shared().roundtrip_timeout(Duration::from_secs(60)));
    let listener = Listener::open();
    let probe = &resolve(&orb, &reference([1, 2], listener.port, b"played", &[]));
    thread::scope(|scope| {
        let values: Vec<i32> = vec![5; LONG / 4];
        let long = scope.spawn(move || probe.reverse(&values));
        valve.await_refusal();
        probe.note(3).unwrap();
        let mut peer = listener.accept();
        valve.open(usize::MAX);
        // The lane sees at the next message that there is room; a client discards this one.
        peer.send(&COMMON.message(punctual_fixtures::wire::CANCEL_REQUEST, |body| body.u32(0)));
        let first = part(&mut peer);
        assert_eq!((first.message_type, first.size), (REQUEST, FRAGMENT_SIZE));
        let (mut before, mut interleaved) = (first.size, None);
        let last = loop {
            let part = part(&mut peer);
            match part.message_type {
                REQUEST => interleaved = Some(before),
                message_type => assert_eq!((message_type, part.id), (FRAGMENT, first.id)),
            }
            before += part.size;
            if part.message_type == FRAGMENT && part.size < FRAGMENT_SIZE {
                break part;
            }
        };
        assert_eq!(interleaved, Some(TAKEN.next_multiple_of(FRAGMENT_SIZE)));
        peer.send(&COMMON.reply(last.id, 0, |body| body.u32(0)));
        assert!(long.join().unwrap().unwrap().is_empty());
    });
    orb.shutdown_and_wait().unwrap();
}

/// More long calls than may be divided at a time, and short ones, in both directions.
#[test]
fn long_and_short_calls_share_a_connection() {
    let server = Setup {
        limits: in_fragments(),
        pool: |pool| pool.threads(8),
        ..Setup::default()
    }
    .start();
    let client = Client::with(in_fragments(), |pool| pool.threads(2));
    let probe = &server.reference_for(&client.orb);
    thread::scope(|scope| {
        for caller in 0..8 {
            scope.spawn(move || {
                for round in 0..10 {
                    let values: Vec<i32> = (0..50_000 + 999 * caller).map(|value| value ^ round).collect();
                    let mut reversed = probe.reverse(&values).unwrap();
                    reversed.reverse();
                    assert_eq!(reversed, values);
                }
            });
            scope.spawn(move || {
                for value in 0..200 {
                    assert_eq!(probe.twice(value), Ok(2 * value));
                }
            });
        }
    });
    assert_eq!(server.seen(0).connections.open, 1);
}
