//! Deliveries with deadlines: their order in a lane, and what becomes of late ones.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use punctual::{Priority, rtscheduling::SheddingPolicy};
use punctual_events::{
    Dispatching, EventChannel, EventError, EventType, Filter, Lane, Order, Overflow, Subscription,
    SubscriptionBuilder,
};
use punctual_fixtures::{LONG, eventually, in_time};
use punctual_scheduling::reconfigurable::*;

use crate::{ALARM, TRACK};

pub const MS: Duration = Duration::from_millis(1);
pub const SHEDS: SheddingPolicy = SheddingPolicy::before_dispatch().sparing_critical();

/// A channel with one lane of one thread.
pub fn channel(order: Order, shedding: SheddingPolicy) -> EventChannel {
    let lane = Lane {
        order,
        shedding,
        ..Lane::new(Priority::MIN, 1)
    };
    let dispatching = Dispatching::Lanes(vec![lane]);
    EventChannel::builder().dispatching(dispatching).build().unwrap()
}

pub fn events(channel: &EventChannel, event_type: EventType) -> SubscriptionBuilder<punctual_events::Events> {
    channel.subscribe_to(Filter::event(event_type))
}

/// Keeps the thread of the lane until the sender is used or dropped.
pub fn blocked(channel: &EventChannel) -> (Subscription, mpsc::Sender<()>) {
    const BLOCK: EventType = EventType(99);
    let (release, released) = mpsc::channel();
    let released = Mutex::new(released);
    let (enter, entered) = mpsc::channel();
    let blocks = events(channel, BLOCK).each(move |_| {
        enter.send(()).unwrap();
        let _ = released.lock().unwrap().recv_timeout(LONG);
    });
    channel.push_octets(BLOCK, b"").unwrap();
    entered.recv_timeout(LONG).unwrap();
    (blocks.unwrap(), release)
}

pub type Noted = Arc<Mutex<Vec<u8>>>;

pub fn note(noted: &Noted, event: &punctual_events::rtec::rtec_event_comm::Event) {
    noted.lock().unwrap().push(event.data.payload[0]);
}

