//! How calls end whose replies do not come, or come too late.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use punctual::{Completion, Limits, Minor, Priority, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    Finally,
    conformance::ProbeRef,
    eventually,
    server::Server,
    wire::{CLOSE_CONNECTION, COMMON, MESSAGE_ERROR},
};

use super::{Client, all_answered, all_failed, answer, call_all, lost, requests};

#[test]
fn a_late_reply_is_dropped() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let prompt = probe.with_timeout(Duration::from_millis(20)).unchecked();
    let late = SystemException::new(Kind::Timeout, Minor::REPLY_TIMED_OUT, Completion::Maybe);
    assert_eq!(ProbeRef::twice(&prompt, 1), Err(late));
    let mut peer = listener.accept();
    let first = peer.receive().unwrap();
    assert_eq!(peer.receive_cancelled(), first.request().id);
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [5]);
        let second = peer.receive().unwrap();
        peer.send(&[answer(&first), answer(&second)].concat());
        all_answered(calls);
    });
    let seen = client.seen(0);
    assert_eq!((seen.replies, seen.late_replies), (1, 1));
    assert_eq!(
        (seen.connections.shared, seen.connections.protocol_errors),
        (1, 0)
    );
}

/// Answered requests have their results; the others are sent again, over another connection.
#[test]
fn an_orderly_close_has_the_rest_sent_again() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let mut calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let mut received = requests(&mut peer, 1);
        calls.extend(call_all(scope, &probe, [2, 3]));
        received.extend(requests(&mut peer, 2));
        let close = COMMON.message(CLOSE_CONNECTION, |message| message);
        peer.send(&[answer(&received[1]), close].concat());
        drop(peer);
        // Several may connect at once; one of the connections is used.
        let mut again = 0;
        while again < 2 {
            let mut peer = listener.accept();
            while again < 2 {
                let Some(request) = peer.receive() else { break };
                peer.send(&answer(&request));
                again += 1;
            }
            scope.spawn(move || peer.is_closed());
        }
        all_answered(calls);
        drop(client);
    });
}

#[test]
fn the_end_of_the_stream_is_told_to_all() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let mut calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        requests(&mut peer, 1);
        calls.extend(call_all(scope, &probe, [2, 3]));
        requests(&mut peer, 2);
        drop(peer);
        all_failed(calls, lost());
        let calls = call_all(scope, &probe, [4]);
        let mut peer = listener.accept();
        let request = peer.receive().unwrap();
        peer.send(&answer(&request));
        all_answered(calls);
        assert_eq!(client.seen(0).connections.shared, 1);
    });
}

/// A reply that came before the end of the stream is not overtaken by it.
#[test]
fn replies_before_the_end_arrive() {
    let client = Client::with(Limits::default(), |pool| pool.threads(3));
    let (listener, probe) = client.playing();
    for _ in 0..50 {
        thread::scope(|scope| {
            let mut calls = call_all(scope, &probe, [1]);
            let mut peer = listener.accept();
            let mut received = requests(&mut peer, 1);
            calls.extend(call_all(scope, &probe, [2, 3, 4]));
            received.extend(requests(&mut peer, 3));
            for request in &received[..3] {
                peer.send(&answer(request));
            }
            drop(peer);
            let value = received[3].request().body.i32();
            for (own, call) in calls {
                let expected = if own == value { Err(lost()) } else { Ok(2 * own) };
                assert_eq!(call.join().unwrap(), expected);
            }
        });
    }
}

#[test]
fn a_message_error_is_told_to_all() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let mut calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        requests(&mut peer, 1);
        calls.extend(call_all(scope, &probe, [2]));
        requests(&mut peer, 1);
        peer.send(&COMMON.message(MESSAGE_ERROR, |message| message));
        let rejected =
            SystemException::new(Kind::CommFailure, Minor::PEER_REJECTED_MESSAGE, Completion::Maybe);
        all_failed(calls, rejected);
        assert!(peer.is_closed());
    });
}

