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
use punctual_system::Semaphore;
use serde::{Deserialize, Serialize};

use super::{
    mutex::{Kind, Mutex},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject},
    worker::{Job, fifo, joined, run, spin_for},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct MutexContention;

impl Experiment for MutexContention {
    const NAME: &'static str = "os.mutex-contention";
    const ABOUT: &'static str =
        "acquiring and releasing a contended mutex, with and without priority inheritance";
    const PAGE: &'static str = include_str!("mutex_contention.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> =
        Some(&["inheritance", "own-inheritance", "by-ticks"]);

    const CONTROLS: &'static [Control] = &[PLAIN, INTERRUPTED];

    fn expected(length: Length) -> Duration {
        expected(rounds(length)) * CASES.len() as u32
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let rounds = rounds(trial.length());
        let expected = expected(rounds);
        trial.shortened(format!(
            "{rounds} rounds each instead of {}",
            self::rounds(Length::Full)
        ));
        trial.outcome.parameter("rounds", rounds);
        let mut subject = Subject::for_jobs(trial.testbed, expected * 50, Interrupts::Recorded)?;
        let mut measured = Vec::new();
        for case in CASES {
            trial.stage(case.name(), expected);
            let mut used = case;
            used.interrupted = trial.testbed.is_under(&INTERRUPTED);
            if trial.testbed.is_under(&PLAIN) {
                used.kind = Kind::Plain;
            }
            measured.push((case, subject.run(Contend { case: used, rounds }, expected)?));
        }
        let disturbances = subject.finish(&mut trial.outcome)?;
        for (case, contended) in measured {
            if case.medium {
                trial.outcome.claim(claim(case, contended.inversions, rounds));
            }
            let operations = [
                ("acquire", &contended.acquisitions),
                ("release", &contended.releases),
            ];
            for (operation, samples) in operations {
                let times = disturbances.evaluate(samples, 0);
                let row = Row::new()
                    .with("mutex", case.kind.name())
                    .with("medium_ready", case.medium)
                    .with("operation", operation)
                    .with("uncontended_us", contended.uncontended_ns / 1000.0)
                    .with("inversions", case.medium.then_some(contended.inversions));
                trial.outcome.row(times.row(row));
                trial.curve(operation, case.name(), times.corrected.curve());
            }
        }
        claim_by_ticks(&mut trial.outcome, "[Fayyad-Kazan 2013] IV.B.8");
        Ok(())
    }
}

/// Claims that timer interrupts caused all of the longest times. The paper's machine has no other interrupts,
/// and no host below it.
pub(super) fn claim_by_ticks(outcome: &mut Outcome, source: &str) {
    let recorded = outcome
        .rows()
        .iter()
        .filter(|row| row.number("disturbed").is_some());
    let causes: Vec<bool> = recorded
        .map(|row| {
            let cause = row.get("max_cause").and_then(|cause| cause.as_str());
            cause.is_some_and(|cause| cause.contains("timer interrupt"))
        })
        .collect();
    if causes.is_empty() {
        let reason = "the kernel's interrupts were not recorded";
        return outcome.skip(Some("by-ticks"), "causes of the longest times", reason);
    }
    let others = causes.iter().filter(|by_tick| !**by_tick).count();
    let text = "longest times whose cause is not recorded as a timer interrupt, over all operations";
    let claim = Claim::at_most("by-ticks", text, source, others as f64, 0.0);
    outcome.claim(claim);
}

const PLAIN: Control = Control {
    id: "plain",
    about: "mutexes without a protocol instead of those with inheritance",
    breaks: &["inheritance", "own-inheritance"],
};

const INTERRUPTED: Control = Control {
    id: "interrupted",
    about: "100 µs of other work within every 1000th acquisition and release",
    breaks: &["by-ticks"],
};
/// Samples from one interruption to the next, and its length.
pub(super) const INTERRUPTED_EVERY: usize = 1000;
pub(super) const INTERRUPTION_NS: u64 = 100_000;

const LOW: i16 = 10;
const MEDIUM: i16 = 20;
const HIGH: i16 = 30;

/// A mutex, and whether a thread of middle priority becomes ready before the release, as in the paper's case
/// of inversion.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Case {
    kind: Kind,
    medium: bool,
    /// Whether other work interrupts some acquisitions and releases.
    interrupted: bool,
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
    let interrupted = false;
    Case {
        kind,
        medium,
        interrupted,
    }
}

impl Case {
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
    Duration::from_micros(rounds as u64 * 10)
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Contend {
    case: Case,
    rounds: usize,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Contended {
    /// Time from the attempt of the high thread until the low one, which holds the mutex, runs again.
    acquisitions: Vec<Sample>,
    /// Time from the release until the high thread has the mutex.
    releases: Vec<Sample>,
    /// Rounds in which the medium thread ran before the high one had the mutex.
    inversions: u64,
    /// Time of acquiring and releasing it without contention.
    uncontended_ns: f64,
}

impl Job for Contend {
    const NAME: &'static str = "mutex-contention";
    type Reply = Contended;

    fn run(self) -> Result<Contended, Error> {
        contend(self)
    }
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

fn contend(Contend { case, rounds }: Contend) -> Result<Contended, Error> {
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
    Ok(Contended {
        acquisitions: shared.acquisitions.samples(),
        releases: shared.releases.samples(),
        inversions,
        uncontended_ns,
    })
}

/// Body of the low thread. The others preempt it whenever they are ready.
fn low(shared: &Shared, rounds: usize) -> u64 {
    let mut inversions = 0;
    for round in 0..rounds {
        let interrupted = shared.case.interrupted && round % INTERRUPTED_EVERY == INTERRUPTED_EVERY - 1;
        let held = shared.mutex.lock();
        // The high thread runs until it finds the mutex taken.
        shared.high_gate.release();
        if interrupted {
            spin_for(INTERRUPTION_NS);
        }
        shared
            .acquisitions
            .record(shared.attempted.load(Ordering::Relaxed), now_ns());
        if shared.case.medium {
            // The medium thread is ready now, but does not preempt this one, which has inherited the high
            // priority.
            shared.medium_gate.release();
        }
        shared.released.store(now_ns(), Ordering::Relaxed);
        if interrupted {
            spin_for(INTERRUPTION_NS);
        }
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

fn claim(case: Case, inversions: u64, rounds: usize) -> Claim {
    let name = case.kind.name();
    let text = format!(
        "{name}: rounds in which the medium thread ran before the high one had the mutex, of {rounds}"
    );
    Claim::at_most(
        case.kind.id(),
        text,
        "[Fayyad-Kazan 2013] IV.B.8",
        inversions as f64,
        0.0,
    )
}
