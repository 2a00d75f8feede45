//! Timeouts of calls that no thread waits for.

use std::{
    thread,
    time::{Duration, Instant},
};

use punctual::{Completion, Limits, Minor, PolicyOverrides, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    LONG,
    conformance::ProbeRef,
    eventually, in_time,
    peer::Listener,
    recorder::resolve,
    server::{Server, client, reference},
    waiting::holds_within,
};

use super::{Client, Count, answer, block_on, late, poll_with, requests};

fn within(probe: &ProbeRef, millis: u64) -> ProbeRef {
    probe.with_timeout(Duration::from_millis(millis)).unchecked()
}

/// Only the thread that would read the reply can have woken the task.
#[test]
fn a_task_is_woken_for_them() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let prompt = within(&probe, 50);
    let start = Instant::now();
    for value in [1, 2, 3] {
        assert_eq!(block_on(prompt.twice_async(value)), Err(late()));
    }
    assert!(start.elapsed() >= Duration::from_millis(150));
    assert_eq!(
        prompt.twice_async(4).wait(),
        Err(late()),
        "a waiting caller needs no other thread"
    );
    // The connection is as good as before, and knows the late replies.
    let mut peer = listener.accept();
    let due = requests(&mut peer, 4);
    let call = probe.twice_async(5);
    let last = requests(&mut peer, 1);
    due.iter()
        .chain(&last)
        .for_each(|request| peer.send(&answer(request)));
    assert_eq!(block_on(call), Ok(10));
    let seen = client.seen();
    assert_eq!(
        (seen.replies, seen.late_replies, seen.connections.shared),
        (1, 4, 1)
    );
}

/// The thread that was told of the timeout has gone into an upcall: another one that waits looks after it.
#[test]
fn any_thread_that_waits_wakes_the_task() {
    let server = Server::with_pool(|pool| pool.threads(2));
    server.orb.set_reply_threadpool(&server.pool).unwrap();
    let (listener, client) = (Listener::open(), client());
    let probe: ProbeRef = server.reference_for(&client);
    probe.twice(1).unwrap();
    let (count, waker) = Count::new();
    let silent = resolve(&server.orb, &reference([1, 2], listener.port, b"played", &[]));
    let mut call = within(&silent, 400).twice_async(1);
    assert!(poll_with(&mut call, &waker).is_pending());
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(probe.wait_at_gate(1), Ok(1)));
        server.hooks.await_at_gate(1);
        let is_woken = holds_within(LONG / 2, || count.get() == 1);
        server.hooks.open_gate();
        assert!(is_woken, "one thread of two waits");
    });
    assert_eq!(call.wait(), Err(late()));
    client.shutdown_and_wait().unwrap();
}

/// Whichever was there first, and over several connections.
#[test]
fn the_one_that_ends_first_is_woken_first() {
    let client = Client::start();
    let played = [client.playing(), client.playing()];
    let start = |(_, probe): &(_, ProbeRef), millis| {
        let (count, waker) = Count::new();
        let mut call = within(probe, millis).twice_async(1);
        assert!(poll_with(&mut call, &waker).is_pending());
        (call, count)
    };
    let last = start(&played[0], 60_000);
    let second = start(&played[1], 400);
    let first = start(&played[0], 50);
    eventually("the first one", || first.1.get() == 1);
    eventually("the second one", || second.1.get() == 1);
    assert_eq!((first.0.wait(), second.0.wait()), (Err(late()), Err(late())));
    assert_eq!((first.1.get(), second.1.get(), last.1.get()), (1, 1, 0));
    let mut peer = played[0].0.accept();
    let due = requests(&mut peer, 2);
    peer.send(&answer(&due[0]));
    assert_eq!(block_on(last.0), Ok(2));
}

#[test]
fn a_reply_in_time_stays_good_however_late_it_is_taken() {
    in_time(Duration::from_millis(300), |timeout| {
        let client = Client::start();
        let (listener, probe) = client.playing();
        let (count, waker) = Count::new();
        let prompt: ProbeRef = probe.with_timeout(timeout).unchecked();
        let start = Instant::now();
        let mut call = prompt.twice_async(1);
        assert!(poll_with(&mut call, &waker).is_pending());
        let mut peer = listener.accept();
        let due = requests(&mut peer, 1);
        peer.send(&answer(&due[0]));
        eventually("it is woken", || count.get() == 1);
        if start.elapsed() >= timeout {
            return false;
        }
        thread::sleep(timeout);
        assert_eq!(block_on(call), Ok(2));
        assert_eq!(count.get(), 1, "once");
        true
    });
}

#[test]
fn looking_for_a_while_does_not_end_the_call() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let mut call = probe.twice_async(1);
    assert!(!call.is_ready());
    let start = Instant::now();
    assert!(!call.is_ready_within(Duration::from_millis(30)));
    assert!(start.elapsed() >= Duration::from_millis(30));
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    assert!(call.is_ready_within(Duration::MAX));
    assert_eq!(call.wait(), Ok(2));
    // A timeout also ends it while a thread polls it.
    let mut call = within(&probe, 20).twice_async(1);
    assert!(call.is_ready_within(Duration::from_secs(30)));
    assert_eq!(block_on(call), Err(late()));
}

/// A request that its server does not take in time.
#[test]
fn a_request_may_have_a_time_out_of_its_own() {
    let client = Client::with(Limits::default().max_message_size(16 << 20));
    let (listener, probe) = client.playing();
    let policies = PolicyOverrides::new().request_timeout(Duration::from_millis(300));
    let prompt: ProbeRef = probe.with_policies(policies).unchecked();
    // More than both kernels' buffers hold.
    let large = vec![7; 3 << 20];
    let unsent = SystemException::new(Kind::Timeout, Minor::REQUEST_TIMED_OUT, Completion::Maybe);
    assert_eq!(block_on(prompt.reverse_async(&large)), Err(unsent));
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    assert_eq!(due[0].request().body.u32() as usize, large.len(), "whole");
    let call = probe.twice_async(1);
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    assert_eq!(block_on(call), Ok(2));
}
