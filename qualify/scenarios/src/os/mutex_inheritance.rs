//! `os.mutex-inheritance`: whether a medium-priority thread runs while a more important one waits for a mutex
//! that a less important one holds; without a protocol, with inheritance, and with a ceiling.
//!
//! Source: [Fayyad-Kazan 2013] IV.B.7, figure 7.

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
    disturbance::columns,
    mutex::{Kind, Mutex},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, lacks_rights, shortened},
    worker::{fifo, joined, serve, spin_for},
};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "os.mutex-inheritance",
    about: "three threads and a mutex: is there a priority inversion, without a protocol, with inheritance, \
            with a ceiling",
    expected: |length| expected(rounds(length)) * KINDS.len() as u32,
    run: measure,
    controls: &[],
};

const HEADING: &str = "Priority inversion at a mutex";

pub(crate) const ROLE: &str = "__os-mutex-inheritance";

const KINDS: [Kind; 5] = [
    Kind::Plain,
    Kind::Inheriting,
    Kind::Ceiling,
    Kind::OwnInheriting,
    Kind::OwnCeiling,
];
const LOW: i16 = 10;
const MEDIUM: i16 = 20;
const HIGH: i16 = 30;
/// Work of the low thread after each step, with the mutex.
const LOW_WORK_NS: u64 = 100_000;
/// Work of the medium thread.
const MEDIUM_WORK_NS: u64 = 1_000_000;

fn rounds(length: Length) -> usize {
    length.pick(200, 1000, 1000)
}

fn expected(rounds: usize) -> Duration {
    Duration::from_nanos((rounds as u64) * (MEDIUM_WORK_NS + 3 * LOW_WORK_NS))
}

#[derive(Debug, Deserialize, Serialize)]
struct Command {
    kind: Kind,
    rounds: usize,
}

#[derive(Debug, Deserialize, Serialize)]
struct Response {
    /// For each round, the time from when the high thread is ready until it has the mutex.
    waits: Vec<Sample>,
    /// Rounds in which the medium thread ran before the high one had the mutex.
    inversions: u64,
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|command: Command| contend(&command))
}

struct Shared {
    mutex: Mutex,
    /// The medium and the high thread wait here for the start of a round.
    medium_gate: Semaphore,
    high_gate: Semaphore,
    /// The medium thread waits for it; the low thread releases it while it holds the mutex.
    semaphore: Semaphore,
    /// Times at which the medium thread ran, the high one was ready, and the high one had the mutex.
    medium_ran: AtomicU64,
    high_ready: AtomicU64,
    high_owned: AtomicU64,
    ended: AtomicBool,
    waits: Log,
}

/// Runs the three threads. The low one executes the paper's steps in each round; the others preempt it
/// whenever they are ready.
fn contend(command: &Command) -> Result<Response, Error> {
    let shared = Arc::new(Shared {
        mutex: Mutex::new(command.kind, HIGH)?,
        medium_gate: Semaphore::new(0)?,
        high_gate: Semaphore::new(0)?,
        semaphore: Semaphore::new(0)?,
        medium_ran: AtomicU64::new(0),
        high_ready: AtomicU64::new(0),
        high_owned: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        waits: Log::with_room_for(command.rounds),
    });
    let start = |name: &str, priority, work: fn(&Shared)| {
        let shared = Arc::clone(&shared);
        fifo(name, priority).spawn(move || work(&shared))
    };
    let others = [start("high", HIGH, high)?, start("medium", MEDIUM, medium)?];
    let (low_one, rounds) = (Arc::clone(&shared), command.rounds);
    let inversions = joined(fifo("low", LOW).spawn(move || low(&low_one, rounds))?)?;
    for thread in others {
        joined(thread)?;
    }
    Ok(Response {
        waits: shared.waits.samples(),
        inversions,
    })
}

fn low(shared: &Shared, rounds: usize) -> u64 {
    let mut inversions = 0;
    for _ in 0..rounds {
        shared.medium_gate.release();
        let held = shared.mutex.lock();
        spin_for(LOW_WORK_NS);
        shared.high_ready.store(now_ns(), Ordering::Relaxed);
        shared.high_gate.release();
        spin_for(LOW_WORK_NS);
        shared.semaphore.release();
        spin_for(LOW_WORK_NS);
        drop(held);
        // Both have completed their work, since they preempt this thread.
        let medium_ran = shared.medium_ran.load(Ordering::Relaxed);
        inversions += u64::from(medium_ran < shared.high_owned.load(Ordering::Relaxed));
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
        shared.semaphore.acquire();
        shared.medium_ran.store(now_ns(), Ordering::Relaxed);
        spin_for(MEDIUM_WORK_NS);
    }
}

