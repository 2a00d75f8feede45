//! Results of asynchronous calls: values, exceptions, several calls at once.

use std::thread;

use punctual::{Completion, Minor, SystemException, SystemExceptionKind as Kind};
use punctual_fixtures::{
    conformance::probe::GreetError,
    conformance::{Colour, Node, Refused},
    server::{Server, UNLUCKY},
};

use super::{Client, answer, block_on, requests};

#[test]
fn results_and_exceptions_come_back_however_they_are_waited_for() {
    let (server, client) = (Server::start(), Client::start());
    let probe = &server.reference_for(&client.orb);
    assert_eq!(probe.twice_async(21).wait(), Ok(42));
    assert_eq!(block_on(probe.twice_async(21)), Ok(42));
    let mut call = probe.twice_async(4);
    while !call.is_ready() {
        thread::yield_now();
    }
    assert!(call.is_ready(), "as often as one likes");
    assert_eq!(block_on(call), Ok(8));

    assert_eq!(block_on(probe.greet_async("André")).unwrap(), "Hello, André");
    assert_eq!(block_on(probe.invert_async(true)), Ok(false));
    assert_eq!(probe.next_async(Colour::Red).wait(), Ok(Colour::Green));
    let leaf = Node::default();
    let tree = Node {
        children: vec![leaf.clone(), leaf],
        ..Node::default()
    };
    assert_eq!(probe.count_async(&tree).wait(), Ok(3));
    let values: Vec<i32> = (0..200_000).collect();
    let reversed = block_on(probe.reverse_async(&values)).unwrap();
    assert!(reversed.iter().rev().eq(&values));

    for result in [probe.greet_async("").wait(), block_on(probe.greet_async(""))] {
        let Err(GreetError::Refused(Refused { reason })) = result else {
            panic!("{result:?}")
        };
        assert_eq!(reason, "no name");
    }
    assert_eq!(probe.twice_async(UNLUCKY).wait().unwrap_err().kind, Kind::Unknown);
    assert_eq!(
        (client.seen().connections.shared, server.seen(0).connections.open),
        (1, 1)
    );
}

#[test]
fn the_request_leaves_at_the_call() {
    let client = Client::start();
    let (listener, probe) = client.playing();
    let calls = [1, 2, 3].map(|value| probe.twice_async(value));
    let mut peer = listener.accept();
    let received = requests(&mut peer, 3);
    let values: Vec<_> = received
        .iter()
        .map(|request| request.request().body.i32())
        .collect();
    assert_eq!(values, [1, 2, 3], "in order, and before the first poll");
    assert!(
        received
            .iter()
            .all(|request| request.request().operation == b"twice")
    );
    received
        .iter()
        .rev()
        .for_each(|request| peer.send(&answer(request)));
    for (value, call) in (1..).zip(calls) {
        assert_eq!(call.wait(), Ok(2 * value));
    }
    assert_eq!((client.seen().replies, client.seen().late_replies), (3, 0));
}

/// All of them are in upcalls together, so one connection carries them all, and one thread has made them.
#[test]
fn many_are_outstanding_over_one_connection() {
    const CALLS: usize = 16;
    let server = Server::with_pool(|pool| pool.threads(CALLS));
    let client = Client::start();
    let probe = server.reference_for(&client.orb);
    let calls: Vec<_> = (0..CALLS as i32)
        .map(|value| probe.wait_at_gate_async(value))
        .collect();
    server.hooks.await_at_gate(CALLS);
    assert_eq!(server.seen(0).connections.open, 1);
    server.hooks.open_gate();
    let sum = block_on(async {
        let mut sum = 0_i32;
        for call in calls.into_iter().rev() {
            sum += call.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, (0..CALLS as i32).sum::<i32>());
}

#[test]
fn calls_inside_one_orb_are_carried_out_at_the_call() {
    let server = Server::start();
    let mut call = server.probe.thread_async();
    assert!(call.is_ready());
    assert_eq!(call.wait(), server.probe.thread(), "by the calling thread");
    assert_eq!(block_on(server.probe.twice_async(4)), Ok(8));
    let refused = server.probe.greet_async("").wait().unwrap_err();
    assert!(matches!(refused, GreetError::Refused(_)));
    assert_eq!(server.seen(0).connections.shared, 0);
    server.probe.retire().unwrap();
    let gone = server.probe.twice_async(1).wait().unwrap_err();
    assert_eq!(gone.kind, Kind::ObjectNotExist);
}

#[test]
fn what_keeps_it_from_being_sent_is_its_result() {
    let server = Server::start();
    let client = punctual_fixtures::server::client();
    let probe = server.reference_for(&client);
    let mut call = probe.twice_async(1);
    assert!(call.is_ready());
    let none = SystemException::new(Kind::InvPolicy, Minor::NO_REPLY_THREADPOOL, Completion::No);
    assert_eq!(call.wait(), Err(none));

    let client = Client::start();
    let bands = punctual::PolicyOverrides::new().binds_bands(true);
    let bound = server.reference_for(&client.orb).with_policies(bands);
    let bound: punctual_fixtures::conformance::ProbeRef = bound.unchecked();
    let minor = Minor::BANDS_BOUND_ASYNCHRONOUSLY;
    let refused = SystemException::new(Kind::InvPolicy, minor, Completion::No);
    assert_eq!(bound.twice_async(1).wait(), Err(refused));
    client.orb.shutdown();
    let over = SystemException::new(Kind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN, Completion::No);
    assert_eq!(server.reference_for(&client.orb).twice_async(1).wait(), Err(over));
}

#[test]
#[should_panic(expected = "after it had returned its result")]
fn it_gives_its_result_once() {
    let server = Server::start();
    let mut call = server.probe.twice_async(1);
    let mut poll = || super::poll_with(&mut call, std::task::Waker::noop());
    assert!(poll().is_ready());
    let _ = poll();
}
