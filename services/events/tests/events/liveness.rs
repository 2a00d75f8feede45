//! Consumers of other processes that are dead or silent although nothing is sent to them.

use std::{sync::mpsc, time::Duration};

use punctual::{Interface, ObjectRef, Orb, Priority, StandardMapping, SystemException, ior_to_string};
use punctual_events::{
    ChannelLimits, ConsumerTolerance, EventChannel, EventError, Filter,
    rtec::{
        punctual_events::{QueuedConsumer, QueuedConsumerRef},
        rtec_event_channel_admin::{ConsumerQos, EventChannelRef},
        rtec_event_comm::{EventView, PushConsumer, PushConsumerRef},
    },
};
use punctual_fixtures::{LONG, eventually};

use crate::{
    ALARM, TRACK,
    remote::{Client, Host, client, event, host, remote},
};

fn limits(silence: Duration) -> ChannelLimits {
    ChannelLimits {
        tolerance: ConsumerTolerance {
            ping: Duration::from_millis(10),
            silence,
            ..ConsumerTolerance::default()
        },
        consumers: 2,
        send_timeout: Duration::from_millis(20),
        ..ChannelLimits::default()
    }
}

/// It says that a queue of its own has lost as many events as there can be.
struct Liar;

impl PushConsumer for Liar {
    fn push(&self, _: &[EventView<'_>]) -> Result<(), SystemException> {
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl QueuedConsumer for Liar {
    fn lost(&self) -> Result<u64, SystemException> {
        Ok(u64::MAX)
    }
}

/// Connects objects of a client to a channel that asks each 10 ms.
fn connected(client: &Client, consumers: &[&ObjectRef]) -> Host {
    let lanes = EventChannel::builder().lane(Priority::MIN, 1);
    let limits = ChannelLimits {
        // All of them answer, on a busy machine late.
        send_timeout: LONG,
        ..limits(LONG)
    };
    let host = host(lanes.limits(limits).build().unwrap());
    let channel: EventChannelRef = client.orb.resolve(&host.address).unwrap();
    for consumer in consumers {
        let admin = channel.for_consumers().unwrap().unwrap();
        let proxy = admin.obtain_push_supplier().unwrap().unwrap();
        let consumer = PushConsumerRef::from_object((*consumer).clone());
        let qos = ConsumerQos::default();
        proxy.connect_push_consumer(Some(&consumer), &qos).unwrap();
    }
    host
}

#[test]
fn what_consumers_say_of_their_queues_is_counted_and_decides_nothing() {
    let client = client();
    let liar: QueuedConsumerRef = client.poa.activate(Liar).unwrap();
    let host = connected(&client, &[liar.as_object(); 2]);
    eventually("both are asked", || {
        let consumers = host.channel.statistics().consumers;
        let said = consumers.iter().map(|one| one.undelivered.lost_at_consumer);
        said.eq([u64::MAX; 2])
    });
    let all = host.channel.statistics();
    assert_eq!(
        (all.undelivered.lost_at_consumer, all.disconnected),
        (u64::MAX, 0)
    );
}

#[test]
fn a_consumer_that_claims_a_queue_and_cannot_tell_its_losses_is_disconnected() {
    let client = client();
    let plain: PushConsumerRef = client.poa.activate(Liar).unwrap();
    let mut ior = plain.as_object().ior().clone();
    ior.type_id = QueuedConsumerRef::REPOSITORY_ID.to_owned();
    let claims: ObjectRef = client.orb.resolve(&ior_to_string(&ior)).unwrap();
    let host = connected(&client, &[&claims]);
    eventually("disconnected", || host.channel.statistics().disconnected == 1);
    let last = host.channel.statistics().last_disconnected.unwrap();
    assert!(last.error.is_some_and(|error| error.contains("BAD_OPERATION")));
}

/// A consumer whose process is gone without a word.
fn die(dying: Client, subscription: punctual_events::RemoteSubscription) {
    std::mem::forget(subscription);
    dying.orb.shutdown_and_wait().unwrap();
}

#[test]
fn a_dead_consumer_is_found_without_an_event_and_a_busy_one_stays() {
    let lanes = EventChannel::builder().lane(Priority::MIN, 1);
    let host = host(lanes.limits(limits(LONG)).build().unwrap());
    let busy = client();
    let (entered, begun) = mpsc::channel();
    let (leave, gate) = mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let blocks = move |_: &[EventView<'_>]| {
        entered.send(()).unwrap();
        let _ = gate.lock().unwrap().recv();
    };
    let _busy = remote(&busy, &host)
        .subscribe(&busy.poa, &Filter::event(ALARM), blocks)
        .unwrap();
    host.channel.push_event(&event(ALARM, b"")).unwrap();
    begun.recv_timeout(LONG).unwrap();
    // Also shows that the proxies of the dead are removed: there is room for four.
    for dead in 1..=6 {
        let dying = client();
        let subscription = remote(&dying, &host).subscribe(&dying.poa, &Filter::event(TRACK), |_| {});
        die(dying, subscription.unwrap());
        eventually("disconnected", || host.channel.statistics().disconnected == dead);
    }
    let statistics = host.channel.statistics();
    assert_eq!(statistics.consumers.len(), 1);
    let last = statistics.last_disconnected.unwrap();
    assert!(last.error.is_some_and(|error| error.contains("TRANSIENT")));
    drop(leave);
}

#[test]
fn a_consumer_that_no_thread_serves_learns_it_and_is_shown_as_failing_until_one_does() {
    let lanes = EventChannel::builder().lane(Priority::MIN, 1);
    let host = host(lanes.limits(limits(LONG)).build().unwrap());
    let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
    let consumer = Client {
        poa: orb.root_poa(),
        orb,
    };
    let subscription = remote(&consumer, &host)
        .subscribe(&consumer.poa, &Filter::event(ALARM), |_| {})
        .unwrap();
    let unserved = subscription.is_connected();
    assert!(
        matches!(unserved, Err(EventError::ConsumerUnserved)),
        "{unserved:?}"
    );
    let error = || host.channel.statistics().consumers[0].error.clone();
    eventually("failing", || {
        error().is_some_and(|error| error.contains("no answer for 0 s: unserved"))
    });
    std::thread::scope(|scope| {
        scope.spawn(|| consumer.orb.run());
        eventually("answering", || error().is_none());
        assert!(subscription.is_connected().unwrap());
        drop(subscription);
        consumer.orb.shutdown();
    });
}

#[test]
fn a_consumer_that_is_silent_for_too_long_is_disconnected() {
    let lanes = EventChannel::builder().lane(Priority::MIN, 1);
    let host = host(lanes.limits(limits(Duration::from_millis(50))).build().unwrap());
    let silent = client();
    let (leave, gate) = mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let blocks = move |_: &[EventView<'_>]| {
        let _ = gate.lock().unwrap().recv();
    };
    let subscription = remote(&silent, &host)
        .subscribe(&silent.poa, &Filter::event(ALARM), blocks)
        .unwrap();
    assert!(subscription.is_connected().unwrap());
    host.channel.push_event(&event(ALARM, b"")).unwrap();
    eventually("disconnected", || host.channel.statistics().disconnected == 1);
    drop(leave);
    assert!(!subscription.is_connected().unwrap());
}

#[test]
fn threads_have_the_priorities_of_the_orbs_mapping() {
    let orb = Orb::builder()
        .standard_mapping(StandardMapping::Direct)
        .build()
        .unwrap();
    let builder = || EventChannel::builder().lane(Priority::MAX, 1);
    assert!(builder().build().is_ok());
    let refused = builder().lane(Priority::MAX, 2).build().err().unwrap();
    assert!(
        matches!(refused, EventError::DuplicateLane(Priority::MAX)),
        "{refused}"
    );
    // The direct mapping has native priorities only.
    let refused = builder().orb(&orb).build().err().unwrap();
    assert!(
        matches!(refused, EventError::Unmappable(Priority::MAX)),
        "{refused}"
    );
}
