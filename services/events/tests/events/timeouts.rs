//! Timeouts of filters.

use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

use punctual::Priority;
use punctual_events::{
    ChannelLimits, EventChannel, EventError, EventType, Filter, FilterError, FilterLimits, Overflow,
};
use punctual_fixtures::{LONG, eventually};

use crate::TRACK;

const SHORT: Duration = Duration::from_millis(5);

#[test]
fn an_interval_fires_again_and_again_and_a_delay_once() {
    let channel = EventChannel::builder().build().unwrap();
    let filter = Filter::any_of([Filter::every(SHORT), Filter::after(SHORT)]);
    let timeouts = channel.subscribe_to(filter).receiver().unwrap();
    let mut types = Vec::new();
    while types
        .iter()
        .filter(|one| **one == EventType::INTERVAL_TIMEOUT)
        .count()
        < 5
    {
        types.push(EventType(timeouts.recv_timeout(LONG).unwrap().header.r#type));
    }
    let once = types.iter().filter(|one| **one == EventType::TIMEOUT).count();
    assert_eq!(once, 1, "{types:?}");
}

#[test]
fn a_deadline_fires_only_while_the_events_of_its_group_are_late() {
    let channel = EventChannel::builder().build().unwrap();
    let long = Duration::from_secs(3_600);
    let quiet = Filter::any_of([Filter::event(TRACK), Filter::unless_within(long)]);
    let never = channel.subscribe_to(quiet).receiver().unwrap();
    let late = Filter::any_of([Filter::event(TRACK), Filter::unless_within(SHORT)]);
    let late = channel.subscribe_to(late).receiver().unwrap();
    let first = late.recv_timeout(LONG).unwrap();
    assert_eq!(first.header.r#type, EventType::DEADLINE_TIMEOUT.0);
    assert!(never.try_recv().is_none());
}

#[test]
fn nothing_fires_after_the_subscription_has_ended() {
    let channel = EventChannel::builder().build().unwrap();
    let timeouts = channel.subscribe_to(Filter::every(SHORT)).receiver().unwrap();
    timeouts.recv_timeout(LONG).unwrap();
    drop(timeouts);
    let fired = channel.statistics().timeouts;
    let other = channel.subscribe_to(Filter::after(SHORT * 4)).receiver().unwrap();
    other.recv_timeout(LONG).unwrap();
    eventually("at most one was on its way", || {
        channel.statistics().timeouts <= fired + 2
    });
}

#[test]
fn timeouts_do_not_wait_for_a_consumer_without_room() {
    let lanes = EventChannel::builder()
        .lane(Priority::MIN, 1)
        .lane(Priority::MAX, 1);
    let channel = lanes.build().unwrap();
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let full = channel.subscribe_to(Filter::every(SHORT));
    let full = full.queue(1, Overflow::Block(LONG)).each(move |_| {
        let _ = blocked.lock().unwrap().recv();
    });
    let full = full.unwrap();
    let other = channel.subscribe_to(Filter::every(SHORT)).receiver().unwrap();
    eventually("lost without waiting", || full.statistics().undelivered.lost >= 3);
    for _ in 0..5 {
        assert!(other.recv_timeout(LONG).is_some());
    }
    assert_eq!((full.statistics().delivered, full.statistics().waiting), (0, 1));
    drop(release);
}

#[test]
fn a_channel_ends_although_the_callback_of_a_timeout_does_not_return() {
    let limits = ChannelLimits {
        ending: SHORT,
        ..ChannelLimits::default()
    };
    let channel = EventChannel::builder().limits(limits).build().unwrap();
    let (begins, begun) = mpsc::channel();
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let callback = move |_| {
        begins.send(()).unwrap();
        let _ = blocked.lock().unwrap().recv();
        begins.send(()).unwrap();
    };
    let subscription = channel.subscribe_to(Filter::after(SHORT)).each(callback).unwrap();
    begun.recv_timeout(LONG).unwrap();
    channel.destroy();
    assert!(begun.try_recv().is_err(), "it has not returned");
    drop((subscription, release));
    begun.recv_timeout(LONG).unwrap();
}

#[test]
fn timeouts_of_a_filter_and_of_a_channel_are_limited() {
    let filter = FilterLimits {
        timers: 2,
        all_timers: 3,
        ..FilterLimits::default()
    };
    let limits = ChannelLimits {
        filter,
        ..ChannelLimits::default()
    };
    let channel = EventChannel::builder().limits(limits).build().unwrap();
    let subscribe = |number: usize| {
        let filter = Filter::any_of((0..number).map(|_| Filter::after(LONG)));
        channel.subscribe_to(filter).receiver()
    };
    let many = subscribe(3).err().unwrap();
    let error = FilterError::TooManyTimeouts { timers: 3, limit: 2 };
    assert!(
        matches!(many, EventError::Filter(found) if found == error),
        "{many}"
    );
    let (first, _second) = (subscribe(2).unwrap(), subscribe(1).unwrap());
    let more = subscribe(1).err().unwrap();
    assert!(matches!(more, EventError::TooManyTimeouts(3)), "{more}");
    drop(first);
    assert!(subscribe(2).is_ok());
    assert_eq!(channel.statistics().refusals.limit, 2);
}
