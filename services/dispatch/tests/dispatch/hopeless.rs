//! The order by laxity, where some commands can no longer be in time.

use std::{sync::mpsc, thread, time::Duration};

use proptest::prelude::*;
use punctual_dispatch::*;
use punctual_sched::dynamic::{
    Claim, MaximumUrgencyFirst, Scheduler, SchedulingParameters, SheddingPolicy, Time,
};

use crate::{Journal, LONG, held, outcome};

/// Far in the future, so that none is late.
const LATER: u64 = 1 << 60;

/// A command that lost its last chance this long after the beginning of the clock.
fn hopeless(nanoseconds: u64) -> Qos {
    Qos::new(0)
        .deadline(Time(LATER + nanoseconds))
        .execution_time(Duration::from_nanos(LATER))
}

fn in_time(laxity: u64) -> Qos {
    Qos::new(0).deadline(Time(LATER + laxity))
}

#[test]
fn a_command_that_has_become_hopeless_makes_no_other_one_late() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0).by_laxity());
    let soon = Qos::new(0).deadline_in(Duration::from_millis(1));
    for (name, qos) in [
        ("late", soon),
        ("lost", soon.execution_time(LONG)),
        ("good", Qos::new(0).deadline_in(LONG)),
        ("never", Qos::new(0)),
    ] {
        dispatcher.dispatch(journal.command(name), qos).unwrap();
    }
    while now() <= soon.deadline {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(outcome(&dispatcher, &journal), ["good", "never", "lost", "late"]);
    let level = dispatcher.statistics()[0];
    assert_eq!((level.executed, level.late), (4, 2));
}

#[test]
fn what_a_policy_cancels_frees_its_place_first_and_what_it_spares_comes_last() {
    let journal = Journal::default();
    let policy = SheddingPolicy::before_dispatch().sparing_critical();
    let dispatcher = held(Level::new(0).by_laxity().shedding(policy));
    for (name, qos) in [
        ("good", in_time(1)),
        ("spared", hopeless(1).critical()),
        ("cancelled", hopeless(2)),
    ] {
        dispatcher.dispatch(journal.command(name), qos).unwrap();
    }
    let expected = ["cancelled Hopeless", "good", "spared"];
    assert_eq!(outcome(&dispatcher, &journal), expected);
}

/// A dispatcher of this level whose only thread executes a command until the sender is dropped: it has set
/// aside the hopeless ones that were queued before.
fn occupied(
    level: Level,
    journal: &Journal,
    queued: &[(&str, Qos)],
) -> (Dispatcher<Box<dyn Command>>, mpsc::Sender<()>) {
    let dispatcher: Dispatcher<Box<dyn Command>> = Dispatcher::builder().level(level).held().build().unwrap();
    for (name, qos) in queued {
        dispatcher
            .dispatch(Box::new(journal.command(*name)), *qos)
            .unwrap();
    }
    let (enter, entered) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let occupies = move |_: &Execution| {
        enter.send(()).unwrap();
        let _ = released.recv_timeout(LONG);
        Ok(())
    };
    dispatcher.dispatch(Box::new(occupies), in_time(0)).unwrap();
    dispatcher.activate();
    entered.recv_timeout(LONG).unwrap();
    (dispatcher, release)
}

/// Three hopeless commands that the policy does not cancel, set aside.
fn set_aside(level: Level, journal: &Journal) -> (Dispatcher<Box<dyn Command>>, mpsc::Sender<()>) {
    occupied(
        level.by_laxity(),
        journal,
        &[("c", hopeless(3)), ("a", hopeless(1)), ("b", hopeless(2))],
    )
}

#[test]
fn what_is_set_aside_waits_for_later_commands_and_is_ordered_by_laxity() {
    let journal = Journal::default();
    let (dispatcher, release) = set_aside(Level::new(0), &journal);
    let good = Box::new(journal.command("good"));
    dispatcher.dispatch(good, in_time(9)).unwrap();
    assert_eq!(dispatcher.statistics()[0].queued, 4);
    drop(release);
    assert!(dispatcher.wait_until_idle(LONG));
    assert_eq!(journal.take(), ["good", "a", "b", "c"]);
}

