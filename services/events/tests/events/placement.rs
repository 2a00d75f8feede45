//! Events that wait for a consumer when it gets another place, and consumers outside a schedule.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use punctual::Priority;
use punctual_events::{
    Dispatching, EventChannel, EventError, EventType, Filter, Lane, Order, Overflow, Subscription,
};
use punctual_fixtures::{LONG, eventually};
use punctual_scheduling::reconfigurable::*;

use crate::{
    ALARM, TRACK,
    remote::{client, host, remote},
};

type Noted = Arc<Mutex<Vec<u8>>>;

fn low(order: Order) -> EventChannel {
    let lane = Lane {
        order,
        ..Lane::new(Priority::MIN, 1)
    };
    let dispatching = Dispatching::Lanes(vec![lane]);
    EventChannel::builder().dispatching(dispatching).build().unwrap()
}

/// A consumer without an operation, whose callback returns when the sender is used or dropped.
fn blocked(channel: &EventChannel, priority: Priority) -> (Subscription, mpsc::Sender<()>) {
    const BLOCK: EventType = EventType(99);
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let (enter, entered) = mpsc::channel();
    let blocks = channel.subscribe_to(Filter::event(BLOCK)).priority(priority);
    let blocks = blocks.each(move |_| {
        enter.send(()).unwrap();
        let _ = released.lock().unwrap().recv();
    });
    channel.push_octets(BLOCK, b"").unwrap();
    entered.recv_timeout(LONG).unwrap();
    (blocks.unwrap(), release)
}

/// A consumer of the lowest priority that notes the first octet of each event.
fn noting(channel: &EventChannel, event_type: EventType, name: &str, noted: &Noted) -> Subscription {
    let noted = Arc::clone(noted);
    let consumer = channel.subscribe_to(Filter::event(event_type)).name(name);
    let consumer = consumer.queue(16, Overflow::DropOldest);
    consumer
        .each(move |event| noted.lock().unwrap().push(event.data.payload[0]))
        .unwrap()
}

fn has_noted(noted: &Noted, expected: &[u8]) {
    eventually("as many as expected", || {
        noted.lock().unwrap().len() >= expected.len()
    });
    assert_eq!(*noted.lock().unwrap(), expected);
}

/// Operations with their periods in seconds.
fn schedule(strategy: Strategy, operations: &[(&str, u64)]) -> ReconfigurableScheduler {
    let mut scheduler = ReconfigurableScheduler::new(strategy);
    for (name, period) in operations {
        let operation = Operation::new(*name, Criticality::VeryHigh)
            .tuple(Duration::from_secs(*period), Duration::from_millis(1));
        scheduler.add(operation).unwrap();
    }
    assert!(scheduler.compute().is_empty());
    scheduler
}

#[test]
fn what_waits_follows_its_consumer_to_another_lane() {
    let channel = low(Order::Arrival);
    let noted = Noted::default();
    let [high, lower] = [Priority::MAX, Priority::MIN].map(|priority| Lane::new(priority, 1));
    channel.reconfigure([high, lower], |_| None).unwrap();
    let urgent = noting(&channel, TRACK, "urgent", &noted);
    let (_blocks, release) = blocked(&channel, Priority::MIN);
    let push = |number| channel.push_octets(TRACK, &[number]).unwrap();
    push(1);
    push(2);
    let place = |priority| {
        move |one: &punctual_events::ConsumerStatistics| (one.name == "urgent").then_some(priority)
    };
    channel.reconfigure([high, lower], place(Priority::MAX)).unwrap();
    push(3);
    has_noted(&noted, &[1, 2, 3]);
    // And back, where it waits.
    let (_occupies, end) = blocked(&channel, Priority::MAX);
    push(4);
    channel.reconfigure([high, lower], place(Priority::MIN)).unwrap();
    push(5);
    drop(end);
    assert_eq!(urgent.statistics().waiting, 2);
    drop(release);
    has_noted(&noted, &[1, 2, 3, 4, 5]);
    assert_eq!(urgent.statistics().undelivered.lost, 0);
}

#[test]
fn what_waits_follows_a_name_that_a_consumer_gets_later() {
    let host = host(low(Order::Arrival));
    let channel = &host.channel;
    let lanes = Lane::descending(Priority::MAX);
    channel
        .follow(schedule(Strategy::Rms, &[("radar", 1)]), lanes)
        .unwrap();
    let (_blocks, release) = blocked(channel, Priority::MIN);
    let client = client();
    let noted = Noted::default();
    let notes = Arc::clone(&noted);
    let radar = remote(&client, &host)
        .subscribe(&client.poa, &Filter::event(TRACK), move |set| {
            let numbers = set.iter().map(|event| event.data.payload[0]);
            notes.lock().unwrap().extend(numbers);
        })
        .unwrap();
    (0..2).for_each(|number| assert_eq!(channel.push_octets(TRACK, &[number]).unwrap(), 1));
    radar.set_name("radar").unwrap();
    channel.push_octets(TRACK, &[2]).unwrap();
    has_noted(&noted, &[0, 1, 2]);
    drop(release);
}

