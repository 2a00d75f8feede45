//! Work of a supplier's thread for consumers of lower lanes: as much for two hundred as for one.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    time::Duration,
};

use punctual::{Priority, rtscheduling::SheddingPolicy};
use punctual_events::{
    ChannelBuilder, ChannelLimits, Dispatching, EventChannel, EventError, EventType, Filter, Lane,
    OctetLimits, Overflow, Subscription,
};
use punctual_fixtures::{LONG, eventually};

use crate::{
    ALARM, TRACK,
    remote::{client, host, remote},
};

/// Entries that wait for a lane.
const BACKLOG: u64 = 256;

type Log = Arc<Mutex<Vec<u8>>>;

/// A channel whose low lane has one thread, which a callback occupies until it is released.
struct Occupied {
    channel: EventChannel,
    release: Sender<()>,
    _occupant: Subscription,
}

fn occupied(lanes: Vec<Lane>) -> Occupied {
    occupied_with(lanes, ChannelLimits::default())
}

fn occupied_with(lanes: Vec<Lane>, limits: ChannelLimits) -> Occupied {
    occupied_by(lanes, |builder| builder.limits(limits))
}

fn occupied_by(lanes: Vec<Lane>, settings: impl FnOnce(ChannelBuilder) -> ChannelBuilder) -> Occupied {
    let channel = settings(EventChannel::builder()).dispatching(Dispatching::Lanes(lanes));
    let channel = channel.build().unwrap();
    let (release, released): (_, Receiver<()>) = mpsc::channel();
    let (begun, begins) = mpsc::channel();
    let released = Mutex::new(released);
    let occupant = channel.subscribe_to(Filter::event(ALARM)).each(move |_| {
        begun.send(()).unwrap();
        // The end of the test releases it, too.
        let _ = released.lock().unwrap().recv();
    });
    let _occupant = occupant.unwrap();
    channel.push_octets(ALARM, b"").unwrap();
    begins.recv_timeout(LONG).unwrap();
    Occupied {
        channel,
        release,
        _occupant,
    }
}

fn lanes() -> Vec<Lane> {
    [Priority::MIN, Priority::MAX]
        .map(|priority| Lane::new(priority, 1))
        .into()
}

/// A consumer that notes the first octet of each event.
fn noting(channel: &EventChannel, filter: Filter, priority: Priority) -> (Subscription, Log) {
    let log = Log::default();
    let noted = Arc::clone(&log);
    let subscription = channel
        .subscribe_to(filter)
        .priority(priority)
        .each(move |event| {
            noted.lock().unwrap().push(event.data.payload[0]);
        });
    (subscription.unwrap(), log)
}

fn noted(log: &Log) -> Vec<u8> {
    log.lock().unwrap().clone()
}

#[test]
fn a_push_does_nothing_for_consumers_of_lower_lanes_however_many_there_are() {
    for number in [1, 200] {
        let Occupied { channel, release, .. } = &occupied(lanes());
        let (high, high_log) = noting(channel, Filter::event(TRACK), Priority::MAX);
        let low = [0; 200].map(|_| {
            noting(
                channel,
                Filter::event(TRACK).from(punctual_events::SourceId(7)),
                Priority::MIN,
            )
        });
        let low = &low[..number];
        for (number, source) in [(1, 7), (2, 8), (3, 7)] {
            channel.push_event(&event(TRACK, source, number)).unwrap();
        }
        eventually("the high one has all", || noted(&high_log) == [1, 2, 3]);
        assert_eq!(high.statistics().delivered, 3);
        let queued = |one: &(Subscription, Log)| one.0.statistics().queued;
        assert_eq!(
            low.iter().map(queued).sum::<u64>(),
            0,
            "none has been offered to {number}"
        );
        release.send(()).unwrap();
        for (_, log) in low {
            eventually("the low ones have theirs, in order", || noted(log) == [1, 3]);
        }
    }
}

fn event(event_type: EventType, source: i32, number: u8) -> punctual_events::rtec::rtec_event_comm::Event {
    let mut event = super::remote::event(event_type, &[number]);
    event.header.source = source;
    event
}

