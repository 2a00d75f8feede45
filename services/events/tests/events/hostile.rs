//! Clients that flood, lie, or take too much.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
        mpsc::channel,
    },
    thread,
};

use punctual::{Interface, Orb, Priority, SystemExceptionKind, any::Any};
use punctual_events::{
    ChannelLimits, ChannelStatistics, EventChannel, EventError, EventType, Filter, FilterLimits,
    GatewayLimits, Overflow, Refusals, RemoteSupplier, SupplierStatistics,
    rtec::{
        punctual_events::ChannelRef,
        rtec_event_channel_admin::{ConsumerQos, EventChannelRef, ProxyPushSupplierRef, SupplierQos},
        rtec_event_comm::PushConsumerRef,
    },
};
use punctual_fixtures::eventually;

use crate::{
    ALARM, TRACK,
    remote::{client, event, host, remote},
};

/// Proxies to which no client connects do not lock out others.
#[test]
fn proxies_are_limited() {
    let limits = ChannelLimits {
        consumers: 4,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let orb = client();
    let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
    let consumers = channel.for_consumers().unwrap().unwrap();
    let suppliers = channel.for_suppliers().unwrap().unwrap();
    let left: Vec<_> = (0..100)
        .map(|_| consumers.obtain_push_supplier().unwrap().unwrap())
        .collect();
    let exists = |proxy: &&ProxyPushSupplierRef| !proxy.as_object().non_existent().unwrap();
    assert_eq!(left.iter().filter(exists).count(), 8);
    assert!(
        left[92..].iter().all(|proxy| exists(&proxy)),
        "the oldest gave way"
    );
    let qos = SupplierQos::default();
    let connected: Vec<_> = (0..8)
        .map(|_| suppliers.obtain_push_consumer().unwrap().unwrap())
        .inspect(|proxy| proxy.connect_push_supplier(None, &qos).unwrap())
        .collect();
    assert_eq!(left.iter().filter(exists).count(), 0);
    for _ in 0..2 {
        let error = consumers.obtain_push_supplier().unwrap_err();
        assert_eq!(error.kind, SystemExceptionKind::ImpLimit);
        assert_eq!(suppliers.obtain_push_consumer().unwrap_err().kind, error.kind);
    }
    assert!(
        connected
            .iter()
            .all(|proxy| !proxy.as_object().non_existent().unwrap())
    );
    connected[0].disconnect_push_consumer().unwrap();
    consumers.obtain_push_supplier().unwrap();
}

#[test]
fn a_channel_decides_whether_clients_may_destroy_it() {
    for remote_destroy in [true, false] {
        let limits = ChannelLimits {
            remote_destroy,
            ..ChannelLimits::default()
        };
        let host = host(EventChannel::builder().limits(limits).build().unwrap());
        let orb = client();
        let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
        let destroyed = channel.destroy();
        assert_eq!(
            (destroyed.is_ok(), host.channel.is_destroyed()),
            (remote_destroy, remote_destroy)
        );
        if let Err(refused) = destroyed {
            assert_eq!(refused.kind, SystemExceptionKind::NoPermission);
            assert_eq!(host.channel.statistics().refusals.limit, 1);
            assert!(remote(&orb, &host).supplier(&[]).is_ok());
        }
    }
}

/// Clients that open outboxes at the same time, each on a thread of the adapter.
#[test]
fn outboxes_are_limited_however_many_clients_open_them_at_once() {
    const CLIENTS: usize = 8;
    for _ in 0..50 {
        let limits = ChannelLimits {
            gateways: GatewayLimits {
                number: 2,
                ..GatewayLimits::default()
            },
            ..ChannelLimits::default()
        };
        let channel = EventChannel::builder().limits(limits).build().unwrap();
        let orb = Orb::builder().listen("iiop://localhost").build().unwrap();
        let pool = orb.threadpool().threads(CLIENTS).build().unwrap();
        let poa = orb.root_poa().child("channel").threadpool(&pool).build().unwrap();
        let served = channel.serve(&orb, &poa).unwrap();
        let ours = ChannelRef::from_object(served.reference().as_object().clone());
        let start = Barrier::new(CLIENTS);
        let opened: usize = thread::scope(|scope| {
            let open = |number: usize| {
                let (start, ours) = (&start, &ours);
                scope.spawn(move || {
                    start.wait();
                    let opened = ours.open_outbox(&format!("gateway {number}"), &every());
                    usize::from(opened.is_ok())
                })
            };
            let all: Vec<_> = (0..CLIENTS).map(open).collect();
            all.into_iter().map(|one| one.join().unwrap()).sum()
        });
        let statistics = channel.statistics();
        assert_eq!((opened, statistics.consumers.len()), (2, 2));
        assert_eq!(statistics.refusals.limit, CLIENTS as u64 - 2);
    }
}

fn every() -> ConsumerQos {
    ConsumerQos {
        dependencies: Filter::every_event().to_dependencies(),
        is_gateway: true,
    }
}

#[test]
fn a_flood_reaches_its_bounded_queue_and_nothing_else() {
    let lanes = EventChannel::builder()
        .lane(Priority::MIN, 1)
        .lane(Priority::MAX, 1);
    let host = host(lanes.queue(16, Overflow::DropNewest).build().unwrap());
    let orb = client();
    let alarms = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&alarms);
    let alarm = host
        .channel
        .subscribe_to(Filter::event(ALARM))
        .priority(Priority::MAX);
    let _alarm = alarm
        .each(move |_| {
            counted.fetch_add(1, SeqCst);
        })
        .unwrap();
    let flooded = host
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    let channel = remote(&orb, &host);
    let (supplier, quiet) = (channel.supplier(&[]).unwrap(), channel.supplier(&[]).unwrap());
    supplier.set_name("radar").unwrap();
    quiet
        .push(&[event(TRACK, b""), event(EventType(99), b"")])
        .unwrap();
    quiet.flush().unwrap();
    let flood: Vec<_> = (0..500).map(|_| event(TRACK, &[0; 100])).collect();
    for _ in 0..20 {
        supplier.push(&flood).unwrap();
        supplier.push(&[event(ALARM, b"")]).unwrap();
    }
    eventually("all alarms", || alarms.load(SeqCst) == 20);
    let statistics = flooded.subscription().statistics();
    assert_eq!(
        (
            statistics.waiting,
            statistics.high_water,
            statistics.undelivered.lost
        ),
        (16, 16, 10_000 + 1 - 16)
    );
    // It can be told from others, also after it has gone.
    supplier.push(&[event(ALARM, &vec![0; (1 << 20) + 1])]).unwrap();
    supplier.flush().unwrap();
    let shown = |channel: &EventChannel| {
        let suppliers = channel.statistics().suppliers.into_iter();
        let numbers = |one: SupplierStatistics| [one.pushed, one.unmatched, one.refused, one.lost];
        suppliers
            .map(|one| {
                (
                    one.name.clone(),
                    one.address.clone(),
                    one.is_connected,
                    numbers(one),
                )
            })
            .collect::<Vec<_>>()
    };
    let expected =
        |name: &str, is_connected, numbers| (name.to_owned(), "localhost".to_owned(), is_connected, numbers);
    let flood = [10_000 + 21, 0, 1, 10_000 - 15];
    let quiet_one = expected("localhost", true, [2, 1, 0, 0]);
    assert_eq!(
        shown(&host.channel),
        [expected("radar", true, flood), quiet_one.clone()]
    );
    drop(supplier);
    eventually("the supplier has gone", || {
        shown(&host.channel) == [quiet_one.clone(), expected("radar", false, flood)]
    });
}

