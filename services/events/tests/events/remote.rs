//! Suppliers and consumers of other ORBs.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    time::Duration,
};

use punctual::{Orb, Poa, Priority, SystemExceptionKind};
use punctual_events::{
    ChannelLimits, ConsumerTolerance, EventChannel, EventError, EventType, Filter, Gateway,
    GatewayStatistics, OctetLimits, Overflow, RemoteChannel,
    rtec::{
        rtec_event_channel_admin::{
            ConsumerQos, ConsumerQosView, EventChannelRef, Observer, ObserverRef, SupplierQosView,
        },
        rtec_event_comm::{Event, PushConsumerRef},
    },
};
use punctual_fixtures::{LONG, client_propagated, eventually};

use crate::{ALARM, TRACK};

pub struct Host {
    pub channel: EventChannel,
    pub address: String,
    /// It serves the channel.
    _orb: Orb,
}

pub fn host(channel: EventChannel) -> Host {
    host_with(channel, client())
}

pub fn host_with(channel: EventChannel, Client { orb, poa }: Client) -> Host {
    let served = channel.serve(&orb, &poa).unwrap();
    let address = served.reference().to_ior();
    Host {
        channel,
        address,
        _orb: orb,
    }
}

/// An ORB with a pool of its own for the objects of `poa`.
pub struct Client {
    pub orb: Orb,
    pub poa: Poa,
}

pub fn client() -> Client {
    let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
    let pool = orb.threadpool().threads(1).build().unwrap();
    let poa = orb.root_poa().child("clients").threadpool(&pool).build().unwrap();
    Client { orb, poa }
}

pub fn remote(client: &Client, host: &Host) -> RemoteChannel {
    RemoteChannel::new(client.orb.resolve(&host.address).unwrap())
}

pub fn event(event_type: EventType, payload: &[u8]) -> Event {
    let mut event = Event::default();
    event.header.r#type = event_type.0;
    event.header.ttl = 1;
    event.data.payload = payload.to_vec();
    event
}

/// The mapping of native priorities back to CORBA ones finds another number: 10,001 has no native priority of
/// its own, and neither has any without real-time rights.
#[test]
fn a_channel_calls_each_consumer_at_the_priority_of_its_subscription() {
    let urgent = Priority::new(10_001).unwrap();
    let with_lanes = |lanes: &[Priority]| {
        let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
        let pool = lanes
            .iter()
            .fold(orb.threadpool(), |pool, lane| pool.lane(*lane, 1));
        let pool = pool.build().unwrap();
        let model = client_propagated(lanes[0]);
        let poa = orb
            .root_poa()
            .child("lanes")
            .threadpool(&pool)
            .priority_model(model);
        let poa = poa.build().unwrap();
        Client { orb, poa }
    };
    let lanes = [Priority::MIN, urgent];
    let channel = lanes
        .iter()
        .fold(EventChannel::builder(), |channel, lane| channel.lane(*lane, 1));
    let host = host_with(channel.build().unwrap(), with_lanes(&lanes));
    for priority in lanes {
        let consumer = with_lanes(&[priority]);
        let current = consumer.orb.current();
        current.set_priority(priority).unwrap();
        let (sender, received) = mpsc::channel();
        let served = consumer.orb.clone();
        let subscription = remote(&consumer, &host)
            .subscribe(&consumer.poa, &Filter::event(TRACK), move |_| {
                sender.send(served.current().priority().unwrap()).unwrap();
            })
            .unwrap();
        host.channel.push_octets(TRACK, b"").unwrap();
        assert_eq!(received.recv_timeout(LONG), Ok(priority));
        assert!(subscription.is_connected().unwrap());
    }
}

