//! Schedules of a scheduler object in other ORBs: passed on once each, and priorities of calls by them.

mod doubler {
    include!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../crates/stub/doc/doubler.rs"
    ));
}

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use doubler::{Doubler, DoublerRef};
use punctual::{Interface, Orb, Poa, Priority, PriorityModel};
use punctual_dispatch::{OperationLevels, Order};
use punctual_fixtures::{LONG, eventually};
use punctual_scheduling::{
    OperationPriorities,
    reconfigurable::Strategy,
    rtec::{
        DispatchConfiguration, Followed, ScheduleFollower, SchedulerServant,
        idl::{
            punctual_scheduling::SchedulerRef as Own,
            rtec_scheduler::{CriticalityT, ImportanceT, InfoTypeT, SchedulerRef},
        },
    },
};

const PERIOD: Duration = Duration::from_millis(5);
const NAMES: [&str; 2] = ["radar", "display"];

fn orb(endpoint: &str) -> Orb {
    Orb::builder()
        .listen(endpoint)
        .lock_memory(false)
        .build()
        .unwrap()
}

/// An adapter with a thread of its own.
fn served(orb: &Orb) -> Poa {
    let pool = orb.threadpool().threads(1).build().unwrap();
    orb.root_poa().child("served").threadpool(&pool).build().unwrap()
}

fn radar_and_display(scheduler: &SchedulerRef) -> [i32; 2] {
    NAMES.map(|name| scheduler.create(name).unwrap())
}

/// Gives an operation this period in milliseconds; 0: it depends on others.
fn reset(scheduler: &SchedulerRef, handle: i32, period: i32) {
    let (low, importance) = (CriticalityT::LowCriticality, ImportanceT::MediumImportance);
    let (period, kind) = (period * 10_000, InfoTypeT::Operation);
    let set = scheduler.reset(handle, low, 10_000, 0, 0, period, importance, 0, 0, kind);
    set.unwrap();
}

/// Gives operations these periods in milliseconds, and computes.
fn compute(scheduler: &SchedulerRef, handles: [i32; 2], periods: [i32; 2]) {
    for (handle, period) in handles.into_iter().zip(periods) {
        reset(scheduler, handle, period);
    }
    scheduler.recompute_scheduling(1, 50).unwrap();
}

/// Follows, and returns what was passed on.
fn followed(orb: &Orb, url: &str) -> (ScheduleFollower, Receiver<DispatchConfiguration>) {
    let (tell, told) = mpsc::channel();
    let follower =
        ScheduleFollower::start(orb, url, PERIOD, move |schedule| Ok(tell.send(schedule.clone())?));
    (follower.unwrap(), told)
}

fn levels(schedule: &DispatchConfiguration, handles: [i32; 2]) -> [Option<u32>; 2] {
    handles.map(|handle| Some(schedule.placement_of_handle(handle)?.level))
}

#[test]
fn each_schedule_is_passed_on_once_by_schedulers_with_and_without_revisions() {
    for of_another_vendor in [false, true] {
        let (server, client) = (orb("iiop://127.0.0.1"), orb("iiop://127.0.0.1"));
        let servant = SchedulerServant::new(Strategy::Rms);
        let poa = served(&server);
        let ior = if of_another_vendor {
            let scheduler: SchedulerRef = poa.activate(servant).unwrap();
            scheduler.as_object().to_ior()
        } else {
            let scheduler: Own = poa.activate(servant).unwrap();
            scheduler.as_object().to_ior()
        };
        let scheduler: SchedulerRef = client.resolve(&ior).unwrap();
        let handles = radar_and_display(&scheduler);
        let (follower, told) = followed(&client, &ior);
        // Nothing has been computed: that is no failure.
        thread::sleep(4 * PERIOD);
        assert_eq!(follower.followed(), Followed::default());

        compute(&scheduler, handles, [10, 100]);
        let first = told.recv_timeout(LONG).unwrap();
        assert_eq!(levels(&first, handles), [Some(0), Some(1)]);
        assert_eq!((first.level_count(), first.order_of(0)), (2, Order::Arrival));
        let placed = first.placement_of("display").unwrap();
        assert_eq!(placed.timing.deadline, Duration::from_millis(100));
        assert_eq!(placed.timing.execution_time, Duration::from_millis(1));
        // The same again is nothing new.
        compute(&scheduler, handles, [10, 100]);
        compute(&scheduler, handles, [100, 10]);
        let second = told.recv_timeout(LONG).unwrap();
        assert_eq!(levels(&second, handles), [Some(1), Some(0)]);
        eventually("noted", || follower.followed().adopted == 2);
        let state = follower.shown("channel")().unwrap();
        assert_eq!((state.statistics.levels, state.statistics.running), (2, 2));
        assert!((state.statistics.utilization - 0.11).abs() < 1e-9);
        if !of_another_vendor {
            // What is set, and a computation that is refused, change nothing.
            reset(&scheduler, handles[0], 0);
            assert!(scheduler.recompute_scheduling(1, 50).is_err());
            thread::sleep(4 * PERIOD);
            assert!(told.try_recv().is_err());
        }
        let shown = follower.shown("channel");
        drop(follower);
        assert_eq!(shown(), None);
        server.shutdown();
    }
}

