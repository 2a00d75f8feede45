//! Servers that end without CloseConnection, as killed ones do: what they cannot have executed is sent again,
//! and nothing else.

use std::{sync::mpsc, thread};

use punctual::{Completion, Interface as _, Minor, Orb, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{Listener, Peer},
    server::{client, reference},
    wire::{LOCATE_REPLY, LOCATE_REQUEST},
};

const KEY: &[u8] = b"restarted";
const RESTARTS: usize = 9;

/// A client, whose references end with it, and its reference to the server.
fn client_of(listener: &Listener) -> (Orb, ProbeRef) {
    let ior = reference([1, 2], listener.port, KEY, &[]);
    let client = client();
    let probe = client.resolve(&punctual::ior_to_string(&ior)).unwrap();
    (client, probe)
}

/// Executes one call of `twice`.
fn serve_one(peer: &mut Peer) {
    let message = peer.receive().expect("a request");
    peer.send(
        &message
            .dialect
            .reply(message.request().id, 0, |body| body.i32(42)),
    );
}

#[test]
fn the_first_call_after_a_restart_succeeds() {
    let listener = Listener::open();
    let (_client, probe) = client_of(&listener);
    let (ended, wait_for_end) = mpsc::channel();
    thread::scope(|scope| {
        // Each incarnation executes one request: a repeated one would take the place of the next call's.
        scope.spawn(move || {
            for _ in 0..=RESTARTS {
                let mut peer = listener.accept();
                serve_one(&mut peer);
                drop(peer);
                ended.send(()).unwrap();
            }
        });
        for call in 0..=RESTARTS {
            assert_eq!(probe.twice(21), Ok(42), "call {call}");
            wait_for_end.recv().unwrap();
        }
    });
}

#[test]
fn a_request_that_the_server_has_received_is_sent_once() {
    let lost = SystemException::new(Kind::CommFailure, Minor::CONNECTION_LOST, Completion::Maybe);
    let ways_to_end: [fn(&mut Peer); 3] = [
        // It may have executed the request.
        |peer| drop(peer.receive().expect("a request")),
        // It has ended its own direction only, and received the request after that.
        |peer| {
            peer.finish();
            drop(peer.receive().expect("a request"));
            assert!(peer.receive().is_none(), "the client closes");
        },
        // Its system resets the connection: the first octets were read.
        |peer| drop(peer.receive_octets(20)),
    ];
    for (number, end) in ways_to_end.into_iter().enumerate() {
        let listener = Listener::open();
        let (_client, probe) = client_of(&listener);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut peer = listener.accept();
                serve_one(&mut peer);
                end(&mut peer);
                drop(peer);
                serve_one(&mut listener.accept());
            });
            assert_eq!(probe.twice(21), Ok(42));
            assert_eq!(probe.twice(21), Err(lost), "end {number}");
            // The next accepted connection has the next call: nothing came between.
            assert_eq!(probe.twice(21), Ok(42));
        });
    }
}

#[test]
fn a_question_for_the_place_of_an_object_is_asked_again() {
    let listener = Listener::open();
    let (_client, probe) = client_of(&listener);
    thread::scope(|scope| {
        scope.spawn(move || {
            let question = listener.accept().receive().expect("a question");
            assert_eq!(question.message_type, LOCATE_REQUEST);
            let mut peer = listener.accept();
            let message = peer.receive().expect("the same question");
            let id = message.reader().u32();
            peer.send(
                &message
                    .dialect
                    .message(LOCATE_REPLY, |reply| reply.u32(id).u32(1)),
            );
        });
        assert_eq!(probe.as_object().validate_connection(), Ok(()));
    });
}