#[test]
fn events_travel_from_a_supplier_through_the_channel_to_a_consumer() {
    let host = host(EventChannel::builder().lane(Priority::MIN, 1).build().unwrap());
    let (consumer, supplier) = (client(), client());
    let (sender, received) = mpsc::channel();
    let subscription =
        remote(&consumer, &host).subscribe(&consumer.poa, &Filter::event(TRACK), move |events| {
            for event in events {
                sender
                    .send((
                        event.data.payload.to_vec(),
                        event.data.any_value.to_owned(),
                        event.header.clone(),
                    ))
                    .unwrap();
            }
        });
    let subscription = subscription.unwrap();
    let pushes = remote(&supplier, &host).supplier(&[TRACK]).unwrap();
    let mut with_any = event(TRACK, b"two");
    with_any.data.any_value = punctual::any::Any::new(&2.5_f64).unwrap();
    pushes
        .push(&[event(TRACK, b"one"), event(ALARM, b"no"), with_any])
        .unwrap();
    let (first, _, header) = received.recv_timeout(LONG).unwrap();
    let (second, any, _) = received.recv_timeout(LONG).unwrap();
    assert_eq!(
        (&first[..], &second[..], any.get::<f64>().ok()),
        (&b"one"[..], &b"two"[..], Some(2.5))
    );
    assert!(header.ec_send_time >= header.ec_recv_time && header.ec_recv_time > 0);

    subscription.suspend().unwrap();
    pushes.push(&[event(TRACK, b"three")]).unwrap();
    pushes.flush().unwrap();
    subscription.resume().unwrap();
    pushes.push(&[event(TRACK, b"four")]).unwrap();
    assert_eq!(received.recv_timeout(LONG).unwrap().0, b"four");
    drop((subscription, pushes));
    assert_eq!(host.channel.statistics().consumers, []);
    let suppliers = host.channel.statistics().suppliers;
    let shown: Vec<_> = suppliers
        .iter()
        .map(|one| (one.is_connected, one.pushed))
        .collect();
    assert_eq!(shown, [(false, 5)]);
}

/// A lane of one thread sends; the consumer's thread is slower, so that events wait at each stage.
#[test]
fn events_of_one_supplier_reach_a_remote_consumer_in_order() {
    const EVENTS: u32 = 2_000;
    for batch in [1, 7] {
        let channel = EventChannel::builder()
            .lane(Priority::MIN, 1)
            .queue(EVENTS as usize, Overflow::DropNewest);
        let host = host(channel.build().unwrap());
        let (consumer, supplier) = (client(), client());
        let (sender, received) = mpsc::channel();
        let _subscription = remote(&consumer, &host)
            .subscribe(&consumer.poa, &Filter::event(TRACK), move |events| {
                for event in events {
                    sender.send(event.data.payload.to_vec()).unwrap();
                }
                std::thread::yield_now();
            })
            .unwrap();
        let pushes = remote(&supplier, &host).supplier(&[TRACK]).unwrap();
        let numbered: Vec<_> = (0..EVENTS)
            .map(|number| event(TRACK, &number.to_be_bytes()))
            .collect();
        for events in numbered.chunks(batch) {
            pushes.push(events).unwrap();
        }
        for number in 0..EVENTS {
            let payload = received.recv_timeout(LONG).unwrap();
            assert_eq!(payload, number.to_be_bytes(), "in sets of {batch}");
        }
    }
}

#[test]
fn a_consumer_without_a_lane_of_its_priority_is_refused() {
    let urgent = Priority::new(10_001).unwrap();
    let client = |lanes: &[Priority]| {
        let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
        let pool = { lanes.iter() }.fold(orb.threadpool(), |pool, lane| pool.lane(*lane, 1));
        let model = client_propagated(lanes[0]);
        let poa = orb.root_poa().child("lanes").priority_model(model);
        let poa = poa.threadpool(&pool.build().unwrap()).build().unwrap();
        Client { orb, poa }
    };
    let host = host_with(
        EventChannel::builder().build().unwrap(),
        client(&[Priority::MIN, urgent]),
    );
    let consumer = client(&[Priority::MIN]);
    let subscribe = || remote(&consumer, &host).subscribe(&consumer.poa, &Filter::event(TRACK), |_| {});
    let _connected = subscribe().unwrap();
    consumer.orb.current().set_priority(urgent).unwrap();
    let refused = subscribe().err().unwrap();
    assert!(
        matches!(refused, EventError::ConsumerWithoutLane(priority) if priority == urgent),
        "{refused}"
    );
    assert_eq!(host.channel.statistics().consumers.len(), 1);
}

