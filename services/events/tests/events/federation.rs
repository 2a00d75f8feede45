//! Gateways between channels of other processes, with and without acknowledgement.

use std::time::Duration;

use punctual::{Interface, Priority, SystemException, SystemExceptionKind};
use punctual_events::{
    Acknowledged, ChannelLimits, ConsumerTolerance, EventChannel, Events, Filter, GatewayLimits, OctetLimits,
    Overflow, Receiver, RemoteChannel,
    rtec::{
        punctual_events::{ChannelRef, GatewayTotals, OutboxRef},
        rtec_event_channel_admin::{
            ConsumerAdminRef, ConsumerQos, EventChannel as ChannelServant, EventChannelRef, ObserverRef,
            SupplierAdminRef,
            event_channel::{
                AppendObserverError, CantAppendObserver, CantRemoveObserver, RemoveObserverError,
            },
        },
    },
};
use punctual_fixtures::{LONG, eventually};

use crate::{
    TRACK,
    remote::{Client, Host, client, event, host, remote},
};

fn blocking(limits: ChannelLimits) -> EventChannel {
    let builder = EventChannel::builder().queue(4_096, Overflow::Block(LONG));
    builder.limits(limits).build().unwrap()
}

fn ours(client: &Client, host: &Host) -> ChannelRef {
    let channel: EventChannelRef = client.orb.resolve(&host.address).unwrap();
    ChannelRef::from_object(channel.as_object().clone())
}

fn outbox(channel: &ChannelRef, name: &str) -> OutboxRef {
    let qos = ConsumerQos {
        dependencies: Filter::every_event().to_dependencies(),
        is_gateway: true,
    };
    channel.open_outbox(name, &qos).unwrap().unwrap()
}

pub fn push(channel: &EventChannel, numbers: std::ops::Range<u32>) {
    for number in numbers {
        channel.push_event(&event(TRACK, &number.to_be_bytes())).unwrap();
    }
}

fn payloads(events: &[punctual_events::rtec::rtec_event_comm::Event]) -> Vec<u32> {
    let number = |payload: &[u8]| u32::from_be_bytes(payload.try_into().unwrap());
    events.iter().map(|one| number(&one.data.payload)).collect()
}

pub fn received(receiver: &Receiver<Events>, number: usize) -> Vec<u32> {
    let next = || {
        receiver
            .recv_timeout(LONG)
            .map(|event| payloads(&[(*event).clone()])[0])
    };
    std::iter::from_fn(next).take(number).collect()
}

#[test]
fn a_batch_stays_in_the_outbox_until_it_is_acknowledged() {
    let host = host(blocking(ChannelLimits::default()));
    let client = client();
    let channel = ours(&client, &host);
    let first = outbox(&channel, "one");
    push(&host.channel, 0..5);
    let (events, number, lost) = first.fetch(0, 3).unwrap();
    assert_eq!((payloads(&events), lost), (vec![0, 1, 2], 0));
    // A gateway that has started again knows nothing.
    let again = outbox(&channel, "one");
    assert_eq!(first, again);
    let (events, same, _) = again.fetch(0, 64).unwrap();
    assert_eq!((payloads(&events), same), (vec![0, 1, 2], number));
    let (events, next, _) = again.fetch(number, 64).unwrap();
    assert_eq!((payloads(&events), next), (vec![3, 4], number + 1));
    assert_eq!(
        payloads(&again.fetch(number, 64).unwrap().0),
        [3, 4],
        "an old one acknowledges nothing"
    );
    assert_eq!(payloads(&again.fetch(next, 0).unwrap().0), [0; 0]);

    let other = outbox(&channel, "two");
    push(&host.channel, 5..6);
    assert_eq!(payloads(&other.fetch(0, 64).unwrap().0), [5]);
    other.close().unwrap();
    let gone = other.fetch(0, 64).unwrap_err();
    assert_eq!(gone.kind, SystemExceptionKind::ObjectNotExist);
}

