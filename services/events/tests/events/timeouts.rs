//! Timeouts of filters.

use std::time::Duration;

use punctual_events::{EventChannel, EventType, Filter};
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
