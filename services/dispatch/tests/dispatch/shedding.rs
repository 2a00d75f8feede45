//! Commands that can no longer meet their deadlines.

use std::time::Duration;

use punctual_dispatch::*;
use punctual_fixtures::in_time;
use punctual_sched::dynamic::{SheddingPolicy, Time};

use crate::{Journal, Noted, held, outcome};

/// A deadline that has passed.
fn hopeless() -> Qos {
    Qos::new(0).deadline(Time(1))
}

#[test]
fn hopeless_commands_are_cancelled_before_they_begin_or_run_late() {
    for (policy, expected, cancelled, late) in [
        (SheddingPolicy::never(), &["late", "critical", "good"][..], 0, 2),
        (
            SheddingPolicy::before_dispatch(),
            &["late Hopeless", "critical Hopeless", "good"],
            2,
            0,
        ),
        (
            SheddingPolicy::before_dispatch().sparing_critical(),
            &["late Hopeless", "critical", "good"],
            1,
            1,
        ),
    ] {
        let journal = Journal::default();
        let dispatcher = held(Level::new(0).shedding(policy));
        dispatcher.dispatch(journal.command("late"), hopeless()).unwrap();
        dispatcher
            .dispatch(journal.command("critical"), hopeless().critical())
            .unwrap();
        dispatcher.dispatch(journal.command("good"), Qos::new(0)).unwrap();
        assert_eq!(outcome(&dispatcher, &journal), expected);
        let level = dispatcher.statistics()[0];
        assert_eq!((level.cancelled_before, level.late), (cancelled, late));
        assert_eq!(level.executed + level.cancelled_before, 3);
    }
}

#[test]
fn an_execution_time_that_no_longer_fits_is_hopeless() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0).shedding(SheddingPolicy::before_dispatch()));
    let soon = Qos::new(0).deadline_in(Duration::from_secs(1_000));
    let minutes = |minutes: u64| soon.execution_time(Duration::from_secs(60 * minutes));
    dispatcher.dispatch(journal.command("short"), minutes(1)).unwrap();
    dispatcher.dispatch(journal.command("long"), minutes(20)).unwrap();
    assert_eq!(outcome(&dispatcher, &journal), ["short", "long Hopeless"]);
}

#[test]
fn a_retry_gets_the_time_to_its_deadline_again() {
    in_time(Duration::from_millis(500), |time| {
        let journal = Journal::default();
        let policy = SheddingPolicy::before_dispatch()
            .retrying(1)
            .retrying_after(Duration::from_millis(2));
        let dispatcher = held(Level::new(0).shedding(policy));
        // Its deadline passes while the dispatcher is held; the retry has as long again.
        let qos = Qos::new(0).deadline_in(time);
        dispatcher.dispatch(journal.command("again"), qos).unwrap();
        dispatcher.dispatch(journal.command("lost"), hopeless()).unwrap();
        while now() <= qos.deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut happened = outcome(&dispatcher, &journal);
        if now() >= qos.deadline + time {
            return false;
        }
        happened.sort();
        assert_eq!(happened, ["again", "lost Hopeless"]);
        let level = dispatcher.statistics()[0];
        assert_eq!((level.retried, level.cancelled_before, level.executed), (2, 1, 1));
        true
    });
}

#[test]
fn a_checkpoint_ends_what_has_become_hopeless() {
    // Counts its attempts in the journal.
    let at_checkpoint = |journal: &Journal| Noted {
        attempt: |execution| execution.checkpoint(),
        ..journal.command("x")
    };
    for (policy, expected, retried) in [
        (SheddingPolicy::never(), &["x"][..], 0),
        (SheddingPolicy::at_checkpoints().sparing_critical(), &["x"], 0),
        (SheddingPolicy::at_checkpoints(), &["x Hopeless"], 0),
    ] {
        let journal = Journal::default();
        let dispatcher = held(Level::new(0).shedding(policy));
        dispatcher
            .dispatch(at_checkpoint(&journal), hopeless().critical())
            .unwrap();
        assert_eq!(outcome(&dispatcher, &journal), expected);
        assert_eq!(dispatcher.statistics()[0].retried, retried);
    }
    // It begins in time, and gives up on its way: without idempotence there is no second attempt.
    let gives_up = |journal: &Journal| Noted {
        attempt: |_| Err(Hopeless),
        ..journal.command("x")
    };
    let policy = SheddingPolicy::at_checkpoints().retrying(2);
    for (policy, expected) in [
        (policy, &["x", "x Hopeless"][..]),
        (policy.idempotent(), &["x", "x", "x", "x Hopeless"]),
    ] {
        let journal = Journal::default();
        let dispatcher = held(Level::new(0).shedding(policy));
        let qos = Qos::new(0).deadline_in(crate::LONG);
        dispatcher.dispatch(gives_up(&journal), qos).unwrap();
        assert_eq!(outcome(&dispatcher, &journal), expected);
        assert_eq!(dispatcher.statistics()[0].cancelled_at_checkpoint, 1);
    }
}
