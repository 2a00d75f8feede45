//! Replies that are never given, or no longer awaited.

use std::{thread, time::Duration};

use punctual::{
    Completion, Interface as _, LaneWait, Limits, Minor, PolicyOverrides, QueueLimits,
    SystemExceptionKind as Kind, ThreadPoolBuilder,
};
use punctual_fixtures::{
    eventually,
    later::DeskRef,
    peer::Peer,
    server::Profile,
    wire::{CANCEL_REQUEST, COMMON},
};

use super::{Office, PANIC, Twice, calls, refused};

#[test]
fn a_dropped_handler_answers() {
    let office = Office::open();
    let call = office.desk.twice_async(1);
    drop(office.pile.one());
    let exception = call.wait().unwrap_err();
    assert_eq!(
        (exception.kind, exception.minor),
        (Kind::NoResponse, Minor::RESPONSE_HANDLER_DROPPED)
    );
    assert_eq!(exception.completed, Completion::Maybe);
    assert_eq!(
        refused(office.desk.twice(PANIC)),
        (Kind::Unknown, Minor::SERVANT_PANICKED)
    );
    assert_eq!(office.desk.now(3), Ok(3));
    assert_eq!(office.seen().unanswered, 2);
}

/// A panic in a thread that has the handler, too.
#[test]
fn a_thread_that_panics_answers() {
    let office = Office::open();
    let call = office.desk.twice_async(1);
    let (_, response) = office.pile.one();
    let ended = thread::spawn(move || {
        let _response = response;
        panic!("as the test wishes");
    });
    assert!(ended.join().is_err());
    assert_eq!(refused(call.wait()), (Kind::Unknown, Minor::SERVANT_PANICKED));
}

#[test]
fn a_cancelled_call_is_answered_no_more() {
    let office = Office::open();
    let (kept, cancelled) = (office.desk.twice_async(1), office.desk.twice_async(2));
    let mut due = office.pile.twice(2);
    assert!(due.iter().all(|(_, response)| response.is_awaited()));
    drop(cancelled);
    eventually("the servant learns of it", || !due[1].1.is_awaited());
    assert!(!due.remove(1).1.respond(Ok(4)));
    assert!(due.remove(0).1.respond(Ok(2)));
    assert_eq!(kept.wait(), Ok(2));
    assert_eq!(office.desk.now(5), Ok(5), "the connection is whole");
    assert_eq!(office.seen().unanswered, 0);
}

/// A CancelRequest for another request, or for none, changes nothing. The messages are written by hand.
#[test]
fn a_cancellation_hits_its_own_request_only() {
    let office = Office::open();
    let profile = Profile::of(office.own.as_object());
    let (mut peer, mut other) = (Peer::connect(profile.port), Peer::connect(profile.port));
    let twice = |id| COMMON.request(id, &profile.key, "twice", |body| body.i32(4));
    peer.send(&twice(9));
    let (_, first) = office.pile.one();
    let cancel = |id| COMMON.message(CANCEL_REQUEST, |body| body.u32(id));
    // The same id, but over another connection.
    other.send(&cancel(9));
    other.send(&twice(9));
    let (_, second) = office.pile.one();
    peer.send(&cancel(8));
    peer.send(&twice(10));
    let (_, third) = office.pile.one();
    peer.send(&cancel(9));
    eventually("it is withdrawn", || !first.is_awaited());
    assert!(second.is_awaited() && third.is_awaited());
    assert!(!first.respond(Ok(1)) && second.respond(Ok(2)) && third.respond(Ok(3)));
    let of = |peer: &mut Peer| {
        let message = peer.receive().unwrap();
        let mut reply = message.reply();
        (reply.id, reply.body.i32())
    };
    assert_eq!((of(&mut peer), of(&mut other)), ((10, 3), (9, 2)));
}

#[test]
fn a_client_that_is_gone_is_answered_no_more() {
    let office = Office::open();
    let profile = Profile::of(office.own.as_object());
    let mut peer = Peer::connect(profile.port);
    peer.send(&COMMON.request(1, &profile.key, "twice", |body| body.i32(4)));
    let (_, response) = office.pile.one();
    let mut half_closed = Peer::connect(profile.port);
    half_closed.send(&COMMON.request(2, &profile.key, "twice", |body| body.i32(5)));
    let (_, owed) = office.pile.one();
    half_closed.finish();
    // It has sent its last octet, but reads on.
    assert!(owed.respond(Ok(10)));
    assert_eq!(half_closed.receive().unwrap().reply().body.i32(), 10);
    assert!(
        half_closed.receive().is_none(),
        "the connection ends with its last answer"
    );
    drop(peer);
    // The first write to a peer that is gone still succeeds; then the connection is known to be broken.
    response.respond(Ok(8));
    eventually("all connections are closed", || {
        office.seen().connections.open == 0
    });
    assert_eq!(office.desk.now(1), Ok(1));
}

