//! Delivery to consumers: which events, in which order, and which ones full queues lose.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    time::Duration,
};

use punctual::Priority;
use punctual_events::{
    ChannelLimits, ConsumerTolerance, Dispatching, EventChannel, EventError, EventType, Filter, Lane,
    OctetLimits, Overflow, Receiver, Values,
};
use punctual_fixtures::{LONG, eventually};

use crate::{ALARM, TRACK, Track, track};

fn channel() -> EventChannel {
    EventChannel::builder().build().unwrap()
}

fn lanes() -> EventChannel {
    let (low, high) = (Priority::MIN, Priority::MAX);
    EventChannel::builder()
        .lane(low, 1)
        .lane(high, 1)
        .build()
        .unwrap()
}

fn numbers(receiver: &Receiver<Values<Track>>) -> Vec<i32> {
    std::iter::from_fn(|| receiver.try_recv())
        .map(|track| track.number)
        .collect()
}

#[test]
fn a_subscriber_gets_the_values_of_its_topic_and_source() {
    let channel = channel();
    let of_seven = channel.subscribe::<Track>().source(7).receiver().unwrap();
    let all = channel.subscribe::<Track>().receiver().unwrap();
    for source in [7, 8] {
        let publisher = channel.publish::<Track>().source(source);
        publisher.push(&track(source)).unwrap();
        publisher.as_any().push(&track(source + 10)).unwrap();
    }
    assert_eq!(
        channel.push_octets(ALARM, b"hot").unwrap(),
        0,
        "nobody subscribes to it"
    );
    assert_eq!(numbers(&of_seven), [7, 17]);
    assert_eq!(numbers(&all), [7, 17, 8, 18]);
    let statistics = channel.statistics();
    assert_eq!((statistics.received, statistics.unmatched), (5, 1));
}

#[test]
fn content_of_another_type_is_skipped_by_receivers_and_fails_callbacks() {
    let channel = channel();
    let tracks = channel.subscribe::<Track>().receiver().unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let callback = channel
        .subscribe::<Track>()
        .each(move |_| {
            counted.fetch_add(1, SeqCst);
        })
        .unwrap();
    channel.push_octets(TRACK, b"\x01 not a track").unwrap();
    channel.publish::<Track>().push(&track(1)).unwrap();
    assert_eq!(numbers(&tracks), [1]);
    assert_eq!(
        (calls.load(SeqCst), callback.statistics().undelivered.failed),
        (1, 1)
    );
}

#[test]
fn each_rule_loses_the_events_that_it_states() {
    let limits = ChannelLimits {
        tolerance: ConsumerTolerance {
            lost: 100,
            ..ConsumerTolerance::default()
        },
        ..ChannelLimits::default()
    };
    // Rule, what is received after ten events in a queue of four, how many are lost.
    let short = Duration::from_millis(1);
    let rules = [
        (Overflow::DropOldest, vec![6, 7, 8, 9], 6),
        (Overflow::DropNewest, vec![0, 1, 2, 3], 6),
        (Overflow::Block(short), vec![0, 1, 2, 3], 6),
        // With those that waited.
        (Overflow::Disconnect, vec![], 5),
    ];
    for (rule, expected, lost) in rules {
        let channel = EventChannel::builder().limits(limits.clone()).build().unwrap();
        let receiver = channel.subscribe::<Track>().queue(4, rule).receiver().unwrap();
        for number in 0..10 {
            channel.publish::<Track>().push(&track(number)).unwrap();
        }
        let statistics = receiver.subscription().statistics();
        assert_eq!(
            (numbers(&receiver), statistics.undelivered.lost),
            (expected, lost),
            "{rule:?}"
        );
        let disconnected = u64::from(rule == Overflow::Disconnect);
        assert_eq!(channel.statistics().disconnected, disconnected);
    }
}