#[test]
fn a_second_consumer_at_one_proxy_and_a_bad_filter_are_refused() {
    let host = host(EventChannel::builder().build().unwrap());
    let orb = client();
    let deep = (0..100).fold(Filter::event(TRACK), |filter, _| filter.negated());
    let refused = remote(&orb, &host)
        .subscribe(&orb.poa, &deep, |_| {})
        .err()
        .unwrap();
    assert!(refused.to_string().contains("TypeError"), "{refused}");
    let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
    let proxy = channel
        .for_consumers()
        .unwrap()
        .unwrap()
        .obtain_push_supplier()
        .unwrap()
        .unwrap();
    let qos = ConsumerQos {
        dependencies: Filter::event(TRACK).to_dependencies(),
        is_gateway: false,
    };
    let nil = proxy.connect_push_consumer(None, &qos).unwrap_err();
    assert!(nil.to_string().contains("TypeError"), "{nil}");
    let consumer: PushConsumerRef = orb.poa.reference().create().unwrap();
    proxy.connect_push_consumer(Some(&consumer), &qos).unwrap();
    let again = proxy.connect_push_consumer(Some(&consumer), &qos).unwrap_err();
    assert!(again.to_string().contains("AlreadyConnected"), "{again}");
    proxy.disconnect_push_supplier().unwrap();
    let gone = proxy.disconnect_push_supplier().unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
}

#[test]
fn a_destroyed_channel_tells_its_consumers_and_refuses_new_ones() {
    let host = host(EventChannel::builder().build().unwrap());
    let orb = client();
    let channel = remote(&orb, &host);
    let _subscription = channel
        .subscribe(&orb.poa, &Filter::event(TRACK), |_| {})
        .unwrap();
    host.channel.destroy();
    let refused = channel.subscribe(&orb.poa, &Filter::event(TRACK), |_| {}).err();
    assert!(
        matches!(refused, Some(EventError::Call(error)) if error.kind == SystemExceptionKind::ObjectNotExist)
    );
}

struct Told(mpsc::Sender<Vec<i32>>);

impl Observer for Told {
    fn update_consumer(&self, qos: ConsumerQosView<'_>) -> Result<(), punctual::SystemException> {
        let types = qos
            .dependencies
            .iter()
            .map(|one| one.event.header.r#type)
            .collect();
        self.0.send(types).unwrap();
        Ok(())
    }

    fn update_supplier(&self, _: SupplierQosView<'_>) -> Result<(), punctual::SystemException> {
        Ok(())
    }
}

#[test]
fn observers_hear_of_subscriptions_except_those_of_gateways() {
    let host = host(EventChannel::builder().build().unwrap());
    let orb = client();
    let (sender, told) = mpsc::channel();
    let observer: ObserverRef = orb.poa.activate(Told(sender)).unwrap();
    let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
    let handle = channel.append_observer(Some(&observer)).unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), [14], "nothing is wanted yet");
    let one = host
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), [9, 16]);
    let gateway = host
        .channel
        .subscribe_to(Filter::every_event())
        .gateway()
        .receiver()
        .unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), [9, 16], "no loop");
    drop((one, gateway));
    channel.remove_observer(handle).unwrap();
    assert!(channel.remove_observer(handle).is_err());
}

/// Notes of how many types it is told; blocks from the second time on until the sender is dropped.
struct Stuck {
    told: mpsc::Sender<usize>,
    times: AtomicUsize,
    released: Mutex<mpsc::Receiver<()>>,
}

impl Observer for Stuck {
    fn update_consumer(&self, qos: ConsumerQosView<'_>) -> Result<(), punctual::SystemException> {
        self.told.send(qos.dependencies.len()).unwrap();
        if self.times.fetch_add(1, SeqCst) > 0 {
            let _ = self.released.lock().unwrap().recv();
        }
        Ok(())
    }

