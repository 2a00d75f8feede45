//! Clients that flood, lie, or take too much.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use punctual::{Priority, SystemExceptionKind};
use punctual_events::{
    ChannelLimits, EventChannel, Filter, Overflow, rtec::rtec_event_channel_admin::EventChannelRef,
};
use punctual_fixtures::eventually;

use crate::{
    ALARM, TRACK,
    remote::{client, event, host, remote},
};

#[test]
fn proxies_are_limited() {
    let limits = ChannelLimits {
        consumers: 4,
        ..ChannelLimits::default()
    };
    let host = host(EventChannel::builder().limits(limits).build().unwrap());
    let orb = client();
    let channel: EventChannelRef = orb.orb.resolve(&host.address).unwrap();
    let admin = channel.for_consumers().unwrap().unwrap();
    let proxies: Vec<_> = (0..8)
        .map(|_| admin.obtain_push_supplier().unwrap().unwrap())
        .collect();
    let error = admin.obtain_push_supplier().unwrap_err();
    assert_eq!(error.kind, SystemExceptionKind::ImpLimit);
    proxies[0].disconnect_push_supplier().unwrap();
    admin.obtain_push_supplier().unwrap();
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
    let supplier = remote(&orb, &host).supplier(&[]).unwrap();
    let flood: Vec<_> = (0..500).map(|_| event(TRACK, &[0; 100])).collect();
    for _ in 0..20 {
        supplier.push(&flood).unwrap();
        supplier.push(&[event(ALARM, b"")]).unwrap();
    }
    eventually("all alarms", || alarms.load(SeqCst) == 20);
    let statistics = flooded.subscription().statistics();
    assert_eq!(
        (statistics.waiting, statistics.high_water, statistics.lost),
        (16, 16, 10_000 - 16)
    );
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