/// The lower lanes' threads, which find the queues full, count for the supplier, and so does the rule that
/// drops older events.
#[test]
fn losses_count_for_the_supplier_whose_event_found_no_room() {
    let lanes = EventChannel::builder()
        .lane(Priority::MIN, 1)
        .lane(Priority::MAX, 1);
    let host = host(lanes.queue(1, Overflow::DropOldest).build().unwrap());
    let orb = client();
    let (begins, begun) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let _blocked = host
        .channel
        .subscribe_to(Filter::event(TRACK))
        .each(move |_| {
            begins.send(()).unwrap();
            let _ = released.lock().unwrap().recv();
        })
        .unwrap();
    // For this one, the supplier's thread leaves the other lane's consumer to that lane's thread.
    let _above = host
        .channel
        .subscribe_to(Filter::event(TRACK))
        .priority(Priority::MAX)
        .queue(16, Overflow::DropNewest)
        .each(|_| {})
        .unwrap();
    let channel = remote(&orb, &host);
    let [one, other] = [(); 2].map(|()| channel.supplier(&[]).unwrap());
    let push = |supplier: &RemoteSupplier, number| {
        supplier.push(&vec![event(TRACK, b""); number]).unwrap();
        supplier.flush().unwrap();
    };
    push(&one, 1);
    begun.recv().unwrap();
    push(&one, 1);
    push(&other, 3);
    drop(release);
    eventually("all are offered", || {
        host.channel.statistics().undelivered.lost == 3
    });
    let suppliers = host.channel.statistics().suppliers;
    let lost: Vec<u64> = suppliers.iter().map(|one| one.lost).collect();
    assert_eq!(lost, [0, 3]);
}