    fn update_supplier(&self, _: SupplierQosView<'_>) -> Result<(), punctual::SystemException> {
        Ok(())
    }
}

/// The thread of a lane that disconnects a consumer does not wait for observers, however patient the channel.
#[test]
fn an_observer_that_blocks_delays_no_delivery_and_learns_the_last_state() {
    let limits = ChannelLimits {
        send_timeout: 4 * LONG,
        tolerance: ConsumerTolerance {
            failures: 1,
            ..ConsumerTolerance::default()
        },
        ..ChannelLimits::default()
    };
    let channel = EventChannel::builder().lane(Priority::MIN, 1).limits(limits);
    let host = host(channel.build().unwrap());
    let orb = client();
    let fails = |_| panic!("this consumer fails on purpose");
    let failing = |of: EventType| host.channel.subscribe_to(Filter::event(of)).each(fails).unwrap();
    let _failing = [failing(ALARM), failing(TRACK)];
    let sound = host
        .channel
        .subscribe_to(Filter::event(TRACK))
        .each(|_| {})
        .unwrap();
    let (told, tells) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let observer = Stuck {
        told,
        times: AtomicUsize::new(0),
        released: Mutex::new(released),
    };
    let observer: ObserverRef = orb.poa.activate(observer).unwrap();
    let remote: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
    remote.append_observer(Some(&observer)).unwrap();
    let all = tells.recv_timeout(LONG).unwrap();
    host.channel.push_octets(ALARM, b"x").unwrap();
    let fewer = tells.recv_timeout(LONG).unwrap();
    assert!(fewer < all, "{fewer} {all}");
    // It blocks from now on, and two more consumers go.
    for _ in 0..3 {
        host.channel.push_octets(TRACK, b"x").unwrap();
    }
    eventually("delivered", || sound.statistics().delivered == 3);
    drop(sound);
    assert!(host.channel.statistics().consumers.is_empty());
    assert!(tells.try_recv().is_err(), "the observer blocks");
    drop(release);
    assert_eq!(tells.recv_timeout(LONG), Ok(1), "nothing is wanted any more");
    assert_eq!(host.channel.statistics().observers, 1);
}

#[test]
fn a_consumer_that_has_died_is_disconnected_and_the_others_get_everything() {
    let host = host(EventChannel::builder().lane(Priority::MIN, 2).build().unwrap());
    let dying = client();
    let subscription = remote(&dying, &host)
        .subscribe(&dying.poa, &Filter::event(TRACK), |_| {})
        .unwrap();
    let sound = host
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    std::mem::forget(subscription);
    dying.orb.shutdown_and_wait().unwrap();
    drop(dying);
    let mut pushed = 0;
    eventually("disconnected", || {
        host.channel.push_octets(TRACK, b"x").unwrap();
        pushed += 1;
        std::thread::sleep(Duration::from_millis(1));
        host.channel.statistics().disconnected == 1
    });
    let received = std::iter::from_fn(|| sound.try_recv()).count() as u64;
    assert_eq!(
        received + sound.subscription().statistics().undelivered.lost,
        pushed
    );
}

