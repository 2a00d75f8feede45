//! Threads, pools and objects of programs that use names only.

mod doubler {
    include!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../crates/stub/doc/doubler.rs"
    ));
}

use std::fs;

use doubler::{Doubler, DoublerRef};
use punctual::{Orb, OrbError, Priority, rt::Interface};
use punctual_fixtures::{Missing, skip_part};
use punctual_os::{Scheduling, SchedulingClass, TaskId, affinity, scheduling};
use punctual_scheduling::{ClientScheduler, Schedule, SchedulingError, ServerScheduler};

fn schedule() -> Schedule {
    Schedule::parse("radar.toml", include_str!("../../radar.toml")).unwrap()
}

fn orb() -> Orb {
    Orb::builder()
        .listen("iiop://127.0.0.1")
        .lock_memory(false)
        .standard_mapping(schedule().mapping)
        .build()
        .unwrap()
}

/// Runs `f` on another thread, whose priority may change.
fn on_a_thread<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| scope.spawn(f).join().unwrap())
}

/// Returns the number of requests that the lane of this priority has served.
fn served(scheduler: &ServerScheduler, pool: &str, priority: i16) -> u64 {
    let lanes = scheduler.pool(pool).unwrap().statistics();
    let lane = lanes
        .iter()
        .find(|(own, _)| own.is_some_and(|own| own.value() == priority));
    lane.unwrap().1.requests
}

#[test]
fn an_activity_sets_the_priority_of_the_thread_and_its_calls() {
    let (server, client) = (orb(), orb());
    let pools = ServerScheduler::new(&server, &schedule(), "radar").unwrap();
    let poa = pools.create_poa(&server.root_poa(), "tracks").unwrap();
    let doubler: DoublerRef = poa.activate(Doubler).unwrap();
    let ior = doubler.as_object().to_ior();
    on_a_thread(|| {
        let activities = ClientScheduler::new(&client, &schedule());
        let doubler: DoublerRef = client.resolve(&ior).unwrap();
        for (name, priority, native) in [("track", 32767, 99), ("display", 10922, 33)] {
            activities.schedule_activity(name).unwrap();
            assert_eq!(client.current().priority().unwrap().value(), priority);
            let own = scheduling::current();
            if own.class == SchedulingClass::Other {
                skip_part(Missing::Right, format!("no real-time rights (`{name}`)"));
            } else {
                assert_eq!(own.priority.0, native);
            }
            let before = served(&pools, "tracks", priority);
            assert_eq!(doubler.twice(21), Ok(42));
            assert_eq!(served(&pools, "tracks", priority), before + 1);
        }
    });
}

#[test]
fn an_unknown_activity_changes_nothing_and_its_error_lists_the_known_ones() {
    let client = orb();
    on_a_thread(|| {
        let activities = ClientScheduler::new(&client, &schedule());
        activities.schedule_activity("maintenance").unwrap();
        let error = activities.schedule_activity("Track").unwrap_err();
        assert!(matches!(&error, SchedulingError::UnknownName(unknown) if unknown.name == "Track"));
        assert_eq!(
            error.to_string(),
            "unknown activity `Track`; known: `display`, `maintenance`, `track`"
        );
        assert_eq!(client.current().priority(), Ok(Priority::MIN));
    });
}

#[test]
fn an_object_is_served_at_its_own_priority_not_the_clients() {
    let (server, client) = (orb(), orb());
    let pools = ServerScheduler::new(&server, &schedule(), "radar").unwrap();
    let alarms = pools.create_poa(&server.root_poa(), "alarms").unwrap();
    let siren: DoublerRef = pools.schedule_object(&alarms, "siren", Doubler).unwrap();
    let other: DoublerRef = alarms.activate(Doubler).unwrap();
    let (siren, other) = (siren.as_object().to_ior(), other.as_object().to_ior());
    on_a_thread(|| {
        client.current().set_priority(Priority::new(5).unwrap()).unwrap();
        let call = |ior: &str| assert_eq!(client.resolve::<DoublerRef>(ior).unwrap().twice(4), Ok(8));
        call(&siren);
        assert_eq!(
            (served(&pools, "tracks", 32767), served(&pools, "tracks", 10922)),
            (1, 0)
        );
        call(&other);
        assert_eq!(
            (served(&pools, "tracks", 32767), served(&pools, "tracks", 10922)),
            (1, 1)
        );
    });
}