#[test]
fn a_payload_above_the_limit_is_refused_and_the_rest_of_its_set_is_not() {
    let limits = ChannelLimits {
        payload: 10,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let orb = client();
    let all = host
        .channel
        .subscribe_to(Filter::every_event())
        .receiver()
        .unwrap();
    let supplier = remote(&orb, &host).supplier(&[]).unwrap();
    supplier
        .push(&[event(TRACK, &[1; 11]), event(TRACK, &[2; 10])])
        .unwrap();
    supplier.flush().unwrap();
    eventually("received", || host.channel.statistics().received == 1);
    assert_eq!(all.try_recv().unwrap().data.payload, [2; 10]);
    assert_eq!(host.channel.statistics().refused, 1);
}

#[test]
fn an_any_counts_as_the_payload_does() {
    let limits = ChannelLimits {
        payload: 1_000,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let orb = client();
    let all = host.channel.subscribe_to(Filter::every_event());
    let all = all.receiver().unwrap();
    let supplier = remote(&orb, &host).supplier(&[]).unwrap();
    let with = |payload: usize, any: usize| {
        let mut event = event(TRACK, &vec![0; payload]);
        event.data.any_value = Any::new(&"x".repeat(any)).unwrap();
        event
    };
    let set = [with(0, 1_000), with(500, 500), with(0, 900), with(900, 1)];
    supplier.push(&set).unwrap();
    supplier.flush().unwrap();
    eventually("received", || host.channel.statistics().received == 2);
    let lengths = [0; 2].map(|_| all.try_recv().unwrap().data.payload.len());
    assert_eq!((lengths, host.channel.statistics().refused), ([0, 900], 2));
    assert!(host.channel.push_event(&set[1]).is_err());
}

#[test]
fn elements_of_all_filters_and_announced_types_are_limited() {
    let filter = FilterLimits {
        all_elements: 10,
        ..FilterLimits::default()
    };
    let limits = ChannelLimits {
        filter,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let types = |number: i32| (0..number).map(|place| EventType(20 + place));
    let subscribe = |number| {
        let filter = Filter::any_of(types(number).map(Filter::event));
        host.channel.subscribe_to(filter).receiver()
    };
    let first = subscribe(5).unwrap();
    let refused = subscribe(4).err().unwrap();
    assert!(matches!(refused, EventError::TooManyElements(10)), "{refused}");
    let second = subscribe(3).unwrap();
    drop(first);
    let third = subscribe(5).unwrap();
    assert_eq!(host.channel.push_octets(EventType(20), b"").unwrap(), 2);
    drop((second, third));

    let orb = client();
    let channel = remote(&orb, &host);
    let announce = |number| channel.supplier(&types(number).collect::<Vec<_>>());
    let suppliers = [10, 10].map(|number| announce(number).unwrap());
    assert!(announce(11).is_err());
    assert_eq!(host.channel.statistics().refusals.limit, 2);
    let shown = host.channel.statistics().suppliers;
    assert_eq!(shown.iter().filter(|one| one.is_connected).count(), 2);
    drop(suppliers);
    assert!(announce(10).is_ok());
}

#[test]
fn refused_subscriptions_are_counted_by_their_reason_and_shown_to_other_processes() {
    let filter = FilterLimits {
        depth: 3,
        elements: 4,
        ..FilterLimits::default()
    };
    let limits = ChannelLimits {
        consumers: 1,
        filter,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let orb = client();
    let inspection = host.channel.serve_inspection(&orb.poa).unwrap();
    let channel = remote(&orb, &host);
    let track = || Filter::event(TRACK);
    let deep = track().negated().negated().negated();
    let long = Filter::any_of([track(), track(), track(), track()]);
    for filter in [&deep, &long, &deep] {
        assert!(channel.subscribe(&orb.poa, filter, |_| {}).is_err());
    }
    let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
    let admin = channel.for_consumers().unwrap().unwrap();
    let proxies = [0, 1].map(|_| admin.obtain_push_supplier().unwrap().unwrap());
    let mut dependencies = track().negated().to_dependencies();
    dependencies.pop();
    let qos = ConsumerQos {
        dependencies,
        is_gateway: false,
    };
    let consumer: PushConsumerRef = orb.poa.reference().create().unwrap();
    for consumer in [Some(&consumer), None] {
        assert!(proxies[0].connect_push_consumer(consumer, &qos).is_err());
    }
    let mut refusals = Refusals {
        depth: 2,
        length: 1,
        malformed: 2,
        limit: 0,
    };
    let shown = || ChannelStatistics::of(&inspection).unwrap().refusals;
    assert_eq!(shown(), refusals);
    let suppliers = channel.for_suppliers().unwrap().unwrap();
    for _ in 0..2 {
        let proxy = suppliers.obtain_push_consumer().unwrap().unwrap();
        proxy
            .connect_push_supplier(None, &SupplierQos::default())
            .unwrap();
    }
    assert!(admin.obtain_push_supplier().is_err(), "too many proxies");
    let _first = host.channel.subscribe_to(track()).receiver().unwrap();
    assert!(host.channel.subscribe_to(track()).receiver().is_err());
    refusals.limit = 2;
    assert_eq!(shown(), refusals);
}

#[test]
fn what_consumers_that_are_gone_have_lost_remains_in_the_totals() {
    let channel = EventChannel::builder()
        .queue(2, Overflow::DropOldest)
        .build()
        .unwrap();
    let lost = channel.subscribe_to(Filter::event(TRACK)).receiver().unwrap();
    let failed = channel
        .subscribe_to(Filter::event(TRACK))
        .each(|_| panic!("expected by the test"));
    let failed = failed.unwrap();
    for _ in 0..5 {
        channel.push_octets(TRACK, b"x").unwrap();
    }
    drop((lost, failed));
    let statistics = channel.statistics();
    assert_eq!(
        (
            statistics.consumers.len(),
            statistics.undelivered.lost,
            statistics.undelivered.failed
        ),
        (0, 3, 3)
    );
}

#[test]
fn a_filter_of_depth_10_000_is_refused_whatever_the_limit_of_its_length() {
    let filter = FilterLimits {
        elements: 20_000,
        ..FilterLimits::default()
    };
    let limits = ChannelLimits {
        filter,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let orb = client();
    let deep = (0..10_000).fold(Filter::event(TRACK), |filter, _| filter.negated());
    assert_eq!(deep.depth(), 10_001);
    assert!(host.channel.subscribe_to(deep.clone()).receiver().is_err());
    let refused = remote(&orb, &host)
        .subscribe(&orb.poa, &deep, |_| {})
        .err()
        .unwrap();
    assert!(refused.to_string().contains("TypeError"), "{refused}");
    let statistics = host.channel.statistics();
    assert_eq!((statistics.consumers.len(), statistics.refusals.depth), (0, 2));
}

#[test]
fn a_consumer_that_is_the_channel_itself_gets_an_event_as_often_as_its_ttl_permits() {
    for builder in [
        EventChannel::builder(),
        EventChannel::builder().lane(Priority::MIN, 1),
    ] {
        let host = host(builder.build().unwrap());
        let orb = client();
        let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
        let into = channel
            .for_suppliers()
            .unwrap()
            .unwrap()
            .obtain_push_consumer()
            .unwrap()
            .unwrap();
        let lie = PushConsumerRef::from_object(into.as_object().clone());
        let out = channel
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
        out.connect_push_consumer(Some(&lie), &qos).unwrap();
        let mut event = event(TRACK, b"round");
        event.header.ttl = 3;
        host.channel.push_event(&event).unwrap();
        eventually("refused", || host.channel.statistics().refused == 1);
        assert_eq!(host.channel.statistics().received, 4);
    }
}
