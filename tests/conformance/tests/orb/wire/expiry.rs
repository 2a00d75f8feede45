//! Requests whose deadline has passed before they are served.

use std::{
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use punctual::{
    Completion, ExpiredRequests, Minor, PolicyOverrides, QueueLimits, SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    eventually,
    peer::{Listener, Peer},
    recorder::resolve,
    server::{Server, client, of_punctual, reference},
    wire::{COMMON, DIALECTS, Dialect},
};

use crate::wire::probing::{exception, works};

const INVOCATION_POLICIES: u32 = 7;
const REQUEST_END_TIME: u32 = 28;
const REPLY_END_TIME: u32 = 30;
const RELATIVE_REQUEST_TIMEOUT: u32 = 31;
const RELATIVE_ROUNDTRIP_TIMEOUT: u32 = 32;
const SYNC_SCOPE: u32 = 24;

/// Units of 100 ns.
const SHORT: u64 = 10_000;
const LONG: u64 = 36_000_000_000;

fn server(rule: ExpiredRequests) -> Server {
    Server::with_pool(match rule {
        ExpiredRequests::Serve => |pool| pool.request_buffering(QueueLimits::default()),
        ExpiredRequests::DropByWaitingTime => |pool| {
            pool.request_buffering(QueueLimits::default())
                .expired_requests(ExpiredRequests::DropByWaitingTime)
        },
        ExpiredRequests::DropByClock => |pool| {
            pool.request_buffering(QueueLimits::default())
                .expired_requests(ExpiredRequests::DropByClock)
        },
    })
}

/// The context with these policies, each a type and a time.
fn deadlines(dialect: Dialect, policies: &[(u32, u64)]) -> Vec<(u32, Vec<u8>)> {
    let data = dialect.encapsulation(|data| {
        policies
            .iter()
            .fold(data.u32(policies.len() as u32), |data, (id, time)| {
                data.u32(*id).sequence(&time_value(dialect, *id, *time))
            })
    });
    vec![(INVOCATION_POLICIES, data)]
}

/// `TimeBase::TimeT`, or `TimeBase::UtcT` around it.
fn time_value(dialect: Dialect, id: u32, time: u64) -> Vec<u8> {
    let (upper, lower) = ((time >> 32) as u32, time as u32);
    let halves = if dialect.little {
        [lower, upper]
    } else {
        [upper, lower]
    };
    dialect.encapsulation(|data| {
        let time = data.align(8).u32(halves[0]).u32(halves[1]);
        if id == REQUEST_END_TIME || id == REPLY_END_TIME {
            time.u32(0).u16(0).u16(0)
        } else {
            time
        }
    })
}

/// A time of this host's clock, so much before or after now.
fn clock(seconds: i64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let since_1582 = (now.as_nanos() / 100) as i64 + 0x01b2_1dd2_1381_4000;
    (since_1582 + seconds * 10_000_000) as u64
}

#[test]
fn what_is_dropped_is_what_the_rule_says() {
    let (past, future) = (clock(-60), clock(60));
    type Case = (&'static [(u32, u64)], bool, bool);
    let relative: &[Case] = &[
        (&[], false, false),
        (&[(RELATIVE_REQUEST_TIMEOUT, SHORT)], true, true),
        (&[(RELATIVE_ROUNDTRIP_TIMEOUT, SHORT)], true, true),
        (&[(RELATIVE_REQUEST_TIMEOUT, LONG)], false, false),
        (
            &[
                (RELATIVE_REQUEST_TIMEOUT, LONG),
                (RELATIVE_ROUNDTRIP_TIMEOUT, SHORT),
            ],
            true,
            true,
        ),
        (&[(SYNC_SCOPE, SHORT)], false, false),
    ];
    let absolute = [
        (vec![(REQUEST_END_TIME, past)], false, true),
        (vec![(REPLY_END_TIME, past)], false, true),
        (vec![(REQUEST_END_TIME, future)], false, false),
        (
            vec![(REQUEST_END_TIME, future), (REPLY_END_TIME, past)],
            false,
            true,
        ),
    ];
    let cases: Vec<_> = relative
        .iter()
        .map(|(policies, by_waiting, by_clock)| (policies.to_vec(), *by_waiting, *by_clock))
        .chain(absolute)
        .collect();
    for rule in [
        ExpiredRequests::Serve,
        ExpiredRequests::DropByWaitingTime,
        ExpiredRequests::DropByClock,
    ] {
        for dialect in DIALECTS {
            let server = server(rule);
            let mut peer = Peer::connect(server.port());
            peer.send(&dialect.request(0, &server.key(), "wait_at_gate", |body| body.i32(0)));
            server.hooks.await_at_gate(1);
            for (index, (policies, _, _)) in cases.iter().enumerate() {
                let id = index as u32 + 1;
                let contexts = deadlines(dialect, policies);
                let value = |body: punctual_fixtures::wire::Octets| body.i32(id as i32);
                peer.send(&dialect.request_with(id, 3, &server.key(), "wait_at_gate", &contexts, value));
            }
            eventually("all wait", || server.seen(0).queue.requests == cases.len());
            let all_wait = Instant::now();
            eventually("the short timeouts pass", || {
                all_wait.elapsed() > Duration::from_millis(2)
            });
            server.hooks.open_gate();
            assert_eq!(peer.receive().expect("a reply").reply().id, 0);
            let mut dropped = 0;
            for (index, (policies, by_waiting, by_clock)) in cases.iter().enumerate() {
                let id = index as u32 + 1;
                let message = peer.receive().expect("an answer");
                let expected = match rule {
                    ExpiredRequests::Serve => false,
                    ExpiredRequests::DropByWaitingTime => *by_waiting,
                    ExpiredRequests::DropByClock => *by_clock,
                };
                if expected {
                    dropped += 1;
                    let kind = Kind::Timeout.repository_id().to_owned();
                    let timeout = (kind, Minor::REQUEST_EXPIRED, Completion::No);
                    assert_eq!(exception(&message, id), timeout, "{rule:?} {policies:?}");
                } else {
                    assert_eq!(
                        (message.reply().id, message.reply().status),
                        (id, 0),
                        "{rule:?} {policies:?}"
                    );
                }
            }
            assert_eq!(server.seen(0).expired, dropped);
            assert_eq!(server.hooks.arrived_at_gate(), 1 + cases.len() - dropped as usize);
        }
    }
}

#[test]
fn oneway_requests_are_dropped_in_silence_and_malformed_deadlines_are_none() {
    let server = server(ExpiredRequests::DropByClock);
    let mut peer = Peer::connect(server.port());
    let past = deadlines(COMMON, &[(REQUEST_END_TIME, clock(-60))]);
    peer.send(&COMMON.request_with(1, 0, &server.key(), "note", &past, |body| body.i32(5)));
    works(&mut peer, &server.key());
    assert_eq!((server.hooks.noted(), server.seen(0).expired), (0, 1));
    for data in [
        vec![],
        vec![1],
        vec![1, 0, 0, 0, 255, 255, 255, 255],
        vec![1, 0, 0, 0, 1, 0, 0, 0, 31],
    ] {
        let contexts = [(INVOCATION_POLICIES, data)];
        peer.send(&COMMON.request_with(2, 3, &server.key(), "twice", &contexts, |body| body.i32(4)));
        let message = peer.receive().expect("a reply");
        assert_eq!((message.reply().status, message.reply().body.i32()), (0, 8));
    }
}

/// Without a queue nothing is known of how long a request has waited; the clock is.
#[test]
fn without_buffering_only_the_clock_counts() {
    let server = Server::with_pool(|pool| pool.expired_requests(ExpiredRequests::DropByClock));
    let mut peer = Peer::connect(server.port());
    for (policies, dropped) in [
        ([(RELATIVE_REQUEST_TIMEOUT, 1)], false),
        ([(REQUEST_END_TIME, clock(-60))], true),
    ] {
        let contexts = deadlines(COMMON, &policies);
        peer.send(&COMMON.request_with(2, 3, &server.key(), "twice", &contexts, |body| body.i32(4)));
        let status = peer.receive().expect("an answer").reply().status;
        assert_eq!(status == 2, dropped, "{policies:?}");
    }
    assert_eq!(server.seen(0).expired, 1);
}

/// Punctual's servers drop requests by the deadlines that Punctual's clients state.
#[test]
fn a_call_that_nobody_waits_for_any_more_is_not_served() {
    let server = server(ExpiredRequests::DropByWaitingTime);
    let client = client();
    // Its requests are passed on, without what cancels them.
    let listener = Listener::open();
    let probe = resolve(
        &client,
        &reference([1, 2], listener.port, &server.key(), &[of_punctual()]),
    );
    let mut relay = Peer::connect(server.port());
    let mut busy = Peer::connect(server.port());
    busy.send(&COMMON.request(0, &server.key(), "wait_at_gate", |body| body.i32(0)));
    server.hooks.await_at_gate(1);
    let brief = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(20));
    let told = brief.clone().sends_deadlines(true);
    let mut from_client = None;
    for (policies, value) in [(told, 1), (brief, 2)] {
        let late = probe
            .with_policies(policies)
            .unchecked::<ProbeRef>()
            .wait_at_gate(value);
        assert_eq!(late.unwrap_err().kind, Kind::Timeout);
        let request = from_client.get_or_insert_with(|| listener.accept()).receive();
        relay.send(&request.expect("a request").octets);
    }
    eventually("both are queued", || server.seen(0).queue.requests == 2);
    thread::sleep(Duration::from_millis(20));
    server.hooks.open_gate();
    assert_eq!(busy.receive().expect("a reply").reply().id, 0);
    eventually("all are served", || {
        server.seen(0).queue.requests == 0 && server.seen(0).threads.busy == 0
    });
    assert_eq!(server.seen(0).expired, 1);
    assert_eq!(
        server.hooks.values_at_gate(),
        [0, 2],
        "the server was not told of the other timeout"
    );
    assert_eq!(server.reference_for(&client).twice(21), Ok(42));
}