#[test]
fn only_the_pools_of_the_host_are_started() {
    let orb = orb();
    let radar = ServerScheduler::new(&orb, &schedule(), "radar").unwrap();
    assert_eq!(radar.pool("archive").unwrap().statistics().len(), 1);
    assert_eq!(radar.pool("tracks").unwrap().statistics().len(), 2);
    let console = ServerScheduler::new(&orb, &schedule(), "console").unwrap();
    assert!(console.pool("tracks").is_none());
    let error = console.create_poa(&orb.root_poa(), "tracks").err().unwrap();
    assert!(matches!(error, SchedulingError::Elsewhere(_)));
    assert!(
        error
            .to_string()
            .contains("on host `radar`; this is host `console`"),
        "{error}"
    );
    let unknown = ServerScheduler::new(&orb, &schedule(), "rader").err().unwrap();
    assert_eq!(
        unknown.to_string(),
        "unknown host `rader`; known: `console`, `radar`"
    );
}

/// Returns CPUs and scheduling of the thread of this process whose name ends in `name`.
fn thread(name: &str) -> (String, Scheduling) {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let mut tasks = tasks.filter(|task| {
        let comm = task.as_ref().unwrap().path().join("comm");
        // The thread may have ended since it was listed.
        fs::read_to_string(comm).is_ok_and(|own| own.trim_end().ends_with(name))
    });
    let task = tasks.next().expect("a thread of this name").unwrap();
    let number = task.file_name().into_string().unwrap().parse().unwrap();
    let thread = TaskId::new(number).unwrap();
    (
        affinity::of(thread).unwrap().to_string(),
        scheduling::of(thread).unwrap(),
    )
}

#[test]
fn pools_have_the_settings_of_the_file() {
    // Priorities that no other test uses, because they are part of the threads' names.
    let text = r#"
        [[pool]]
        name = "lanes"
        cpus = [0]
        lanes = [
            { priority = 10923, threads = 2, class = "ordinary", dynamic_threads = 1,
              dynamic_idle_timeout = "1 s" },
            { priority = 32766, threads = 1, class = "round-robin", wait = "blocking" },
        ]
        [[pool]]
        name = "queue"
        class = "ordinary"
        request_buffering = { requests = 7, octets = 4096 }
    "#;
    let schedule = Schedule::parse("f.toml", text).unwrap();
    let orb = orb();
    let pools = ServerScheduler::new(&orb, &schedule, "localhost").unwrap();
    let names = |prefix: &str| {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.starts_with(prefix)).count()
    };
    assert!(
        names("lanes-") > 0 && names("queue-") > 0,
        "threads have the name of their pool"
    );
    let lanes = pools.pool("lanes").unwrap().statistics();
    // The blocking lane has another thread, which accepts connections.
    let threads: Vec<_> = lanes.iter().map(|(_, lane)| lane.threads.present).collect();
    assert_eq!(threads, [2, 2]);
    let (_, queue) = pools.pool("queue").unwrap().statistics()[0];
    let limits = queue.queue.limits.unwrap();
    assert_eq!((limits.requests, limits.octets), (7, 4096));
    for name in ["-10923.0", "-10923.1"] {
        assert_eq!(thread(name), ("0".to_owned(), Scheduling::OTHER));
    }
    let (cpus, scheduling) = thread("-32766.0");
    assert_eq!(cpus, "0");
    if scheduling == Scheduling::OTHER {
        skip_part(Missing::Right, "no real-time rights");
    } else {
        assert_eq!(
            (scheduling.class, scheduling.priority.0),
            (SchedulingClass::RoundRobin, 98)
        );
    }
}

/// Errors that only the ORB detects contain the pool's name.
#[test]
fn the_error_of_a_pool_that_cannot_be_started_names_it() {
    let lanes: Vec<_> = (1..=6)
        .map(|own| format!("{{ priority = {own}000, threads = 1 }}"))
        .collect();
    let text = format!(
        "[[pool]]\nname = \"many\"\nallow_borrowing = true\nlanes = [{}]\n",
        lanes.join(", ")
    );
    let schedule = Schedule::parse("f.toml", &text).unwrap();
    let error = ServerScheduler::new(&orb(), &schedule, "localhost")
        .err()
        .unwrap();
    assert!(matches!(&error, SchedulingError::Pool { pool, .. } if pool == "many"));
    assert!(error.to_string().starts_with("pool `many`: "), "{error}");
}

