//! Calls that end without a reply.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
    time::Duration,
};

use punctual::{
    Completion, Interface as _, Limits, Minor, SystemException, SystemExceptionKind as Kind, rt::one_result,
};
use punctual_cdr::{CdrError, Encoder};
use punctual_fixtures::{conformance::ProbeRef, eventually, server::Server};

use super::{Client, Count, answer, block_on, comm_failure, lost, poll_with, requests};

#[test]
fn a_lost_connection_ends_all_of_its_calls() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let mut calls = [1, 2, 3].map(|value| probe.twice_async(value));
    let mut peer = listener.accept();
    let due = requests(&mut peer, 3);
    let (count, waker) = Count::new();
    for call in &mut calls {
        assert!(poll_with(call, &waker).is_pending());
    }
    peer.send(&answer(&due[1]));
    eventually("one is woken", || count.get() == 1);
    drop(peer);
    eventually("all are woken", || count.get() == 3);
    let [first, second, third] = calls;
    assert_eq!(first.wait(), Err(lost()));
    assert_eq!(block_on(second), Ok(4), "what has arrived stays");
    assert_eq!(block_on(third), Err(lost()));
    // The next one connects anew.
    let call = probe.twice_async(4);
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    assert_eq!(call.wait(), Ok(8));
}

#[test]
fn the_end_of_what_reads_replies_ends_them() {
    let ends: [fn(&Client); 2] = [
        |client| client.pool.destroy().unwrap(),
        |client| client.orb.shutdown(),
    ];
    for end in ends {
        let client = Client::start();
        let (listener, probe) = client.playing();
        let mut calls = [1, 2].map(|value| probe.twice_async(value));
        let mut peer = listener.accept();
        requests(&mut peer, 2);
        let (count, waker) = Count::new();
        assert!(poll_with(&mut calls[0], &waker).is_pending());
        end(&client);
        eventually("it is woken", || count.get() == 1);
        let ended = comm_failure(Minor::REPLY_THREADPOOL_ENDED);
        assert_eq!(calls.map(|call| call.wait()), [Err(ended), Err(ended)]);
    }
}

/// A server that is shut down answers what it has begun; others are sent elsewhere, or told that it is not
/// there.
#[test]
fn a_server_that_shuts_down_answers_what_it_has_begun() {
    let (server, client) = (Server::start(), Client::start());
    let probe = server.reference_for(&client.orb);
    let begun = probe.wait_at_gate_async(5);
    server.hooks.await_at_gate(1);
    thread::scope(|scope| {
        scope.spawn(|| drop(server));
        assert_eq!(block_on(begun), Ok(5));
    });
    let error = probe.twice_async(1).wait().unwrap_err();
    assert_eq!(
        (error.kind, error.completed),
        (Kind::Transient, Completion::No),
        "{error}"
    );
}

/// The replies to abandoned calls are known by their ids; slots come back, and nothing stays behind.
#[test]
fn dropped_calls_leave_nothing() {
    let client = Client::with(Limits::default().max_shared_calls(2));
    let (listener, probe) = client.playing();
    let (count, waker) = Count::new();
    for value in 0..10 {
        let mut call = probe.twice_async(value);
        assert!(poll_with(&mut call, &waker).is_pending());
        drop(call);
    }
    drop(waker);
    assert_eq!(std::sync::Arc::strong_count(&count), 1, "no waker is kept");
    let mut peer = listener.accept();
    let due = requests(&mut peer, 10);
    let call = probe.twice_async(21);
    let last = peer.receive().unwrap();
    let replies: Vec<_> = due.iter().chain([&last]).flat_map(answer).collect();
    peer.send(&replies);
    assert_eq!(block_on(call), Ok(42));
    let seen = client.seen();
    assert_eq!(
        (seen.replies, seen.late_replies, seen.connections.protocol_errors),
        (1, 10, 0)
    );
    assert_eq!(count.get(), 0);

    // One whose reply has come is not late.
    let mut call = probe.twice_async(1);
    let request = peer.receive().unwrap();
    peer.send(&answer(&request));
    eventually("it is there", || call.is_ready());
    drop(call);
    let call = probe.twice_async(2);
    let request = peer.receive().unwrap();
    peer.send(&answer(&request));
    assert_eq!(call.wait(), Ok(4));
    assert_eq!(client.seen().late_replies, 10);
}

#[test]
fn dropped_and_late_calls_are_cancelled() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let dropped = probe.twice_async(1);
    let mut peer = listener.accept();
    let id = peer.receive().unwrap().request().id;
    drop(dropped);
    assert_eq!(peer.receive_cancelled(), id);
    let prompt: ProbeRef = probe.with_timeout(Duration::from_millis(20)).unchecked();
    let late = SystemException::new(Kind::Timeout, Minor::REPLY_TIMED_OUT, Completion::Maybe);
    assert_eq!(prompt.twice_async(2).wait(), Err(late));
    let id = peer.receive().unwrap().request().id;
    assert_eq!(peer.receive_cancelled(), id);
    // A call that was answered is not cancelled.
    let call = probe.twice_async(3);
    let request = peer.receive().unwrap();
    peer.send(&answer(&request));
    assert_eq!(call.wait(), Ok(6));
    let call = probe.twice_async(4);
    let request = peer.receive().unwrap();
    peer.send(&answer(&request));
    assert_eq!(block_on(call), Ok(8));
}

#[test]
fn calls_on_one_connection_are_limited() {
    let client = Client::with(Limits::default().max_shared_calls(2));
    let (listener, probe) = client.playing();
    let [one, other, more] = [1, 2, 3].map(|value| probe.twice_async(value));
    let full = SystemException::new(Kind::ImpLimit, Minor::SHARED_CALLS_EXHAUSTED, Completion::No);
    assert_eq!(more.wait(), Err(full));
    let mut peer = listener.accept();
    let due = requests(&mut peer, 2);
    due.iter().for_each(|request| peer.send(&answer(request)));
    assert_eq!((one.wait(), other.wait()), (Ok(2), Ok(4)));
    let call = probe.twice_async(4);
    let due = requests(&mut peer, 1);
    assert_eq!(due[0].request().body.i32(), 4, "what was refused was not sent");
    peer.send(&answer(&due[0]));
    assert_eq!(call.wait(), Ok(8));
}

/// User code that panics while a request is written takes no place away.
#[test]
fn a_request_that_cannot_be_written_leaves_nothing() {
    let client = Client::with(Limits::default().max_shared_calls(1));
    let (listener, probe) = client.playing();
    for _ in 0..2 {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            // Without the message.
            let arguments =
                &mut |_: &mut Encoder<'_>| -> Result<(), CdrError> { resume_unwind(Box::new("of a test")) };
            probe
                .as_object()
                .call_async::<i32, SystemException>("twice", arguments, one_result)
        }));
        assert_eq!(*panicked.unwrap_err().downcast::<&str>().unwrap(), "of a test");
    }
    let call = probe.twice_async(2);
    let mut peer = listener.accept();
    let due = requests(&mut peer, 1);
    peer.send(&answer(&due[0]));
    assert_eq!(call.wait(), Ok(4));
}