#[test]
fn what_is_set_aside_comes_back_with_a_later_deadline() {
    let journal = Journal::default();
    let (dispatcher, release) = set_aside(Level::new(0), &journal);
    assert!(!dispatcher.reschedule(|_| false, |_, _| unreachable!()));
    // Nothing else waits: it is the first of those that were set aside.
    assert!(dispatcher.reschedule(|_| true, |_, qos| qos.deadline = Time(2 * LATER + 5)));
    let good = Box::new(journal.command("good"));
    dispatcher.dispatch(good, in_time(9)).unwrap();
    drop(release);
    assert!(dispatcher.wait_until_idle(LONG));
    assert_eq!(journal.take(), ["a", "good", "b", "c"]);
}

#[test]
fn what_is_set_aside_gives_way_if_it_is_the_oldest() {
    let journal = Journal::default();
    let level = Level::new(0).capacity(4).overflow(Overflow::DropOldest);
    let (dispatcher, release) = set_aside(level, &journal);
    for (name, laxity) in [("good", 9), ("better", 8)] {
        dispatcher
            .dispatch(Box::new(journal.command(name)), in_time(laxity))
            .unwrap();
    }
    drop(release);
    assert!(dispatcher.wait_until_idle(LONG));
    assert_eq!(journal.take(), ["c Dropped", "better", "good", "a", "b"]);
}

#[test]
fn what_is_set_aside_follows_a_new_configuration() {
    let cancels = SheddingPolicy::before_dispatch();
    for (level, expected) in [
        (Level::new(0), ["c", "a", "b", "good"]),
        (Level::new(0).by_deadline(), ["a", "b", "c", "good"]),
        (Level::new(0).by_laxity().capacity(1), ["good", "a", "b", "c"]),
        (
            Level::new(5).by_laxity().shedding(cancels),
            ["a Hopeless", "b Hopeless", "c Hopeless", "good"],
        ),
    ] {
        let journal = Journal::default();
        let (dispatcher, release) = set_aside(Level::new(0), &journal);
        let good = Box::new(journal.command("good"));
        dispatcher.dispatch(good, in_time(9)).unwrap();
        let message = format!("{level:?}");
        dispatcher.reconfigure([level]).unwrap();
        drop(release);
        assert!(dispatcher.wait_until_idle(LONG));
        assert_eq!(journal.take(), expected, "{message}");
    }
}

#[test]
fn the_end_cancels_what_is_set_aside() {
    let journal = Journal::default();
    let (dispatcher, release) = set_aside(Level::new(0), &journal);
    assert!(!dispatcher.end(Duration::ZERO));
    assert_eq!(dispatcher.statistics()[0].discarded, 3);
    let mut told = journal.take();
    told.sort();
    assert_eq!(told, ["a ShutDown", "b ShutDown", "c ShutDown"]);
    drop(release);
}

/// Whether it is hopeless, its laxity from an origin, and its importance.
type Work = (bool, u64, i32);

fn qos((is_hopeless, laxity, importance): Work) -> Qos {
    let qos = match is_hopeless {
        true => hopeless(laxity),
        false => in_time(laxity),
    };
    qos.importance(importance)
}

/// Places of the work in the order of the scheduler, among equals in that of arrival.
fn order_of_muf(all: &[Work]) -> Vec<String> {
    let claims = all.iter().map(|work| {
        let qos = qos(*work);
        let parameters = SchedulingParameters::Urgency {
            criticality: 0,
            deadline: qos.deadline,
            execution_time: qos.execution_time,
            importance: qos.importance,
        };
        Claim::new(parameters, Duration::ZERO)
    });
    let mut claims: Vec<(usize, Claim)> = claims.enumerate().collect();
    let (muf, now) = (MaximumUrgencyFirst::new(), now());
    claims.sort_by(|(_, one), (_, other)| muf.compare(other, one, now));
    claims.iter().map(|(place, _)| place.to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Everything is executed once, in the order of the scheduler.
    #[test]
    fn the_order_is_that_of_the_scheduler(
        all in prop::collection::vec((any::<bool>(), 0..6u64, 0..3i32), 0..80)
    ) {
        let journal = Journal::default();
        let dispatcher = held(Level::new(0).by_laxity());
        for (place, work) in all.iter().enumerate() {
            dispatcher.dispatch(journal.command(place.to_string()), qos(*work)).unwrap();
        }
        prop_assert_eq!(outcome(&dispatcher, &journal), order_of_muf(&all));
    }
}
