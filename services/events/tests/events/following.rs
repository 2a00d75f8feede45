//! A channel that follows a scheduler of another ORB, for consumers that name their operations by handles.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use punctual::{Interface, Priority, SystemException};
use punctual_events::{
    EventChannel, Filter, Lane, Overflow,
    rtec::{
        rtec_event_channel_admin::{ConsumerQos, EventChannelRef, ProxyPushSupplierRef},
        rtec_event_comm::{EventView, PushConsumer, PushConsumerRef},
    },
};
use punctual_fixtures::eventually;
use punctual_scheduling::{
    reconfigurable::*,
    rtec::{
        ScheduleFollower, SchedulerServant,
        idl::{
            punctual_scheduling::SchedulerRef as Own,
            rtec_scheduler::{CriticalityT, ImportanceT, InfoTypeT, SchedulerRef},
        },
    },
};

use crate::{
    ALARM, TRACK, Track,
    remote::{Client, Host, client, host, remote},
    track,
};

const PERIOD: Duration = Duration::from_millis(2);
const NAMES: [&str; 2] = ["radar", "display"];

/// A consumer as a client of TAO's service has it: handles are in the dependencies.
struct Noting(Arc<Mutex<Vec<i32>>>);

impl PushConsumer for Noting {
    fn push(&self, events: &[EventView<'_>]) -> Result<(), SystemException> {
        let numbers = events.iter().map(|event| {
            let payload = &event.data.payload[..4];
            i32::from_le_bytes(payload.try_into().unwrap())
        });
        self.0.lock().unwrap().extend(numbers);
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Connects with the filter for all of these handles.
fn connect(
    client: &Client,
    host: &Host,
    filter: &Filter,
    rt_infos: &[i32],
    noted: &Arc<Mutex<Vec<i32>>>,
) -> ProxyPushSupplierRef {
    let channel: EventChannelRef = client.orb.resolve(&host.address).unwrap();
    let admin = channel.for_consumers().unwrap().unwrap();
    let proxy = admin.obtain_push_supplier().unwrap().unwrap();
    let mut dependencies = filter.to_dependencies();
    let stated = rt_infos.iter().chain(std::iter::repeat(&0));
    for (dependency, rt_info) in dependencies.iter_mut().zip(stated) {
        dependency.rt_info = *rt_info;
    }
    let qos = ConsumerQos {
        dependencies,
        is_gateway: false,
    };
    let consumer: PushConsumerRef = client.poa.activate(Noting(Arc::clone(noted))).unwrap();
    proxy.connect_push_consumer(Some(&consumer), &qos).unwrap();
    proxy
}

/// Gives operations these periods in milliseconds, and computes.
fn compute(scheduler: &SchedulerRef, handles: [i32; 2], periods: [i32; 2]) {
    let (low, importance) = (CriticalityT::LowCriticality, ImportanceT::MediumImportance);
    for (handle, period) in handles.into_iter().zip(periods) {
        let (period, kind) = (period * 10_000, InfoTypeT::Operation);
        let reset = scheduler.reset(handle, low, 10_000, 0, 0, period, importance, 0, 0, kind);
        reset.unwrap();
    }
    scheduler.recompute_scheduling(1, 50).unwrap();
}

fn priorities(channel: &EventChannel) -> Vec<i16> {
    let mut consumers = channel.statistics().consumers;
    consumers.sort_by_key(|one| one.id);
    consumers.iter().map(|one| one.priority.value()).collect()
}

/// Three ORBs: scheduler, channel, consumers and supplier. Schedules change while events are under way.
#[test]
fn schedules_of_another_process_move_consumers_by_handle_and_lose_no_event() {
    const EVENTS: i32 = 4_000;
    let scheduling = client();
    let servant = SchedulerServant::new(Strategy::Rms);
    let object: Own = scheduling.poa.activate(servant).unwrap();
    let host = host({
        let builder = EventChannel::builder().lane(Priority::MIN, 1);
        let builder = builder.queue(64, Overflow::Block(punctual_fixtures::LONG));
        builder.build().unwrap()
    });
    let consumers = client();
    let ior = object.as_object().to_ior();
    let scheduler: SchedulerRef = consumers.orb.resolve(&ior).unwrap();
    let handles = NAMES.map(|name| scheduler.create(name).unwrap());
    let follows = host.channel.clone();
    let follower = ScheduleFollower::start(&consumers.orb, &ior, PERIOD, move |schedule| {
        let lane = Lane::descending(Priority::new(30_000)?);
        Ok(follows.follow(schedule.clone(), lane)?)
    });
    let follower = follower.unwrap();

    let noted: [Arc<Mutex<Vec<i32>>>; 3] = Default::default();
    let filter = Filter::event(TRACK);
    // The first one connects before there is a schedule.
    let _radar = connect(&consumers, &host, &filter, &handles[..1], &noted[0]);
    compute(&scheduler, handles, [10, 100]);
    eventually("a schedule", || follower.followed().adopted == 1);
    let _display = connect(&consumers, &host, &filter, &handles[1..], &noted[1]);
    let _other = connect(&consumers, &host, &filter, &[99], &noted[2]);
    assert_eq!(priorities(&host.channel), [30_000, 29_999, 0]);

    let supplier = {
        let pushes = remote(&consumers, &host).supplier(&[TRACK]).unwrap();
        thread::spawn(move || {
            for number in 0..EVENTS {
                let mut event = crate::remote::event(TRACK, &number.to_le_bytes());
                event.header.source = 7;
                pushes.push(&[event]).unwrap();
            }
            pushes.flush().unwrap();
        })
    };
    let mut changes = 1;
    while !supplier.is_finished() || changes < 5 {
        let (periods, expected) = match changes % 2 {
            0 => ([10, 100], [30_000, 29_999, 0]),
            _ => ([100, 10], [29_999, 30_000, 0]),
        };
        compute(&scheduler, handles, periods);
        changes += 1;
        eventually("the next schedule", || follower.followed().adopted == changes);
        assert_eq!(priorities(&host.channel), expected);
    }
    supplier.join().unwrap();
    let all: Vec<i32> = (0..EVENTS).collect();
    for noted in &noted {
        eventually("all events", || noted.lock().unwrap().len() >= all.len());
        // The threads of two lanes send over two connections, which may overtake each other.
        let mut noted = noted.lock().unwrap().clone();
        noted.sort_unstable();
        assert_eq!(noted, all, "each once");
    }
    let statistics = host.channel.statistics();
    assert_eq!(
        (statistics.undelivered.lost, statistics.undelivered.failed),
        (0, 0)
    );
}

#[test]
fn the_most_urgent_of_the_handles_counts_and_handles_precede_names() {
    let ms = Duration::from_millis;
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let mut add = |name: &str, period| {
        let operation = Operation::new(name, Criticality::High).tuple(ms(period), ms(1));
        scheduler.add(operation).unwrap().handle()
    };
    let [fast, slow, stopped] = [add("fast", 10), add("slow", 100), add("stopped", 50)];
    scheduler.enable(OperationId(2), false).unwrap();
    scheduler.compute();
    let host = host(EventChannel::builder().lane(Priority::MIN, 1).build().unwrap());
    let channel = &host.channel;
    let consumers = client();
    let both = Filter::any_of([Filter::event(TRACK), Filter::event(ALARM)]);
    let noted = Arc::default();
    let [_several, _unknown] = [&[0, slow, fast][..], &[-1, i32::MAX, i32::MIN]]
        .map(|rt_infos| connect(&consumers, &host, &both, rt_infos, &noted));
    let local = |rt_info, name: &str| {
        let consumer = channel.subscribe::<Track>().rt_info(rt_info).name(name);
        consumer.each(|_| {}).unwrap()
    };
    let _named = local(slow, "fast");
    let _stopped = local(stopped, "slow");
    let _none = local(0, "other");
    // With a queue in its process, and through our own interface.
    let queued = remote(&consumers, &host)
        .consumer(&Filter::event(TRACK))
        .rt_info(slow);
    let queued = queued.queue(8, Overflow::DropOldest);
    let before = priorities(channel);
    channel
        .follow(scheduler, Lane::descending(Priority::new(100).unwrap()))
        .unwrap();
    let _queued = queued.subscribe(&consumers.poa, |_| {}).unwrap();
    assert_eq!(before, [0; 5]);
    assert_eq!(priorities(channel), [100, 0, 99, 99, 0, 99]);
    assert_eq!(channel.publish::<Track>().push(&track(1)).unwrap(), 6);
}