/// 192.0.2.0/24 is an address of no host (RFC 5737).
#[test]
fn endpoints_that_cannot_be_opened_are_named_with_file_and_line() {
    let text = "\
[[orb]]
listen = [
    'iiop://127.0.0.1',
    'iiop://192.0.2.1:28009',
]

[[pool]]
name = 'tracks'
threads = 1
listen = ['uiop:///nowhere/tracks']
";
    let schedule = Schedule::parse("valve.toml", text).unwrap();
    let error = schedule
        .orb_builder("localhost")
        .unwrap()
        .lock_memory(false)
        .build();
    let error = error.err().unwrap().to_string();
    let expected = "cannot listen at iiop://192.0.2.1:28009 (stated at valve.toml:4): ";
    assert!(error.starts_with(expected), "{error}");
    let error = ServerScheduler::new(&orb(), &schedule, "localhost")
        .err()
        .unwrap();
    let error = error.to_string();
    let expected = "uiop:///nowhere/tracks (stated at valve.toml:10): the directory";
    assert!(
        error.starts_with("pool `tracks`: ") && error.contains(expected),
        "{error}"
    );
}

#[test]
fn unknown_names_and_a_wrong_adapter_are_refused() {
    let orb = orb();
    let pools = ServerScheduler::new(&orb, &schedule(), "radar").unwrap();
    let unknown = pools.create_poa(&orb.root_poa(), "track").err().unwrap();
    assert_eq!(
        unknown.to_string(),
        "unknown adapter `track`; known: `tracks`, `alarms`"
    );
    let tracks = pools.create_poa(&orb.root_poa(), "tracks").unwrap();
    let unknown = pools.schedule_object::<DoublerRef, _>(&tracks, "bell", Doubler);
    assert!(matches!(unknown, Err(SchedulingError::UnknownName(_))));
    let wrong = pools.schedule_object::<DoublerRef, _>(&tracks, "siren", Doubler);
    assert!(matches!(
        wrong,
        Err(SchedulingError::Orb(OrbError::WrongPolicy(_)))
    ));
    let again = pools.create_poa(&orb.root_poa(), "tracks");
    assert!(matches!(
        again,
        Err(SchedulingError::Orb(OrbError::AdapterAlreadyExists(_)))
    ));
}

#[test]
fn orb_and_lanes_have_the_endpoints_class_timeout_and_limits_of_the_file() {
    let path = std::env::temp_dir().join(format!("punctual-file-{}", std::process::id()));
    let path = path.display();
    let text = format!(
        "[[orb]]
         listen = ['uiop://{path}-orb']
         class = 'ordinary'
         call_timeout = '10 ms'
         limits = {{ max_nested_calls = 0 }}
         [[pool]]
         name = 'valves'
         lanes = [{{ priority = 0, threads = 1 }}, {{ priority = 9, threads = 1 }}]
         listen = ['uiop://{path}-lanes']
         [[adapter]]
         name = 'valves'
         pool = 'valves'
         model = 'client-propagated'
         priority = 0"
    );
    let schedule = Schedule::parse("valve.toml", &text).unwrap();
    assert_eq!(
        Schedule::parse("again.toml", &schedule.to_toml()).unwrap(),
        schedule
    );
    assert!(schedule.orb_builder("elsewhere").is_err());

    let orb = schedule.orb_builder("localhost").unwrap().build().unwrap();
    let scheduler = ServerScheduler::new(&orb, &schedule, "localhost").unwrap();
    assert!(!scheduler.pool("valves").unwrap().is_realtime());
    let valves = scheduler.create_poa(&orb.root_poa(), "valves").unwrap();
    let doubler: DoublerRef = valves.activate(Doubler).unwrap();
    let url = orb.publish("Doubler", &doubler).unwrap();
    assert!(url.contains("-orb/Doubler"), "{url}");
    let ior = doubler.as_object().ior();
    let lanes = ior
        .profiles
        .iter()
        .map(|profile| String::from_utf8_lossy(&profile.data).into_owned());
    let lanes: String = lanes.collect();
    assert!(
        lanes.contains("-lanes.1"),
        "the lanes listen where the file states: {lanes:?}"
    );
    // Limits of the ORB as a client: it may nest no call.
    assert_eq!(
        doubler.twice(3).unwrap_err().minor,
        punctual::Minor::NESTING_OF_CALLS_TOO_DEEP
    );

    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "corbaloc::127.0.0.1:{}/Valve",
        silent.local_addr().unwrap().port()
    );
    let client = Schedule::parse("c.toml", "[[orb]]\ncall_timeout = '10 ms'").unwrap();
    let client = client.orb_builder("localhost").unwrap().build().unwrap();
    let late = client.resolve_object(&url).unwrap_err().to_string();
    assert!(late.contains("TIMEOUT"), "{late}");
}
