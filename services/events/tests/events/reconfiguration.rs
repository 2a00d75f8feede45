//! Lanes and priorities that change while events are under way.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use punctual::Priority;
use punctual_dispatch::Execution;
use punctual_events::{EventChannel, EventError, Filter, Lane, Overflow};
use punctual_fixtures::{LONG, eventually};
use punctual_scheduling::{ScheduledDispatcher, reconfigurable::*};

use crate::{TRACK, Track, track};

type Nothing = fn(&Execution) -> Result<(), punctual_dispatch::Hopeless>;

const NAMES: [&str; 2] = ["radar", "display"];

/// Adopts lanes and priorities of the schedule in force: consumers have the names of operations.
fn adopt(channel: &EventChannel, schedule: &ReconfigurableScheduler) -> Result<(), EventError> {
    let of_level = |level: u32| Priority::new(30_000 - i16::try_from(level).unwrap()).unwrap();
    let lanes = (0..).zip(schedule.levels()).map(|(level, _)| Lane {
        priority: of_level(level),
        threads: 1,
    });
    let ids = (0..).map(OperationId).zip(schedule.operations());
    let levels: Vec<_> = ids
        .map(|(id, operation)| {
            (
                operation.name.clone(),
                schedule.assignment(id).and_then(|one| one.level),
            )
        })
        .collect();
    channel.reconfigure(lanes, |consumer| {
        let (_, level) = levels.iter().find(|(name, _)| *name == consumer.name)?;
        level.map(of_level)
    })
}

/// A schedule by rates: the operation with this name has the shorter period.
fn rates(fast: &str) -> impl Fn(&mut ReconfigurableScheduler) {
    let index = NAMES.iter().position(|name| *name == fast).unwrap();
    move |scheduler| {
        for (id, _) in (0u32..).zip(NAMES) {
            let period = if id as usize == index { 10 } else { 100 };
            let tuple = RateTuple {
                period: Duration::from_millis(period),
                wcet: Duration::from_millis(1),
            };
            scheduler.replace(OperationId(id), vec![tuple]).unwrap();
        }
    }
}

#[test]
fn a_new_schedule_changes_lanes_and_priorities_and_loses_no_event() {
    const EVENTS: i32 = 20_000;
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    for name in NAMES {
        let operation = Operation::new(name, Criticality::High)
            .tuple(Duration::from_millis(50), Duration::from_millis(1));
        scheduler.add(operation).unwrap();
    }
    let scheduled = ScheduledDispatcher::<Nothing>::start(scheduler, |_, level| level).unwrap();
    let channel = EventChannel::builder().lane(Priority::MIN, 1).build().unwrap();
    let got: [Arc<Mutex<Vec<i32>>>; 2] = Default::default();
    let consumers: Vec<_> = NAMES
        .iter()
        .zip(&got)
        .map(|(name, got)| {
            let got = Arc::clone(got);
            let consumer = channel
                .subscribe::<Track>()
                .name(*name)
                .queue(64, Overflow::Block(LONG));
            consumer
                .each(move |track| got.lock().unwrap().push(track.number))
                .unwrap()
        })
        .collect();
    let supplier = {
        let tracks = channel.publish::<Track>();
        thread::spawn(move || {
            (0..EVENTS).for_each(|number| assert_eq!(tracks.push(&track(number)).unwrap(), 2))
        })
    };
    let mut changes = 0;
    while !supplier.is_finished() || changes < 4 {
        let fast = NAMES[changes % 2];
        scheduled.reconfigure(rates(fast)).unwrap();
        adopt(&channel, &scheduled.scheduler()).unwrap();
        let first = &channel.statistics().consumers[0];
        assert_eq!(
            (&*first.name, first.priority.value()),
            (fast, 30_000),
            "the highest priority comes first"
        );
        changes += 1;
    }
    supplier.join().unwrap();
    let all: Vec<i32> = (0..EVENTS).collect();
    eventually("all events", || {
        got.iter().all(|got| got.lock().unwrap().len() == all.len())
    });
    assert!(
        got.iter().all(|got| *got.lock().unwrap() == all),
        "in their order"
    );
    assert!(consumers.iter().all(|one| one.statistics().lost == 0));
}

#[test]
fn lanes_that_cannot_be_used_change_nothing() {
    let channel = EventChannel::builder().lane(Priority::MIN, 1).build().unwrap();
    let consumer = channel.subscribe_to(Filter::event(TRACK)).each(|_| {}).unwrap();
    let idle = Lane {
        priority: Priority::MAX,
        threads: 0,
    };
    for lanes in [vec![], vec![idle]] {
        assert!(channel.reconfigure(lanes, |_| Some(Priority::MAX)).is_err());
    }
    assert_eq!(consumer.statistics().priority, Priority::MIN);
    channel.push_octets(TRACK, b"x").unwrap();
    eventually("delivered", || consumer.statistics().delivered == 1);
    let reactive = EventChannel::builder().build().unwrap();
    assert!(matches!(
        reactive.reconfigure([], |_| None),
        Err(EventError::WithoutLanes)
    ));
}