#[test]
fn a_set_of_a_conjunction_stays_together() {
    let channel = channel();
    let (sender, sets) = mpsc::channel();
    let pair = Filter::all_of([Filter::event(TRACK), Filter::event(ALARM)]);
    let _pairs = channel
        .subscribe_to(pair)
        .sets(move |set| {
            sender
                .send(set.iter().map(|event| event.header.r#type).collect::<Vec<_>>())
                .unwrap();
            Ok(())
        })
        .unwrap();
    for event_type in [ALARM, ALARM, TRACK, TRACK] {
        channel.push_octets(event_type, b"").unwrap();
    }
    assert_eq!(sets.try_iter().collect::<Vec<_>>(), [[16, 17]]);
}

#[test]
fn under_the_blocking_rule_no_event_is_lost_while_the_consumer_continues() {
    let channel = lanes();
    let received = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&received);
    let each = channel.subscribe::<Track>().queue(3, Overflow::Block(LONG));
    let subscription = each
        .each(move |track: Track| list.lock().unwrap().push(track.number))
        .unwrap();
    let publisher = channel.publish::<Track>();
    for number in 0..5_000 {
        publisher.push(&track(number)).unwrap();
    }
    eventually("all are delivered", || {
        subscription.statistics().delivered == 5_000
    });
    assert_eq!(*received.lock().unwrap(), (0..5_000).collect::<Vec<_>>());
    assert!(subscription.statistics().high_water <= 3);
}

#[test]
fn a_consumer_that_blocks_delays_nobody_in_another_lane() {
    let channel = lanes();
    let (release, blocked) = mpsc::channel::<()>();
    let (begins, began) = mpsc::channel();
    let blocked = Mutex::new(blocked);
    let low = channel.subscribe::<Track>().queue(8, Overflow::DropOldest);
    let low = low.each(move |track| {
        let _ = begins.send(track.number);
        let _ = blocked.lock().unwrap().recv();
    });
    let low = low.unwrap();
    channel.publish::<Track>().push(&track(-1)).unwrap();
    assert_eq!(began.recv_timeout(LONG), Ok(-1));
    let (sender, received) = mpsc::channel();
    let high = channel.subscribe::<Track>().priority(Priority::MAX);
    let _high = high
        .each(move |track: Track| sender.send(track.number).unwrap())
        .unwrap();
    for number in 0..40 {
        channel.publish::<Track>().push(&track(number)).unwrap();
        assert_eq!(received.recv_timeout(LONG), Ok(number));
    }
    // What waits for its lane is offered now.
    low.suspend();
    let statistics = low.statistics();
    assert_eq!(
        (statistics.waiting, statistics.undelivered.lost),
        (8, 32),
        "the queue is bounded"
    );
    drop(release);
    drop(began);
}

#[test]
fn a_consumer_that_panics_is_disconnected_and_the_others_are_not() {
    let channel = channel();
    let broken = channel
        .subscribe::<Track>()
        .each(|_| panic!("expected by the test"))
        .unwrap();
    let sound = channel.subscribe::<Track>().receiver().unwrap();
    for number in 0..5 {
        channel.publish::<Track>().push(&track(number)).unwrap();
    }
    assert_eq!(
        (
            broken.statistics().undelivered.failed,
            channel.statistics().disconnected
        ),
        (3, 1)
    );
    assert_eq!(numbers(&sound), [0, 1, 2, 3, 4]);
}

#[test]
fn a_suspended_consumer_gets_nothing_until_it_resumes() {
    let channel = channel();
    let tracks = channel.subscribe::<Track>().receiver().unwrap();
    for (number, suspended) in [(1, false), (2, true), (3, false)] {
        match suspended {
            true => tracks.subscription().suspend(),
            false => tracks.subscription().resume(),
        }
        channel.publish::<Track>().push(&track(number)).unwrap();
    }
    assert_eq!(numbers(&tracks), [1, 3]);
}

#[test]
fn every_consumer_may_have_a_thread_of_its_own() {
    let channel = EventChannel::builder()
        .dispatching(Dispatching::ThreadPerConsumer)
        .build()
        .unwrap();
    let threads = Arc::new(Mutex::new(Vec::new()));
    let mut subscriptions = Vec::new();
    for _ in 0..3 {
        let threads = Arc::clone(&threads);
        let note = move |_: Track| threads.lock().unwrap().push(std::thread::current().id());
        subscriptions.push(channel.subscribe::<Track>().each(note).unwrap());
    }
    channel.publish::<Track>().push(&track(1)).unwrap();
    eventually("three deliveries", || threads.lock().unwrap().len() == 3);
    let mut threads = threads.lock().unwrap().clone();
    threads.sort_by_key(|id| format!("{id:?}"));
    threads.dedup();
    assert_eq!(threads.len(), 3);
}

#[test]
fn a_future_is_woken_by_the_next_event_and_by_the_end() {
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };
    let channel = channel();
    let tracks = channel.subscribe::<Track>().receiver().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut next = pin!(tracks.recv_async());
        assert!(next.as_mut().poll(&mut context).is_pending());
        channel.publish::<Track>().push(&track(5)).unwrap();
        assert_eq!(next.as_mut().poll(&mut context), Poll::Ready(Some(track(5))));
    }
    channel.destroy();
    assert_eq!(pin!(tracks.recv_async()).poll(&mut context), Poll::Ready(None));
    assert!(matches!(
        channel.push_octets(TRACK, b""),
        Err(EventError::Destroyed)
    ));
    assert!(matches!(
        channel.subscribe::<Track>().receiver().err(),
        Some(EventError::Destroyed)
    ));
}