/// The highest lane of one event is a lower lane of the other.
#[test]
fn events_that_go_to_a_lane_directly_do_not_overtake_those_that_wait_for_it() {
    const LOW: EventType = EventType(18);
    let Occupied { channel, release, .. } = &occupied(lanes());
    let (_high, _) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let both = Filter::any_of([Filter::event(TRACK), Filter::event(LOW)]);
    let (low, log) = noting(channel, both, Priority::MIN);
    let all: Vec<u8> = (0..100).collect();
    for number in &all {
        let event_type = if number % 3 == 0 { TRACK } else { LOW };
        channel.push_octets(event_type, &[*number]).unwrap();
    }
    release.send(()).unwrap();
    eventually("all events", || noted(&log).len() == all.len());
    assert_eq!(noted(&log), all);
    assert_eq!(low.statistics().undelivered.lost, 0);
}

#[test]
fn a_full_backlog_loses_nothing_that_the_queues_have_room_for_and_counts_the_rest() {
    let Occupied { channel, release, .. } = &occupied(lanes());
    let (_high, high_log) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let roomy_log = Log::default();
    let noted_there = Arc::clone(&roomy_log);
    let roomy = channel
        .subscribe_to(Filter::event(TRACK))
        .queue(1_000, Overflow::DropNewest);
    let roomy = roomy
        .each(move |event| noted_there.lock().unwrap().push(event.data.payload[0]))
        .unwrap();
    let narrow = channel
        .subscribe_to(Filter::event(TRACK))
        .queue(4, Overflow::DropNewest);
    let narrow = narrow.each(|_| {}).unwrap();
    let pushed = BACKLOG + 40;
    for number in 0..pushed {
        assert_eq!(channel.push_octets(TRACK, &[number as u8]).unwrap(), 3);
    }
    // The oldest ones have made room.
    assert_eq!(channel.statistics().deferred, BACKLOG);
    assert_eq!(
        (roomy.statistics().queued, narrow.statistics().undelivered.lost),
        (40, 36)
    );
    release.send(()).unwrap();
    let all: Vec<u8> = (0..pushed).map(|number| number as u8).collect();
    eventually("all events", || {
        noted(&roomy_log) == all && noted(&high_log) == all
    });
    let counted = |of: &Subscription| (of.statistics().delivered, of.statistics().undelivered.lost);
    eventually("the rest is counted", || {
        counted(&narrow).0 + counted(&narrow).1 == pushed
    });
}

#[test]
fn what_was_pushed_before_a_suspension_is_delivered_and_what_is_pushed_during_it_is_not() {
    let Occupied { channel, release, .. } = &occupied(lanes());
    let (_high, _) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let (low, log) = noting(channel, Filter::event(TRACK), Priority::MIN);
    let push = |number| channel.push_octets(TRACK, &[number]).unwrap();
    push(1);
    low.suspend();
    push(2);
    low.resume();
    push(3);
    release.send(()).unwrap();
    eventually("the first and the last", || noted(&log) == [1, 3]);
}

/// Events that wait for the lane fill the queue while the consumer suspends its connection.
#[test]
fn a_consumer_of_another_process_that_is_disconnected_while_it_suspends_leaves_nothing() {
    let channel = |builder: ChannelBuilder| builder.queue(1, Overflow::Disconnect);
    let occupied = occupied_by(lanes(), channel);
    let high = occupied
        .channel
        .subscribe_to(Filter::event(TRACK))
        .priority(Priority::MAX);
    let _high = high.queue(16, Overflow::DropOldest).each(|_| {}).unwrap();
    let host = host(occupied.channel.clone());
    let consumer = client();
    let subscription = remote(&consumer, &host)
        .subscribe(&consumer.poa, &Filter::event(TRACK), |_| {})
        .unwrap();
    for number in 0..3 {
        occupied.channel.push_octets(TRACK, &[number]).unwrap();
    }
    subscription.suspend().unwrap();
    let statistics = occupied.channel.statistics();
    assert_eq!((statistics.disconnected, statistics.consumers.len()), (1, 2));
    assert!(!subscription.is_connected().unwrap());
    occupied.release.send(()).unwrap();
}

