//! Replies that send a request elsewhere, or again: the arguments are still there, and the thread that waits
//! or polls sends them.

use std::thread;

use punctual::{Completion, Limits, Minor, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    conformance::probe::GreetError,
    peer::{Listener, Peer},
    server::reference,
    wire::{CLOSE_CONNECTION, COMMON, MESSAGE_ERROR, Message},
};

use super::{Client, answer, block_on, comm_failure, requests};

const LOCATION_FORWARD: u32 = 3;
const NEEDS_ADDRESSING_MODE: u32 = 5;

fn next(peer: &mut Peer) -> Message {
    peer.receive().expect("a request")
}

/// The reply that says that the object has this key there, and is spoken to in this version.
fn forward(request: &Message, to: &Listener, version: [u8; 2], key: &[u8]) -> Vec<u8> {
    let ior = reference(version, to.port, key, &[]);
    let (id, profile) = (request.request().id, &ior.profiles[0]);
    request.dialect.reply(id, LOCATION_FORWARD, |body| {
        let body = body.string(ior.type_id.as_bytes()).u32(1);
        body.u32(profile.tag).sequence(&profile.data)
    })
}

/// Checks that a request asks for `greet("Zoe")`, and answers it.
fn greet(peer: &mut Peer, key: &[u8]) {
    let message = next(peer);
    let request = message.request();
    assert_eq!((request.key, request.operation), (key, &b"greet"[..]));
    assert_eq!(request.body.clone().string(), b"Zoe");
    peer.send(
        &message
            .dialect
            .reply(request.id, 0, |body| body.string(b"Hello, Zoe")),
    );
}

#[test]
fn forwards_are_followed() {
    const KEY: &[u8] = b"a key of another length";
    let client = Client::start();
    for wait in [true, false] {
        let ((first, probe), second) = (client.playing(), Listener::open());
        let call = probe.greet_async("Zoe");
        let mut peer = first.accept();
        let request = next(&mut peer);
        peer.send(&forward(&request, &second, [1, 2], KEY));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut peer = second.accept();
                greet(&mut peer, KEY);
                // The next call goes there at once.
                greet(&mut peer, KEY);
            });
            let result = if wait { call.wait() } else { block_on(call) };
            assert_eq!(result.unwrap(), "Hello, Zoe");
            assert_eq!(block_on(probe.greet_async("Zoe")).unwrap(), "Hello, Zoe");
        });
    }
}

#[test]
fn forwards_have_an_end() {
    let client = Client::with(Limits::default().max_forwards(3));
    let (listener, probe) = client.playing();
    let call = probe.twice_async(1);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept();
            for _ in 0..4 {
                let request = next(&mut peer);
                peer.send(&forward(&request, &listener, [1, 2], b"played"));
            }
        });
        let minor = Minor::TOO_MANY_FORWARDS;
        let endless = SystemException::new(Kind::Transient, minor, Completion::No);
        assert_eq!(call.wait(), Err(endless));
    });
}

/// They were written for one place: where they cannot stand as they are, nothing wrong is sent, and the next
/// call goes there.
#[test]
fn arguments_are_not_sent_where_they_would_look_different() {
    let client = Client::start();
    let ((first, probe), second) = (client.playing(), Listener::open());
    // In GIOP 1.0 they stand where the header ends: not at a multiple of 8 with a key of this length.
    const KEY: &[u8] = b"eight888";
    let forward_to_old = |call: &str, peer: &mut Peer| {
        let request = next(peer);
        assert_eq!(request.request().operation, call.as_bytes());
        peer.send(&forward(&request, &second, [1, 0], KEY));
    };
    let call = probe.greet_async("Zoe");
    let mut peer = first.accept();
    forward_to_old("greet", &mut peer);
    let minor = Minor::MOVED_WHILE_ASYNCHRONOUS;
    let moved = SystemException::new(Kind::Transient, minor, Completion::No);
    let Err(GreetError::System(error)) = block_on(call) else {
        panic!("it cannot be sent")
    };
    assert_eq!(error, moved);
    let again = probe.greet_async("Zoe");
    let mut old = second.accept();
    greet(&mut old, KEY);
    assert_eq!(again.wait().unwrap(), "Hello, Zoe");

    // No arguments look the same everywhere.
    let same: ProbeRef = client.orb.resolve(&probe.to_ior()).unwrap();
    let call = same.noted_async();
    forward_to_old("noted", &mut peer);
    thread::scope(|scope| {
        scope.spawn(|| {
            let request = next(&mut old);
            let id = request.request().id;
            old.send(&request.dialect.reply(id, 0, |body| body.i32(99)));
        });
        assert_eq!(call.wait(), Ok(99));
    });
}

#[test]
fn the_object_is_named_as_its_server_wants() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let call = probe.twice_async(7);
    let mut peer = listener.accept();
    let request = next(&mut peer);
    let id = request.request().id;
    peer.send(
        &request
            .dialect
            .reply(id, NEEDS_ADDRESSING_MODE, |body| body.u16(1)),
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            let request = next(&mut peer);
            let mut reader = request.reader();
            let id = reader.u32();
            reader.raw(4);
            assert_eq!((reader.u16(), reader.u32()), (1, 0), "by an IIOP profile");
            assert_eq!(reader.sequence(), probe.ior().profiles[0].data);
            assert_eq!((reader.string(), reader.contexts()), (&b"twice"[..], vec![]));
            reader.align(8);
            assert_eq!(reader.i32(), 7);
            peer.send(&request.dialect.reply(id, 0, |body| body.i32(14)));
        });
        assert_eq!(block_on(call), Ok(14));
    });
}

#[test]
fn an_orderly_close_means_another_connection() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let calls = [7, 8].map(|value| probe.twice_async(value));
    let mut peer = listener.accept();
    requests(&mut peer, 2);
    peer.send(&COMMON.message(CLOSE_CONNECTION, |message| message));
    drop(peer);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = listener.accept();
            for _ in 0..2 {
                let request = next(&mut peer);
                peer.send(&answer(&request));
            }
        });
        let [one, other] = calls;
        assert_eq!((block_on(one), other.wait()), (Ok(14), Ok(16)));
    });
}

#[test]
fn a_message_error_is_told() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let call = probe.twice_async(7);
    let mut peer = listener.accept();
    next(&mut peer);
    peer.send(&COMMON.message(MESSAGE_ERROR, |message| message));
    assert_eq!(block_on(call), Err(comm_failure(Minor::PEER_REJECTED_MESSAGE)));
}