fn high(shared: &Shared) {
    loop {
        shared.high_gate.acquire();
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        let held = shared.mutex.lock();
        let now = now_ns();
        shared.high_owned.store(now, Ordering::Relaxed);
        shared
            .waits
            .record(shared.high_ready.load(Ordering::Relaxed), now);
        drop(held);
    }
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let rounds = rounds(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    let mut measured = Vec::new();
    if let Some(chapter) = lacks_rights(&mut outcome, HEADING, &KINDS.map(Kind::id)) {
        return Ok(Findings { outcome, chapter });
    }
    shortened(testbed, &mut outcome, || {
        format!("{} rounds each instead of {}", rounds, self::rounds(Length::Full))
    });
    outcome.parameter("rounds", rounds);
    outcome.parameter("low_works_us", 3 * LOW_WORK_NS / 1000);
    outcome.parameter("medium_works_us", MEDIUM_WORK_NS / 1000);
    let limit = expected(rounds) * 20;
    let mut subject = Subject::start(testbed, ROLE, limit, Interrupts::Recorded)?;
    for kind in KINDS {
        testbed.progress.stage(kind.name(), expected(rounds));
        let response: Response = subject.ask(&Command { kind, rounds }, expected(rounds))?;
        measured.push((kind, response));
    }
    let disturbances = subject.finish(&mut outcome)?;
    for (kind, response) in &measured {
        let row = Row::new()
            .with("mutex", kind.name())
            .with("rounds", rounds)
            .with("inversions", response.inversions);
        outcome.row(disturbances.evaluate(&response.waits, 0).row(row));
        outcome.claim(claim(*kind, response.inversions, rounds));
    }
    let chapter = chapter(&outcome, &measured);
    Ok(Findings { outcome, chapter })
}

fn claim(kind: Kind, inversions: u64, rounds: usize) -> Claim {
    let (source, inversions) = ("[Fayyad-Kazan 2013] IV.B.7", inversions as f64);
    let name = kind.name();
    if kind == Kind::Plain {
        let text = format!("{name}: rounds with an inversion, all of {rounds}: the test detects them");
        Claim::at_least(kind.id(), text, source, inversions, rounds as f64)
    } else {
        let text = format!("{name}: rounds with an inversion, of {rounds}");
        Claim::at_most(kind.id(), text, source, inversions, 0.0)
    }
}

fn chapter(outcome: &Outcome, measured: &[(Kind, Response)]) -> Chapter {
    let columns = columns(&[
        ("mutex", "mutex"),
        ("rounds", "rounds"),
        ("inversions", "inversions"),
    ]);
    let table = Table::of(outcome.rows().iter().map(Row::as_map)).columns(&columns);
    let holds = |kinds: &[Kind]| {
        let claims = outcome
            .claims()
            .iter()
            .filter(|claim| kinds.iter().any(|kind| claim.id == kind.id()));
        let held: Vec<bool> = claims.map(|claim| claim.holds()).collect();
        (held.len() == kinds.len()).then(|| held.into_iter().all(|held| held))
    };
    let waits = Figure::new("Waiting time of the high-priority thread for the mutex")
        .caption(
            "Without a protocol it waits for the rest of the low-priority thread's critical section (200 µs) \
             and for the medium-priority thread's whole work (1 ms), which does not use the mutex; with \
             inheritance or a ceiling it waits only for the critical section. [Fayyad-Kazan 2013] figure 7, \
             with shorter times.",
        )
        .x("round")
        .y("from ready to owner of the mutex (µs)")
        .y_log();
    let waits = measured.iter().fold(waits, |figure, (kind, response)| {
        let waited = response.waits.iter().enumerate();
        figure.line(
            kind.name(),
            waited.map(|(round, sample)| (round as f64, sample.1 as f64 / 1000.0)),
        )
    });
    let inversions = Figure::new("Rounds with a priority inversion")
        .names(measured.iter().map(|(kind, _)| kind.name()))
        .y("rounds")
        .bars(
            "inversions",
            measured.iter().map(|(_, response)| response.inversions as f64),
        );
    Chapter::new(HEADING)
        .paragraph(
            "The low-priority thread locks the mutex and wakes the high-priority one, which blocks on the \
             mutex; then it releases the semaphore that the medium-priority one waits for, and finally the \
             mutex. If the medium thread runs before the high one has the mutex, this is an inversion: its \
             length depends on the medium thread and is unbounded. Whether a round has an inversion does not \
             depend on disturbances of the machine.",
        )
        .paper(
            "[Fayyad-Kazan 2013] IV.B.7",
            "without inheritance the medium thread blocks the high one for \
                                              long",
            holds(&[Kind::Plain]),
        )
        .paper(
            "[Fayyad-Kazan 2013] IV.B.7",
            "with inheritance the low thread continues until it releases the mutex, and the high one runs \
             next",
            holds(&[Kind::Inheriting, Kind::OwnInheriting]),
        )
        .table(table)
        .figure(inversions)
        .figure(waits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_unexpected_round_breaks_the_claim() {
        assert!(claim(Kind::Plain, 200, 200).holds() && !claim(Kind::Plain, 199, 200).holds());
        for kind in &KINDS[1..] {
            assert!(
                claim(*kind, 0, 200).holds() && !claim(*kind, 1, 200).holds(),
                "{kind:?}"
            );
        }
    }
}