/// Its lane's queue has room for a command of each consumer.
#[test]
fn former_consumers_count_until_a_thread_has_left_them() {
    let limits = ChannelLimits {
        consumers: 4,
        ..ChannelLimits::default()
    };
    let Occupied { channel, release, .. } = &occupied_with(vec![Lane::new(Priority::MIN, 1)], limits);
    let subscribe = || channel.subscribe_to(Filter::event(TRACK)).each(|_| {});
    let mut refused = 0;
    for _ in 0..20 {
        match subscribe() {
            Ok(_connected) => assert_eq!(channel.push_octets(TRACK, &[1]).unwrap(), 1),
            Err(error) => {
                assert!(matches!(error, EventError::TooManyConsumers(4)), "{error}");
                refused += 1;
            }
        }
    }
    assert_eq!(refused, 17, "the occupant and three former ones");
    release.send(()).unwrap();
    eventually("room", || subscribe().is_ok());
    let (_live, log) = noting(channel, Filter::event(TRACK), Priority::MIN);
    channel.push_octets(TRACK, &[7]).unwrap();
    eventually("the event", || noted(&log) == [7]);
}

#[test]
fn a_new_consumer_gets_no_event_that_was_pushed_before() {
    let Occupied { channel, release, .. } = &occupied(lanes());
    let (_high, _) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let (_first, first_log) = noting(channel, Filter::event(TRACK), Priority::MIN);
    channel.push_octets(TRACK, &[1]).unwrap();
    let (_second, second_log) = noting(channel, Filter::event(TRACK), Priority::MIN);
    channel.push_octets(TRACK, &[2]).unwrap();
    release.send(()).unwrap();
    eventually("both", || {
        noted(&first_log) == [1, 2] && noted(&second_log) == [2]
    });
}

#[test]
fn events_that_wait_keep_their_place_when_the_lanes_change() {
    let Occupied { channel, release, .. } = &occupied(lanes());
    let (_high, _) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let (low, log) = noting(channel, Filter::event(TRACK), Priority::MIN);
    channel.push_octets(TRACK, &[1]).unwrap();
    let three = [0, 9, 99].map(|priority| Lane::new(Priority::new(priority).unwrap(), 1));
    let raised = low.statistics().id;
    channel
        .reconfigure(three, |one| (one.id == raised).then_some(three[1].priority))
        .unwrap();
    assert_eq!(low.statistics().queued, 1);
    channel.push_octets(TRACK, &[2]).unwrap();
    release.send(()).unwrap();
    eventually("in order", || noted(&log) == [1, 2]);
}

/// The time in which an event waits for the lane counts.
#[test]
fn a_deadline_counts_from_the_push() {
    let mut lanes = lanes();
    lanes[0].shedding = SheddingPolicy::before_dispatch();
    let Occupied { channel, release, .. } = &occupied(lanes);
    let (_high, _) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let deadline = Duration::from_millis(50);
    let (cancelled, told) = mpsc::channel();
    let watched = channel.clone();
    let low = channel
        .subscribe_to(Filter::event(TRACK))
        .deadline(deadline)
        .cancelled(move |event| {
            let counted = watched.statistics().undelivered.cancelled;
            cancelled.send((event.data.payload[0], counted)).unwrap();
        })
        .each(|_| {});
    let low = low.unwrap();
    channel.push_octets(TRACK, &[1]).unwrap();
    std::thread::sleep(deadline);
    release.send(()).unwrap();
    // It is counted when the consumer is told.
    assert_eq!(told.recv_timeout(LONG), Ok((1, 1)));
    assert_eq!(
        (low.statistics().delivered, low.statistics().undelivered.cancelled),
        (0, 1)
    );
}

#[test]
fn what_waits_for_a_lane_has_a_limit_in_octets() {
    let limits = ChannelLimits {
        octets: OctetLimits {
            queue: 1_000,
            ..OctetLimits::default()
        },
        ..ChannelLimits::default()
    };
    let Occupied { channel, release, .. } = &occupied_with(lanes(), limits);
    let (_high, _) = noting(channel, Filter::event(TRACK), Priority::MAX);
    let (low, log) = noting(channel, Filter::event(TRACK), Priority::MIN);
    for number in 0..5 {
        channel.push_octets(TRACK, &[number; 400]).unwrap();
    }
    // Two wait for the lane, two for the consumer, and one was lost.
    let counted = low.statistics();
    assert_eq!((counted.waiting, counted.undelivered.lost), (2, 1));
    release.send(()).unwrap();
    eventually("the rest", || noted(&log).last() == Some(&4));
}
