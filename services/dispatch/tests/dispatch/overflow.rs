//! Full queues, under each rule.

use std::{thread, time::Duration};

use punctual_dispatch::*;
use punctual_sched::dynamic::Time;

use crate::{Journal, LONG, held, outcome};

#[test]
fn a_command_without_room_is_returned() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(7).capacity(2));
    for name in ["a", "b"] {
        dispatcher.dispatch(journal.command(name), Qos::new(7)).unwrap();
    }
    let rejected = dispatcher
        .dispatch(journal.command("c"), Qos::new(7))
        .unwrap_err();
    assert_eq!(
        rejected.reason,
        Rejection::Full {
            level: 7,
            capacity: 2
        }
    );
    assert_eq!(rejected.command.name, "c");
    let text = "the queue of level 7 is full: it holds 2 commands; raise its capacity or slow down";
    assert_eq!(rejected.to_string(), text);
    assert_eq!(outcome(&dispatcher, &journal), ["a", "b"]);
    let level = dispatcher.statistics()[0];
    assert_eq!((level.executed, level.rejected, level.high_water), (2, 1, 2));
}

#[test]
fn the_oldest_gives_way_whatever_the_order() {
    for order in [Order::Arrival, Order::Deadline, Order::Laxity] {
        let journal = Journal::default();
        let dispatcher = held(
            Level::new(0)
                .order(order)
                .capacity(3)
                .overflow(Overflow::DropOldest),
        );
        // The oldest is the most urgent one.
        for (name, deadline) in [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5)] {
            let qos = Qos::new(0).deadline(Time((1 << 60) + deadline));
            dispatcher.dispatch(journal.command(name), qos).unwrap();
        }
        let happened = outcome(&dispatcher, &journal);
        assert_eq!(happened, ["a Dropped", "b Dropped", "c", "d", "e"], "{order:?}");
        assert_eq!(dispatcher.statistics()[0].dropped, 2);
    }
}

#[test]
fn a_supplier_waits_for_room_until_its_timeout() {
    let journal = Journal::default();
    let full = |timeout| {
        let dispatcher = held(Level::new(0).capacity(1).overflow(Overflow::Block(timeout)));
        dispatcher.dispatch(journal.command("a"), Qos::new(0)).unwrap();
        dispatcher
    };
    let dispatcher = full(Duration::from_millis(1));
    let rejected = dispatcher
        .dispatch(journal.command("b"), Qos::new(0))
        .unwrap_err();
    assert_eq!(
        rejected.reason,
        Rejection::Full {
            level: 0,
            capacity: 1
        }
    );
    drop(dispatcher);
    assert_eq!(journal.take(), ["a ShutDown"]);
    let dispatcher = full(LONG);
    thread::scope(|scope| {
        let supplier = scope.spawn(|| {
            for name in ["b", "c", "d"] {
                dispatcher.dispatch(journal.command(name), Qos::new(0)).unwrap();
            }
        });
        dispatcher.activate();
        supplier.join().unwrap();
    });
    assert!(dispatcher.wait_until_idle(LONG));
    assert_eq!(journal.take(), ["a", "b", "c", "d"]);
    assert_eq!(dispatcher.statistics()[0].high_water, 1);
}

/// The latest point in time of the clock is nearer than that.
#[test]
fn a_timeout_may_have_any_length() {
    let journal = Journal::default();
    let dispatcher = held(Level::new(0).capacity(1).overflow(Overflow::Block(Duration::MAX)));
    dispatcher.dispatch(journal.command("a"), Qos::new(0)).unwrap();
    thread::scope(|scope| {
        let supplier = scope.spawn(|| dispatcher.dispatch(journal.command("b"), Qos::new(0)));
        dispatcher.activate();
        supplier.join().unwrap().unwrap();
    });
    assert!(dispatcher.wait_until_idle(Duration::MAX) && dispatcher.end(Duration::MAX));
    assert_eq!(journal.take(), ["a", "b"]);
}
