//! `os.mutex-contention`: the time to acquire and release a mutex if each forces a context switch.
//!
//! Source: [Fayyad-Kazan 2013] IV.B.8, figures 8a and 8b.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::{Chapter, Figure, Table};
use punctual_system::Semaphore;
use serde::{Deserialize, Serialize};

use super::{
    disturbance::{Evaluated, columns},
    mutex::{Kind, Mutex},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, lacks_rights, shortened},
    worker::{fifo, joined, run, serve},
};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "os.mutex-contention",
    about: "acquiring and releasing a contended mutex, with and without priority inheritance",
    expected: |length| expected(rounds(length)) * CASES.len() as u32,
    run: measure,
    controls: &[],
};

const HEADING: &str = "A contended mutex";

pub(crate) const ROLE: &str = "__os-mutex-contention";

const LOW: i16 = 10;
const MEDIUM: i16 = 20;
const HIGH: i16 = 30;

/// A mutex, and whether a thread of middle priority becomes ready before the release, as in the paper's case
/// of inversion.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
struct Case {
    kind: Kind,
    medium: bool,
}

/// The cases. With a plain mutex the medium thread would run in between, which is not the time of a release.
const CASES: [Case; 5] = [
    case(Kind::Inheriting, true),
    case(Kind::Inheriting, false),
    case(Kind::OwnInheriting, true),
    case(Kind::OwnInheriting, false),
    case(Kind::Plain, false),
];

const fn case(kind: Kind, medium: bool) -> Case {
    Case { kind, medium }
}

impl Case {
    /// Id of its claim.
    fn id(self) -> &'static str {
        self.kind.id()
    }

    fn name(self) -> String {
        let medium = if self.medium { ", medium thread ready" } else { "" };
        format!("{}{medium}", self.kind.name())
    }
}

fn rounds(length: Length) -> usize {
    length.pick(20_000, 100_000, 100_000)
}

/// Returns the expected duration of one case.
fn expected(rounds: usize) -> Duration {
    Duration::from_micros(rounds as u64 * 40)
}

#[derive(Debug, Deserialize, Serialize)]
struct Command {
    case: Case,
    rounds: usize,
}

#[derive(Debug, Deserialize, Serialize)]
struct Response {
    /// From the attempt of the high thread until the low one, which holds the mutex, runs again.
    acquisitions: Vec<Sample>,
    /// From the release until the high thread has the mutex.
    releases: Vec<Sample>,
    /// Rounds in which the medium thread ran before the high one had the mutex.
    inversions: u64,
    /// Time of acquiring and releasing it without contention.
    uncontended_ns: f64,
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|command: Command| contend(&command))
}

struct Shared {
    case: Case,
    mutex: Mutex,
    medium_gate: Semaphore,
    high_gate: Semaphore,
    attempted: AtomicU64,
    released: AtomicU64,
    medium_ran: AtomicU64,
    high_owned: AtomicU64,
    ended: AtomicBool,
    acquisitions: Log,
    releases: Log,
}

fn contend(command: &Command) -> Result<Response, Error> {
    let Command { case, rounds } = *command;
    let shared = Arc::new(Shared {
        case,
        mutex: Mutex::new(case.kind, HIGH)?,
        medium_gate: Semaphore::new(0)?,
        high_gate: Semaphore::new(0)?,
        attempted: AtomicU64::new(0),
        released: AtomicU64::new(0),
        medium_ran: AtomicU64::new(0),
        high_owned: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        acquisitions: Log::with_room_for(rounds),
        releases: Log::with_room_for(rounds),
    });
    let alone = Arc::clone(&shared);
    let uncontended = move || {
        alone
            .mutex
            .uncontended_ns(u32::try_from(rounds).unwrap_or(u32::MAX))
    };
    let uncontended_ns = run(fifo("uncontended", HIGH), uncontended)?;
    let start = |name: &str, priority, work: fn(&Shared)| {
        let shared = Arc::clone(&shared);
        fifo(name, priority).spawn(move || work(&shared))
    };
    let others = [start("high", HIGH, high)?, start("medium", MEDIUM, medium)?];
    let low_one = Arc::clone(&shared);
    let inversions = joined(fifo("low", LOW).spawn(move || low(&low_one, rounds))?)?;
    for thread in others {
        joined(thread)?;
    }
    Ok(Response {
        acquisitions: shared.acquisitions.samples(),
        releases: shared.releases.samples(),
        inversions,
        uncontended_ns,
    })
}

/// Body of the low thread. The others preempt it whenever they are ready.
fn low(shared: &Shared, rounds: usize) -> u64 {
    let mut inversions = 0;
    for _ in 0..rounds {
        let held = shared.mutex.lock();
        // The high thread runs until it finds the mutex taken.
        shared.high_gate.release();
        shared
            .acquisitions
            .record(shared.attempted.load(Ordering::Relaxed), now_ns());
        if shared.case.medium {
            // The medium thread is ready now, but does not preempt this one, which has inherited the high
            // priority.
            shared.medium_gate.release();
        }
        shared.released.store(now_ns(), Ordering::Relaxed);
        drop(held);
        if shared.case.medium {
            let medium_ran = shared.medium_ran.load(Ordering::Relaxed);
            inversions += u64::from(medium_ran < shared.high_owned.load(Ordering::Relaxed));
        }
    }
    shared.ended.store(true, Ordering::Relaxed);
    shared.medium_gate.release();
    shared.high_gate.release();
    inversions
}