#[test]
fn a_schedule_that_is_refused_is_counted_and_not_passed_on_again() {
    let (server, client) = (orb("iiop://127.0.0.1"), orb("iiop://127.0.0.1"));
    let object: Own = served(&server)
        .activate(SchedulerServant::new(Strategy::Rms))
        .unwrap();
    let ior = object.as_object().to_ior();
    let scheduler: SchedulerRef = client.resolve(&ior).unwrap();
    let handles = radar_and_display(&scheduler);
    let follower = ScheduleFollower::start(&client, &ior, PERIOD, move |schedule| {
        match levels(schedule, handles) {
            [Some(0), _] => Err("no".into()),
            _ => Ok(()),
        }
    });
    let follower = follower.unwrap();
    compute(&scheduler, handles, [10, 100]);
    eventually("refused", || follower.followed().refused == 1);
    thread::sleep(4 * PERIOD);
    let seen = follower.followed();
    assert_eq!(
        (seen.refused, seen.adopted, seen.refusal.as_deref()),
        (1, 0, Some("no"))
    );
    compute(&scheduler, handles, [100, 10]);
    eventually("adopted", || follower.followed().adopted == 1);
    assert_eq!(follower.followed().refusal, None);
    server.shutdown();
}

/// Also with the same number of computations before and after.
#[test]
fn a_scheduler_that_is_started_later_and_again_is_found() {
    let client = orb("iiop://127.0.0.1");
    let start = |endpoint: &str| {
        let server = orb(endpoint);
        let servant = SchedulerServant::new(Strategy::Rms);
        let scheduler: Own = server.root_poa().activate(servant).unwrap();
        let url = server.publish("Scheduler", &scheduler).unwrap();
        let own = server.clone();
        (server, url, thread::spawn(move || own.run()))
    };
    let end = |server: Orb, serving: thread::JoinHandle<()>| {
        server.shutdown();
        serving.join().unwrap();
    };
    let (server, url, serving) = start("iiop://127.0.0.1");
    let (_, address) = url.split_once('@').unwrap();
    let endpoint = format!("iiop://{}", address.split('/').next().unwrap());
    end(server, serving);
    let (follower, told) = followed(&client, &url);
    eventually("missed", || follower.followed().failed > 0);
    assert!(follower.followed().failure.is_some());
    for periods in [[10, 100], [100, 10]] {
        let (server, url, serving) = start(&endpoint);
        let caller = orb("iiop://127.0.0.1");
        let scheduler: SchedulerRef = caller.resolve(&url).unwrap();
        let handles = radar_and_display(&scheduler);
        compute(&scheduler, handles, periods);
        let schedule = told.recv_timeout(LONG).unwrap();
        assert_eq!(levels(&schedule, handles)[0], Some(u32::from(periods[0] > 10)));
        eventually("no failure", || follower.followed().failure.is_none());
        end(server, serving);
        eventually("away", || follower.followed().failure.is_some());
    }
    assert_eq!(follower.followed().adopted, 2);
}

/// Calls of two operations, whose places a scheduler of another ORB exchanges all the time: each is served
/// once, in the lane that its caller has asked for.
#[test]
fn calls_follow_the_schedule_to_other_lanes_and_none_is_lost() {
    let lanes = [Priority::new(10).unwrap(), Priority::new(20).unwrap()];
    let (scheduling, client) = (orb("iiop://127.0.0.1"), orb("iiop://127.0.0.1"));
    let server = orb("iiop://127.0.0.1");
    let pool = server
        .threadpool()
        .lane(lanes[0], 1)
        .lane(lanes[1], 1)
        .build()
        .unwrap();
    let model = PriorityModel::ClientPropagated { default: lanes[0] };
    let poa = server
        .root_poa()
        .child("lanes")
        .threadpool(&pool)
        .priority_model(model);
    let doubler: DoublerRef = poa.build().unwrap().activate(Doubler).unwrap();
    let doubler = doubler.as_object().to_ior();
    let object: Own = served(&scheduling)
        .activate(SchedulerServant::new(Strategy::Rms))
        .unwrap();
    let ior = object.as_object().to_ior();
    let scheduler: SchedulerRef = client.resolve(&ior).unwrap();
    let handles = radar_and_display(&scheduler);
    let priorities = Arc::new(OperationPriorities::at_lanes(lanes));
    let follows = Arc::clone(&priorities);
    let follower = ScheduleFollower::start(&client, &ior, PERIOD, move |schedule| {
        follows.follow(schedule.clone());
        Ok(())
    });
    let follower = follower.unwrap();
    compute(&scheduler, handles, [10, 100]);
    eventually("a schedule", || follower.followed().adopted == 1);

    let ends = AtomicBool::new(false);
    let called: [u64; 2] = thread::scope(|scope| {
        let callers = handles.map(|handle| {
            let (doubler, priorities, ends): (DoublerRef, _, _) =
                (client.resolve(&doubler).unwrap(), &priorities, &ends);
            scope.spawn(move || {
                let mut called = [0; 2];
                while !ends.load(SeqCst) {
                    let own = priorities.of(handle).unwrap();
                    let lane = lanes.iter().position(|lane| *lane == own).unwrap();
                    called[lane] += 1;
                    assert_eq!(punctual::at_priority(own, || doubler.twice(21)), Ok(42));
                }
                called
            })
        });
        for change in 1..=10 {
            let periods = if change % 2 == 0 { [10, 100] } else { [100, 10] };
            compute(&scheduler, handles, periods);
            eventually("the next schedule", || follower.followed().adopted == change + 1);
        }
        ends.store(true, SeqCst);
        let called = callers.map(|caller| caller.join().unwrap());
        // Each operation has been called in both lanes.
        assert!(called.iter().flatten().all(|calls| *calls > 0), "{called:?}");
        [called[0][0] + called[1][0], called[0][1] + called[1][1]]
    });
    let lane = |priority: Priority| {
        let all = pool.statistics();
        all.iter()
            .find(|(own, _)| *own == Some(priority))
            .unwrap()
            .1
            .requests
    };
    assert_eq!(lanes.map(lane), called);
    // An operation that does not run is called at the caller's own priority.
    priorities.call(99, || assert_eq!(priorities.of(99), None));
    drop(follower);
    [scheduling, server].iter().for_each(Orb::shutdown);
}
