//! The order of single events of several consumers with deadlines in a lane, each by its own arrival.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::Instant,
};

use punctual::{Priority, rtscheduling::SheddingPolicy};
use punctual_events::{EventType, Lane, Order, Overflow, Subscription};
use punctual_fixtures::{LONG, eventually, in_time};

use crate::{
    ALARM, TRACK,
    deadlines::{MS, Noted, SHEDS, blocked, channel, events, note},
};

/// Order in which a lane serves: events 1 and 2 of a consumer with this deadline, of which the first is late
/// when the thread is free, event 3 of another one with a long deadline, and event 4 of one without; and what
/// was cancelled. `None`: too slow.
fn served(
    order: Order,
    shedding: SheddingPolicy,
    deadline: std::time::Duration,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let channel = channel(order, shedding);
    let (delivered, cancelled) = (Noted::default(), Noted::default());
    let notes = |deadline: Option<_>, event_type: EventType| {
        let [delivers, cancels] = [&delivered, &cancelled].map(Arc::clone);
        let consumer = events(&channel, event_type).cancelled(move |event| note(&cancels, event));
        let consumer = match deadline {
            Some(deadline) => consumer.deadline(deadline),
            None => consumer,
        };
        consumer.each(move |event| note(&delivers, &event)).unwrap()
    };
    let _urgent = notes(Some(deadline), TRACK);
    let _other = notes(Some(LONG), ALARM);
    let _untimed = notes(None, EventType(18));
    let (_blocks, release) = blocked(&channel);
    channel.push_octets(TRACK, &[1]).unwrap();
    thread::sleep(deadline);
    let pushed = Instant::now();
    channel.push_octets(EventType(18), &[4]).unwrap();
    channel.push_octets(ALARM, &[3]).unwrap();
    channel.push_octets(TRACK, &[2]).unwrap();
    drop(release);
    let number = || delivered.lock().unwrap().len() + cancelled.lock().unwrap().len();
    eventually("all", || number() == 4);
    let [delivered, cancelled] = [delivered, cancelled].map(|noted| noted.lock().unwrap().clone());
    (pushed.elapsed() < deadline).then_some((delivered, cancelled))
}

#[test]
fn a_late_event_does_not_hold_back_the_next_one_of_its_consumer() {
    let never = SheddingPolicy::never();
    for (order, shedding, expected) in [
        (Order::Laxity, never, (vec![2, 3, 4, 1], vec![])),
        (Order::Laxity, SHEDS, (vec![2, 3, 4], vec![1])),
        (Order::Deadline, never, (vec![1, 2, 3, 4], vec![])),
        (Order::Arrival, never, (vec![1, 4, 3, 2], vec![])),
    ] {
        in_time(500 * MS, |deadline| {
            let Some(served) = served(order, shedding, deadline) else {
                return false;
            };
            assert_eq!(served, expected, "{order:?} {shedding:?}");
            true
        });
    }
}

/// One whose events are all late gives way, until it gets one that can be in time.
#[test]
fn an_event_in_time_passes_late_ones_that_have_been_set_aside() {
    in_time(500 * MS, |deadline| {
        let channel = channel(Order::Laxity, SheddingPolicy::never());
        let delivered = Noted::default();
        let consumer = |deadline, event_type| {
            let delivers = Arc::clone(&delivered);
            let consumer = events(&channel, event_type).deadline(deadline);
            consumer.each(move |event| note(&delivers, &event)).unwrap()
        };
        let _urgent = consumer(deadline, TRACK);
        let _other = consumer(LONG, ALARM);
        let (first, release) = blocked(&channel);
        for number in [1, 2] {
            channel.push_octets(TRACK, &[number]).unwrap();
        }
        thread::sleep(deadline);
        // Occupies the thread once it has set the late ones aside.
        let (enter, entered) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let ended = std::sync::Mutex::new(ended);
        let occupies = events(&channel, EventType(19)).deadline(LONG).each(move |_| {
            enter.send(()).unwrap();
            let _ = ended.lock().unwrap().recv_timeout(LONG);
        });
        channel.push_octets(EventType(19), b"").unwrap();
        drop(release);
        entered.recv_timeout(LONG).unwrap();
        let pushed = Instant::now();
        channel.push_octets(ALARM, &[3]).unwrap();
        channel.push_octets(TRACK, &[4]).unwrap();
        drop(end);
        eventually("all", || delivered.lock().unwrap().len() == 4);
        drop((first, occupies));
        if pushed.elapsed() >= deadline {
            return false;
        }
        assert_eq!(*delivered.lock().unwrap(), [4, 3, 1, 2]);
        true
    });
}

/// A lane by arrival serves events, not consumers: what one has waits for what came before it only.
#[test]
fn a_lane_by_arrival_serves_events_with_deadlines_in_their_order() {
    let channel = channel(Order::Arrival, SheddingPolicy::never());
    let delivered = Noted::default();
    let consumer = |event_type| {
        let delivers = Arc::clone(&delivered);
        let consumer = events(&channel, event_type).deadline(LONG);
        consumer.each(move |event| note(&delivers, &event)).unwrap()
    };
    let _consumers = [TRACK, ALARM].map(consumer);
    let (_blocks, release) = blocked(&channel);
    let order = [TRACK, TRACK, ALARM, TRACK, ALARM, ALARM, TRACK];
    for (number, event_type) in (0..).zip(order) {
        channel.push_octets(event_type, &[number]).unwrap();
    }
    drop(release);
    eventually("all", || delivered.lock().unwrap().len() == order.len());
    assert_eq!(*delivered.lock().unwrap(), [0, 1, 2, 3, 4, 5, 6]);
}

/// Floods of consumers with short queues, of which most events are late, on several threads: each is
/// delivered, cancelled or lost once, whatever rule its queue has, and no consumer is called twice at a time.
#[test]
fn each_event_has_one_fate_on_several_threads() {
    const EVENTS: u32 = 5_000;
    for (order, shedding) in [
        (Order::Laxity, SheddingPolicy::never()),
        (Order::Laxity, SHEDS),
        (Order::Deadline, SHEDS),
        (Order::Arrival, SheddingPolicy::never()),
    ] {
        let lane = Lane {
            order,
            shedding,
            ..Lane::new(Priority::MIN, 3)
        };
        let dispatching = punctual_events::Dispatching::Lanes(vec![lane]);
        let channel = punctual_events::EventChannel::builder()
            .dispatching(dispatching)
            .build()
            .unwrap();
        let rules = [Overflow::DropOldest, Overflow::DropNewest, Overflow::Block(LONG)];
        let consumers: Vec<Subscription> = (0..6)
            .map(|number| {
                let busy = std::sync::Mutex::new(());
                let consumer = events(&channel, TRACK).deadline(MS * (number / 2) / 10);
                let consumer = consumer.queue(8, rules[number as usize % 3]);
                consumer
                    .each(move |_| drop(busy.try_lock().expect("one at a time")))
                    .unwrap()
            })
            .collect();
        for number in 0..EVENTS {
            channel.push_octets(TRACK, &number.to_le_bytes()).unwrap();
        }
        eventually("nothing waits", || {
            consumers.iter().all(|one| {
                let all = one.statistics();
                let undelivered = all.undelivered;
                undelivered.failed == 0
                    && all.delivered + undelivered.cancelled + undelivered.lost == u64::from(EVENTS)
            })
        });
        let last = consumers[2].statistics();
        assert_eq!((last.undelivered.lost, last.waiting), (0, 0));
    }
}