#[test]
fn limits_refuse_consumers_queues_and_payloads() {
    let limits = ChannelLimits {
        consumers: 2,
        queue: 10,
        payload: 4,
        ..ChannelLimits::default()
    };
    let builder = EventChannel::builder()
        .limits(limits)
        .queue(5, Overflow::DropOldest);
    let channel = builder.build().unwrap();
    let long = channel
        .subscribe_to(Filter::every_event())
        .queue(11, Overflow::DropOldest)
        .receiver()
        .err();
    assert!(matches!(
        long,
        Some(EventError::Queue {
            requested: 11,
            limit: 10
        })
    ));
    let _two = [0, 1].map(|_| {
        channel
            .subscribe_to(Filter::event(EventType(99)))
            .receiver()
            .unwrap()
    });
    let third = channel
        .subscribe_to(Filter::every_event())
        .receiver()
        .err()
        .unwrap();
    assert!(third.to_string().contains("2 consumers, its limit"), "{third}");
    assert!(channel.push_octets(TRACK, b"12345").is_err());
    assert_eq!(channel.statistics().refused, 1);
}

#[test]
fn consumers_are_served_by_the_lane_at_or_below_their_priority() {
    let priority = |value| Priority::new(value).unwrap();
    let lane = |value, threads| Lane::new(priority(value), threads);
    let dispatching = Dispatching::Lanes(vec![lane(100, 1), lane(200, 1)]);
    let channel = EventChannel::builder()
        .name("t")
        .dispatching(dispatching)
        .build()
        .unwrap();
    for (consumer, thread) in [(50, "100"), (150, "100"), (200, "200"), (300, "200")] {
        let (sender, threads) = mpsc::channel();
        let send = move |_: Track| {
            sender
                .send(std::thread::current().name().map(str::to_owned))
                .unwrap()
        };
        let _one = channel
            .subscribe::<Track>()
            .priority(priority(consumer))
            .each(send)
            .unwrap();
        channel.publish::<Track>().push(&track(1)).unwrap();
        let name = threads.recv_timeout(LONG).unwrap().unwrap();
        let level = if thread == "200" { "0" } else { "1" };
        assert!(name.contains(level), "{consumer} on {name}");
    }
}

fn limits(octets: OctetLimits) -> ChannelLimits {
    ChannelLimits {
        octets,
        ..ChannelLimits::default()
    }
}

#[test]
fn a_queue_is_full_when_its_events_have_too_many_octets() {
    let octets = OctetLimits {
        queue: 100,
        ..OctetLimits::default()
    };
    // Rule, what is received after ten events of 30 octets, how many are lost.
    let short = Duration::from_millis(1);
    let rules = [
        (Overflow::DropOldest, vec![7, 8, 9], 7),
        (Overflow::DropNewest, vec![0, 1, 2], 7),
        (Overflow::Block(short), vec![0, 1, 2], 7),
        (Overflow::Disconnect, vec![], 4),
    ];
    for (rule, expected, lost) in rules {
        let channel = EventChannel::builder().limits(limits(octets)).build().unwrap();
        let all = channel.subscribe_to(Filter::every_event()).queue(256, rule);
        let receiver = all.receiver().unwrap();
        for number in 0..10 {
            channel.push_octets(TRACK, &[number; 30]).unwrap();
        }
        let statistics = receiver.subscription().statistics();
        let received: Vec<u8> = std::iter::from_fn(|| receiver.try_recv())
            .map(|event| event.data.payload[0])
            .collect();
        assert_eq!(
            (received, statistics.octets, statistics.undelivered.lost),
            (expected.clone(), 30 * expected.len(), lost),
            "{rule:?}"
        );
        assert_eq!(channel.statistics().undelivered.lost, lost);
        if rule != Overflow::Disconnect {
            // Alone, it may be as long as the channel permits.
            assert_eq!(channel.push_octets(TRACK, &[1; 1_000]).unwrap(), 1, "{rule:?}");
            assert_eq!(receiver.try_recv().unwrap().data.payload.len(), 1_000);
        }
    }
}

