//! Native priorities of the threads.

use std::sync::mpsc;

use punctual_dispatch::*;
use punctual_fixtures::realtime_or_skip;
use punctual_os::{CpuSet, Scheduling, scheduling};
use punctual_types::NativePriority;

use crate::{Journal, LONG};

fn fifo(priority: i16) -> Scheduling {
    Scheduling::fifo(NativePriority(priority))
}

fn seen_by(dispatcher: &Dispatcher, level: u32) -> Scheduling {
    let (done, result) = mpsc::channel();
    let command: Box<dyn Command> = Box::new(move |_: &Execution| {
        done.send(scheduling::current()).unwrap();
        Ok(())
    });
    dispatcher.dispatch(command, Qos::new(level)).unwrap();
    result.recv_timeout(LONG).unwrap()
}

#[test]
fn threads_have_the_scheduling_of_their_level_and_adopt_a_new_one() {
    if !realtime_or_skip() {
        return;
    }
    let level = |priority, native| Level::new(priority).scheduling(fifo(native));
    let dispatcher = Dispatcher::builder()
        .level(level(0, 12))
        .level(level(1, 7))
        .build()
        .unwrap();
    assert!(dispatcher.is_real_time());
    assert_eq!(
        (seen_by(&dispatcher, 0), seen_by(&dispatcher, 1)),
        (fifo(12), fifo(7))
    );
    dispatcher
        .reconfigure([level(0, 9), level(1, 8), level(2, 3)])
        .unwrap();
    let seen = [0, 1, 2].map(|level| seen_by(&dispatcher, level));
    assert_eq!(seen, [9, 8, 3].map(fifo));
}

#[test]
fn on_one_processor_a_higher_level_is_executed_first() {
    if !realtime_or_skip() {
        return;
    }
    let journal = Journal::default();
    let level = |priority, native| {
        Level::new(priority)
            .scheduling(fifo(native))
            .cpus(CpuSet::single(0))
    };
    let dispatcher: Dispatcher<_> = Dispatcher::builder()
        .level(level(0, 12))
        .level(level(1, 7))
        .held()
        .build()
        .unwrap();
    for number in 0..20 {
        dispatcher.dispatch(journal.command("low"), Qos::new(1)).unwrap();
        if number % 2 == 0 {
            dispatcher.dispatch(journal.command("high"), Qos::new(0)).unwrap();
        }
    }
    let happened = crate::outcome(&dispatcher, &journal);
    let highs = happened.iter().take_while(|name| *name == "high").count();
    assert_eq!((highs, happened.len()), (10, 30), "{happened:?}");
}
