//! Timeouts: when connecting, sending, waiting and receiving; fine ones and coarse ones; and what is left
//! behind.

use std::{
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use punctual::{
    Completion, ConnectionMode, Limits, Minor, Orb, PolicyOverrides, Priority, QueueLimits, SystemException,
    SystemExceptionKind as Kind,
};
use punctual_fixtures::{
    conformance::{Longs, ProbeRef},
    eventually, in_time,
    peer::Listener,
    recorder::{Recorder, resolve},
    server::{Server, client, client_with, of_punctual, reference},
    wire::{CLOSE_CONNECTION, COMMON, Reader},
};
use socket2::{Domain, Socket, Type};

/// Below the socket's own timeouts, and above.
const FINE: Duration = Duration::from_millis(8);
const COARSE: Duration = Duration::from_millis(60);
const LONG: Duration = Duration::from_secs(30);

fn to(orb: &Orb, port: u16) -> ProbeRef {
    // A connection is kept after a CancelRequest if its server is known to support that.
    resolve(orb, &reference([1, 2], port, b"timed", &[of_punctual()]))
}

fn under(probe: &ProbeRef, policies: PolicyOverrides) -> ProbeRef {
    probe.with_policies(policies).unchecked()
}

fn timed_out(minor: Minor, completed: Completion) -> SystemException {
    SystemException::new(Kind::Timeout, minor, completed)
}

/// A timeout ends nothing early. How late it ends is the machine's, but not minutes.
fn ends_after<R>(timeout: Duration, call: impl FnOnce() -> R) -> R {
    let started = Instant::now();
    let result = call();
    assert!(
        started.elapsed() >= timeout,
        "{:?} early",
        timeout - started.elapsed()
    );
    assert!(started.elapsed() < LONG, "it is another timeout that ended it");
    result
}

/// A host that drops what asks for a connection: its queue is full.
struct Unresponsive {
    port: u16,
    _listener: Socket,
    _queue: Vec<TcpStream>,
}

impl Unresponsive {
    fn start() -> Self {
        let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        listener
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let mut queue = Vec::new();
        while let Ok(waiting) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            queue.push(waiting);
            assert!(queue.len() < 100, "the queue does not fill");
        }
        Self {
            port: address.port(),
            _listener: listener,
            _queue: queue,
        }
    }
}

#[test]
fn connecting_ends_with_the_shortest_of_all_time_outs() {
    let host = Unresponsive::start();
    let policies = PolicyOverrides::new;
    let rows = [
        ("connection", COARSE, LONG, policies().connection_timeout(COARSE)),
        ("round trip", COARSE, LONG, policies().roundtrip_timeout(COARSE)),
        ("fine round trip", FINE, LONG, policies().roundtrip_timeout(FINE)),
        ("request", COARSE, LONG, policies().request_timeout(COARSE)),
        ("the ORB's limit", COARSE, COARSE, policies()),
        (
            "connection instead of the limit",
            COARSE,
            FINE,
            policies().connection_timeout(COARSE),
        ),
        (
            "the limit again",
            COARSE,
            COARSE,
            policies().connection_timeout(None).roundtrip_timeout(LONG),
        ),
        (
            "request before connection",
            FINE,
            LONG,
            policies()
                .request_timeout(FINE)
                .connection_timeout(LONG)
                .roundtrip_timeout(LONG),
        ),
    ];
    for (name, timeout, limit, policies) in rows {
        println!("{name}");
        let limits = Limits::default().connect_timeout(limit);
        let orb = client_with(limits);
        let probe = under(&to(&orb, host.port), policies);
        let late = timed_out(Minor::CONNECT_TIMED_OUT, Completion::No);
        assert_eq!(ends_after(timeout, || probe.twice(1)), Err(late));
        assert_eq!(
            ends_after(timeout, || probe.note(1)),
            Err(late),
            "oneways connect as well"
        );
        assert_eq!(ends_after(timeout, || probe.validate_connection()), Err(late));
    }
}