#[test]
fn what_waited_without_a_deadline_gets_that_of_the_schedule() {
    let edf = schedule(
        Strategy::Edf,
        &[("early", 1_000), ("late", 2_000), ("last", 4_000)],
    );
    let channel = low(Order::Arrival);
    let noted = Noted::default();
    let [last, late, early] = [(ALARM, "last"), (EventType(18), "late"), (TRACK, "early")]
        .map(|(event_type, name)| (noting(&channel, event_type, name, &noted), event_type));
    let (_blocks, release) = blocked(&channel, Priority::MIN);
    // Before the schedule, in the order of arrival; `late` only afterwards.
    channel.push_octets(last.1, &[3]).unwrap();
    channel.push_octets(early.1, &[1]).unwrap();
    channel.follow(edf, Lane::descending(Priority::MAX)).unwrap();
    channel.push_octets(late.1, &[2]).unwrap();
    channel.push_octets(early.1, &[4]).unwrap();
    drop(release);
    // The second one of `early` has a deadline before those of the others.
    has_noted(&noted, &[1, 4, 2, 3]);
}

/// Places change all the time while consumers are blocked, with deadlines and without.
#[test]
fn nothing_is_lost_repeated_or_overtaken_by_changes_while_lanes_are_occupied() {
    const EVENTS: u16 = 400;
    let channel = low(Order::Arrival);
    let noted: [Arc<Mutex<Vec<u16>>>; 3] = Default::default();
    let names = ["radar", "display", "log"];
    let _consumers: Vec<_> = names
        .iter()
        .zip(&noted)
        .map(|(name, noted)| {
            let noted = Arc::clone(noted);
            let consumer = channel.subscribe_to(Filter::event(TRACK)).name(*name);
            let consumer = consumer.queue(usize::from(EVENTS), Overflow::DropNewest);
            let note = move |number: &[u8]| {
                noted
                    .lock()
                    .unwrap()
                    .push(u16::from_le_bytes([number[0], number[1]]));
            };
            consumer.each(move |event| note(&event.data.payload)).unwrap()
        })
        .collect();
    let schedules = [
        schedule(Strategy::Rms, &[("radar", 1), ("display", 2)]),
        schedule(Strategy::Edf, &[("display", 1), ("radar", 3)]),
        schedule(Strategy::Muf, &[("log", 1)]),
    ];
    thread::scope(|scope| {
        let supplier = scope.spawn(|| {
            for number in 0..EVENTS {
                channel.push_octets(TRACK, &number.to_le_bytes()).unwrap();
                if number % 16 == 0 {
                    thread::yield_now();
                }
            }
        });
        for round in 0.. {
            let (blocks, release) = blocked(&channel, Priority::MIN);
            let lane = Lane::descending(Priority::MAX);
            channel.follow(schedules[round % 3].clone(), lane).unwrap();
            if round % 4 == 0 {
                let lanes = [Lane::new(Priority::MIN, 1), Lane::new(Priority::MAX, 1)];
                channel.reconfigure(lanes, |_| None).unwrap();
            }
            drop((release, blocks));
            if supplier.is_finished() && round >= 12 {
                break;
            }
        }
    });
    let all: Vec<u16> = (0..EVENTS).collect();
    for noted in &noted {
        eventually("all events", || noted.lock().unwrap().len() >= all.len());
        assert_eq!(*noted.lock().unwrap(), all);
    }
}

#[test]
fn who_is_not_in_the_schedule_is_served_below_its_lanes() {
    let channel = low(Order::Arrival);
    let (noted, tailed): (Noted, Noted) = Default::default();
    let _radar = noting(&channel, TRACK, "radar", &noted);
    let lanes = Lane::descending(Priority::MAX);
    let muf = schedule(Strategy::Muf, &[("radar", 1)]);
    channel.follow(muf, lanes).unwrap();
    // Also one that asks for the highest priority, and comes later.
    let (blocks, release) = blocked(&channel, Priority::MAX);
    let _tail = noting(&channel, TRACK, "tail", &tailed);
    for number in 0..3 {
        channel.push_octets(TRACK, &[number]).unwrap();
    }
    has_noted(&noted, &[0, 1, 2]);
    assert!(tailed.lock().unwrap().is_empty());
    assert_eq!(blocks.statistics().priority, Priority::MAX);
    drop(release);
    has_noted(&tailed, &[0, 1, 2]);
}

/// Lanes of the channel below those of the schedule stay, with their threads.
#[test]
fn lanes_of_the_channel_below_the_schedule_stay() {
    let priority = |value| Priority::new(value).unwrap();
    let lanes = [
        Lane::new(priority(0), 1),
        Lane::new(priority(100), 1),
        Lane::new(priority(300), 1),
    ];
    let dispatching = Dispatching::Lanes(lanes.to_vec());
    let channel = EventChannel::builder().dispatching(dispatching).build().unwrap();
    let noted = Noted::default();
    let rms = schedule(Strategy::Rms, &[("radar", 1), ("display", 2)]);
    for highest in [200, 200, 301] {
        channel
            .follow(rms.clone(), Lane::descending(priority(highest)))
            .unwrap();
        let (_lowest, release) = blocked(&channel, priority(99));
        let between = channel.subscribe_to(Filter::event(TRACK)).priority(priority(250));
        let notes = Arc::clone(&noted);
        let between = between.each(move |event| notes.lock().unwrap().push(event.data.payload[0]));
        channel.push_octets(TRACK, b"x").unwrap();
        has_noted(&noted, b"x");
        noted.lock().unwrap().clear();
        drop((between, release));
    }
    let refused = channel.follow(rms, Lane::descending(priority(1))).unwrap_err();
    assert!(matches!(refused, EventError::NoLaneBelow), "{refused}");
}