#[test]
fn what_a_conjunction_holds_is_limited_in_octets() {
    let octets = OctetLimits {
        queue: 100,
        ..OctetLimits::default()
    };
    let channel = EventChannel::builder().limits(limits(octets)).build().unwrap();
    let types = [20, 21, 22].map(|number| Filter::event(EventType(number)));
    let sets = channel.subscribe_to(Filter::all_of(types)).receiver().unwrap();
    let push = |number, length| channel.push_octets(EventType(number), &vec![0; length]).unwrap();
    assert_eq!([push(20, 60), push(21, 60)], [0, 0]);
    assert_eq!(
        sets.subscription().statistics().undelivered.lost,
        2,
        "both are forgotten"
    );
    assert_eq!([push(22, 40), push(20, 40)], [0, 0]);
    assert_eq!(push(21, 40), 1);
    assert_eq!(std::iter::from_fn(|| sets.try_recv()).count(), 3);
    assert_eq!(sets.subscription().statistics().undelivered.lost, 2);
}

#[test]
fn what_a_conjunction_holds_is_lost_with_its_consumer() {
    let channel = EventChannel::builder().build().unwrap();
    let both = Filter::all_of([20, 21].map(|number| Filter::event(EventType(number))));
    let filter = Filter::any_of([both, Filter::event(EventType(22))]);
    let receiver = channel
        .subscribe_to(filter)
        .queue(1, Overflow::Disconnect)
        .receiver();
    let _receiver = receiver.unwrap();
    for number in [20, 22, 22] {
        channel.push_octets(EventType(number), b"").unwrap();
    }
    let statistics = channel.statistics();
    assert_eq!((statistics.disconnected, statistics.undelivered.lost), (1, 3));
}

#[test]
fn times_may_be_as_long_as_their_type_permits() {
    let channel = EventChannel::builder().build().unwrap();
    let filter = Filter::any_of([Filter::event(TRACK), Filter::after(Duration::MAX)]);
    let overflow = Overflow::Block(Duration::MAX);
    let receiver = channel
        .subscribe_to(filter)
        .queue(1, overflow)
        .receiver()
        .unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..3).for_each(|_| assert_eq!(channel.push_octets(TRACK, b"").unwrap(), 1)));
        for _ in 0..3 {
            assert!(receiver.recv_timeout(Duration::MAX).is_some());
        }
    });
}

#[test]
fn a_batch_ends_at_its_number_of_octets() {
    let octets = OctetLimits {
        batch: 1_000,
        ..OctetLimits::default()
    };
    let channel = EventChannel::builder()
        .lane(Priority::MIN, 1)
        .limits(limits(octets))
        .build()
        .unwrap();
    let (begins, begun) = mpsc::channel();
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let _sets = channel
        .subscribe_to(Filter::every_event())
        .sets(move |set| {
            begins.send(set.len()).unwrap();
            let _ = blocked.lock().unwrap().recv();
            Ok(())
        })
        .unwrap();
    channel.push_octets(TRACK, b"").unwrap();
    assert_eq!(begun.recv_timeout(LONG), Ok(1));
    for length in [300, 300, 300, 300, 2_000, 999, 1, 1] {
        channel.push_octets(TRACK, &vec![0; length]).unwrap();
    }
    drop(release);
    let lengths = [0; 4].map(|_| begun.recv_timeout(LONG).unwrap());
    assert_eq!(lengths, [4, 1, 2, 1]);
}

/// A callback that does not return until the test lets it.
struct Blocked {
    begun: mpsc::Receiver<()>,
    release: mpsc::Sender<()>,
    returned: Arc<AtomicUsize>,
}