#[test]
fn a_slow_consumer_receives_a_flood_of_the_longest_events() {
    let limits = ChannelLimits {
        tolerance: ConsumerTolerance {
            ping: Duration::ZERO,
            ..ConsumerTolerance::default()
        },
        octets: OctetLimits {
            queue: 64 << 20,
            ..OctetLimits::default()
        },
        send_timeout: LONG,
        ..ChannelLimits::default()
    };
    let length = limits.payload;
    let lanes = EventChannel::builder().lane(Priority::MIN, 1);
    let (host, consumer) = (host(lanes.limits(limits).build().unwrap()), client());
    let (release, blocked) = mpsc::channel::<()>();
    let (sender, received) = mpsc::channel();
    let blocked = std::sync::Mutex::new(blocked);
    let slow = move |events: &[punctual_events::rtec::rtec_event_comm::EventView<'_>]| {
        let _ = blocked.lock().unwrap().recv();
        for event in events {
            sender.send(event.data.payload.len()).unwrap();
        }
    };
    let channel = remote(&consumer, &host);
    let _slow = channel
        .subscribe(&consumer.poa, &Filter::event(TRACK), slow)
        .unwrap();
    let flood = vec![7; length];
    for _ in 0..20 {
        host.channel.push_octets(TRACK, &flood).unwrap();
    }
    drop(release);
    for _ in 0..20 {
        assert_eq!(received.recv_timeout(LONG), Ok(length));
    }
    let statistics = host.channel.statistics();
    assert_eq!(
        (
            statistics.disconnected,
            statistics.undelivered.lost,
            statistics.undelivered.failed
        ),
        (0, 0, 0)
    );
}

#[test]
fn gateways_in_both_directions_deliver_an_event_once_whatever_its_ttl() {
    let hosts = [0, 1].map(|_| host(EventChannel::builder().lane(Priority::MIN, 1).build().unwrap()));
    let orb = client();
    let all = Filter::event(TRACK);
    let to_second = hosts[1]
        .channel
        .import(&remote(&orb, &hosts[0]), &orb.poa, &all)
        .unwrap();
    let to_first = hosts[0]
        .channel
        .import(&remote(&orb, &hosts[1]), &orb.poa, &all)
        .unwrap();
    let received = || [0, 1].map(|index: usize| hosts[index].channel.statistics().received);
    let forwarded = |gateway: &Gateway| gateway.statistics().forwarded;
    let mut once = event(TRACK, b"once");
    hosts[0].channel.push_event(&once).unwrap();
    eventually("it came back and ended", || to_first.statistics().expired == 1);
    assert_eq!(
        (received(), forwarded(&to_second), forwarded(&to_first)),
        ([1, 1], 1, 0)
    );
    // Events with equal contents are different events.
    once.header.ttl = 3;
    for round in 1..=100 {
        hosts[0].channel.push_event(&once).unwrap();
        eventually("it came back", || to_first.statistics().returned == round);
    }
    assert_eq!(
        (received(), forwarded(&to_second), forwarded(&to_first)),
        ([101, 101], 101, 0)
    );
    assert!(hosts[0].channel.statistics().consumers[0].is_gateway);
}

#[test]
fn an_event_that_arrives_on_two_ways_is_delivered_once() {
    let hosts = [0, 1].map(|_| host(EventChannel::builder().lane(Priority::MIN, 1).build().unwrap()));
    let orb = client();
    let all = Filter::event(TRACK);
    let from = remote(&orb, &hosts[0]);
    let ways = [0, 1].map(|_| hosts[1].channel.import(&from, &orb.poa, &all).unwrap());
    for _ in 0..100 {
        hosts[0].channel.push_event(&event(TRACK, b"same")).unwrap();
    }
    let sum =
        |count: fn(GatewayStatistics) -> u64| -> u64 { ways.iter().map(|way| count(way.statistics())).sum() };
    eventually("all", || sum(|way| way.forwarded + way.repeated) == 200);
    assert_eq!((sum(|way| way.forwarded), sum(|way| way.repeated)), (100, 100));
    assert_eq!(
        hosts[1].channel.statistics().gateways,
        ways.map(|way| way.statistics())
    );
    assert_eq!(hosts[1].channel.statistics().received, 100);
}

#[test]
fn an_adapter_whose_users_choose_ids_is_refused_with_a_remedy() {
    let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
    let poa = orb.root_poa().child("events").user_ids().build().unwrap();
    let channel = EventChannel::builder().build().unwrap();
    let refused = channel.serve(&orb, &poa).unwrap_err();
    assert!(matches!(refused, EventError::UserIds), "{refused}");
    assert!(
        refused
            .to_string()
            .contains("without `persistent` and `user_ids`"),
        "{refused}"
    );
    assert_eq!(format!("{refused:?}"), refused.to_string());
}
