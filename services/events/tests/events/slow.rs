//! Consumers of other processes that are slower than their events come.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

use punctual::{
    Orb, Priority,
    interceptors::{Interrupt, OrbInitInfo, OrbInitializer, ServerRequestInfo, ServerRequestInterceptor},
};
use punctual_events::{
    ChannelLimits, ConsumerTolerance, EventChannel, EventError, Filter, Overflow,
    rtec::rtec_event_comm::EventView,
};
use punctual_fixtures::{LONG, client_propagated, eventually};

use crate::{
    ALARM, TRACK,
    remote::{Client, client, host, host_with, remote},
};

const SILENCE: Duration = Duration::from_secs(1);

/// A channel that asks often, and waits as long as by default for an answer.
fn channel() -> EventChannel {
    channel_with(ChannelLimits::default().send_timeout)
}

fn channel_with(send_timeout: Duration) -> EventChannel {
    let limits = ChannelLimits {
        tolerance: ConsumerTolerance {
            ping: Duration::from_millis(10),
            silence: SILENCE,
            ..ConsumerTolerance::default()
        },
        send_timeout,
        ..ChannelLimits::default()
    };
    let lanes = EventChannel::builder().lane(Priority::MIN, 1);
    lanes.limits(limits).build().unwrap()
}

/// The test's side of a callback that returns when this has been dropped.
struct Watched {
    /// First octets of the events of each call.
    seen: mpsc::Receiver<Vec<u8>>,
    leave: mpsc::Sender<()>,
}

