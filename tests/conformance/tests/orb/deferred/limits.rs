//! How many answers a lane may owe, and floods.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use punctual::{Limits, Minor, SystemExceptionKind as Kind};
use punctual_fixtures::{Finally, eventually, later::DeskRef};

use super::{Office, PANIC, calls, lock, refused};

#[test]
fn further_requests_are_refused_before_the_servant_is_called() {
    let office = Office::with(Limits::default().max_deferred_replies(2), |pool| pool);
    let desk: DeskRef = office.desk.clone().into();
    let admitted = calls(&desk, 0..2);
    let mut due = office.pile.twice(2);
    assert_eq!(
        refused(desk.twice(2)),
        (Kind::Transient, Minor::DEFERRED_REPLIES_FULL)
    );
    assert_eq!(desk.now(1), Ok(1), "others do not count");
    // Abandoned by its client, it exists nevertheless.
    let mut admitted = admitted.into_iter();
    let first = admitted.next().unwrap();
    drop(admitted);
    eventually("it is withdrawn", || !due[1].1.is_awaited());
    assert_eq!(
        refused(desk.twice(3)),
        (Kind::Transient, Minor::DEFERRED_REPLIES_FULL)
    );
    assert!(!due.remove(1).1.respond(Ok(0)));
    let again = desk.twice_async(4);
    let (value, response) = office.pile.one();
    assert!(response.respond(Ok(2 * value)) && due.remove(0).1.respond(Ok(0)));
    assert_eq!((again.wait(), first.wait()), (Ok(8), Ok(0)));
    assert_eq!(office.seen().deferred, 3);
}

#[test]
fn none_at_all() {
    let office = Office::with(Limits::default().max_deferred_replies(0), |pool| pool);
    assert_eq!(
        refused(office.desk.twice(1)),
        (Kind::Transient, Minor::DEFERRED_REPLIES_FULL)
    );
}

/// Far more calls than the lane may owe: each one ends, answered by its own answer or refused, and the server
/// has called the servant exactly as often as it has answered.
#[test]
fn a_flood() {
    const CALLS: i32 = 3_000;
    const MOST: usize = 100;
    let office = Office::with(Limits::default().max_deferred_replies(MOST), |pool| {
        pool.threads(2)
    });
    let desk: DeskRef = office.desk.clone().into();
    let over = AtomicBool::new(false);
    let answered = thread::scope(|scope| {
        let end = Finally(|| over.store(true, Ordering::SeqCst));
        let answering: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut answered = 0;
                    while !over.load(Ordering::SeqCst) {
                        let next = lock(&office.pile.twice).pop();
                        match next {
                            Some((value, response)) => {
                                assert!(response.respond(Ok(2 * value)));
                                answered += 1;
                            }
                            None => thread::yield_now(),
                        }
                    }
                    answered
                })
            })
            .collect();
        let (mut results, mut refusals) = (0, 0);
        let values = PANIC + 1..PANIC + 1 + CALLS;
        for (value, call) in values.clone().zip(calls(&desk, values)) {
            match call.wait() {
                Ok(twice) => {
                    assert_eq!(twice, 2 * value);
                    results += 1;
                }
                refusal => {
                    assert_eq!(refused(refusal), (Kind::Transient, Minor::DEFERRED_REPLIES_FULL));
                    refusals += 1;
                }
            }
        }
        assert_eq!(results + refusals, CALLS);
        drop(end);
        let answered: i32 = answering.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(answered, results);
        answered
    });
    assert_eq!(office.seen().deferred, u64::try_from(answered).unwrap());
}