/// The server does not read, and the request is larger than the kernel's buffers.
#[test]
fn sending_ends_with_the_timeout() {
    let huge: Longs = vec![7; 16 << 20];
    let policies = PolicyOverrides::new;
    let rows = [
        ("fine", FINE, policies().roundtrip_timeout(FINE)),
        ("coarse", COARSE, policies().roundtrip_timeout(COARSE)),
        ("the request's, fine", FINE, policies().request_timeout(FINE)),
        (
            "the request's, before the round trip's",
            COARSE,
            policies().request_timeout(COARSE).roundtrip_timeout(LONG),
        ),
    ];
    for (name, timeout, policies) in rows {
        println!("{name}");
        let limits = Limits::default().max_message_size(128 << 20);
        let (listener, orb) = (Listener::open(), client_with(limits));
        let probe = under(&to(&orb, listener.port), policies);
        let late = |completed| Err(timed_out(Minor::REQUEST_TIMED_OUT, completed));
        // On a busy machine the timeout may expire before the first octet is sent, which proves nothing.
        let mut calls = (0..100).map(|_| ends_after(timeout, || probe.reverse(&huge)));
        let begun = calls.find(|result| *result != late(Completion::No));
        assert_eq!(begun, Some(late(Completion::Maybe)));
        // Half a request is on the connection, so it is of no more use.
        let plain = to(&orb, listener.port);
        thread::scope(|scope| {
            scope.spawn(|| {
                drop(listener.accept());
                let mut second = listener.accept();
                let id = second.receive().unwrap().request().id;
                second.send(&COMMON.reply(id, 0, |body| body.i32(42)));
            });
            assert_eq!(plain.twice(21), Ok(42));
        });
    }
}

#[test]
fn a_request_whose_caller_timed_out_is_cancelled() {
    for timeout in [FINE, COARSE] {
        let (listener, orb) = (Listener::open(), client());
        let plain = to(&orb, listener.port);
        let hasty = under(&plain, PolicyOverrides::new().roundtrip_timeout(timeout));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut peer = listener.accept();
                for _ in 0..3 {
                    let id = peer.receive().unwrap().request().id;
                    assert_eq!(peer.receive_cancelled(), id);
                }
                let last = peer.receive().unwrap().request().id;
                peer.send(&COMMON.reply(last, 0, |body| body.i32(42)));
            });
            for _ in 0..3 {
                assert_eq!(
                    hasty.twice(1),
                    Err(timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe))
                );
            }
            assert_eq!(plain.twice(21), Ok(42), "on the same connection");
        });
    }
}

/// With one another: over an exclusive connection, over a shared one, and in an asynchronous call.
#[test]
fn a_timeout_names_the_address_the_operation_and_its_length() {
    let (listener, orb) = (Listener::open(), client());
    let plain = resolve(&orb, &reference([1, 2], listener.port, b"timed", &[]));
    let pool = orb.threadpool().lane(Priority::MAX, 1).build().unwrap();
    orb.set_reply_threadpool(&pool).unwrap();
    let expected = format!("(at iiop://127.0.0.1:{} in `twice` after 30ms", listener.port);
    for mode in [ConnectionMode::Exclusive, ConnectionMode::Shared] {
        let policies = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(30));
        let hasty = under(&plain, policies.connection_mode(mode));
        for error in [hasty.twice(1), hasty.twice_async(1).wait()] {
            let text = error.unwrap_err().to_string();
            let (_, rest) = text.split_once(&expected).expect(&text);
            assert!(
                rest == ")" || rest.starts_with(": the peer accepted"),
                "{mode:?}: {text}"
            );
        }
    }
}

/// Some servers no longer answer over a connection on which a CancelRequest has arrived.
#[test]
fn the_connection_to_an_unknown_server_ends_with_the_cancelled_request() {
    let (listener, orb) = (Listener::open(), client());
    let plain = resolve(&orb, &reference([1, 2], listener.port, b"timed", &[]));
    let hasty = under(&plain, PolicyOverrides::new().roundtrip_timeout(FINE));
    assert_eq!(
        hasty.twice(1),
        Err(timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe))
    );
    let mut peer = listener.accept();
    let id = peer.receive().unwrap().request().id;
    assert_eq!(peer.receive_cancelled(), id);
    assert_eq!(peer.receive().unwrap().message_type, CLOSE_CONNECTION);
    assert!(peer.is_closed());
}

/// A server that buffers requests does not execute it.
#[test]
fn a_cancelled_request_that_still_waits_is_not_executed() {
    let server = Server::with_pool(|pool| pool.request_buffering(QueueLimits::default()));
    let (busy, orb) = (client(), client());
    let hasty = under(
        &server.reference_for(&orb),
        PolicyOverrides::new().roundtrip_timeout(COARSE),
    );
    thread::scope(|scope| {
        let busy = server.reference_for(&busy);
        scope.spawn(move || busy.wait_at_gate(1));
        server.hooks.await_at_gate(1);
        for value in 2..5 {
            let late = timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe);
            assert_eq!(hasty.wait_at_gate(value), Err(late));
        }
        eventually("all are withdrawn", || server.seen(0).queue.requests == 0);
        server.hooks.open_gate();
    });
    assert_eq!(server.reference_for(&client()).twice(1), Ok(2));
    assert_eq!(server.hooks.arrived_at_gate(), 1, "only the first was executed");
}

