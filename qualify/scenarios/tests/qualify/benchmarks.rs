//! Benchmarks that take a moment, and the child process of some of them.

use std::{
    os::unix::net::UnixListener,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use punctual_harness::{Child, ChildSpec, Claim, MemoryFolder, Row, child};
use punctual_os::scheduling;
use punctual_report::{Chapter, Figure};
use punctual_scenarios::{Benchmark, Control, Error, Findings, Restored, Testbed};

pub const CHILD: &str = "__child";
const SECOND: Duration = Duration::from_secs(1);

pub const ALL: [Benchmark; 11] = [
    benchmark("t.good", good),
    benchmark("t.server-dies", server_dies),
    benchmark("t.panics", |_| panic!("a table without legs")),
    benchmark("t.long", long),
    benchmark("t.after", good),
    benchmark("t.impossible", impossible),
    Benchmark {
        controls: &[SLOW, STUCK],
        ..benchmark("t.honest", honest)
    },
    Benchmark {
        controls: &[STUCK],
        ..benchmark("t.flattering", honest)
    },
    benchmark("t.restless", restless),
    Benchmark {
        controls: &[EMPTY, UNFIT],
        ..benchmark("t.hollow", hollow)
    },
    Benchmark {
        controls: &[HELPING],
        restored: &[Restored {
            control: &HELPING,
            claims: &["helped", "hopeless", "usual"],
        }],
        ..benchmark("t.excused", excused)
    },
];

const fn benchmark(name: &'static str, run: fn(&mut Testbed) -> Result<Findings, Error>) -> Benchmark {
    Benchmark {
        name,
        about: "for tests",
        expected: |_| SECOND,
        run,
        controls: &[],
        restored: &[],
    }
}

const SLOW: Control = Control {
    id: "slow",
    about: "something slow",
    breaks: &["p50", "p99"],
};
const STUCK: Control = Control {
    id: "stuck",
    about: "something stuck",
    breaks: &["p50", "p100"],
};

const EMPTY: Control = Control {
    id: "empty",
    about: "nothing measured",
    breaks: &["never", "nothing", "infinite"],
};
const UNFIT: Control = Control {
    id: "unfit",
    about: "a machine that is unfit",
    breaks: &["infinite"],
};

const HELPING: Control = Control {
    id: "helping",
    about: "help",
    breaks: &["strict"],
};

/// One of its claims holds if it is helped, one never, and two without help.
fn excused(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut outcome = testbed.outcome("t.excused");
    let [helped, strict] = match testbed.is_under(&HELPING) {
        true => [1.0, 9.0],
        false => [9.0, 1.0],
    };
    for (id, measured) in [
        ("helped", helped),
        ("hopeless", 9.0),
        ("usual", 1.0),
        ("strict", strict),
    ] {
        outcome.claim(Claim::at_most(id, "at most", "this test", measured, 4.0));
    }
    let chapter = Chapter::new("Excused");
    Ok(Findings { outcome, chapter })
}

/// One of its claims never holds; under controls, one has no value, and one is not judged.
fn hollow(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut outcome = testbed.outcome("t.hollow");
    let or_one = |other: f64| if testbed.is_under(&EMPTY) { other } else { 1.0 };
    for (id, measured) in [
        ("never", 9.0),
        ("nothing", or_one(f64::NAN)),
        ("infinite", or_one(f64::INFINITY)),
    ] {
        outcome.claim(Claim::at_most(id, "at most", "this test", measured, 4.0));
    }
    if testbed.is_under(&UNFIT) {
        outcome.unfit("it always is");
    }
    let chapter = Chapter::new("Hollow");
    Ok(Findings { outcome, chapter })
}

/// Its claims on p50 and p99 do not hold if it is slow; that on the count always does.
fn honest(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut outcome = testbed.outcome("t.honest");
    let p50 = if testbed.is_under(&SLOW) { 9.0 } else { 1.0 };
    for (id, measured) in [("p50", p50), ("p99", 2.0 * p50), ("count", 0.0)] {
        outcome.claim(Claim::at_most(
            id,
            format!("{id} at most"),
            "this test",
            measured,
            4.0,
        ));
    }
    let chapter = Chapter::new("Honest");
    Ok(Findings { outcome, chapter })
}

/// The machine is unfit for it three times, then not.
fn restless(testbed: &mut Testbed) -> Result<Findings, Error> {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let mut outcome = testbed.outcome("t.restless");
    outcome.claim(Claim::at_most("p50", "p50 at most", "this test", 1.5, 2.0));
    let run = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
    let fit_from = std::env::var("FIT_FROM").map_or(1, |run| run.parse().expect("a number"));
    if run < fit_from {
        outcome.unfit(format!("run {run} was disturbed"));
    }
    let chapter = Chapter::new("Restless");
    Ok(Findings { outcome, chapter })
}

fn good(testbed: &mut Testbed) -> Result<Findings, Error> {
    testbed.progress().stage("counting to two", SECOND);
    let mut outcome = testbed.outcome("t.good");
    for threads in [2, 128] {
        outcome.row(
            Row::new()
                .with("threads", threads)
                .with("p50_us", 1.5)
                .with("p99_us", 2.5),
        );
    }
    outcome.parameter("shortened", "two points instead of four");
    outcome.claim(Claim::at_most("p50", "p50 at most", "this test", 1.5, 2.0));
    outcome.skip(Some("remote"), "the remote part", "no second machine");
    let chapter = Chapter::new("A good one").figure(
        Figure::new("By threads")
            .x("threads")
            .line("here", [(2.0, 1.5), (128.0, 1.5)]),
    );
    Ok(Findings { outcome, chapter })
}

fn impossible(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut outcome = testbed.outcome("t.impossible");
    outcome.skip(None, "all of it", "the machine has no wings");
    let chapter = Chapter::new("Flying").figure(Figure::new("Height").line("here", []));
    Ok(Findings { outcome, chapter })
}

fn server_dies(testbed: &mut Testbed) -> Result<Findings, Error> {
    testbed.progress().stage("asking", SECOND);
    let (mut server, ()): (Child, ()) = ChildSpec::new("server", CHILD).spawn(20 * SECOND)?;
    server.request::<_, PathBuf>(&"die", 20 * SECOND)?;
    good(testbed)
}

/// Runs for a minute, so that it can be interrupted; creates files that must be removed.
fn long(testbed: &mut Testbed) -> Result<Findings, Error> {
    let folder = MemoryFolder::create()?;
    std::fs::write(folder.path().join("records"), "some")?;
    let (mut server, ()): (Child, ()) = ChildSpec::new("server", CHILD).spawn(20 * SECOND)?;
    let socket: PathBuf = server.request(&"listen", 20 * SECOND)?;
    testbed
        .progress()
        .note(format!("leaves={}", folder.path().display()));
    testbed.progress().note(format!("leaves={}", socket.display()));
    testbed
        .progress()
        .stage(format!("child={}.", server.id()), 60 * SECOND);
    server.request::<_, PathBuf>(&"wait", 60 * SECOND)?;
    good(testbed)
}

/// The child process; in a real-time class if this is permitted.
pub fn child() -> ExitCode {
    let _ = scheduling::set_current(punctual_os::Scheduling::fifo(punctual_types::NativePriority(1)));
    // As an ORB does for an address that was not configured.
    let socket = std::env::temp_dir().join(format!("{}.sock", std::process::id()));
    let mut listener = None;
    let served = child::Control::ready(&()).and_then(|control| {
        control.serve(|what: String| {
            match what.as_str() {
                "die" => {
                    eprintln!("out of memory for one more");
                    std::process::exit(7);
                }
                "listen" => listener = Some(UnixListener::bind(&socket).map_err(|error| error.to_string())?),
                _ => std::thread::sleep(60 * SECOND),
            }
            Ok::<_, String>(&socket)
        })
    });
    drop(listener);
    if served.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
