//! Invalid messages of a server cost at most their shared connection, and its callers get an exception.

use std::thread;

use punctual::{Completion, Limits, Minor, Orb, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    eventually,
    wire::{CANCEL_REQUEST, COMMON, FRAGMENT, LOCATE_REPLY, Message},
};

use super::{Client, all_answered, all_failed, answer, call_all, doubled, lost, requests};

/// Octets instead of the two replies that are due, and the exception of the calls.
type Row = (&'static str, Failure, fn(&[Message]) -> Vec<u8>);

type Failure = (Kind, Minor);

const LOST: Failure = (Kind::CommFailure, Minor::CONNECTION_LOST);
const MALFORMED: Failure = (Kind::CommFailure, Minor::REPLY_MALFORMED);
const OTHER_PROTOCOL: Failure = (Kind::CommFailure, Minor::PEER_SPEAKS_NO_GIOP);
const TOO_LARGE: Failure = (Kind::ImpLimit, Minor::REPLY_TOO_LARGE);

const ROWS: &[Row] = &[
    ("a reply without a request", LOST, |due| {
        doubled(COMMON, due[0].request().id + 1000, 1)
    }),
    ("a reply from before", LOST, |due| {
        // The same slot of the table, in another use.
        doubled(COMMON, due[0].request().id ^ 0x8000_0000, 1)
    }),
    ("two replies to one", LOST, |due| {
        [answer(&due[0]), answer(&due[0])].concat()
    }),
    ("an answer of another kind", LOST, |due| {
        let id = due[0].request().id;
        COMMON.message(LOCATE_REPLY, |message| message.u32(id).u32(1))
    }),
    ("a request", MALFORMED, |due| due[0].octets.clone()),
    ("garbage", OTHER_PROTOCOL, |_| {
        b"HTTP/1.1 400 Bad Request".to_vec()
    }),
    ("a reply of 4 GiB", TOO_LARGE, |_| {
        COMMON.header(1, false, u32::MAX).finish()
    }),
    ("a fragment of nothing", MALFORMED, |_| {
        COMMON.message(FRAGMENT, |message| message.u32(7))
    }),
    ("an unknown status", MALFORMED, |due| {
        COMMON.reply(due[0].request().id, 9, |body| body.i32(42))
    }),
    ("half a header of a reply", MALFORMED, |due| {
        let mut reply = answer(&due[0]);
        reply.truncate(14);
        reply[8] = 2;
        reply
    }),
    ("contexts without end", MALFORMED, |due| {
        let id = due[0].request().id;
        COMMON.message(1, |message| message.u32(id).u32(0).u32(u32::MAX))
    }),
    ("too many fragmented messages", MALFORMED, |_| {
        (0..5)
            .flat_map(|id| {
                let whole = COMMON.reply(id, 0, |body| body.i32(1).i32(2).i32(3));
                COMMON.fragmented(&whole, &[16]).remove(0)
            })
            .collect()
    }),
];

#[test]
fn it_costs_the_connection_and_nothing_else() {
    let client = Client::start();
    let (other, untouched) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &untouched, [77]);
        let mut bystander = other.accept();
        let due = bystander.receive().unwrap();
        for (number, (name, (kind, minor), octets)) in ROWS.iter().enumerate() {
            println!("{name}");
            let (listener, probe) = client.playing();
            thread::scope(|scope| {
                let mut calls = call_all(scope, &probe, [1]);
                let mut peer = listener.accept();
                let mut due = requests(&mut peer, 1);
                calls.extend(call_all(scope, &probe, [2]));
                due.extend(requests(&mut peer, 1));
                peer.send(&octets(&due));
                for (value, call) in calls {
                    let result = call.join().unwrap();
                    let answered = *name == "two replies to one" && result == Ok(2 * value);
                    let failed = Err(SystemException::new(*kind, *minor, Completion::Maybe));
                    assert!(answered || result == failed, "{name}: {result:?}");
                }
                // MessageError, then the end.
                peer.receive();
                assert!(peer.is_closed(), "{name}");
            });
            eventually("it is counted", || {
                client.seen(0).connections.protocol_errors == number as u64 + 1
            });
            // The calls end first, then the connection is closed.
            eventually("it is closed", || client.seen(0).connections.shared == 1);
        }
        bystander.send(&answer(&due));
        all_answered(calls);
    });
}

/// There is nothing to take back; it is passed over, as a client may.
#[test]
fn a_cancel_request_is_passed_over() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let due = peer.receive().unwrap();
        let cancel = COMMON.message(CANCEL_REQUEST, |message| message.u32(due.request().id));
        peer.send(&[cancel, answer(&due)].concat());
        all_answered(calls);
    });
}

/// They are passed over one by one, and their reader does so in turns.
#[test]
fn a_flood_of_cancel_requests_takes_no_more_than_its_share_of_the_lane() {
    let client = Client::with(Limits::default().unserved_percent(1), |pool| pool);
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let due = peer.receive().unwrap();
        let cancels = COMMON
            .message(CANCEL_REQUEST, |message| message.u32(7))
            .repeat(1_000);
        eventually("it waits for its turn", || {
            peer.send(&cancels);
            client.seen(0).connections.put_off > 0
        });
        peer.send(&answer(&due));
        for (value, call) in calls {
            assert_eq!(call.join().unwrap(), Ok(2 * value), "the reply comes in the end");
        }
    });
}

/// A reply that is begun and not gone on with.
#[test]
fn a_reply_that_does_not_become_complete_costs_it_too() {
    let limits = Limits::default().message_completion(std::time::Duration::from_millis(100));
    let client = Client::with(limits, |pool| pool);
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let due = peer.receive().unwrap();
        peer.send(&answer(&due)[..20]);
        all_failed(calls, lost());
    });
    let _: &Orb = &client.orb;
}
