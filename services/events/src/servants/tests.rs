//! Proxies that give way to others while a client connects to them.

use std::sync::{Arc, atomic::AtomicUsize};

use punctual::{Orb, Priority, SystemException};
use punctual_os::PiMutex;

use super::{
    ForConsumers, ForSuppliers, Host, Proxy,
    proxies::{PushConsumerProxy, PushSupplierProxy},
};
use crate::{
    ChannelLimits, EventChannel, EventType, Filter, Overflow,
    consumer::{self, Exit, UNTIMED},
    rtec::{
        rtec_event_channel_admin::{ConsumerAdmin, ConsumerQos, SupplierAdmin, SupplierQos},
        rtec_event_comm::{EventView, PushConsumer, PushConsumerRef},
    },
};

struct Nobody;

impl PushConsumer for Nobody {
    fn push(&self, _: &[EventView<'_>]) -> Result<(), SystemException> {
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// A channel with two proxies at most.
fn host() -> (Arc<Host>, PushConsumerRef) {
    let orb = Orb::builder().build().unwrap();
    let poa = orb.root_poa();
    let consumer = poa.activate(Nobody).unwrap();
    let limits = ChannelLimits {
        consumers: 1,
        ..ChannelLimits::default()
    };
    let host = Host {
        channel: EventChannel::builder().limits(limits).build().unwrap(),
        orb,
        poa,
        proxies: AtomicUsize::new(0),
        unconnected: PiMutex::default(),
    };
    (Arc::new(host), consumer)
}

fn oldest(host: &Host) -> Arc<dyn Proxy> {
    let unconnected = host.unconnected.lock();
    unconnected.front().and_then(|proxy| proxy.upgrade()).unwrap()
}

/// The moment between the choice of a proxy and its end.
#[test]
fn a_proxy_that_is_connected_after_it_was_found_unconnected_stays() {
    let (host, consumer) = host();
    let supplier = ForConsumers(Arc::clone(&host))
        .obtain_push_supplier()
        .unwrap()
        .unwrap();
    let chosen = oldest(&host);
    assert!(chosen.is_unconnected());
    supplier
        .connect_push_consumer(Some(&consumer), &ConsumerQos::default())
        .unwrap();
    assert!(!chosen.end_unconnected());
    supplier.suspend_connection().unwrap();

    host.unconnected.lock().clear();
    let taker = ForSuppliers(Arc::clone(&host))
        .obtain_push_consumer()
        .unwrap()
        .unwrap();
    let chosen = oldest(&host);
    assert!(chosen.is_unconnected());
    taker
        .connect_push_supplier(None, &SupplierQos::default())
        .unwrap();
    assert!(!chosen.end_unconnected());
    taker.push(&[]).unwrap();

    // Both are in use: a third one is refused.
    assert!(ForSuppliers(host).obtain_push_consumer().is_err());
}

/// The observers are told after or before the proxy ends, and the types are too many or not.
#[test]
fn a_supplier_that_disconnects_while_it_connects_leaves_nothing_behind() {
    let (host, _) = host();
    let core = &host.channel.core;
    let types = vec![EventType(16), EventType(17)];
    let other = [EventType(17)];
    assert!(core.observers.publishes(&other));
    for (is_late, was_admitted) in [(false, true), (true, true), (true, false)] {
        host.admit_proxy().unwrap();
        let (proxy, _) = PushConsumerProxy::activate(&host).unwrap();
        proxy.begin_connection().unwrap();
        assert!(proxy.begin_connection().is_err() && !proxy.is_unconnected());
        let tell = || assert!(!was_admitted || core.observers.publishes(&types));
        if is_late {
            tell();
        }
        assert!(proxy.end());
        if !is_late {
            tell();
        }
        assert_eq!(host.channel.statistics().suppliers, []);
        assert!(
            proxy
                .complete_connection(types.clone(), None, was_admitted)
                .is_err()
        );
        assert_eq!(
            (
                host.channel.statistics().suppliers.len(),
                core.observers.published()
            ),
            (0, 1)
        );
    }
}

#[test]
fn a_consumer_whose_proxy_ends_while_it_connects_leaves_nothing_behind() {
    let (host, _) = host();
    let core = &host.channel.core;
    host.admit_proxy().unwrap();
    let (proxy, _) = PushSupplierProxy::activate(&host).unwrap();
    let qos = consumer::ConsumerQos {
        name: "remote".to_owned(),
        priority: Priority::MIN,
        queue: 1,
        octets: 1,
        overflow: Overflow::DropOldest,
        is_gateway: false,
        timing: UNTIMED,
        rt_infos: Vec::new(),
    };
    let subscribed = core.subscribe(Filter::every_event(), qos, Exit::Receiver);
    assert!(proxy.end_unconnected());
    let refused = proxy.complete_connection(subscribed.unwrap()).unwrap_err();
    assert!(refused.to_string().contains("OBJECT_NOT_EXIST"), "{refused}");
    assert!(host.channel.statistics().consumers.is_empty());
}

#[test]
fn who_connects_to_a_proxy_that_has_given_way_learns_it_at_once() {
    let (host, consumer) = host();
    let suppliers = ForSuppliers(Arc::clone(&host));
    let supplier = ForConsumers(Arc::clone(&host))
        .obtain_push_supplier()
        .unwrap()
        .unwrap();
    let taker = suppliers.obtain_push_consumer().unwrap().unwrap();
    for _ in 0..2 {
        suppliers.obtain_push_consumer().unwrap();
    }
    let refused = supplier.connect_push_consumer(Some(&consumer), &ConsumerQos::default());
    assert!(refused.unwrap_err().to_string().contains("OBJECT_NOT_EXIST"));
    let refused = taker.connect_push_supplier(None, &SupplierQos::default());
    assert!(refused.unwrap_err().to_string().contains("OBJECT_NOT_EXIST"));
    assert!(host.channel.statistics().consumers.is_empty());
}
