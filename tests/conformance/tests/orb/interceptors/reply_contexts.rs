//! Service contexts that interceptors add to replies, as they look on the wire: bodies stay aligned and
//! whole.

use punctual::{Interface as _, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    peer::Peer,
    recorder::resolve,
    server::reference,
    wire::{DIALECTS, Message, Octets},
};

use super::{
    contexts::{Courier, FIRST, SECOND},
    orb, server,
};

/// `PUNC`, an unassigned context: before GIOP 1.2 it keeps the body where its alignment is.
const FILLER: u32 = 0x5055_4e43;

/// Calls by hand, in every dialect, with contexts of every length modulo 8.
fn assert_each(operation: &str, arguments: fn(Octets) -> Octets, check: fn(&Message)) {
    let courier = Courier::default();
    let server = server(&courier);
    for dialect in DIALECTS {
        let mut peer = Peer::connect(server.port());
        for length in 0..17_usize {
            for list in [
                vec![],
                vec![(FIRST, vec![7; length])],
                vec![(FIRST, vec![7; length]), (SECOND, vec![8; 3])],
            ] {
                let courier = courier.clone().reply(list.clone());
                peer.send(&dialect.request(9, &server.key(), operation, arguments));
                let message = peer.receive().expect("a reply");
                let reply = message.reply();
                let mut contexts = reply.contexts.clone();
                if dialect.minor < 2 {
                    contexts.retain(|(id, _)| *id != FILLER);
                }
                assert_eq!((reply.id, contexts), (9, list), "{dialect:?} {length}");
                check(&message);
                drop(courier);
            }
        }
    }
}

#[test]
fn with_a_number_of_eight_octets() {
    assert_each(
        "allocations",
        |body| body,
        |message| {
            let mut reply = message.reply();
            reply.body.align(8);
            let mut words = [reply.body.u32(), reply.body.u32()];
            if !message.dialect.little {
                words.reverse();
            }
            assert!(words[0] > 0 && words[1] == 0, "{words:?}");
            assert!(reply.body.rest().is_empty());
        },
    );
}

#[test]
fn with_a_string() {
    assert_each(
        "greet",
        |body| body.string(b"you"),
        |message| {
            let mut reply = message.reply();
            assert_eq!((reply.status, reply.body.string()), (0, &b"Hello, you"[..]));
        },
    );
}

#[test]
fn with_nothing() {
    assert_each(
        "churn",
        |body| body.i32(0),
        |message| {
            let reply = message.reply();
            assert_eq!(
                (reply.status, reply.body.rest().len()),
                (0, 0),
                "an empty body has no padding"
            );
        },
    );
}

#[test]
fn with_a_user_exception() {
    assert_each(
        "greet",
        |body| body.string(b""),
        |message| {
            let mut reply = message.reply();
            assert_eq!(reply.status, 1);
            assert_eq!(reply.body.string(), b"IDL:conformance/Refused:1.0");
            assert_eq!(reply.body.string(), b"no name");
        },
    );
}

#[test]
fn with_a_system_exception() {
    assert_each(
        "dance",
        |body| body,
        |message| {
            let mut reply = message.reply();
            assert_eq!(reply.status, 2);
            assert_eq!(reply.body.string(), Kind::BadOperation.repository_id().as_bytes());
        },
    );
}

/// A oneway call whose client wants to know that it has arrived, and one that wants nothing.
#[test]
fn of_oneway_calls() {
    // The reply is sent before the servant is called: what is added behind it does not travel.
    let courier = Courier::default().reply(vec![(SECOND, b"late".to_vec())]);
    *courier.early.lock().unwrap() = vec![(FIRST, b"seen".to_vec())];
    let server = server(&courier);
    let mut peer = Peer::connect(server.port());
    for dialect in [DIALECTS[4], DIALECTS[5]] {
        for (response, value) in [(0, 3), (1, 4)] {
            let key = server.key();
            peer.send(
                &dialect.request_with(response.into(), response, &key, "note", &[], |body| {
                    body.i32(value)
                }),
            );
        }
        let message = peer.receive().expect("a reply to the second one");
        let reply = message.reply();
        assert_eq!((reply.id, reply.status, reply.body.rest().len()), (1, 0, 0));
        assert_eq!(reply.contexts, [(FIRST, b"seen".to_vec())]);
    }
    eventually("all are executed", || server.hooks.journal() == [3, 4, 3, 4]);
}

/// A reply that would be larger than any message is an exception, without contexts.
#[test]
fn that_make_a_reply_too_large() {
    let courier = Courier::default();
    let limits = punctual::Limits::default().max_message_size(4096);
    let orb = orb().limits(limits).initializer(&courier).build().unwrap();
    let pool = orb.threadpool().build().unwrap();
    let poa = orb.root_poa().child("probes").threadpool(&pool).build().unwrap();
    let server = punctual_fixtures::server::Server::with_poa(orb, pool, poa);
    let client = punctual_fixtures::server::client();
    let probe: ProbeRef = server.reference_for(&client);
    let filled = |length| probe.filled(length).map(|octets| octets.len());
    for length in [0, 3000, 4000] {
        assert_eq!(filled(length), Ok(length as usize));
    }
    *courier.to_replies.lock().unwrap() = vec![(FIRST, vec![7; 500])];
    assert_eq!(filled(3000), Ok(3000));
    let error = filled(4000).unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::ImpLimit, punctual::Completion::Yes)
    );
    // What has not been called has not been completed.
    *courier.to_replies.lock().unwrap() = vec![(FIRST, vec![7; 5000])];
    let port = server.port();
    let unknown: ProbeRef = resolve(&client, &reference([1, 2], port, b"unknown", &[]));
    let error = unknown.filled(1).unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::ImpLimit, punctual::Completion::No)
    );
    *courier.to_replies.lock().unwrap() = vec![(FIRST, vec![7; 500])];
    assert_eq!(filled(3000), Ok(3000), "the connection is good");
    assert!(probe.as_object().is_a("IDL:conformance/Probe:1.0").unwrap());
}
