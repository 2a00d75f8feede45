//! The order of execution within a level and among levels.

use std::time::Duration;

use punctual_dispatch::*;
use punctual_sched::dynamic::Time;

use crate::{Journal, held, outcome};

/// Far in the future, so that none is late.
const LATER: u64 = 1 << 60;

/// Name, deadline, execution time, importance.
const COMMANDS: [(&str, u64, u64, i32); 5] = [
    ("a", 50, 10, 0),
    ("b", 30, 2, 0),
    ("c", 30, 2, 7),
    ("d", 45, 40, 0),
    ("e", 30, 2, 0),
];

fn executed(order: Order) -> String {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0).order(order));
    for (name, deadline, time, importance) in COMMANDS {
        let qos = Qos::new(0)
            .deadline(Time(LATER + deadline))
            .execution_time(Duration::from_nanos(time))
            .importance(importance);
        dispatcher.dispatch(journal.command(name), qos).unwrap();
    }
    dispatcher
        .dispatch(journal.command("never"), Qos::new(0))
        .unwrap();
    outcome(&dispatcher, &journal).join(" ")
}

#[test]
fn each_order_is_that_of_its_definition() {
    assert_eq!(executed(Order::Arrival), "a b c d e never");
    assert_eq!(executed(Order::Deadline), "c b e d a never", "30 30 30 45 50");
    assert_eq!(executed(Order::Laxity), "d c b e a never", "5 28 28 28 40");
}

#[test]
fn a_preemption_priority_without_a_level_goes_to_the_lowest() {
    let journal = Journal::default();
    let dispatcher: Dispatcher<_> = Dispatcher::builder()
        .level(Level::new(4))
        .level(Level::new(2))
        .held()
        .build()
        .unwrap();
    for (name, priority) in [("two", 2), ("three", 3), ("nine", 9)] {
        dispatcher
            .dispatch(journal.command(name), Qos::new(priority))
            .unwrap();
    }
    let queued: Vec<_> = dispatcher
        .statistics()
        .iter()
        .map(|level| (level.preemption_priority, level.queued, level.misdirected))
        .collect();
    assert_eq!(queued, [(2, 1, 0), (4, 2, 2)]);
    assert_eq!(outcome(&dispatcher, &journal).len(), 3);
}

#[test]
fn impossible_levels_are_refused() {
    let build = |levels: Vec<Level>| {
        let built: Result<Dispatcher, _> = Dispatcher::builder().levels(levels).build();
        built.err().map(|error| error.to_string())
    };
    let texts = [
        build(vec![]),
        build(vec![Level::new(3), Level::new(3)]),
        build(vec![Level::new(1).capacity(0)]),
        build(vec![Level::new(1).threads(0)]),
        build(vec![Level::new(1)]),
    ];
    let texts: Vec<_> = texts
        .iter()
        .map(|text| text.as_deref().unwrap_or("built"))
        .collect();
    assert_eq!(
        texts,
        [
            "a dispatcher needs at least one level: add `.level(Level::new(0))`",
            "two levels have preemption priority 3; give each level its own, 0 being the highest",
            "level 1: capacity is 0, and must be at least 1",
            "level 1: threads is 0, and must be at least 1",
            "built",
        ]
    );
}
