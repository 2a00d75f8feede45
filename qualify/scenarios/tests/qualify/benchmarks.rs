//! Benchmarks that take a moment, and the child process of some of them.

use std::{os::unix::net::UnixListener, path::PathBuf, process::ExitCode, time::Duration};

use punctual_harness::{Child, ChildSpec, Claim, MemoryFolder, Row, child::Control};
use punctual_os::scheduling;
use punctual_report::{Chapter, Figure};
use punctual_scenarios::{Benchmark, Error, Findings, Testbed};

pub const CHILD: &str = "__child";
const SECOND: Duration = Duration::from_secs(1);

pub const ALL: [Benchmark; 6] = [
    benchmark("t.good", good),
    benchmark("t.server-dies", server_dies),
    benchmark("t.panics", |_| panic!("a table without legs")),
    benchmark("t.long", long),
    benchmark("t.after", good),
    benchmark("t.impossible", impossible),
];

const fn benchmark(name: &'static str, run: fn(&mut Testbed) -> Result<Findings, Error>) -> Benchmark {
    Benchmark {
        name,
        about: "for tests",
        expected: |_| SECOND,
        run,
    }
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
    let chapter = Chapter::new("A good one")
        .paper("[Fayyad-Kazan 2013] figure 2", "it does not grow", Some(true))
        .figure(
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
    server.ask::<_, PathBuf>(&"die", 20 * SECOND)?;
    good(testbed)
}

/// Runs for a minute, so that it can be interrupted; creates files that must be removed.
fn long(testbed: &mut Testbed) -> Result<Findings, Error> {
    let folder = MemoryFolder::create()?;
    std::fs::write(folder.path().join("records"), "some")?;
    let (mut server, ()): (Child, ()) = ChildSpec::new("server", CHILD).spawn(20 * SECOND)?;
    let socket: PathBuf = server.ask(&"listen", 20 * SECOND)?;
    testbed
        .progress()
        .note(format!("leaves={}", folder.path().display()));
    testbed.progress().note(format!("leaves={}", socket.display()));
    testbed
        .progress()
        .stage(format!("child={}.", server.id()), 60 * SECOND);
    server.ask::<_, PathBuf>(&"wait", 60 * SECOND)?;
    good(testbed)
}

/// The child process; in a real-time class if this is permitted.
pub fn child() -> ExitCode {
    let _ = scheduling::set_current(punctual_os::Scheduling::fifo(punctual_types::NativePriority(1)));
    // As an ORB does for an address that was not configured.
    let socket = std::env::temp_dir().join(format!("{}.sock", std::process::id()));
    let mut listener = None;
    let served = Control::ready(&()).and_then(|control| {
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