#[test]
fn events_that_cannot_meet_their_deadline_are_cancelled() {
    let channel = channel(Order::Arrival, SHEDS);
    let (given_up, delivered): (Noted, Noted) = Default::default();
    let [cancels, delivers, spares] = [&given_up, &delivered, &delivered].map(Arc::clone);
    let hopeless = events(&channel, TRACK).deadline(MS).execution_time(2 * MS);
    let hopeless = hopeless
        .cancelled(move |event| note(&cancels, event))
        .each(|_| panic!("it takes longer than it may"))
        .unwrap();
    let in_time = events(&channel, TRACK).deadline(LONG);
    let in_time = in_time.each(move |event| note(&delivers, &event)).unwrap();
    let spared = events(&channel, ALARM).deadline(MS).execution_time(2 * MS);
    let spared = spared
        .critical()
        .each(move |event| note(&spares, &event))
        .unwrap();
    for number in 0..3 {
        channel.push_octets(TRACK, &[number]).unwrap();
    }
    eventually("all are delivered or cancelled", || {
        in_time.statistics().delivered == 3 && hopeless.statistics().undelivered.cancelled == 3
    });
    channel.push_octets(ALARM, &[9]).unwrap();
    eventually("critical ones are spared", || spared.statistics().delivered == 1);
    assert_eq!(*given_up.lock().unwrap(), [0, 1, 2]);
    assert_eq!(*delivered.lock().unwrap(), [0, 1, 2, 9]);
    let statistics = hopeless.statistics();
    assert_eq!(
        (
            statistics.delivered,
            statistics.undelivered.lost,
            statistics.undelivered.failed,
            statistics.waiting
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(channel.statistics().undelivered.cancelled, 3);
}

#[test]
fn late_events_are_delivered_and_counted_without_a_policy() {
    let channel = channel(Order::Arrival, SheddingPolicy::never());
    let late = events(&channel, TRACK)
        .deadline(Duration::ZERO)
        .each(|_| {})
        .unwrap();
    let untimed = events(&channel, TRACK).each(|_| {}).unwrap();
    for _ in 0..3 {
        channel.push_octets(TRACK, b"x").unwrap();
    }
    let delivered = |one: &Subscription| one.statistics().delivered;
    eventually("all", || delivered(&late) == 3 && delivered(&untimed) == 3);
    assert_eq!((late.statistics().late, untimed.statistics().late), (3, 0));
    assert_eq!(late.statistics().undelivered.cancelled, 0);
}

/// Order in which a lane serves consumers 1, 2, ... with these deadlines, of which it has one event each.
fn served(lane_order: Order, shedding: SheddingPolicy, deadlines: [Option<Duration>; 4]) -> Vec<u8> {
    let channel = channel(lane_order, shedding);
    let order: Noted = Noted::default();
    let consumer = |number: u8, deadline: Option<Duration>| {
        let order = Arc::clone(&order);
        let consumer = events(&channel, TRACK);
        let consumer = match deadline {
            Some(deadline) => consumer.deadline(deadline),
            None => consumer,
        };
        consumer
            .each(move |_| order.lock().unwrap().push(number))
            .unwrap()
    };
    let numbered = (1..).zip(deadlines);
    let _consumers: Vec<_> = numbered
        .map(|(number, deadline)| consumer(number, deadline))
        .collect();
    let (_blocks, release) = blocked(&channel);
    channel.push_octets(TRACK, b"x").unwrap();
    drop(release);
    eventually("all", || order.lock().unwrap().len() == 4);
    order.lock().unwrap().clone()
}

#[test]
fn a_lane_serves_by_deadline_and_consumers_without_one_last() {
    let deadlines = [None, Some(2 * LONG), Some(LONG), Some(3 * LONG)];
    assert_eq!(served(Order::Deadline, SHEDS, deadlines), [3, 2, 4, 1]);
}

#[test]
fn a_lane_by_laxity_serves_what_is_late_last() {
    let never = SheddingPolicy::never();
    let deadlines = [Some(Duration::ZERO), Some(2 * LONG), None, Some(LONG)];
    assert_eq!(served(Order::Laxity, never, deadlines), [4, 2, 3, 1]);
    assert_eq!(served(Order::Deadline, never, deadlines), [1, 4, 2, 3]);
}

/// An event that overflow has removed does not take the next one with it.
#[test]
fn only_the_hopeless_event_is_cancelled() {
    in_time(500 * MS, |deadline| {
        let channel = channel(Order::Arrival, SHEDS);
        let delivered = Noted::default();
        let delivers = Arc::clone(&delivered);
        let consumer = events(&channel, TRACK)
            .deadline(deadline)
            .queue(1, Overflow::DropOldest);
        let consumer = consumer.each(move |event| note(&delivers, &event)).unwrap();
        let (_blocks, release) = blocked(&channel);
        channel.push_octets(TRACK, &[1]).unwrap();
        thread::sleep(deadline);
        let pushed = Instant::now();
        channel.push_octets(TRACK, &[2]).unwrap();
        drop(release);
        eventually("it is delivered or cancelled", || {
            let statistics = consumer.statistics();
            statistics.delivered + statistics.undelivered.cancelled == 1
        });
        if pushed.elapsed() >= deadline {
            return false;
        }
        let statistics = consumer.statistics();
        assert_eq!(
            (statistics.undelivered.lost, statistics.undelivered.cancelled),
            (1, 0)
        );
        assert_eq!(*delivered.lock().unwrap(), [2]);
        true
    });
}

/// The event that takes the place of a dropped one has its own deadline, not the one that has passed.
#[test]
fn overflow_leaves_no_deadline_behind() {
    in_time(500 * MS, |deadline| {
        let channel = channel(Order::Laxity, SheddingPolicy::never());
        let delivered = Noted::default();
        let [first, second] = [&delivered, &delivered].map(Arc::clone);
        let urgent = events(&channel, TRACK)
            .deadline(deadline)
            .queue(1, Overflow::DropOldest);
        let _urgent = urgent.each(move |event| note(&first, &event)).unwrap();
        let other = events(&channel, ALARM).deadline(LONG);
        let _other = other.each(move |event| note(&second, &event)).unwrap();
        let (_blocks, release) = blocked(&channel);
        channel.push_octets(TRACK, &[1]).unwrap();
        thread::sleep(deadline);
        let pushed = Instant::now();
        channel.push_octets(TRACK, &[2]).unwrap();
        channel.push_octets(ALARM, &[3]).unwrap();
        drop(release);
        eventually("both are delivered", || delivered.lock().unwrap().len() == 2);
        if pushed.elapsed() >= deadline {
            return false;
        }
        assert_eq!(*delivered.lock().unwrap(), [2, 3]);
        true
    });
}

#[test]
fn a_schedule_brings_order_and_timing() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::RmsMlf);
    // The period is the deadline, and leaves no time.
    let operation = Operation::new("display", Criticality::Low).tuple(MS, MS);
    scheduler.add(operation).unwrap();
    scheduler.compute();
    let channel = channel(Order::Arrival, SHEDS);
    let display = events(&channel, TRACK).name("display");
    let display = display.each(|_| panic!("it is hopeless")).unwrap();
    let log = events(&channel, TRACK).name("log").each(|_| {}).unwrap();
    let descending = Lane::descending(Priority::MAX);
    let lane = move |level| Lane {
        shedding: SHEDS,
        ..descending(level)
    };
    channel.follow(scheduler, lane).unwrap();
    channel.push_octets(TRACK, b"x").unwrap();
    eventually("cancelled", || display.statistics().undelivered.cancelled == 1);
    eventually("delivered", || log.statistics().delivered == 1);
}

#[test]
fn lanes_with_checkpoints_or_retries_are_refused() {
    for shedding in [SheddingPolicy::at_checkpoints(), SHEDS.retrying(1)] {
        let lane = Lane {
            shedding,
            ..Lane::new(Priority::MAX, 1)
        };
        let built = EventChannel::builder()
            .dispatching(Dispatching::Lanes(vec![lane]))
            .build();
        let refused = built.map(|_| ()).unwrap_err();
        assert!(
            matches!(refused, EventError::Shedding(Priority::MAX)),
            "{refused}"
        );
        // A channel in operation keeps its lanes.
        let channel = channel(Order::Arrival, SHEDS);
        assert!(channel.reconfigure([lane], |_| None).is_err());
    }
}