fn gated() -> (impl Fn(&[EventView<'_>]) + Send + Sync, Watched) {
    let ((sender, seen), (leave, gate)) = (mpsc::channel(), mpsc::channel::<()>());
    let gate = Mutex::new(gate);
    let callback = move |events: &[EventView<'_>]| {
        let first = events.iter().map(|event| event.data.payload[0]);
        // The test may have ended.
        let _ = sender.send(first.collect());
        let _ = gate.lock().unwrap().recv();
    };
    (callback, Watched { seen, leave })
}

#[test]
fn a_queue_at_the_consumer_keeps_the_newest_events_and_the_connection() {
    let host = host(channel());
    let [slow, stuck] = [(); 2].map(|()| client());
    let (callback, Watched { seen, leave }) = gated();
    let tracks = Filter::event(TRACK);
    let queued = remote(&slow, &host)
        .consumer(&tracks)
        .queue(2, Overflow::DropOldest);
    let queued = queued.subscribe(&slow.poa, callback).unwrap();
    host.channel.push_octets(TRACK, &[0]).unwrap();
    assert_eq!(seen.recv_timeout(LONG), Ok(vec![0]));
    for number in 1..100 {
        host.channel.push_octets(TRACK, &[number]).unwrap();
    }
    let queue = || queued.statistics().unwrap();
    eventually("all are queued", || queue().queued == 100);
    assert_eq!((queue().waiting, queue().undelivered.lost), (2, 97));
    // The channel shows it, in all and for this consumer, although it has delivered all events.
    eventually("the channel knows", || {
        let all = host.channel.statistics();
        let [total, own] = [all.undelivered, all.consumers[0].undelivered];
        (total.lost, total.lost_at_consumer, own.lost_at_consumer) == (0, 97, 97)
    });

    // Its thread is free to answer, unlike that of a consumer without a queue whose callback blocks, too.
    let (callback, also) = gated();
    let silent = remote(&stuck, &host).consumer(&Filter::event(ALARM));
    let silent = silent.subscribe(&stuck.poa, callback).unwrap();
    assert!(silent.statistics().is_none());
    host.channel.push_octets(ALARM, &[0]).unwrap();
    also.seen.recv_timeout(LONG).unwrap();
    eventually("disconnected", || host.channel.statistics().disconnected == 1);
    assert!(queued.is_connected().unwrap());
    let reason = host
        .channel
        .statistics()
        .last_disconnected
        .unwrap()
        .error
        .unwrap();
    assert!(
        reason.starts_with("no answer for 1 s: unserved or slow; "),
        "{reason}"
    );

    drop((leave, also));
    assert_eq!([(); 2].map(|()| seen.recv_timeout(LONG).unwrap()), [[98], [99]]);
    eventually("delivered", || queue().delivered == 3);
    assert_eq!(queue().waiting, 0);
}

#[test]
fn a_queue_that_disconnects_ends_the_subscription() {
    let (host, slow) = (host(channel()), client());
    let (callback, Watched { seen, leave }) = gated();
    let tracks = Filter::event(TRACK);
    let channel = remote(&slow, &host);
    let queued = channel.consumer(&tracks).queue(1, Overflow::Disconnect);
    let queued = queued.subscribe(&slow.poa, callback).unwrap();
    host.channel.push_octets(TRACK, &[0]).unwrap();
    assert_eq!(seen.recv_timeout(LONG), Ok(vec![0]));
    assert!(queued.is_connected().unwrap());
    for number in 1..3 {
        host.channel.push_octets(TRACK, &[number]).unwrap();
    }
    eventually("over", || !queued.is_connected().unwrap());
    eventually("the channel learns it", || {
        host.channel.statistics().disconnected == 1
    });
    drop(leave);
    let refused = channel.consumer(&tracks).queue(0, Overflow::Disconnect);
    let refused = refused.subscribe(&slow.poa, |_| {}).err();
    assert!(
        matches!(refused, Some(EventError::Queue { requested: 0, .. })),
        "{refused:?}"
    );
}

/// The thread that receives waits for room, and goes on when the subscription ends.
#[test]
fn a_subscription_ends_while_its_queue_blocks() {
    let (host, slow) = (host(channel()), client());
    let (callback, Watched { seen, leave }) = gated();
    let queued = remote(&slow, &host)
        .consumer(&Filter::event(TRACK))
        .queue(1, Overflow::Block(4 * LONG));
    let queued = queued.subscribe(&slow.poa, callback).unwrap();
    for number in 0..4 {
        host.channel.push_octets(TRACK, &[number]).unwrap();
    }
    assert_eq!(seen.recv_timeout(LONG), Ok(vec![0]));
    eventually("full", || queued.statistics().unwrap().waiting == 1);
    drop(queued);
    drop(leave);
    assert!(host.channel.statistics().consumers.is_empty());
}

#[test]
fn sets_stay_together_in_a_queue_and_single_events_do_not() {
    let (host, slow) = (host(channel()), client());
    let (callback, Watched { seen, leave }) = gated();
    let pair = Filter::all_of([Filter::event(TRACK), Filter::event(ALARM)]);
    let queued = remote(&slow, &host)
        .consumer(&pair)
        .queue(4, Overflow::DropOldest);
    let queued = queued.subscribe(&slow.poa, callback).unwrap();
    for number in 0..10 {
        host.channel.push_octets(TRACK, &[number]).unwrap();
        host.channel.push_octets(ALARM, &[number]).unwrap();
        if number == 0 {
            assert_eq!(seen.recv_timeout(LONG), Ok(vec![0, 0]));
        }
    }
    eventually("all are queued", || queued.statistics().unwrap().queued == 20);
    drop(leave);
    assert_eq!(
        [(); 2].map(|()| seen.recv_timeout(LONG).unwrap()),
        [[8, 8], [9, 9]]
    );

    let singles = remote(&slow, &host)
        .consumer(&Filter::event(TRACK))
        .queue(4, Overflow::DropOldest);
    let (sender, seen) = mpsc::channel();
    let _singles = singles
        .subscribe(&slow.poa, move |events| sender.send(events.len()).unwrap())
        .unwrap();
    for number in 0..3 {
        host.channel.push_octets(TRACK, &[number]).unwrap();
        assert_eq!(seen.recv_timeout(LONG), Ok(1));
    }
}

#[test]
fn a_queue_has_the_priority_of_its_subscription() {
    let urgent = Priority::new(10_001).unwrap();
    let lanes = || {
        let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
        let pool = orb
            .threadpool()
            .lane(Priority::MIN, 1)
            .lane(urgent, 1)
            .build()
            .unwrap();
        let model = client_propagated(Priority::MIN);
        let poa = orb.root_poa().child("lanes").priority_model(model);
        let poa = poa.threadpool(&pool).build().unwrap();
        Client { orb, poa }
    };
    let (host, consumer) = (host_with(channel(), lanes()), lanes());
    for priority in [Priority::MIN, urgent] {
        consumer.orb.current().set_priority(priority).unwrap();
        let (sender, seen) = mpsc::channel();
        let orb = consumer.orb.clone();
        let queued = remote(&consumer, &host).consumer(&Filter::event(TRACK));
        let queued = queued
            .queue(8, Overflow::DropNewest)
            .subscribe(&consumer.poa, move |_| {
                sender.send(orb.current().priority().unwrap()).unwrap();
            });
        let queued = queued.unwrap();
        assert_eq!(queued.statistics().unwrap().priority, priority);
        host.channel.push_octets(TRACK, &[0]).unwrap();
        assert_eq!(seen.recv_timeout(LONG), Ok(priority));
    }
}

/// An ORB that answers questions 100 ms late.
#[derive(Clone)]
struct AnswersLate;

impl ServerRequestInterceptor for AnswersLate {
    fn name(&self) -> &str {
        "late"
    }

    fn receive_request_service_contexts(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        if info.operation() == "_non_existent" {
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl OrbInitializer for AnswersLate {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
        info.add_server_request_interceptor(Arc::new(Self)).unwrap();
    }
}

/// No answer is in time.
#[test]
fn a_consumer_that_answers_late_is_not_disconnected() {
    let host = host(channel_with(Duration::from_millis(20)));
    let orb = Orb::builder().listen("iiop://localhost");
    let orb = orb.initializer(&AnswersLate).build().unwrap();
    let pool = orb.threadpool().threads(1).build().unwrap();
    let poa = orb.root_poa().child("slow").threadpool(&pool).build().unwrap();
    let slow = Client { orb, poa };
    let (sender, seen) = mpsc::channel();
    let subscription = remote(&slow, &host).subscribe(&slow.poa, &Filter::event(TRACK), move |_| {
        sender.send(()).unwrap();
    });
    let _subscription = subscription.unwrap();
    let error = || host.channel.statistics().consumers[0].error.clone();
    let (begun, mut late) = (Instant::now(), 0);
    eventually("it answers late for long", || {
        late += usize::from(error().is_some_and(|error| error.starts_with("answers late; ")));
        late > 0 && begun.elapsed() > 2 * SILENCE
    });
    assert_eq!(host.channel.statistics().disconnected, 0);
    host.channel.push_octets(TRACK, &[0]).unwrap();
    assert_eq!(seen.recv_timeout(LONG), Ok(()));
}

/// One without a queue whose sockets fill, by failed deliveries, and one whose queue in the channel
/// overflows.
#[test]
fn slow_consumers_that_were_disconnected_learn_it() {
    for overflow in [Overflow::DropOldest, Overflow::Disconnect] {
        let limits = ChannelLimits {
            send_timeout: Duration::from_millis(20),
            ..ChannelLimits::default()
        };
        let lanes = EventChannel::builder().lane(Priority::MIN, 1).queue(4, overflow);
        let (host, slow) = (host(lanes.limits(limits).build().unwrap()), client());
        let (callback, Watched { seen, leave }) = gated();
        let tracks = Filter::event(TRACK);
        let slow_one = remote(&slow, &host)
            .subscribe(&slow.poa, &tracks, callback)
            .unwrap();
        host.channel.push_octets(TRACK, &[0]).unwrap();
        assert_eq!(seen.recv_timeout(LONG), Ok(vec![0]));
        assert!(slow_one.is_connected().unwrap());
        let large = vec![1; 1 << 19];
        eventually("disconnected", || {
            host.channel.push_octets(TRACK, &large).unwrap();
            host.channel.statistics().disconnected == 1
        });
        assert!(!slow_one.is_connected().unwrap());
        drop(leave);
    }
}