fn pool_ended() -> SystemException {
    SystemException::new(
        Kind::CommFailure,
        Minor::REPLY_THREADPOOL_ENDED,
        Completion::Maybe,
    )
}

#[test]
fn destroying_the_pool_ends_the_calls() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let mut calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        requests(&mut peer, 1);
        calls.extend(call_all(scope, &probe, [2, 3]));
        requests(&mut peer, 2);
        client.pool.destroy().unwrap();
        all_failed(calls, pool_ended());
        assert!(peer.is_closed(), "without words: calls were outstanding");
        let none = SystemException::new(Kind::InvPolicy, Minor::NO_REPLY_THREADPOOL, Completion::No);
        assert_eq!(probe.twice(1), Err(none));
    });
}

#[test]
fn shutting_down_ends_the_calls() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        requests(&mut peer, 1);
        client.orb.shutdown();
        all_failed(calls, pool_ended());
        assert!(peer.is_closed());
    });
    let over = SystemException::new(Kind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN, Completion::No);
    assert_eq!(probe.twice(1), Err(over));
}

/// Calls begin and pools end at the same time: no call stays, and each ends as it should.
#[test]
fn nobody_hangs_while_pools_come_and_go() {
    let (server, client) = (Server::start(), Client::start());
    let (probe, end) = (&server.reference_for(&client.orb), &AtomicBool::new(false));
    thread::scope(|scope| {
        let callers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(move || {
                    let mut good = 0;
                    while !end.load(Ordering::Relaxed) {
                        match probe.twice(1) {
                            Ok(2) => good += 1,
                            Err(error) => assert!(
                                [
                                    Minor::REPLY_THREADPOOL_ENDED,
                                    Minor::NO_REPLY_THREADPOOL,
                                    Minor::CONNECTION_LOST
                                ]
                                .contains(&error.minor),
                                "{error}"
                            ),
                            other => panic!("{other:?}"),
                        }
                    }
                    good
                })
            })
            .collect();
        let guard = Finally(|| end.store(true, Ordering::Relaxed));
        for _ in 0..30 {
            let pool = client.orb.threadpool().build().unwrap();
            client.orb.set_reply_threadpool(&pool).unwrap();
            eventually("replies", || pool.statistics()[0].1.replies > 20);
            pool.destroy().unwrap();
        }
        drop(guard);
        let good: u64 = callers.into_iter().map(|caller| caller.join().unwrap()).sum();
        assert!(good >= 600, "{good}");
    });
}

/// It is no longer used: its server is notified.
#[test]
fn it_closes_in_good_order_with_its_pool() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let request = peer.receive().unwrap();
        peer.send(&answer(&request));
        all_answered(calls);
        client.pool.destroy().unwrap();
        let last = peer.receive().unwrap();
        assert_eq!(last.message_type, CLOSE_CONNECTION);
        assert!(peer.is_closed());
    });
}

/// Nothing arrives over it for a while, and no caller waits.
#[test]
fn it_closes_when_it_is_idle_and_not_before() {
    let limits = Limits::default().connection_idle(Some(Duration::from_millis(50)));
    let client = Client::with(limits, |pool| pool.default_priority(Priority::MIN));
    let (listener, probe) = client.playing();
    thread::scope(|scope| {
        let calls = call_all(scope, &probe, [1]);
        let mut peer = listener.accept();
        let request = peer.receive().unwrap();
        // Longer than it takes to be idle.
        thread::sleep(Duration::from_millis(300));
        assert_eq!(client.seen(0).connections.shared, 1, "a call is outstanding");
        peer.send(&answer(&request));
        all_answered(calls);
        assert_eq!(peer.receive().unwrap().message_type, CLOSE_CONNECTION);
        eventually("it is closed", || client.seen(0).connections.idle == 1);
    });
}