#[test]
fn waiting_ends_with_the_time_out_and_the_late_reply_is_dropped() {
    for timeout in [FINE, COARSE] {
        let (listener, orb) = (Listener::open(), client());
        let plain = to(&orb, listener.port);
        let hasty = under(&plain, PolicyOverrides::new().roundtrip_timeout(timeout));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut peer = listener.accept();
                let late = [(); 3].map(|()| peer.receive().unwrap().request().id);
                let last = peer.receive().unwrap().request().id;
                // One of them comes in two parts: a header alone is not worth a reply either.
                let replies: Vec<_> = late.map(|id| COMMON.reply(id, 0, |body| body.i32(666))).concat();
                let (first, rest) = replies.split_at(20);
                peer.send(first);
                peer.send(rest);
                peer.send(&COMMON.reply(last, 0, |body| body.i32(42)));
            });
            let late = timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe);
            for _ in 0..3 {
                assert_eq!(ends_after(timeout, || hasty.twice(1)), Err(late));
            }
            assert_eq!(plain.twice(21), Ok(42), "its own reply, on the same connection");
        });
    }
}

/// A server that is slow, and not silent.
#[test]
fn a_timeout_tells_whether_replies_to_earlier_calls_came_late() {
    for timeout in [FINE, COARSE] {
        let (listener, orb) = (Listener::open(), client());
        let policies = PolicyOverrides::new().roundtrip_timeout(timeout);
        let hasty = under(&to(&orb, listener.port), policies);
        thread::scope(|scope| {
            let (ended, first_ended) = std::sync::mpsc::channel();
            let (sent, late_reply_sent) = std::sync::mpsc::channel();
            scope.spawn(move || {
                let mut peer = listener.accept();
                let first = peer.receive().unwrap().request().id;
                first_ended.recv().unwrap();
                peer.send(&COMMON.reply(first, 0, |body| body.i32(666)));
                sent.send(()).unwrap();
                // It answers no other one.
                let _ = first_ended.recv();
            });
            let times_out = |minor| {
                let late = timed_out(minor, Completion::Maybe);
                assert_eq!(ends_after(timeout, || hasty.twice(1)), Err(late));
            };
            times_out(Minor::REPLY_TIMED_OUT);
            ended.send(()).unwrap();
            late_reply_sent.recv().unwrap();
            times_out(Minor::REPLIES_LATE);
            times_out(Minor::REPLY_TIMED_OUT);
            drop(ended);
        });
    }
}

/// A reply that starts in time and does not end in time.
#[test]
fn receiving_ends_with_the_timeout() {
    for timeout in [FINE, COARSE] {
        let (listener, orb) = (Listener::open(), client());
        let plain = to(&orb, listener.port);
        let hasty = under(&plain, PolicyOverrides::new().roundtrip_timeout(timeout));
        thread::scope(|scope| {
            let (said, server) = std::sync::mpsc::channel();
            scope.spawn(move || {
                let mut peer = listener.accept();
                let first = peer.receive().unwrap().request().id;
                let reply = COMMON.reply(first, 0, |body| body.i32(666));
                peer.send(&reply[..15]);
                server.recv().unwrap();
                peer.send(&reply[15..]);
                let second = peer.receive().unwrap().request().id;
                peer.send(&COMMON.reply(second, 0, |body| body.i32(42)));
            });
            let late = timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe);
            assert_eq!(ends_after(timeout, || hasty.twice(1)), Err(late));
            said.send(()).unwrap();
            assert_eq!(plain.twice(21), Ok(42));
        });
    }
}