#[test]
fn what_is_kept_for_a_gateway_and_its_batches_are_limited_in_octets() {
    let octets = OctetLimits {
        batch: 1_500,
        kept: 3_000,
        ..OctetLimits::default()
    };
    let limits = ChannelLimits {
        octets,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let client = client();
    let outbox = outbox(&ours(&client, &host), "one");
    for number in 0..5_u32 {
        let mut event = event(TRACK, &number.to_be_bytes());
        event.data.any_value = punctual::any::Any::new(&"x".repeat(900)).unwrap();
        host.channel.push_event(&event).unwrap();
    }
    let (events, number, lost) = outbox.fetch(0, 64).unwrap();
    assert_eq!((payloads(&events), lost), (vec![2, 3], 2));
    assert_eq!(payloads(&outbox.fetch(number, 64).unwrap().0), [4]);
}

#[test]
fn an_inbox_recognises_a_batch_that_its_channel_has_forgotten() {
    let limits = ChannelLimits {
        gateways: GatewayLimits {
            remembered: 1,
            ..GatewayLimits::default()
        },
        ..ChannelLimits::default()
    };
    let (source, target) = (host(blocking(ChannelLimits::default())), host(blocking(limits)));
    let client = client();
    let outbox = outbox(&ours(&client, &source), "gateway");
    push(&source.channel, 0..3);
    let (events, number, _) = outbox.fetch(0, 64).unwrap();
    let pass = || {
        let inbox = ours(&client, &target).open_inbox("gateway").unwrap().unwrap();
        let receipt = inbox.pass(&events, number, &GatewayTotals::default()).unwrap();
        (receipt.passed, receipt.repeated)
    };
    assert_eq!(pass(), (3, 0));
    push(&target.channel, 7..9);
    assert_eq!(pass(), (0, 3));
    assert_eq!(target.channel.statistics().received, 5);
}

#[test]
fn gateways_that_start_again_and_channels_that_do_lose_and_repeat_nothing() {
    let limits = ChannelLimits::default();
    let (source, target) = (host(blocking(limits.clone())), host(blocking(limits)));
    let sink = target
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    let client = client();
    let settings = || Acknowledged {
        batch: 7,
        interval: Duration::from_millis(1),
        ..Acknowledged::new("gateway")
    };
    let start = || {
        let (from, to) = (remote(&client, &source), remote(&client, &target));
        from.forward_acknowledged(&to, &Filter::event(TRACK), settings())
            .unwrap()
    };
    let mut gateway = start();
    for round in 0..20 {
        push(&source.channel, round * 50..(round + 1) * 50);
        eventually("some", || {
            sink.subscription().statistics().queued > u64::from(round) * 50
        });
        // In the middle of a round.
        drop(gateway);
        gateway = start();
    }
    assert_eq!(received(&sink, 1_000), (0..1_000).collect::<Vec<_>>());
    let shown = &target.channel.statistics().gateways[..];
    assert_eq!((shown.len(), shown[0].forwarded, shown[0].lost), (1, 1_000, 0));
    assert_eq!(target.channel.statistics().received, 1_000);
    // `ttl` 1: no further.
    let back = remote(&client, &target).forward_acknowledged(
        &remote(&client, &source),
        &Filter::event(TRACK),
        Acknowledged::new("back"),
    );
    let back = back.unwrap();
    push(&source.channel, 0..1);
    eventually("expired", || back.statistics().expired == 1);
    assert_eq!(source.channel.statistics().received, 1_001);
}

#[test]
fn gateways_without_end_are_refused_and_unused_ones_forgotten() {
    let limits = ChannelLimits {
        gateways: GatewayLimits {
            number: 2,
            kept_for: Duration::from_millis(50),
            kept: 4,
            ..GatewayLimits::default()
        },
        tolerance: ConsumerTolerance {
            ping: Duration::from_millis(20),
            ..ConsumerTolerance::default()
        },
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let client = client();
    let channel = ours(&client, &host);
    let qos = ConsumerQos {
        dependencies: Filter::every_event().to_dependencies(),
        is_gateway: true,
    };
    let held = outbox(&channel, "0");
    channel.open_outbox("1", &qos).unwrap();
    for name in ["", &"x".repeat(257)] {
        assert!(channel.open_outbox(name, &qos).is_err() && channel.open_inbox(name).is_err());
    }
    push(&host.channel, 0..9);
    eventually("unused ones are forgotten", || {
        // The other one is used.
        held.fetch(0, 1).unwrap();
        channel.open_outbox("2", &qos).is_ok()
    });
    assert_eq!(host.channel.statistics().disconnected, 1);
    let (events, number, lost) = held.fetch(0, 64).unwrap();
    assert_eq!(
        (payloads(&events), lost),
        (vec![5], 5),
        "the batch of before; drop-oldest for the others"
    );
    assert_eq!(payloads(&held.fetch(number, 64).unwrap().0), [6, 7, 8]);

    for name in ["0", "1"] {
        channel.open_inbox(name).unwrap();
    }
    let refused = channel.open_inbox("2");
    eventually("an unused inbox gives way", || channel.open_inbox("2").is_ok());
    assert!(refused.is_err_and(|error| error.kind == SystemExceptionKind::ImpLimit));
    assert!(host.channel.statistics().gateways.len() <= 2);
}

/// A channel without our extensions, as TAO's.
struct Foreign(EventChannelRef);

impl ChannelServant for Foreign {
    fn for_consumers(&self) -> Result<Option<ConsumerAdminRef>, SystemException> {
        self.0.for_consumers()
    }

    fn for_suppliers(&self) -> Result<Option<SupplierAdminRef>, SystemException> {
        self.0.for_suppliers()
    }

    fn destroy(&self) -> Result<(), SystemException> {
        self.0.destroy()
    }

    fn append_observer(&self, _: Option<ObserverRef>) -> Result<u32, AppendObserverError> {
        Err(CantAppendObserver {}.into())
    }

    fn remove_observer(&self, _: u32) -> Result<(), RemoveObserverError> {
        Err(CantRemoveObserver {}.into())
    }
}

#[test]
fn a_channel_of_another_vendor_gets_events_but_cannot_acknowledge() {
    let lanes = || EventChannel::builder().lane(Priority::MIN, 1).build().unwrap();
    let (source, target) = (host(lanes()), host(lanes()));
    let (client, vendor) = (client(), client());
    let sink = target
        .channel
        .subscribe_to(Filter::event(TRACK))
        .receiver()
        .unwrap();
    let foreign = Foreign(vendor.orb.resolve(&target.address).unwrap());
    let foreign: EventChannelRef = vendor.poa.activate(foreign).unwrap();
    let foreign = RemoteChannel::new(client.orb.resolve(&foreign.to_ior()).unwrap());
    let from = remote(&client, &source);
    let all = Filter::event(TRACK);
    let refused = from
        .forward_acknowledged(&foreign, &all, Acknowledged::new("gateway"))
        .err();
    assert!(refused.unwrap().to_string().contains("another vendor"));
    let gateway = from.forward(&foreign, &client.poa, &all, "gateway").unwrap();
    push(&source.channel, 0..3);
    assert_eq!(received(&sink, 3), [0, 1, 2]);
    eventually("counted", || gateway.statistics().forwarded == 3);
    assert!(gateway.is_connected().unwrap());
    let mut old = event(TRACK, b"old");
    old.header.ttl = 0;
    source.channel.push_event(&old).unwrap();
    eventually("expired", || gateway.statistics().expired == 1);

    // It does not answer; one of ours does.
    let counted = from
        .forward(&remote(&client, &target), &client.poa, &all, "counted")
        .unwrap();
    target.channel.destroy();
    push(&source.channel, 3..5);
    eventually("forwarded", || gateway.statistics().forwarded == 5);
    eventually("lost", || counted.statistics().lost == 2);
}
