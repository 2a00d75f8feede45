//! Every thread of the process is named and configured; the ORB makes no other. A test of its own, because it
//! looks at all.

use std::{collections::BTreeMap, fs, thread};

use punctual::{Inspection, LaneSpec, LaneWait, Priority, QueueLimits};
use punctual_fixtures::{
    client_propagated, eventually,
    server::{Server, Setup, client},
};

/// The names of the process's threads, with how often each occurs.
fn names() -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").expect("procfs") {
        // It may have ended since it was listed.
        if let Ok(name) = fs::read_to_string(task.expect("a thread").path().join("comm")) {
            *names.entry(name.trim_end().to_owned()).or_default() += 1;
        }
    }
    names
}

pub fn there_are_the_configured_threads_and_no_others() {
    let before = names();
    let lanes = Setup {
        model: Some(client_propagated(Priority::MIN)),
        pool: |pool| pool.lane(Priority::MAX, 2).lane(Priority::MIN, 1),
        ..Setup::default()
    };
    let plain = Setup {
        pool: |pool| pool.threads(3).default_priority(Priority::MAX),
        ..Setup::default()
    };
    // In a blocking lane one more accepts; dynamic ones come when they are needed.
    let others = Setup {
        model: Some(client_propagated(Priority::MIN)),
        pool: |pool| {
            pool.lane_with(LaneSpec::new(Priority::MAX).wait(LaneWait::Blocking))
                .lane_with(LaneSpec::new(Priority::MIN).dynamic_threads(1))
        },
        ..Setup::default()
    };
    let buffering = Setup {
        pool: |pool| {
            pool.name("valve")
                .threads(2)
                .request_buffering(QueueLimits::default())
        },
        ..Setup::default()
    };
    let inspected = Setup {
        inspection: Some(Inspection::at(
            std::env::temp_dir().join(format!("punctual-threads-{}", std::process::id())),
        )),
        ..Setup::default()
    };
    let servers = [
        lanes.start(),
        plain.start(),
        buffering.start(),
        others.start(),
        inspected.start(),
    ];
    let client = client();
    let mut expected = before.clone();
    // Pool, priority, thread.
    let configured = [
        "p1-0.0",
        "p1-32767.0",
        "p1-32767.1",
        "p2-32767.0",
        "p2-32767.1",
        "p2-32767.2",
        "valve-0.0",
        "valve-0.1",
        "valve-0.io",
        "p4-0.0",
        "p4-32767.0",
        "p4-32767.poll",
        "p5-0.0",
        "orb-inspect",
    ];
    expected.extend(configured.map(|name| (name.to_owned(), 1)));
    assert_eq!(names(), expected, "pools started, nothing called");
    let probe = servers[1].reference_for(&client);
    thread::scope(|scope| {
        for _ in 0..4 {
            thread::Builder::new()
                .name("caller".into())
                .spawn_scoped(scope, || assert_eq!(probe.twice(21), Ok(42)))
                .unwrap();
        }
    });
    assert_eq!(servers[2].reference_for(&client).twice(1), Ok(2));
    assert_eq!(servers[0].probe.forward(Some(&probe), 1), Ok(2));
    assert_eq!(probe.forward(Some(&servers[1].probe), 1), Ok(2));
    // An ended thread is listed a moment longer; a hidden one would stay.
    eventually("callers have ended", || !names().contains_key("caller"));
    assert_eq!(names(), expected, "after calls of all kinds");
    let low = servers[3].reference_for(&client);
    assert_eq!([low.twice(1), low.twice(2)], [Ok(2), Ok(4)]);
    expected.insert("p4-0.1".into(), 1);
    assert_eq!(names(), expected, "the dynamic one");
    drop::<[Server; 5]>(servers);
    eventually("all have ended", || names() == before);
}