/// The time that the first server took is not there for the second.
#[test]
fn a_forward_does_not_start_the_time_out_anew() {
    in_time(Duration::from_millis(500), |timeout| {
        let ([first, second], orb) = ([(); 2].map(|()| Listener::open()), client());
        let there = reference([1, 2], second.port, b"timed", &[]);
        let probe = under(
            &to(&orb, first.port),
            PolicyOverrides::new().roundtrip_timeout(timeout),
        );
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut peer = first.accept();
                let id = peer.receive().unwrap().request().id;
                thread::sleep(timeout * 3 / 4);
                let profile = there.profiles[0].clone();
                peer.send(&COMMON.reply(id, 3, |body| {
                    body.string(b"").contexts(&[(profile.tag, profile.data)])
                }));
            });
            let started = Instant::now();
            let late = timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe);
            assert_eq!(ends_after(timeout, || probe.twice(1)), Err(late));
            // A timeout that starts anew takes longer in every attempt.
            started.elapsed() < timeout * 7 / 4
        })
    });
}

/// RelativeRequestTimeout ends with the request: the reply may come later, and the socket's own timeout does
/// not end it.
#[test]
fn a_request_time_out_does_not_limit_the_reply() {
    for timeout in [FINE, COARSE] {
        let (listener, orb) = (Listener::open(), client());
        let probe = under(
            &to(&orb, listener.port),
            PolicyOverrides::new().request_timeout(timeout),
        );
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut peer = listener.accept();
                let id = peer.receive().unwrap().request().id;
                // Time itself is what is tested; longer than the kernel's ticks make of the timeout.
                thread::sleep(timeout * 3);
                peer.send(&COMMON.reply(id, 0, |body| body.i32(42)));
            });
            assert_eq!(probe.twice(21), Ok(42));
        });
    }
}

/// Another class of timeout on the same connection, with every call.
#[test]
fn classes_may_change_from_call_to_call() {
    let (server, orb) = (Recorder::start(), client());
    let plain = server.reference(&orb, &[]);
    let policies = PolicyOverrides::new;
    let probes = [
        plain.clone(),
        under(&plain, policies().roundtrip_timeout(LONG)),
        under(&plain, policies().roundtrip_timeout(Duration::from_millis(49))),
        under(&plain, policies().request_timeout(LONG)),
        under(&plain, policies().roundtrip_timeout(Duration::MAX)),
    ];
    for first in 0..probes.len() {
        for second in &probes {
            // A call with a fine timeout may run into it on a slow machine; it is the others that must not
            // notice.
            let _ = probes[first].twice(1);
            if second.policies_in_force().roundtrip_timeout != Some(Duration::from_millis(49)) {
                assert_eq!(second.twice(1), Ok(42));
            }
        }
    }
    assert_eq!(server.connections(), 1);
}

/// The scopes: a reference's before the thread's before the ORB's.
#[test]
fn the_nearest_time_out_counts() {
    let listener = Listener::open();
    let orb = Orb::builder()
        .lock_memory(false)
        .call_timeout(FINE)
        .build()
        .unwrap();
    let policies = |timeout: Option<Duration>| PolicyOverrides::new().roundtrip_timeout(timeout);
    let probe = to(&orb, listener.port);
    let in_force = || probe.policies_in_force().roundtrip_timeout;
    let late = Err(timed_out(Minor::REPLY_TIMED_OUT, Completion::Maybe));
    assert_eq!(
        (ends_after(FINE, || probe.twice(1)), in_force()),
        (late, Some(FINE))
    );
    orb.replace_policies(policies(Some(COARSE)));
    assert_eq!(
        (ends_after(COARSE, || probe.twice(1)), in_force()),
        (late, Some(COARSE))
    );
    orb.current().replace_policies(policies(Some(FINE)));
    assert_eq!(
        (ends_after(FINE, || probe.twice(1)), in_force()),
        (late, Some(FINE))
    );
    let other = thread::scope(|scope| scope.spawn(in_force).join()).unwrap();
    assert_eq!(other, Some(COARSE), "another thread's are its own");
    let own = probe.with_timeout(COARSE);
    assert_eq!(own.policies_in_force().roundtrip_timeout, Some(COARSE));
    assert_eq!(own.with_timeout(None).policies_in_force().roundtrip_timeout, None);
    orb.current().replace_policies(policies(None));
    assert_eq!(in_force(), None);
    orb.current().replace_policies(PolicyOverrides::new());
    orb.replace_policies(PolicyOverrides::new());
    assert_eq!(in_force(), None);
}

