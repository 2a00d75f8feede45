//! `rt.9-large-request`: what a large request of low priority does to one of medium priority that is being processed. In a pool
//! without lanes whose threads wait at high priority, one of them reads it first; with lanes nobody does.
//! Source: [Pyarali 2002], "Notes on using Real-time CORBA without lanes".

use punctual_harness::{Claim, Latencies, Outcome, Row};
use punctual_report::{Chapter, Table};

use super::{holds, increasing_work::realtime, shortened};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    load::{
        self, Importance, Pace, Phase, Placement, Played, PoolSpec, Request, Session, Setup, Worker, priority,
    },
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.9-large-request",
    about: "[Pyarali 2002] experiment 9's note: large requests of low priority interrupt a pool without lanes, and do not with lanes",
    expected: |length| load::expected(&phases(length)),
    run: measure,
};

/// 10 ms of the servant's time, 40 times a second.
const MEDIUM_WORK: u32 = 45;
const MEDIUM_RATE: u32 = 40;
/// As large as the server takes with its default limits, less the rest of the message.
const OCTETS: usize = 8_000_000;
/// Two, so that one of the three threads is left for the medium client.
const LOW_CLIENTS: usize = 2;
const SOURCE: &str = "issue 4, [Pyarali 2002] notes on experiment 9";
/// What the large requests may add to the medium client's calls where there are lanes: nothing but what they cost caches.
const UNDISTURBED: f64 = 1.05;

/// The two pools, by their numbers.
const POOLS: [&str; 2] = ["no lanes", "lanes"];

#[derive(Clone, Copy)]
struct Point {
    pool: usize,
    large: bool,
}

fn phases(length: Length) -> Vec<Phase<Point>> {
    let mut phases = Vec::new();
    for (pool, name) in POOLS.iter().enumerate() {
        for large in [false, true] {
            let beside = if large {
                "large requests beside it"
            } else {
                "alone"
            };
            phases.push(Phase {
                key: Point { pool, large },
                title: format!("{name}, medium client, {beside}"),
                stage: 0,
                pool,
                seconds: length.pick(1.5, 5.0, 10.0),
                workers: workers(large),
            });
        }
    }
    phases
}

fn workers(large: bool) -> Vec<Worker> {
    let medium = Importance::Medium.client(MEDIUM_RATE, MEDIUM_WORK);
    let low = Worker {
        name: "large".to_owned(),
        priority: Some(priority::LOW),
        pace: Pace::Continuous,
        request: Request::Octets(OCTETS),
    };
    let low = std::iter::repeat_n(low, if large { LOW_CLIENTS } else { 0 });
    std::iter::once(medium).chain(low).collect()
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let pools = vec![
        PoolSpec::Propagated {
            threads: LOW_CLIENTS + 1,
            priority: priority::HIGH,
        },
        PoolSpec::Lanes(vec![priority::HIGH, priority::MEDIUM, priority::LOW]),
    ];
    // Large requests come from elsewhere: a client of low priority on the same CPU could not send while the server works.
    let setup = Setup::new(realtime(pools), Placement::Apart);
    let claims = ["no-lanes.interrupted", "lanes.undisturbed"];
    let setup = setup.or_skip("large requests from another CPU", &claims);
    let played = session.play(&[setup], phases(length))?;
    let outcome = &mut session.outcome;
    shortened(outcome, length, "1.5 s for each of the four, not 5 s");
    outcome.parameter("large_request_octets", OCTETS);
    outcome.parameter("large_request_clients", LOW_CLIENTS);
    add_rows(outcome, &played);
    claim(outcome, &played);
    let outcome = session.end()?;
    let chapter = chapter(&outcome);
    Ok(Findings { outcome, chapter })
}

fn medium(phase: &Played<Point>) -> Latencies {
    phase.client(Importance::Medium.name()).latencies()
}

fn add_rows(outcome: &mut Outcome, played: &[Played<Point>]) {
    for phase in played {
        let row = Row::new()
            .with("pool", POOLS[phase.key.pool])
            .with("large_requests", phase.key.large)
            .with("large_requests_hz", phase.collective_hz())
            .with_fields(&medium(phase).summary());
        outcome.row(row);
    }
}

/// The median of the medium client's calls beside large requests over that without.
fn stretched(played: &[Played<Point>], pool: usize) -> Option<f64> {
    let median = |large: bool| {
        let phase = played
            .iter()
            .find(|phase| (phase.key.pool, phase.key.large) == (pool, large))?;
        medium(phase).quantile_us(0.5)
    };
    Some(median(true)? / median(false)?)
}

fn claim(outcome: &mut Outcome, played: &[Played<Point>]) {
    let Some((no_lanes, lanes)) = stretched(played, 0).zip(stretched(played, 1)) else {
        return;
    };
    let text = "pool without lanes: median of the medium client's calls beside large requests of low priority over that without, above \
                what lanes are allowed: they interrupt it";
    outcome.claim(Claim::new(
        "no-lanes.interrupted",
        text,
        SOURCE,
        no_lanes,
        UNDISTURBED,
        no_lanes > UNDISTURBED,
    ));
    let text = "lanes: the same";
    outcome.claim(Claim::at_most(
        "lanes.undisturbed",
        text,
        SOURCE,
        lanes,
        UNDISTURBED,
    ));
}

fn chapter(outcome: &Outcome) -> Chapter {
    let columns = [
        ("pool", "pool"),
        ("large_requests", "large requests"),
        ("large_requests_hz", "of them per second"),
        ("p50_us", "p50 (µs)"),
        ("p99_us", "p99 (µs)"),
        ("max_us", "max (µs)"),
    ];
    Chapter::new("Experiment 9's note: large requests of low priority")
        .paper(
            "[Pyarali 2002] notes on experiment 9",
            "in a pool without lanes at high priority a large request of low priority interrupts one of medium priority",
            holds(outcome, "no-lanes"),
        )
        .paper(
            "[Pyarali 2002] summary",
            "lanes do not exhibit unbounded priority inversion",
            holds(outcome, "lanes"),
        )
        .paragraph(format!(
            "A client of medium priority calls {MEDIUM_RATE} times a second, 10 ms of work each; {LOW_CLIENTS} clients of low priority \
             send requests of {} MB without a pause from another CPU. Where the threads of a pool without lanes wait at high priority, \
             one of them reads each large request before it takes on its low priority, and the medium request in progress waits: a \
             priority inversion as long as the reading takes. With lanes it is read at low priority.",
            OCTETS / 1_000_000
        ))
        .table(
            Table::of(outcome.rows().iter().map(Row::as_map))
                .columns(&columns)
                .title("Calls of the medium client"),
        )
}
