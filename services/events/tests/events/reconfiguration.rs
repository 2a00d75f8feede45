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

use crate::{
    TRACK, Track,
    remote::{client, host, remote},
    track,
};

type Nothing = fn(&Execution) -> Result<(), punctual_dispatch::Hopeless>;

const NAMES: [&str; 2] = ["radar", "display"];

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
    let follows = channel.clone();
    let passed_on = scheduled.pass_on(move |schedule| {
        let lane = Lane::descending(Priority::new(30_000).unwrap());
        Ok(follows.follow(schedule.clone(), lane)?)
    });
    passed_on.unwrap();
    let mut changes = 0;
    while !supplier.is_finished() || changes < 4 {
        let fast = NAMES[changes % 2];
        scheduled.reconfigure(rates(fast)).unwrap();
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
    assert!(consumers.iter().all(|one| one.statistics().undelivered.lost == 0));
}

#[test]
fn lanes_that_cannot_be_used_change_nothing() {
    let channel = EventChannel::builder().lane(Priority::MIN, 1).build().unwrap();
    let consumer = channel.subscribe_to(Filter::event(TRACK)).each(|_| {}).unwrap();
    let idle = Lane::new(Priority::MAX, 0);
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

/// A consumer without an operation, and an operation that stops, keep what they have.
#[test]
fn only_consumers_whose_operations_run_get_new_priorities() {
    let priority = |value| Priority::new(value).unwrap();
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let ms = Duration::from_millis;
    let add = |scheduler: &mut ReconfigurableScheduler, name| {
        let operation = Operation::new(name, Criticality::Low).tuple(ms(10), ms(1));
        scheduler.add(operation).unwrap()
    };
    let ids = NAMES.map(|name| add(&mut scheduler, name));
    let channel = EventChannel::builder().lane(priority(7), 1).build().unwrap();
    let consumer = |name| {
        let consumer = channel.subscribe_to(Filter::event(TRACK)).name(name);
        consumer.priority(priority(7)).each(|_| {}).unwrap()
    };
    let consumers = ["radar", "display", "log"].map(consumer);
    let lane = || Lane::descending(priority(100));
    let priorities = || {
        let values = consumers.each_ref().map(|one| one.statistics().priority.value());
        let push = channel.push_octets(TRACK, b"x");
        push.map(|reached| (reached, values)).unwrap()
    };
    // Before a computation there are no levels.
    channel.follow(scheduler.clone(), lane()).unwrap();
    assert_eq!(priorities(), (3, [7, 7, 7]));
    scheduler.replace(ids[1], vec![]).unwrap();
    scheduler.compute();
    channel.follow(scheduler.clone(), lane()).unwrap();
    assert_eq!(priorities(), (3, [100, 7, 7]), "the display does not run");
    scheduler
        .replace(
            ids[1],
            vec![RateTuple {
                period: ms(5),
                wcet: ms(1),
            }],
        )
        .unwrap();
    scheduler.compute();
    channel.follow(scheduler.clone(), lane()).unwrap();
    assert_eq!(priorities(), (3, [99, 100, 7]));
    for id in ids {
        scheduler.enable(id, false).unwrap();
    }
    scheduler.compute();
    channel.follow(scheduler.clone(), lane()).unwrap();
    assert_eq!(priorities(), (3, [99, 100, 7]), "nothing runs, nothing changes");
    eventually("all deliveries", || {
        consumers.iter().all(|one| one.statistics().delivered == 4)
    });
}

#[test]
fn a_schedule_that_is_followed_also_places_consumers_that_come_later() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    for (name, period) in [("radar", 10), ("display", 100)] {
        let period = Duration::from_millis(period);
        let operation = Operation::new(name, Criticality::High).tuple(period, Duration::from_millis(1));
        scheduler.add(operation).unwrap();
    }
    scheduler.compute();
    let host = host(EventChannel::builder().lane(Priority::MIN, 1).build().unwrap());
    let lanes = || Lane::descending(Priority::MAX);
    host.channel.follow(scheduler.clone(), lanes()).unwrap();
    let filter = Filter::event(TRACK);
    let priorities = || -> Vec<(String, i16)> {
        let consumers = host.channel.statistics().consumers.into_iter();
        consumers.map(|one| (one.name, one.priority.value())).collect()
    };
    let shown = |list: &[(&str, i16)]| -> Vec<(String, i16)> {
        list.iter()
            .map(|(name, priority)| ((*name).to_owned(), *priority))
            .collect()
    };
    let radar = host
        .channel
        .subscribe_to(filter.clone())
        .name("radar")
        .receiver()
        .unwrap();
    let client = client();
    let display = remote(&client, &host)
        .subscribe(&client.poa, &filter, |_| {})
        .unwrap();
    let shown_at_first = priorities();
    let (address, lowest) = &shown_at_first[1];
    assert!(
        address.starts_with("localhost:") && *lowest == 0,
        "{shown_at_first:?}"
    );
    display.set_name("display").unwrap();
    assert_eq!(priorities(), shown(&[("radar", 32_767), ("display", 32_766)]));
    // The first name stays; empty and endless ones are refused.
    display.set_name("radar").unwrap();
    assert!(display.set_name("").is_err() && display.set_name(&"x".repeat(1_000)).is_err());
    assert_eq!(priorities(), shown(&[("radar", 32_767), ("display", 32_766)]));
    drop((radar, display));
    // A schedule that cannot be adopted leaves the other one in force.
    let without_threads = |_| Lane::new(Priority::MIN, 0);
    assert!(host.channel.follow(scheduler.clone(), without_threads).is_err());
    let later = || {
        host.channel
            .subscribe_to(filter.clone())
            .name("radar")
            .receiver()
            .unwrap()
    };
    let radar = later();
    assert_eq!(radar.subscription().statistics().priority, Priority::MAX);
    // Nor is it followed any more once other lanes have come into force.
    host.channel
        .reconfigure([Lane::new(Priority::MIN, 1)], |_| None)
        .unwrap();
    assert_eq!(later().subscription().statistics().priority, Priority::MIN);
}