/// Nothing ends a call that runs on the caller's own thread; but it is told that it took too long, and that
/// it happened.
#[test]
fn a_collocated_call_that_took_too_long_has_happened() {
    let server = Server::start();
    let hasty = under(
        &server.probe,
        PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(1)),
    );
    thread::scope(|scope| {
        scope.spawn(|| {
            server.hooks.await_at_gate(1);
            thread::sleep(Duration::from_millis(2));
            server.hooks.open_gate();
        });
        let late = timed_out(Minor::REPLY_TIMED_OUT, Completion::Yes);
        assert_eq!(hasty.wait_at_gate(1), Err(late));
    });
    let patient = under(&hasty, PolicyOverrides::new().roundtrip_timeout(LONG));
    assert_eq!(patient.wait_at_gate(2), Ok(2));
    assert_eq!(
        under(&hasty, PolicyOverrides::new().roundtrip_timeout(None)).twice(1),
        Ok(2)
    );
}

/// Calls of an upcall are under the servant's policies, not under its collocated caller's.
#[test]
fn an_upcall_starts_without_its_callers_policies() {
    let (server, slow) = (Server::start(), Recorder::start());
    let inner = slow.reference(&server.orb, &[]);
    let told = PolicyOverrides::new()
        .roundtrip_timeout(LONG)
        .sends_deadlines(true);
    server.orb.current().replace_policies(told);
    assert_eq!(server.probe.forward(Some(&inner), 1), Ok(42));
    assert_eq!(inner.twice(1), Ok(42));
    server.orb.current().replace_policies(PolicyOverrides::new());
    let told: Vec<_> = slow.seen().iter().map(|seen| seen.context(7).is_some()).collect();
    assert_eq!(told, [false, true]);
}

/// Change of the calendar clock that remains unnoticed.
const UNSEEN: Duration = Duration::from_millis(1);

/// Calls; again where the time of day was set meanwhile, as machines do whose clock is kept right from
/// outside. Returns from when to when the last call took.
fn by_one_clock(call: impl Fn()) -> (SystemTime, SystemTime) {
    loop {
        let (before, steady) = (SystemTime::now(), Instant::now());
        call();
        let (after, took) = (SystemTime::now(), steady.elapsed());
        let by_clock = after.duration_since(before).unwrap_or_default();
        if by_clock.abs_diff(took) < UNSEEN {
            return (before, after);
        }
    }
}

/// The timeouts travel where that is asked for: as the time that is left, and as a point in time.
#[test]
fn the_server_is_told_where_a_policy_asks_for_it() {
    let (server, orb) = (Recorder::start(), client());
    let plain = server.reference(&orb, &[]);
    let told = PolicyOverrides::new().sends_deadlines(true);
    let both = told.clone().request_timeout(LONG / 2).roundtrip_timeout(LONG);
    let calls: [(&str, PolicyOverrides, &[u32]); 5] = [
        (
            "not asked for",
            PolicyOverrides::new().roundtrip_timeout(LONG),
            &[],
        ),
        ("nothing to tell", told.clone(), &[]),
        ("round trip", told.clone().roundtrip_timeout(LONG), &[30, 32]),
        ("request", told.clone().request_timeout(LONG), &[28, 31]),
        ("both", both, &[28, 30, 31, 32]),
    ];
    for (name, policies, expected) in calls {
        let probe = under(&plain, policies.clone());
        let (before, after) = by_one_clock(|| assert_eq!(probe.twice(1), Ok(42)));
        let Some(data) = server.seen().last().unwrap().context(7) else {
            assert!(expected.is_empty(), "{name}");
            continue;
        };
        let mut list = Reader::encapsulation(&data);
        let policies = policies.in_force();
        let mut ids = Vec::new();
        for (id, value) in list.contexts() {
            ids.push(id);
            let timeout = match id {
                28 | 31 => policies.request_timeout,
                _ => policies.roundtrip_timeout,
            };
            let timeout = timeout.unwrap();
            let octets: [u8; 8] = value[8..16].try_into().unwrap();
            let units = u64::from_ne_bytes(octets);
            if id >= 31 {
                assert_eq!(u128::from(units) * 100, timeout.as_nanos(), "{name}: {id}");
            } else {
                let since_1970 = Duration::from_nanos((units - 122_192_928_000_000_000) * 100);
                let end = UNIX_EPOCH + since_1970;
                // To 100 ns, downwards; and what the clock may have been set by.
                let start = end - timeout + Duration::from_nanos(100);
                assert!(
                    start >= before - UNSEEN,
                    "{name}: {id}: {:?}",
                    before.duration_since(start)
                );
                assert!(
                    start <= after + UNSEEN,
                    "{name}: {id}: {:?}",
                    start.duration_since(after)
                );
                assert_eq!(value.len(), 24);
            }
        }
        assert_eq!(ids, expected, "{name}");
    }
}