fn medium(shared: &Shared) {
    loop {
        shared.medium_gate.acquire();
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        shared.medium_ran.store(now_ns(), Ordering::Relaxed);
    }
}

fn high(shared: &Shared) {
    loop {
        shared.high_gate.acquire();
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        shared.attempted.store(now_ns(), Ordering::Relaxed);
        let held = shared.mutex.lock();
        let now = now_ns();
        shared
            .releases
            .record(shared.released.load(Ordering::Relaxed), now);
        shared.high_owned.store(now, Ordering::Relaxed);
        drop(held);
    }
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let rounds = rounds(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    let mut evaluated = Vec::new();
    let claimed = CASES.iter().filter(|case| case.medium).map(|case| case.id());
    let claims: Vec<&str> = claimed.collect();
    if let Some(chapter) = lacks_rights(&mut outcome, HEADING, &claims) {
        return Ok(Findings { outcome, chapter });
    }
    shortened(testbed, &mut outcome, || {
        format!("{} rounds each instead of {}", rounds, self::rounds(Length::Full))
    });
    outcome.parameter("rounds", rounds);
    let limit = expected(rounds) * 50;
    let mut subject = Subject::start(testbed, ROLE, limit, Interrupts::Recorded)?;
    let mut measured = Vec::new();
    for case in CASES {
        testbed.progress.stage(case.name(), expected(rounds));
        let response: Response = subject.ask(&Command { case, rounds }, expected(rounds))?;
        measured.push((case, response));
    }
    let disturbances = subject.finish(&mut outcome)?;
    for (case, response) in measured {
        if case.medium {
            outcome.claim(claim(case, response.inversions, rounds));
        }
        for (operation, samples) in [
            ("acquire", &response.acquisitions),
            ("release", &response.releases),
        ] {
            let times = disturbances.evaluate(samples, 0);
            let row = Row::new()
                .with("mutex", case.kind.name())
                .with("medium_ready", case.medium)
                .with("operation", operation)
                .with("uncontended_us", response.uncontended_ns / 1000.0)
                .with("inversions", case.medium.then_some(response.inversions));
            outcome.row(times.row(row));
            evaluated.push((format!("{operation}: {}", case.name()), times));
        }
    }
    let chapter = chapter(&outcome, &evaluated);
    Ok(Findings { outcome, chapter })
}

fn claim(case: Case, inversions: u64, rounds: usize) -> Claim {
    let name = case.kind.name();
    let text = format!(
        "{name}: rounds in which the medium thread ran before the high one had the mutex, of {rounds}"
    );
    Claim::at_most(
        case.id(),
        text,
        "[Fayyad-Kazan 2013] IV.B.8",
        inversions as f64,
        0.0,
    )
}

fn chapter(outcome: &Outcome, evaluated: &[(String, Evaluated)]) -> Chapter {
    let columns = columns(&[
        ("mutex", "mutex"),
        ("medium_ready", "medium thread ready"),
        ("operation", "operation"),
        ("uncontended_us", "both, uncontended (µs)"),
        ("inversions", "inversions"),
    ]);
    let table = Table::of(outcome.rows().iter().map(Row::as_map)).columns(&columns);
    let figure = |operation: &str, what: &str| {
        let prefix = format!("{operation}: ");
        let figure = Figure::new(what).tail().x(super::SHORTER).y("time (µs)").y_log();
        let chosen = evaluated
            .iter()
            .filter_map(|(name, times)| Some((name.strip_prefix(&prefix)?, times)));
        chosen.fold(figure, |figure, (name, times)| {
            figure.line(name, times.corrected.curve())
        })
    };
    // The paper's machine has no other interrupts, and no host below it.
    let by_ticks = outcome
        .rows()
        .iter()
        .filter(|row| row.number("disturbed").is_some())
        .map(|row| {
            row.get("max_cause")?
                .as_str()
                .map(|cause| cause.contains("timer interrupt"))
        })
        .collect::<Option<Vec<_>>>()
        .filter(|rows| !rows.is_empty())
        .map(|rows| rows.into_iter().all(|by_tick| by_tick));
    Chapter::new(HEADING)
        .paragraph(
            "The low-priority thread holds the mutex when the high-priority one attempts to lock it. \
             Acquiring is timed from the attempt until the owner runs again with the inherited priority, \
             releasing from the release until the high-priority thread has the mutex. In the paper's case a \
             medium-priority thread becomes ready in between and must not run. Both times include a context \
             switch.",
        )
        .paper(
            "[Fayyad-Kazan 2013] IV.B.8",
            "the longest times are those of the mutex and the switch plus a clock tick",
            by_ticks,
        )
        .table(table)
        .figure(
            figure("acquire", "Acquiring a mutex held by a less important thread").caption(
                "This includes the cost of priority inheritance: the kernel raises the owner. [Fayyad-Kazan \
             2013] figures \
             8a and 8b, which show mean and maximum.",
            ),
        )
        .figure(
            figure(
                "release",
                "Releasing a mutex that a more important thread waits for",
            )
            .caption(
                "With inheritance the kernel hands the mutex over and lowers the former owner. [Fayyad-Kazan \
             2013] figures 8a and 8b.",
            ),
        )
}
