//! Asynchronous calls of servants: a thread of their own lane reads the reply, as long as there is one.

use std::time::Duration;

use punctual::{
    Completion, Minor, PolicyOverrides, QueueLimits, SystemException, SystemExceptionKind as Kind,
    WaitStrategy,
};
use punctual_fixtures::{
    conformance::ProbeRef,
    peer::Listener,
    recorder::resolve,
    server::{Server, client, reference},
};

use super::{answer, block_on, late, requests};

/// A server whose servants call another one's.
fn middle(threads: usize, policies: PolicyOverrides) -> Server {
    let middle = Server::with_pool(if threads == 1 {
        |pool| pool
    } else {
        |pool| pool.threads(2)
    });
    let policies = policies.roundtrip_timeout(Duration::from_secs(60));
    middle.orb.add_policies(policies);
    middle
}

fn ask(middle: &Server, last: &Server) -> Result<i32, SystemException> {
    let client = client();
    let probe: ProbeRef = middle.reference_for(&client);
    let next = last.reference_for(&client);
    let result = probe.ask(Some(&next), 21);
    client.shutdown_and_wait().unwrap();
    result
}

#[test]
fn the_own_lane_reads_where_a_thread_is_left() {
    let last = Server::start();
    let two = middle(2, PolicyOverrides::new());
    assert_eq!(ask(&two, &last), Ok(42));
    assert_eq!(two.seen(0).connections.shared, 1);
    let serving = middle(1, PolicyOverrides::new().wait_strategy(WaitStrategy::Serving));
    assert_eq!(ask(&serving, &last), Ok(42));
    assert_eq!(serving.seen(0).connections.shared, 1);
}

/// A caller that only polls never sleeps, so a thread that reads delivers its reply: the caller itself, if it
/// may serve meanwhile.
#[test]
fn looking_serves_where_waiting_does() {
    let (last, client) = (Server::start(), client());
    let next = last.reference_for(&client);
    let serving = PolicyOverrides::new().wait_strategy(WaitStrategy::Serving);
    for (threads, policies) in [(2, PolicyOverrides::new()), (1, serving)] {
        let middle = middle(threads, policies);
        let probe: ProbeRef = middle.reference_for(&client);
        assert_eq!(probe.ask_often(Some(&next), 21), Ok(42));
    }
    client.shutdown_and_wait().unwrap();
}

/// If requests are buffered, the thread that reads them also reads replies, and watches timeouts.
#[test]
fn lanes_that_buffer_look_after_their_calls() {
    let (listener, client) = (Listener::open(), super::Client::start());
    let pool = client
        .orb
        .threadpool()
        .request_buffering(QueueLimits::default())
        .build()
        .unwrap();
    client.orb.set_reply_threadpool(&pool).unwrap();
    let probe = resolve(&client.orb, &reference([1, 2], listener.port, b"played", &[]));
    let prompt: ProbeRef = probe.with_timeout(Duration::from_millis(50)).unchecked();
    assert_eq!(block_on(prompt.twice_async(1)), Err(late()));
    let call = probe.twice_async(2);
    let mut peer = listener.accept();
    let due = requests(&mut peer, 2);
    due.iter().for_each(|request| peer.send(&answer(request)));
    assert_eq!(block_on(call), Ok(4));
    let seen = pool.statistics()[0].1;
    assert_eq!((seen.replies, seen.late_replies), (1, 1));
}

#[test]
fn else_the_pool_for_replies_does() {
    let (last, middle) = (Server::start(), middle(1, PolicyOverrides::new()));
    let pool = middle.orb.threadpool().build().unwrap();
    middle.orb.set_reply_threadpool(&pool).unwrap();
    assert_eq!(ask(&middle, &last), Ok(42));
    assert_eq!(
        (
            middle.seen(0).connections.shared,
            pool.statistics()[0].1.connections.shared
        ),
        (0, 1)
    );
}

/// The only thread of the lane would sleep until it has read what it waits for.
#[test]
fn a_thread_does_not_wait_for_itself() {
    let (last, middle) = (Server::start(), middle(1, PolicyOverrides::new()));
    let deadlock = SystemException::new(Kind::BadInvOrder, Minor::DEADLOCK_DETECTED, Completion::Maybe);
    assert_eq!(ask(&middle, &last), Err(deadlock));
    assert_eq!(middle.seen(0).threads.deadlocks, 1);
    assert_eq!(middle.probe.twice(1), Ok(2));
}