fn blocking() -> (Blocked, impl Fn(Track) + Send + Sync + 'static) {
    let (begins, begun) = mpsc::channel();
    let (release, blocked) = mpsc::channel::<()>();
    let (blocked, returned) = (Mutex::new(blocked), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&returned);
    let callback = move |_: Track| {
        let _ = begins.send(());
        let _ = blocked.lock().unwrap().recv();
        counted.fetch_add(1, SeqCst);
    };
    let test = Blocked {
        begun,
        release,
        returned,
    };
    (test, callback)
}

#[test]
fn nobody_waits_for_the_thread_of_a_consumer_that_is_disconnected_in_a_callback() {
    let limits = ChannelLimits {
        consumers: 1,
        ending: Duration::from_millis(1),
        ..ChannelLimits::default()
    };
    let channel = EventChannel::builder()
        .dispatching(Dispatching::ThreadPerConsumer)
        .limits(limits)
        .build()
        .unwrap();
    let (test, callback) = blocking();
    let subscribe = || channel.subscribe::<Track>().queue(1, Overflow::Disconnect);
    let blocked = subscribe().each(callback).unwrap();
    let publisher = channel.publish::<Track>();
    publisher.push(&track(0)).unwrap();
    test.begun.recv_timeout(LONG).unwrap();
    // One waits in the queue; the next one is too many.
    publisher.push(&track(1)).unwrap();
    publisher.push(&track(2)).unwrap();
    assert_eq!(test.returned.load(SeqCst), 0, "the callback has not returned");
    let statistics = channel.statistics();
    assert_eq!(
        (
            statistics.disconnected,
            statistics.undelivered.lost,
            statistics.consumers.len()
        ),
        (1, 2, 0)
    );
    // Its thread counts until it has ended.
    let refused = subscribe().each(|_| {}).err().unwrap();
    assert!(matches!(refused, EventError::TooManyConsumers(1)), "{refused}");
    drop(test.release);
    let mut second = None;
    let (other, callback) = blocking();
    let callback = Arc::new(callback);
    eventually("the thread has ended", || {
        let callback = Arc::clone(&callback);
        second = subscribe().each(move |track| callback(track)).ok();
        second.is_some()
    });
    assert_eq!(test.returned.load(SeqCst), 1);
    publisher.push(&track(3)).unwrap();
    other.begun.recv_timeout(LONG).unwrap();
    channel.destroy();
    assert_eq!(other.returned.load(SeqCst), 0);
    drop((blocked, second, other.release));
    eventually("it returns after the channel", || {
        other.returned.load(SeqCst) == 1
    });
}

#[test]
fn the_end_of_a_channel_waits_for_callbacks_but_not_for_ever() {
    for ending in [Duration::from_millis(1), LONG] {
        let limits = ChannelLimits {
            ending,
            ..ChannelLimits::default()
        };
        let lane = EventChannel::builder().lane(Priority::MIN, 1);
        let channel = lane.limits(limits).build().unwrap();
        let (test, callback) = blocking();
        let _blocked = channel.subscribe::<Track>().each(callback).unwrap();
        channel.publish::<Track>().push(&track(0)).unwrap();
        test.begun.recv_timeout(LONG).unwrap();
        if ending < LONG {
            channel.destroy();
            assert_eq!(test.returned.load(SeqCst), 0);
        } else {
            let (ends, returned) = (channel.clone(), Arc::clone(&test.returned));
            let releases = std::thread::spawn(move || {
                eventually("the end has begun", || ends.is_destroyed());
                drop(test.release);
            });
            channel.destroy();
            assert_eq!(returned.load(SeqCst), 1);
            releases.join().unwrap();
        }
    }
}

#[test]
fn the_end_of_a_channel_may_take_any_time() {
    let lanes = Dispatching::Lanes(vec![Lane::new(Priority::MIN, 1)]);
    for dispatching in [Dispatching::Reactive, Dispatching::ThreadPerConsumer, lanes] {
        let limits = ChannelLimits {
            ending: Duration::MAX,
            ..ChannelLimits::default()
        };
        let channel = EventChannel::builder().dispatching(dispatching).limits(limits);
        let channel = channel.build().unwrap();
        let _subscription = channel.subscribe_to(Filter::after(LONG)).each(|_| {}).unwrap();
        channel.destroy();
        assert!(channel.is_destroyed());
    }
}
