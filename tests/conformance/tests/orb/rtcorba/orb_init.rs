//! ORBs come and go with every scheduling class and mapping, and nothing but them changes: TAO's `ORB_init`.

use std::thread;

use punctual::{Minor, NativePriority, SchedulingClass, StandardMapping, SystemExceptionKind as Kind};
use punctual_fixtures::{
    priorities::{LOW, own_native_priority},
    priority,
    real_time::{orb_of_class, ordinary, ordinary_client},
    rights::realtime_or_skip_part,
};
use punctual_os::{Scheduling, scheduling};

const CLASSES: [SchedulingClass; 3] = [
    SchedulingClass::Other,
    SchedulingClass::Fifo,
    SchedulingClass::RoundRobin,
];

#[test]
fn an_orb_starts_and_ends_with_each_class_and_mapping() {
    let realtime = realtime_or_skip_part();
    thread::spawn(move || {
        for class in CLASSES {
            for (mapping, corba, native) in [("linear", LOW, 33), ("direct", 33, 33), ("continuous", 32, 33)]
            {
                let before = scheduling::current();
                let orb = orb_of_class(class)
                    .standard_mapping(mapping.parse().unwrap())
                    .build()
                    .unwrap();
                assert_eq!(scheduling::current(), before, "making an ORB changes no thread");
                orb.current().set_priority(priority(corba)).unwrap();
                let expected = if realtime && class != SchedulingClass::Other {
                    native
                } else {
                    -1
                };
                assert_eq!(own_native_priority(), expected, "{class:?} {mapping}");
                if expected == native {
                    assert_eq!(scheduling::current().class, class);
                }
                assert_eq!(orb.current().priority().unwrap(), priority(corba));
                let pool = orb
                    .threadpool()
                    .default_priority(priority(corba))
                    .build()
                    .unwrap();
                assert_eq!(pool.is_realtime(), expected == native);
                orb.shutdown_and_wait().unwrap();
                scheduling::set_current(Scheduling::OTHER).unwrap();
            }
        }
    })
    .join()
    .unwrap();
}

#[test]
fn an_orb_that_has_ended_leaves_room_for_the_next() {
    let before = fds();
    for _ in 0..50 {
        let orb = ordinary().listen("iiop://127.0.0.1:0").build().unwrap();
        let pool = orb
            .threadpool()
            .lane(priority(0), 1)
            .lane(priority(1), 1)
            .build()
            .unwrap();
        orb.shutdown_and_wait().unwrap();
        assert!(orb.threadpool().build().is_err());
        drop(pool);
    }
    // Other tests of this process open and close some at the same time.
    assert!(fds() < before + 100, "an ORB of this test has ten");
}

fn fds() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The priority of a thread is the thread's, in every ORB; nothing is set before it is set.
#[test]
fn priorities_belong_to_threads() {
    let orb = ordinary_client();
    let other = ordinary_client();
    orb.current().set_priority(priority(5)).unwrap();
    assert_eq!(other.current().priority().unwrap(), priority(5));
    thread::scope(|scope| {
        scope.spawn(|| {
            let unset = orb.current().priority().unwrap_err();
            assert_eq!(
                (unset.kind, unset.minor),
                (Kind::Initialize, Minor::PRIORITY_UNSET)
            );
            other.current().set_priority(priority(6)).unwrap();
        });
    });
    assert_eq!(orb.current().priority().unwrap(), priority(5));
}

#[test]
fn a_class_without_the_wanted_priority_says_so_and_a_wrong_name_what_is_right() {
    if realtime_or_skip_part() {
        let denied = scheduling::set_current(Scheduling::fifo(NativePriority(100)));
        assert!(denied.is_err());
    }
    let error = "none".parse::<StandardMapping>().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("use `linear`, `direct` or `continuous`")
    );
}
