//! Messages with a million service contexts: each look at one of them passes over all before it.

use std::thread;

use punctual::{Minor, SystemExceptionKind, ior_to_string};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::{Listener, Peer},
    server::{self, Server, client},
    wire::{COMMON, DIALECTS, Dialect, MESSAGE_ERROR, REPLY},
};

/// As many as a message may have.
const MOST: usize = 64;
const MANY: usize = 1_000_000;

fn contexts(count: usize) -> Vec<(u32, Vec<u8>)> {
    vec![(0x5241_0000, Vec::new()); count]
}

fn request(dialect: Dialect, key: &[u8], count: usize) -> Vec<u8> {
    dialect.request_with(1, 3, key, "twice", &contexts(count), |body| body.i32(21))
}

#[test]
fn a_request_with_many_contexts_costs_its_connection() {
    let server = Server::start();
    for dialect in DIALECTS.into_iter().filter(|dialect| dialect.minor > 0) {
        for count in [MOST + 1, MANY] {
            let mut peer = Peer::connect(server.port());
            // The first request of a connection is looked at for code sets, the others are not.
            for _ in 0..2 {
                peer.send(&request(dialect, &server.key(), MOST));
                assert_eq!(peer.receive().expect("a reply").reply().body.clone().i32(), 42);
            }
            peer.send(&request(dialect, &server.key(), count));
            let answer = peer.receive().expect("an answer");
            assert_eq!(answer.message_type, MESSAGE_ERROR, "{dialect:?}, {count}");
            assert!(peer.receive().is_none(), "the connection is closed");
        }
    }
}

#[test]
fn a_reply_with_many_contexts_is_an_exception_for_its_caller() {
    let listener = Listener::open();
    let reference = server::reference([1, 2], listener.port, b"probe", &[]);
    let replies = thread::spawn(move || {
        let answer = |peer: &mut Peer, count| {
            let id = peer.receive().expect("a request").request().id;
            peer.send(&COMMON.message(REPLY, |message| {
                let header = message.u32(id).u32(0).contexts(&contexts(count));
                header.body(|body| body.i32(42))
            }));
        };
        for count in [MOST + 1, MANY] {
            let mut peer = listener.accept();
            answer(&mut peer, MOST);
            answer(&mut peer, count);
            assert!(
                peer.receive()
                    .is_none_or(|message| message.message_type == MESSAGE_ERROR)
            );
        }
    });
    let client = client();
    let probe: ProbeRef = client.resolve(&ior_to_string(&reference)).unwrap();
    for _ in 0..2 {
        assert_eq!(probe.twice(21).unwrap(), 42);
        let refused = probe.twice(21).unwrap_err();
        assert_eq!(
            (refused.kind, refused.minor),
            (SystemExceptionKind::CommFailure, Minor::REPLY_MALFORMED)
        );
    }
    replies.join().unwrap();
}
