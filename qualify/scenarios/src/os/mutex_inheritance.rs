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

use punctual_harness::{Claim, Row};
use punctual_system::Semaphore;
use serde::{Deserialize, Serialize};

use super::{
    mutex::{Kind, Mutex},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject},
    worker::{Job, fifo, joined, spin_for},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct MutexInheritance;

impl Experiment for MutexInheritance {
    const NAME: &'static str = "os.mutex-inheritance";
    const ABOUT: &'static str = "three threads and a mutex: is there a priority inversion, without a \
                                 protocol, with inheritance, with a ceiling";
    const PAGE: &'static str = include_str!("mutex_inheritance.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> =
        Some(&["none", "inheritance", "ceiling", "own-inheritance", "own-ceiling"]);

    const CONTROLS: &'static [Control] = &[PLAIN, INHERITING];

    fn expected(length: Length) -> Duration {
        expected(rounds(length)) * KINDS.len() as u32
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let rounds = rounds(trial.length());
        let expected = expected(rounds);
        trial.shortened(format!(
            "{rounds} rounds each instead of {}",
            self::rounds(Length::Full)
        ));
        trial.outcome.parameter("rounds", rounds);
        trial.outcome.parameter("low_works_us", 3 * LOW_WORK_NS / 1000);
        trial.outcome.parameter("medium_works_us", MEDIUM_WORK_NS / 1000);
        let mut subject = Subject::for_jobs(trial.testbed, expected * 20, Interrupts::Recorded)?;
        let mut measured = Vec::new();
        for kind in KINDS {
            trial.stage(kind.name(), expected);
            let used = if trial.testbed.is_under(&PLAIN) {
                Kind::Plain
            } else if trial.testbed.is_under(&INHERITING) {
                Kind::Inheriting
            } else {
                kind
            };
            measured.push((kind, subject.run(Contend { kind: used, rounds }, expected)?));
        }
        let disturbances = subject.finish(&mut trial.outcome)?;
        for (kind, Contended { waits, inversions }) in measured {
            let row = Row::new().with("mutex", kind.name());
            let row = row.with("rounds", rounds).with("inversions", inversions);
            trial.outcome.row(disturbances.evaluate(&waits, 0).row(row));
            trial.outcome.claim(claim(kind, inversions, rounds));
            let waits = waits.iter().enumerate();
            let points = waits.map(|(round, sample)| (round as f64, sample.1 as f64 / 1000.0));
            trial.curve("waits", kind.name(), points);
        }
        Ok(())
    }
}

const PLAIN: Control = Control {
    id: "plain",
    about: "mutexes without a protocol instead of all others",
    breaks: &["inheritance", "ceiling", "own-inheritance", "own-ceiling"],
};
const INHERITING: Control = Control {
    id: "inheriting",
    about: "mutexes with inheritance instead of all others",
    breaks: &["none"],
};

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
pub(super) struct Contend {
    kind: Kind,
    rounds: usize,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Contended {
    /// Time, by round, from when the high thread is ready until it has the mutex.
    waits: Vec<Sample>,
    /// Rounds in which the medium thread ran before the high one had the mutex.
    inversions: u64,
}

impl Job for Contend {
    const NAME: &'static str = "mutex-inheritance";
    type Reply = Contended;

    fn run(self) -> Result<Contended, Error> {
        contend(&self)
    }
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
fn contend(command: &Contend) -> Result<Contended, Error> {
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
    Ok(Contended {
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
