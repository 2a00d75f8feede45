//! Invalid settings of a pool, and their errors.

use punctual_fixtures::{client_propagated, real_time::ordinary_client, realtime_or_skip};
use std::{process::Command, time::Duration};

use punctual::{
    LaneSpec, LaneWait, Minor, Orb, OrbError, Priority, PriorityModel, SystemExceptionKind as Kind,
    ThreadLifetime,
};
use punctual_os::{CpuSet, Scheduling, SchedulingClass, TaskId, affinity, scheduling};

use super::{HIGH, LOW, Shape, priority, with_real_time_lanes};

#[test]
fn contradictions_are_named() {
    let orb = ordinary_client();
    let cases: [(Shape, &str, &str); 11] = [
        (|pool| pool.threads(0), "the pool", "`threads` is 0"),
        (
            |pool| pool.lane(priority(HIGH), 0),
            "lane 32767",
            "`threads` is 0",
        ),
        (
            |pool| pool.lane(priority(LOW), 1).lane(priority(LOW), 1),
            "two lanes",
            "the priority 10922",
        ),
        (
            |pool| pool.lane_with(LaneSpec::new(priority(LOW)).threads(0).dynamic_threads(5)),
            "lane 10922",
            "static",
        ),
        (|pool| pool.threads(1 << 20), "the pool", "mistake"),
        (
            |pool| pool.dynamic_lifetime(ThreadLifetime::IdleTimeout(Duration::ZERO)),
            "the pool",
            "`dynamic_lifetime` is 0",
        ),
        (
            |pool| pool.dynamic_lifetime(ThreadLifetime::RunTime(Duration::ZERO)),
            "the pool",
            "`dynamic_lifetime` is 0",
        ),
        (
            |pool| pool.wait(LaneWait::Blocking).dynamic_threads(1),
            "the pool",
            "excludes `dynamic_threads`",
        ),
        (
            |pool| pool.allow_borrowing(true),
            "`allow_borrowing`",
            "fewer than two",
        ),
        (
            |pool| {
                pool.lane(priority(LOW), 1)
                    .lane_with(LaneSpec::new(priority(HIGH)).wait(LaneWait::Blocking))
                    .allow_borrowing(true)
            },
            "`allow_borrowing`",
            "`Blocking`",
        ),
        (
            |pool| {
                let lanes = (0..6).map(|n| priority(n * 5_000));
                lanes
                    .fold(pool, |pool, own| pool.lane(own, 1))
                    .allow_borrowing(true)
            },
            "`allow_borrowing`",
            "permits 5",
        ),
    ];
    for (change, setting, rule) in cases {
        let error = change(orb.threadpool()).build().err().expect(rule);
        assert!(matches!(error, OrbError::ThreadPool(_)), "{error}");
        assert_eq!(error.system_exception().kind, Kind::BadParam);
        let text = error.to_string();
        assert!(text.contains(setting) && text.contains(rule), "{text}");
    }
}

#[test]
fn a_priority_without_native_one_is_a_data_conversion() {
    let orb = Orb::builder()
        .priority_mapping(punctual_sched_mapping::Narrow)
        .lock_memory(false)
        .build()
        .unwrap();
    let error = orb.threadpool().lane(priority(HIGH), 1).build().err().unwrap();
    assert!(matches!(error, OrbError::PriorityUnmappable(own) if own == priority(HIGH)));
    let exception = error.system_exception();
    assert_eq!(
        (exception.kind, exception.minor),
        (Kind::DataConversion, Minor::OMG_PRIORITY_UNMAPPABLE)
    );
}

/// A mapping that knows the lower half only.
mod punctual_sched_mapping {
    use punctual::{NativePriority, Priority, PriorityMapping};

    pub struct Narrow;

    impl PriorityMapping for Narrow {
        fn to_native(&self, priority: Priority) -> Option<NativePriority> {
            (priority.value() < 16_000).then_some(NativePriority(1))
        }

        fn to_corba(&self, _: NativePriority) -> Option<Priority> {
            None
        }
    }
}

#[test]
fn a_thread_that_cannot_be_made_is_internal() {
    let orb = ordinary_client();
    // More than any address space has.
    let error = orb.threadpool().stack_bytes(1 << 50).build().err().unwrap();
    assert!(matches!(error, OrbError::Thread { .. }), "{error}");
    assert_eq!(error.system_exception().kind, Kind::Internal);
    assert!(error.to_string().contains("could not be started"), "{error}");
    assert!(orb.threadpool().build().is_ok(), "nothing else changes");
}

#[test]
fn each_lane_has_its_own_class_and_cpus() {
    let server = with_real_time_lanes(|pool| {
        pool.lane_with(LaneSpec::new(priority(LOW)).scheduling_class(SchedulingClass::RoundRobin))
            .lane_with(
                LaneSpec::new(priority(HIGH))
                    .affinity(CpuSet::single(0))
                    .stack_bytes(256 << 10),
            )
    });
    let client = ordinary_client();
    let probe = server.reference_for(&client);
    let thread_at = |own: i16| {
        client.current().set_priority(priority(own)).unwrap();
        TaskId::new(probe.thread().unwrap()).unwrap()
    };
    let (low, high) = (thread_at(LOW), thread_at(HIGH));
    assert_eq!(affinity::of(high).unwrap(), CpuSet::single(0));
    if !realtime_or_skip() {
        return;
    }
    let class_of = |thread| scheduling::of(thread).unwrap();
    let native = |value| punctual::NativePriority(value);
    assert_eq!(class_of(low), Scheduling::round_robin(native(33)));
    assert_eq!(class_of(high), Scheduling::fifo(native(99)));
}

/// In a process of its own, for what it says.
#[test]
fn a_default_priority_that_nobody_set_is_reported() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "thread_pools::settings::pools_without_lanes",
            "--ignored",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    let reports: Vec<_> = said
        .lines()
        .filter(|line| line.contains("`default_priority`"))
        .collect();
    assert!(
        matches!(reports[..], [report] if report.contains("adapter `unset`")),
        "{said}"
    );
    let reports = said.matches("adapter `lanes`: the default priority 32767 is not that of a lane (10922)");
    assert_eq!(reports.count(), 1, "{said}");
    let reports = said.matches("adapter `lasting` is persistent, but its ports are free ones");
    assert_eq!(reports.count(), 1, "{said}");
}

#[test]
#[ignore = "started by other tests"]
fn pools_without_lanes() {
    let orb = ordinary_client();
    let model = client_propagated(priority(HIGH));
    let build = |name: &str, shape: Shape, model: Option<PriorityModel>| {
        let pool = shape(orb.threadpool()).build().unwrap();
        let builder = orb.root_poa().child(name).threadpool(&pool);
        let builder = match model {
            Some(model) => builder.priority_model(model),
            None => builder,
        };
        builder.build().unwrap();
    };
    build("set", |pool| pool.default_priority(priority(LOW)), Some(model));
    build("lowest", |pool| pool.default_priority(Priority::MIN), Some(model));
    build("lanes", |pool| pool.lane(priority(LOW), 1), Some(model));
    build("without model", |pool| pool, None);
    let lasting = orb.root_poa().child("lasting").persistent().user_ids();
    lasting.build().unwrap();
    let again = orb.root_poa().child("lasting too").persistent().user_ids();
    again.build().unwrap();
    build("unset", |pool| pool, Some(model));
    build("again", |pool| pool, Some(model));
}
