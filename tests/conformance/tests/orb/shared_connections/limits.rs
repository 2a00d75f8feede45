//! Limits of shared connections: calls per connection, connections per lane, servers that do not read.

use std::{thread, time::Duration};

use punctual::{Completion, Limits, Minor, PolicyOverrides, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{conformance::ProbeRef, eventually, recorder::Recorder, wire::CLOSE_CONNECTION};

use super::{Client, all_answered, answer, call_all, lost, requests};

#[test]
fn calls_on_one_connection_are_limited() {
    let client = Client::with(Limits::default().max_shared_calls(3), |pool| pool);
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let mut calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let mut due = requests(&mut peer, 1);
        calls.extend(call_all(scope, &probe, [2, 3]));
        due.extend(requests(&mut peer, 2));
        let full = SystemException::new(Kind::ImpLimit, Minor::SHARED_CALLS_EXHAUSTED, Completion::No);
        assert_eq!(probe.twice(4), Err(full));
        assert_eq!(probe.note(4), Err(full));
        assert!(full.to_string().contains("max_shared_calls"), "{full}");
        peer.send(&due.iter().flat_map(answer).collect::<Vec<_>>());
        all_answered(calls);
        let calls = call_all(scope, &probe, [5]);
        let due = peer.receive().unwrap();
        assert_eq!(due.request().body.i32(), 5, "what was refused was not sent");
        peer.send(&answer(&due));
        all_answered(calls);
    });
}

/// Slots come back however calls end.
#[test]
fn calls_that_time_out_do_not_use_up_the_limit() {
    let client = Client::with(Limits::default().max_shared_calls(2), |pool| pool);
    let (listener, probe) = client.playing();
    let prompt: ProbeRef = probe.with_timeout(Duration::from_millis(5)).unchecked();
    for value in 0..10 {
        assert_eq!(prompt.twice(value).unwrap_err().kind, Kind::Timeout);
    }
    let mut peer = listener.accept();
    let due = requests(&mut peer, 10);
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [11]);
        let last = peer.receive().unwrap();
        let late = due.iter().chain([&last]).flat_map(answer);
        peer.send(&late.collect::<Vec<_>>());
        all_answered(calls);
    });
    assert_eq!((client.seen(0).replies, client.seen(0).late_replies), (1, 10));
}

/// The one that was unused for longest makes room; where all are in use there is none.
#[test]
fn connections_of_a_lane_are_limited() {
    let client = Client::with(Limits::default().max_client_connections(2), |pool| pool);
    let servers = [(); 3].map(|()| Recorder::start());
    let probes = servers
        .each_ref()
        .map(|server| server.reference(&client.orb, &[]));
    for number in [0, 1, 0, 2, 0] {
        assert_eq!(probes[number].twice(1), Ok(42));
    }
    let made = servers.each_ref().map(Recorder::connections);
    assert_eq!(made, [1, 1, 1]);
    assert_eq!(servers[1].await_open(0, CLOSE_CONNECTION).len(), 1, "gracefully");
    assert_eq!(client.seen(0).connections.shared, 2);

    let played = [(); 2].map(|()| client.playing());
    let played = &played;
    thread::scope(|scope| {
        let calls = played.each_ref().map(|(listener, probe)| {
            let mut calls = call_all(scope, probe, [1]);
            let mut peer = listener.accept();
            let due = peer.receive().unwrap();
            (calls.remove(0), peer, due)
        });
        let exhausted = SystemException::new(
            Kind::ImpLimit,
            Minor::CLIENT_CONNECTIONS_EXHAUSTED,
            Completion::No,
        );
        assert_eq!(probes[0].twice(1), Err(exhausted));
        for ((value, call), mut peer, due) in calls {
            peer.send(&answer(&due));
            assert_eq!(call.join().unwrap(), Ok(2 * value));
        }
    });
    assert_eq!(probes[0].twice(1), Ok(42));
}

/// More than both kernels' buffers hold.
fn large() -> Vec<i32> {
    vec![7; 3 << 20]
}

/// A server that does not read: callers wait no longer than they want to, what is kept for it has a limit,
/// and the connection is as good as before once it reads.
#[test]
fn a_server_that_does_not_read_blocks_nobody() {
    let client = Client::with(Limits::default().max_message_size(16 << 20), |pool| pool);
    let (listener, probe) = client.playing();
    let prompt: &ProbeRef = &probe.with_timeout(Duration::from_millis(400)).unchecked();
    let late = |minor| SystemException::new(Kind::Timeout, minor, Completion::Maybe);
    let unsent = late(Minor::REQUEST_TIMED_OUT);
    assert_eq!(prompt.reverse(&large()).unwrap_err(), unsent);
    let mut peer = listener.accept();
    // Behind it, and not into it.
    assert_eq!(prompt.twice(2), Err(unsent));
    let congested = SystemException::new(
        Kind::Transient,
        Minor::SHARED_CONNECTION_CONGESTED,
        Completion::No,
    );
    assert_eq!(prompt.reverse(&large()).unwrap_err(), congested);
    let first = peer.receive().unwrap();
    assert_eq!(first.request().operation, b"reverse");
    assert_eq!(first.request().body.u32() as usize, large().len());
    let second = peer.receive().unwrap();
    assert_eq!(second.request().body.i32(), 2, "whole");
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [3]);
        let third = peer.receive().unwrap();
        peer.send(&answer(&third));
        all_answered(calls);
    });
    assert_eq!(client.seen(0).connections.shared, 1);
}

/// Its replies are read all the same, or both would wait for each other.
#[test]
fn replies_of_a_server_that_does_not_read_are_read() {
    let client = Client::with(Limits::default().max_message_size(16 << 20), |pool| pool);
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let due = peer.receive().unwrap();
        let large_call = scope.spawn(|| probe.reverse(&large()));
        // Nothing of it is read yet.
        peer.send(&answer(&due));
        all_answered(calls);
        let due = peer.receive().unwrap();
        peer.send(&due.dialect.reply(due.request().id, 0, |body| body.u32(0)));
        assert_eq!(large_call.join().unwrap(), Ok(vec![]));
    });
}

/// Without a deadline, too: for as long as a message may take to become complete.
#[test]
fn a_server_that_never_reads_loses_the_connection() {
    let limits = Limits::default()
        .max_message_size(16 << 20)
        .message_completion(Duration::from_millis(200));
    let client = Client::with(limits, |pool| pool);
    let (listener, probe) = client.playing();
    let without = PolicyOverrides::new().roundtrip_timeout(None);
    let probe: ProbeRef = probe.with_policies(without).unchecked();
    assert_eq!(probe.reverse(&large()).unwrap_err(), lost());
    drop(listener);
    eventually("it is gone", || client.seen(0).connections.shared == 0);
}
