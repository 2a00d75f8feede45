//! Changes of the levels while commands are queued and executed.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use proptest::prelude::*;
use punctual_dispatch::*;
use punctual_sched::dynamic::Time;

use crate::{Journal, LONG, held, outcome};

#[test]
fn queued_commands_follow_the_new_order() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0));
    for (name, deadline) in [("a", 3), ("b", 1), ("c", 2)] {
        let qos = Qos::new(0).deadline(Time((1 << 60) + deadline));
        dispatcher.dispatch(journal.command(name), qos).unwrap();
    }
    dispatcher.reconfigure([Level::new(0).by_deadline()]).unwrap();
    assert_eq!(outcome(&dispatcher, &journal), ["b", "c", "a"]);
}

#[test]
fn commands_of_a_removed_level_go_to_the_lowest_and_return_to_a_new_one() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0));
    dispatcher.reconfigure([Level::new(0), Level::new(5)]).unwrap();
    dispatcher.dispatch(journal.command("five"), Qos::new(5)).unwrap();
    let queued = || {
        let levels = dispatcher.statistics();
        levels
            .iter()
            .map(|level| (level.preemption_priority, level.queued))
            .collect::<Vec<_>>()
    };
    dispatcher.reconfigure([Level::new(0), Level::new(2)]).unwrap();
    assert_eq!(queued(), [(0, 0), (2, 1)]);
    dispatcher
        .reconfigure([Level::new(0), Level::new(5), Level::new(8)])
        .unwrap();
    assert_eq!(queued(), [(0, 0), (5, 1), (8, 0)]);
    assert_eq!(outcome(&dispatcher, &journal), ["five"]);
}

#[test]
fn a_command_moves_to_another_level_and_keeps_its_place_among_the_arrivals() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0).capacity(2));
    let levels = [
        Level::new(0).capacity(2),
        Level::new(1).capacity(2),
        Level::new(2).by_deadline(),
    ];
    dispatcher.reconfigure(levels).unwrap();
    for (name, level) in [("a", 1), ("b", 0), ("c", 0), ("d", 2), ("e", 2)] {
        dispatcher
            .dispatch(journal.command(name), Qos::new(level))
            .unwrap();
    }
    let queued = || {
        dispatcher
            .statistics()
            .iter()
            .map(|level| level.queued)
            .collect::<Vec<_>>()
    };
    // Though the queue is full.
    assert!(dispatcher.reschedule(|one| one.name == "a", |_, qos| qos.preemption_priority = 0));
    assert_eq!(queued(), [3, 0, 2]);
    assert!(dispatcher.dispatch(journal.command("f"), Qos::new(0)).is_err());
    assert!(dispatcher.reschedule(|one| one.name == "e", |_, qos| qos.deadline = Time(1)));
    for name in ["a", "b", "c"] {
        let to_last = |_: &mut _, qos: &mut Qos| qos.preemption_priority = 2;
        assert!(dispatcher.reschedule(|one| one.name == name, to_last));
    }
    assert_eq!(queued(), [0, 0, 5]);
    assert_eq!(outcome(&dispatcher, &journal), ["e", "a", "b", "c", "d"]);
}

#[test]
fn a_smaller_queue_keeps_what_the_larger_one_held() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0).capacity(4));
    for name in ["a", "b", "c", "d"] {
        dispatcher.dispatch(journal.command(name), Qos::new(0)).unwrap();
    }
    dispatcher.reconfigure([Level::new(0).capacity(2)]).unwrap();
    assert!(dispatcher.dispatch(journal.command("e"), Qos::new(0)).is_err());
    assert_eq!(outcome(&dispatcher, &journal), ["a", "b", "c", "d"]);
}

#[test]
fn a_refused_configuration_changes_nothing() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(3).capacity(1));
    assert!(dispatcher.reconfigure([]).is_err());
    assert!(dispatcher.reconfigure([Level::new(1), Level::new(1)]).is_err());
    dispatcher.dispatch(journal.command("a"), Qos::new(3)).unwrap();
    let level = dispatcher.statistics()[0];
    assert_eq!(
        (level.preemption_priority, level.queued, level.misdirected),
        (3, 1, 0)
    );
}

/// Suppliers, numbers of commands of each, and the levels of each configuration in turn.
fn configurations() -> impl Strategy<Value = Vec<Vec<(u32, usize, bool)>>> {
    let level = (0..4u32, 1..3usize, any::<bool>());
    prop::collection::vec(prop::collection::vec(level, 1..4), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_command_is_lost_or_executed_twice(configurations in configurations()) {
        const SUPPLIERS: usize = 3;
        const EACH: usize = 300;
        let executed = Arc::new(Mutex::new(vec![0_u8; SUPPLIERS * EACH]));
        let blocking = |priority| Level::new(priority).capacity(16).overflow(Overflow::Block(LONG));
        let dispatcher: Dispatcher<_> = Dispatcher::builder().level(blocking(1)).build().unwrap();
        thread::scope(|scope| {
            for supplier in 0..SUPPLIERS {
                let (dispatcher, executed) = (&dispatcher, &executed);
                scope.spawn(move || {
                    for number in supplier * EACH..(supplier + 1) * EACH {
                        let executed = Arc::clone(executed);
                        let command = move |_: &Execution| {
                            executed.lock().unwrap()[number] += 1;
                            Ok(())
                        };
                        dispatcher.dispatch(command, Qos::new(number as u32 % 4)).unwrap();
                    }
                });
            }
            for levels in &configurations {
                let mut levels = levels.clone();
                levels.sort_by_key(|level| level.0);
                levels.dedup_by_key(|level| level.0);
                let of = |(priority, threads, by_deadline): (u32, usize, bool)| {
                    let level = blocking(priority).threads(threads);
                    if by_deadline { level.by_deadline() } else { level }
                };
                dispatcher.reconfigure(levels.into_iter().map(of)).unwrap();
            }
        });
        prop_assert_eq!(dispatcher.shutdown(LONG).ok(), Some(()));
        prop_assert!(executed.lock().unwrap().iter().all(|times| *times == 1));
        let counted = dispatcher.statistics().iter().map(|level| level.executed).sum::<u64>();
        prop_assert_eq!(counted + dispatcher.removed_statistics().executed, (SUPPLIERS * EACH) as u64);
    }
}
