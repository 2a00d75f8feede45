//! Benchmarks of a moment.

use std::{process::ExitCode, time::Duration};

use punctual_harness::{Child, ChildSpec, Claim, Row, child::Control};
use punctual_os::scheduling;
use punctual_report::{Chapter, Figure};
use punctual_scenarios::{Benchmark, Error, Findings, Testbed};

pub const CHILD: &str = "__child";
const SECOND: Duration = Duration::from_secs(1);

pub const ALL: [Benchmark; 5] = [
    benchmark("t.good", good),
    benchmark("t.server-dies", server_dies),
    benchmark("t.panics", |_| panic!("a table without legs")),
    benchmark("t.long", long),
    benchmark("t.after", good),
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
    outcome.skip(Some("remote"), "the remote part", "there is nobody");
    let chapter = Chapter::new("A good one")
        .paper("[S3] figure 2", "it does not grow", Some(true))
        .figure(
            Figure::new("By threads")
                .x("threads")
                .line("here", [(2.0, 1.5), (128.0, 1.5)]),
        );
    Ok(Findings { outcome, chapter })
}

fn server_dies(testbed: &mut Testbed) -> Result<Findings, Error> {
    testbed.progress().stage("asking", SECOND);
    let (mut server, ()): (Child, ()) = ChildSpec::new("server", CHILD).spawn(20 * SECOND)?;
    server.ask::<_, ()>(&"die", 20 * SECOND)?;
    good(testbed)
}

/// A minute, in which somebody interrupts it.
fn long(testbed: &mut Testbed) -> Result<Findings, Error> {
    let (mut server, ()): (Child, ()) = ChildSpec::new("server", CHILD).spawn(20 * SECOND)?;
    testbed
        .progress()
        .stage(format!("child={}.", server.id()), 60 * SECOND);
    server.ask::<_, ()>(&"wait", 60 * SECOND)?;
    good(testbed)
}

/// The process that does the work; where it may, in a real-time class.
pub fn child() -> ExitCode {
    let _ = scheduling::set_current(punctual_os::Scheduling::fifo(punctual_types::NativePriority(1)));
    let served = Control::ready(&()).and_then(|control| {
        control.serve(|what: String| {
            match what.as_str() {
                "die" => {
                    eprintln!("no room for one more");
                    std::process::exit(7);
                }
                _ => std::thread::sleep(60 * SECOND),
            }
            Ok::<(), String>(())
        })
    });
    if served.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
