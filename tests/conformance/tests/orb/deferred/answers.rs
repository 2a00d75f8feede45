//! Replies that clients get, and their order.

use std::thread;

use punctual::{Completion, Interface as _, SystemException, SystemExceptionKind as Kind, ior_to_string};
use punctual_fixtures::{
    eventually,
    later::{Declined, DeskRef, desk::ExchangeError},
    peer::{NOBODY, Peer},
    server::{Profile, reference},
    wire::DIALECTS,
};

use super::{Office, calls, lock, refused};

/// The one thread of the lane is free while answers are owed, and they go to their own calls in any order.
#[test]
fn others_are_served_meanwhile_and_answers_come_in_any_order() {
    let office = Office::open();
    let desk: DeskRef = office.desk.clone().into();
    let first_calls = calls(&desk, 0..5);
    let mut due = office.pile.twice(5);
    let values: Vec<i32> = due.iter().map(|(value, _)| *value).collect();
    assert_eq!(values, [0, 1, 2, 3, 4]);
    assert_eq!(desk.now(7), Ok(7), "its thread is free");
    due.swap(0, 3);
    for (value, response) in due.into_iter().rev() {
        assert!(response.is_awaited());
        assert!(
            thread::spawn(move || response.respond(Ok(value * 2)))
                .join()
                .unwrap()
        );
        assert_eq!(desk.now(value), Ok(value));
    }
    for (value, call) in (0..).zip(first_calls) {
        assert_eq!(call.wait(), Ok(2 * value));
    }
    let seen = office.seen();
    assert_eq!((seen.deferred, seen.unanswered), (5, 0));
}

/// Inherited, with parameters of all modes, user exceptions, and attributes.
#[test]
fn results_of_every_kind() {
    let office = Office::open();
    let desk = &office.desk;
    let (pile, mut late) = (&office.pile, vec![String::from("b")]);
    thread::scope(|scope| {
        let call = scope.spawn(|| desk.exchange(&["x", "y"], &mut late));
        eventually("it is there", || !lock(&pile.exchange).is_empty());
        let (names, given, response) = lock(&pile.exchange).remove(0);
        assert_eq!((names, given), (vec!["x".into(), "y".into()], vec!["b".into()]));
        assert!(response.respond(Ok(("done".into(), vec!["c".into(), "d".into()], -3))));
        assert_eq!(call.join().unwrap(), Ok(("done".into(), -3)));
    });
    assert_eq!(late, ["c", "d"]);
    let declined = desk.exchange_async(&["a"], &["b"]);
    eventually("it is there", || !lock(&pile.exchange).is_empty());
    let response = lock(&pile.exchange).remove(0).2;
    let why = Declined { why: "closed".into() };
    assert!(response.respond(Err(why.clone().into())));
    assert_eq!(declined.wait(), Err(ExchangeError::Declined(why)));
    let read = desk.queued_async();
    let stored = desk.set_queued_async(9);
    eventually("both are there", || {
        !lock(&pile.stored).is_empty() && !lock(&pile.queued).is_empty()
    });
    let (value, response) = lock(&pile.stored).remove(0);
    assert!(response.respond(Ok(())));
    let response = lock(&pile.queued).remove(0);
    assert!(response.respond(Ok(value)));
    assert_eq!((stored.wait(), read.wait()), (Ok(()), Ok(9)));
    assert_eq!(desk.rest(4), Ok(-4));
}

/// An exception of a call of the servant: the servant has run, although its own call has not.
#[test]
fn relayed_exceptions() {
    let office = Office::open();
    let desk: DeskRef = office.desk.clone().into();
    let dead = reference([1, 2], NOBODY, b"dead", &[]);
    let dead: DeskRef = office
        .orb
        .resolve_object(&ior_to_string(&dead))
        .unwrap()
        .unchecked();
    let own = dead.now(1).unwrap_err();
    assert_eq!(own.completed, Completion::No);
    let asked = desk.twice_async(1);
    assert!(office.pile.one().1.respond(Err(own)));
    let relayed = asked.wait().unwrap_err();
    assert_eq!((relayed.minor, relayed.completed), (own.minor, Completion::Maybe));
    // With user exceptions, too.
    let asked = desk.exchange_async(&["a"], &["b"]);
    eventually("it is there", || !lock(&office.pile.exchange).is_empty());
    let response = lock(&office.pile.exchange).remove(0).2;
    assert!(response.respond(Err(own.into())));
    let relayed = own.with_completion(Completion::Maybe);
    assert_eq!(asked.wait(), Err(ExchangeError::System(relayed)));
    // What the servant itself says stays, also of that exception.
    let asked = desk.twice_async(1);
    let unchanged = own.with_completion(Completion::No);
    assert!(office.pile.one().1.respond(Err(unchanged)));
    assert_eq!(asked.wait(), Err(unchanged));
    let refused = SystemException::new(Kind::NoPermission, 7, Completion::No);
    let asked = desk.twice_async(1);
    assert!(office.pile.one().1.respond(Err(refused)));
    assert_eq!(asked.wait(), Err(refused));
}

/// The same by hand, in each version of GIOP and both byte orders.
#[test]
fn in_every_dialect() {
    let office = Office::open();
    let profile = Profile::of(office.own.as_object());
    for dialect in DIALECTS {
        let mut peer = Peer::connect(profile.port);
        peer.send(&dialect.request(5, &profile.key, "twice", |body| body.i32(21)));
        let (value, response) = office.pile.one();
        peer.send(&dialect.request(6, &profile.key, "exchange", |body| body.u32(0).u32(0)));
        eventually("it is there", || !lock(&office.pile.exchange).is_empty());
        let exchange = lock(&office.pile.exchange).remove(0).2;
        assert!(exchange.respond(Ok(("ab".into(), vec![], 1))));
        assert!(response.respond(Ok(2 * value)));
        let message = peer.receive().unwrap();
        let mut reply = message.reply();
        assert_eq!(
            (reply.id, reply.status, reply.body.string()),
            (6, 0, &b"ab"[..]),
            "{dialect:?}"
        );
        assert_eq!((reply.body.u32(), reply.body.u16()), (0, 1));
        let message = peer.receive().unwrap();
        let mut reply = message.reply();
        assert_eq!(
            (reply.id, reply.status, reply.body.i32()),
            (5, 0, 42),
            "{dialect:?}"
        );
        assert!(reply.body.rest().is_empty());
    }
}

/// A caller of the same ORB waits, regardless of the thread that answers.
#[test]
fn callers_of_the_same_orb_wait() {
    let office = Office::open();
    thread::scope(|scope| {
        let own = &office.own;
        let calls: Vec<_> = (0..3)
            .map(|value| scope.spawn(move || (value, own.twice(value))))
            .collect();
        let mut due = office.pile.twice(1);
        eventually("the others too", || {
            due.append(&mut lock(&office.pile.twice));
            due.len() == 3
        });
        for (value, response) in due {
            assert!(response.is_awaited());
            if value == 2 {
                drop(response);
            } else {
                assert!(response.respond(Ok(2 * value)));
            }
        }
        for call in calls {
            match call.join().unwrap() {
                (2, result) => assert_eq!(refused(result).0, Kind::NoResponse),
                (value, result) => assert_eq!(result, Ok(2 * value)),
            }
        }
    });
}