/// The client states its deadline; when it has passed, the server owes no answer.
#[test]
fn a_deadline_ends_what_is_owed() {
    let office = Office::open();
    let limited = PolicyOverrides::new()
        .roundtrip_timeout(Duration::from_millis(150))
        .sends_deadlines(true);
    let desk: DeskRef = office.desk.as_object().with_policies(limited).unchecked();
    let call = desk.twice_async(1);
    let (_, response) = office.pile.one();
    let deadline = response.deadline().expect("it is stated");
    assert!(response.is_awaited());
    eventually("the server gives up", || !response.is_awaited());
    assert!(std::time::Instant::now() >= deadline);
    assert_eq!(response.deadline(), Some(deadline));
    assert!(!response.respond(Ok(2)));
    assert_eq!(refused(call.wait()).0, Kind::Timeout);
    // Without one, it is owed forever.
    let unlimited = office.desk.twice_async(3);
    let (_, response) = office.pile.one();
    assert_eq!(response.deadline(), None);
    assert!(response.respond(Ok(6)));
    assert_eq!(unlimited.wait(), Ok(6));
}

/// The server itself sends TIMEOUT. The messages are written by hand.
#[test]
fn a_deadline_is_answered_with_timeout() {
    const INVOCATION_POLICIES: u32 = 7;
    const RELATIVE_ROUNDTRIP: u32 = 32;
    let office = Office::open();
    let profile = Profile::of(office.own.as_object());
    let mut peer = Peer::connect(profile.port);
    // 20 ms, in units of 100 ns.
    let policies = COMMON.encapsulation(|data| {
        let value = COMMON.encapsulation(|value| value.align(8).u32(200_000).u32(0));
        data.u32(1).u32(RELATIVE_ROUNDTRIP).sequence(&value)
    });
    let contexts = [(INVOCATION_POLICIES, policies)];
    peer.send(&COMMON.request_with(3, 3, &profile.key, "twice", &contexts, |body| body.i32(1)));
    let (_, response) = office.pile.one();
    let message = peer.receive().unwrap();
    let mut reply = message.reply();
    assert_eq!((reply.id, reply.status), (3, 2));
    assert_eq!(reply.body.string(), Kind::Timeout.repository_id().as_bytes());
    assert_eq!(reply.body.u32(), Minor::REQUEST_EXPIRED.0);
    assert!(!response.respond(Ok(2)), "it is answered once");
    peer.send(&COMMON.request(4, &profile.key, "now", |body| body.i32(9)));
    assert_eq!(peer.receive().unwrap().reply().id, 4, "nothing came in between");
}

/// However the lane waits, a shutdown answers what is owed, and waits for no servant.
#[test]
fn a_shutdown_answers_what_is_owed() {
    let pools: [fn(ThreadPoolBuilder) -> ThreadPoolBuilder; 3] = [
        |pool| pool,
        |pool| pool.wait(LaneWait::Blocking).threads(2),
        |pool| pool.request_buffering(QueueLimits::default()),
    ];
    for (index, pool) in pools.into_iter().enumerate() {
        let office = Office::with(Limits::default(), pool);
        let desk: DeskRef = office.desk.clone().into();
        let outstanding = calls(&desk, 0..3);
        let due = office.pile.twice(3);
        let ended = thread::scope(|scope| {
            let ending = scope.spawn(|| office.orb.shutdown_and_wait());
            eventually("it has ended", || ending.is_finished());
            ending.join().unwrap()
        });
        assert_eq!(ended, Ok(()));
        for call in outstanding {
            let ended = (Kind::NoResponse, Minor::DEFERRED_REPLY_ENDED);
            assert_eq!(refused(call.wait()), ended, "pool {index}");
        }
        for (value, response) in due {
            assert!(!response.is_awaited());
            assert!(!response.respond(Ok(value)));
        }
    }
}

/// The timeout of a caller of the same ORB.
#[test]
fn a_collocated_caller_waits_no_longer_than_its_timeout() {
    let office = Office::open();
    let limited = PolicyOverrides::new().roundtrip_timeout(Duration::from_millis(50));
    let desk: DeskRef = office.own.as_object().with_policies(limited).unchecked();
    assert_eq!(refused(desk.twice(1)).0, Kind::Timeout);
    let (_, response) = office.pile.one();
    assert!(response.deadline().is_some() && !response.is_awaited());
    assert!(!response.respond(Ok(2)));
}

/// The request has been executed as far as its object is concerned: nothing waits for its answer.
#[test]
fn an_answer_is_sent_after_its_object_and_its_adapter_have_ended() {
    let limits = Limits::default().deactivation(Duration::from_secs(5));
    let office = Office::with(limits, |pool| pool);
    let desks = office.orb.root_poa().find("desks").unwrap();
    thread::scope(|scope| {
        let there = office.desk.twice_async(3);
        let here = scope.spawn(|| office.own.twice(4));
        let mut pending = office.pile.twice(2);
        // It would be in use until the time is over if it waited.
        desks.deactivate(&office.own).unwrap();
        let answer = |(value, response): Twice| {
            assert!(response.is_awaited());
            assert!(response.respond(Ok(2 * value)));
        };
        answer(pending.pop().unwrap());
        desks.destroy().unwrap();
        answer(pending.pop().unwrap());
        assert_eq!((there.wait(), here.join().unwrap()), (Ok(6), Ok(8)));
    });
    assert_eq!(office.seen().unanswered, 0);
}
