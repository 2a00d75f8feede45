//! `os.semaphore`: the time to acquire and release a semaphore while 2 to 90 threads of distinct priorities
//! wait for it.
//!
//! Source: [Fayyad-Kazan 2013] IV.B.6, figures 6a and 6b.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use punctual_harness::{
    Claim, Outcome, Row,
    blocks::{interleave, median_ratio},
    statistics,
};
use punctual_os::{TaskId, Thread, scheduling};
use punctual_system::Semaphore;
use serde::{Deserialize, Serialize};

use super::{
    disturbance::Disturbances,
    mutex_contention::{INTERRUPTION_NS, claim_by_ticks},
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

pub(crate) struct ManyWaiters;

impl Experiment for ManyWaiters {
    const NAME: &'static str = "os.semaphore";
    const ABOUT: &'static str =
        "acquiring and releasing a semaphore while 2 to 90 threads of distinct priorities wait for it";
    const PAGE: &'static str = include_str!("semaphore.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> =
        Some(&["release-at-90", "highest-first", "by-ticks"]);
    const CONTROLS: &'static [Control] = &[LIST, INTERRUPTED];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected() * 2
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let Extent { blocks, rounds } = Extent::of(trial.length());
        let all = Extent::of(trial.length()).expected();
        let full = Extent::of(Length::Full);
        trial.outcome.parameter("blocks", blocks);
        trial.shortened(format!(
            "{blocks} blocks of {rounds} rounds instead of {} of {}",
            full.blocks, full.rounds
        ));
        trial.outcome.parameter("rounds_per_block", rounds);
        let mut subject = Subject::for_jobs(trial.testbed, all * 10, Interrupts::Recorded)?;
        let expected = all / (blocks * WAITERS.len()) as u32;
        let measured = interleave(&WAITERS, blocks, |waiters, block| {
            if waiters == FEWEST {
                let text = format!("block {} of {blocks}, 2 to 90 waiters", block + 1);
                trial.stage(text, expected * WAITERS.len() as u32);
            }
            let listed = trial.testbed.is_under(&LIST);
            let contend = Contend {
                waiters,
                rounds,
                listed,
                interrupted: trial.testbed.is_under(&INTERRUPTED),
            };
            subject.run(contend, expected)
        })?;
        let disturbances = subject.finish(&mut trial.outcome)?;
        for (&waiters, blocks) in WAITERS.iter().zip(&measured) {
            rows(waiters, blocks, &disturbances, &mut trial.outcome);
        }
        claim(&measured, &mut trial.outcome);
        claim_by_ticks(&mut trial.outcome, "[Fayyad-Kazan 2013] IV.B.6");
        for (operation, points) in pending_curves(measured.last().map_or(&[], Vec::as_slice)) {
            trial.curve("by pending", operation, points);
        }
        Ok(())
    }
}

/// The number of distinct priorities on the paper's Linux.
const MOST: usize = 90;
const FEWEST: usize = 2;
/// Numbers of waiters, measured in alternating blocks.
const WAITERS: [usize; 6] = [FEWEST, 10, 30, 50, 70, MOST];
/// Priority of the releasing thread, which acquires first; each waiter has its own, higher priority.
const RELEASER: i16 = 4;
/// The largest acceptable ratio of release times with the most and the fewest waiters.
const LIMIT: f64 = 1.5;

const INTERRUPTED: Control = Control {
    id: "interrupted",
    about: "100 µs of other work within the last acquisition and the first release of each round",
    breaks: &["by-ticks"],
};
const LIST: Control = Control {
    id: "list",
    about: "one list of all waiters, which is searched before each release and served in order of arrival",
    breaks: &["release-at-90", "highest-first"],
};

#[derive(Clone, Copy)]
struct Extent {
    blocks: usize,
    /// Rounds per block; in each, all waiters wait and are released.
    rounds: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        let (blocks, rounds) = length.pick((30, 15), (40, 60), (40, 60));
        Self { blocks, rounds }
    }

    fn expected(self) -> Duration {
        let waiters: usize = WAITERS.iter().sum();
        let waits = self.blocks * self.rounds * waiters;
        let threads = self.blocks * waiters;
        Duration::from_micros((waits * 3 + threads * 25) as u64)
    }
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Contend {
    waiters: usize,
    rounds: usize,
    /// Whether a list of waiters takes the place of the semaphore.
    listed: bool,
    /// Whether other work interrupts some releases.
    interrupted: bool,
}

/// The samples: for each round, as many acquisitions and releases as waiters.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Contended {
    /// Time from the attempt of a waiter until the releaser runs again; at the first one of a round, no
    /// thread waits yet.
    acquisitions: Vec<Sample>,
    /// Time from the release until the waiter runs; at the first one of a round, all wait.
    releases: Vec<Sample>,
    /// Releases that did not wake the most important waiter.
    out_of_order: u64,
}

impl Job for Contend {
    const NAME: &'static str = "semaphore";
    type Reply = Contended;

    fn run(self) -> Result<Contended, Error> {
        contend(&self)
    }
}

/// Object that the waiters wait for.
enum Awaited {
    Semaphore(Semaphore),
    /// The control: the kernel is asked for the priority of each waiter, and the first one runs.
    List {
        waiting: Mutex<VecDeque<(usize, TaskId)>>,
        turns: Vec<Semaphore>,
    },
}

impl Awaited {
    fn new(listed: bool, waiters: usize) -> Result<Self, Error> {
        // Initially taken; the releaser releases it.
        if !listed {
            return Ok(Self::Semaphore(Semaphore::new(0)?));
        }
        let turns = (0..waiters).map(|_| Semaphore::new(0));
        Ok(Self::List {
            waiting: Mutex::default(),
            turns: turns.collect::<Result<_, _>>()?,
        })
    }

    fn acquire(&self, number: usize) {
        match self {
            Self::Semaphore(semaphore) => semaphore.acquire(),
            Self::List { waiting, turns } => {
                let own = (number, TaskId::current_thread());
                waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push_back(own);
                turns[number].acquire();
            }
        }
    }

    fn release(&self) {
        match self {
            Self::Semaphore(semaphore) => semaphore.release(),
            Self::List { waiting, turns } => {
                let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                for (_, thread) in &*waiting {
                    let _ = std::hint::black_box(scheduling::of(*thread));
                }
                let first = waiting.pop_front();
                drop(waiting);
                if let Some((first, _)) = first {
                    turns[first].release();
                }
            }
        }
    }
}

struct Shared {
    semaphore: Awaited,
    /// One per waiter, which waits there for its turn to acquire.
    gates: Vec<Semaphore>,
    attempted: AtomicU64,
    released: AtomicU64,
    /// The waiter that ran last; 0 is the least important.
    last: AtomicUsize,
    ended: AtomicBool,
    acquisitions: Log,
    releases: Log,
}

fn contend(command: &Contend) -> Result<Contended, Error> {
    let samples = command.waiters * command.rounds;
    let gates = (0..command.waiters).map(|_| Semaphore::new(0));
    let shared = Arc::new(Shared {
        semaphore: Awaited::new(command.listed, command.waiters)?,
        gates: gates.collect::<Result<_, _>>()?,
        attempted: AtomicU64::new(0),
        released: AtomicU64::new(0),
        last: AtomicUsize::new(usize::MAX),
        ended: AtomicBool::new(false),
        acquisitions: Log::with_room_for(samples),
        releases: Log::with_room_for(samples),
    });
    let threads = (0..command.waiters).map(|number| {
        let shared = Arc::clone(&shared);
        let priority = RELEASER + 1 + i16::try_from(number)?;
        Ok(fifo(format!("waits-{number}"), priority).spawn(move || waiter(number, &shared))?)
    });
    let threads: Vec<Thread<()>> = threads.collect::<Result<_, Error>>()?;
    let (releaser, rounds, interrupted) = (Arc::clone(&shared), command.rounds, command.interrupted);
    let run = move || release(&releaser, rounds, interrupted);
    let out_of_order = joined(fifo("releases", RELEASER).spawn(run)?)?;
    for thread in threads {
        joined(thread)?;
    }
    Ok(Contended {
        acquisitions: shared.acquisitions.samples(),
        releases: shared.releases.samples(),
        out_of_order,
    })
}

fn waiter(number: usize, shared: &Shared) {
    loop {
        shared.gates[number].acquire();
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        shared.attempted.store(now_ns(), Ordering::Relaxed);
        shared.semaphore.acquire(number);
        shared
            .releases
            .record(shared.released.load(Ordering::Relaxed), now_ns());
        shared.last.store(number, Ordering::Relaxed);
    }
}

/// Body of the releasing thread. A waiter that is woken preempts it until it waits again.
fn release(shared: &Shared, rounds: usize, interrupted: bool) -> u64 {
    let waiters = shared.gates.len();
    let mut out_of_order = 0;
    for round in 0..rounds {
        for place in 0..waiters {
            shared.gates[shuffled(place, round, waiters)].release();
            if interrupted && place + 1 == waiters {
                spin_for(INTERRUPTION_NS);
            }
            shared
                .acquisitions
                .record(shared.attempted.load(Ordering::Relaxed), now_ns());
        }
        for most_important in (0..waiters).rev() {
            shared.released.store(now_ns(), Ordering::Relaxed);
            if interrupted && most_important + 1 == waiters {
                spin_for(INTERRUPTION_NS);
            }
            shared.semaphore.release();
            out_of_order += u64::from(shared.last.load(Ordering::Relaxed) != most_important);
        }
    }
    shared.ended.store(true, Ordering::Relaxed);
    shared.gates.iter().for_each(Semaphore::release);
    out_of_order
}

/// Returns the n-th waiter of a round: each once, in a different order per round, so that the kernel must
/// sort its queue.
fn shuffled(place: usize, round: usize, waiters: usize) -> usize {
    // A prime above all numbers of waiters is coprime to each.
    const STRIDE: usize = 97;
    (place * STRIDE + round * 31) % waiters
}

/// Returns the samples of a block at one position of each round. Acquisitions begin with no waiters, releases
/// with all.
fn with_pending(samples: &[Sample], waiters: usize, place: usize) -> impl Iterator<Item = Sample> {
    samples.iter().copied().skip(place).step_by(waiters)
}

fn rows(waiters: usize, blocks: &[Contended], disturbances: &Disturbances, outcome: &mut Outcome) {
    let all = |choose: fn(&Contended) -> &[Sample], place: Option<usize>| -> Vec<Sample> {
        let blocks = blocks.iter().map(choose);
        match place {
            None => blocks.flatten().copied().collect(),
            Some(place) => blocks
                .flat_map(|samples| with_pending(samples, waiters, place))
                .collect(),
        }
    };
    let acquisitions: fn(&Contended) -> &[Sample] = |block| &block.acquisitions;
    let releases: fn(&Contended) -> &[Sample] = |block| &block.releases;
    let mut row = |operation: &str, pending: &str, samples: &[Sample]| {
        let row = Row::new()
            .with("waiters", waiters)
            .with("operation", operation)
            .with("pending", pending);
        outcome.row(disturbances.evaluate(samples, 0).row(row));
    };
    row("acquire", "0 to all but one", &all(acquisitions, None));
    row("acquire", "all but one", &all(acquisitions, Some(waiters - 1)));
    row("release", "all to 1", &all(releases, None));
    row("release", "all", &all(releases, Some(0)));
}

fn claim(blocks: &[Vec<Contended>], outcome: &mut Outcome) {
    let first_releases = |waiters: usize, blocks: &[Contended]| -> Vec<f64> {
        let median = |block: &Contended| {
            let first = with_pending(&block.releases, waiters, 0).map(|sample| sample.1 as f64);
            statistics::median(&first.collect::<Vec<_>>()).unwrap_or(f64::NAN)
        };
        blocks.iter().map(median).collect()
    };
    let fewest = first_releases(FEWEST, &blocks[0]);
    let most = first_releases(MOST, &blocks[WAITERS.len() - 1]);
    let ratio = median_ratio(&most, &fewest);
    outcome.parameter("release_ratio_low", ratio.map(|ratio| ratio.low));
    outcome.parameter("release_ratio_high", ratio.map(|ratio| ratio.high));
    let text =
        "time of a release with 90 waiters over that with 2, at most (median over neighbouring blocks)";
    let measured = ratio.map_or(f64::NAN, |ratio| ratio.median);
    outcome.claim(Claim::at_most(
        "release-at-90",
        text,
        "[Fayyad-Kazan 2013] IV.B.6",
        measured,
        LIMIT,
    ));
    let out_of_order: u64 = blocks.iter().flatten().map(|block| block.out_of_order).sum();
    let text = "releases that did not wake the most important waiter";
    outcome.claim(Claim::at_most(
        "highest-first",
        text,
        "[Fayyad-Kazan 2013] IV.B.6",
        out_of_order as f64,
        0.0,
    ));
}

/// Returns medians over the number of waiting threads, of acquisitions and of releases.
fn pending_curves(blocks: &[Contended]) -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let median = |choose: fn(&Contended) -> &[Sample], place: usize| {
        let samples = blocks
            .iter()
            .flat_map(|block| with_pending(choose(block), MOST, place));
        let us: Vec<f64> = samples.map(|sample| sample.1 as f64 / 1000.0).collect();
        statistics::median(&us).unwrap_or(f64::NAN)
    };
    let acquire = (0..MOST).map(|place| (place as f64, median(|block| &block.acquisitions, place)));
    let release = (0..MOST).map(|place| ((MOST - place) as f64, median(|block| &block.releases, place)));
    vec![("acquire", acquire.collect()), ("release", release.collect())]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_waiter_waits_once_per_round() {
        for waiters in 1..=MOST {
            for round in 0..5 {
                let order: BTreeSet<_> = (0..waiters)
                    .map(|place| shuffled(place, round, waiters))
                    .collect();
                assert_eq!(order.len(), waiters, "{waiters} waiters, round {round}");
            }
        }
    }

    #[test]
    fn samples_are_selected_by_position_in_the_round() {
        // Three waiters, two rounds.
        let samples: Vec<Sample> = (0..6).map(|place| Sample(place, 0)).collect();
        let begun = |place| {
            with_pending(&samples, 3, place)
                .map(|sample| sample.0)
                .collect::<Vec<_>>()
        };
        assert_eq!([begun(0), begun(2)], [[0, 3], [2, 5]]);
    }

    #[test]
    fn the_claim_compares_releases_while_all_wait() {
        let block = |waiters: usize, first_ns: u64| {
            let ns = |place: usize| {
                if place.is_multiple_of(waiters) {
                    first_ns
                } else {
                    9_999
                }
            };
            Contended {
                releases: (0..waiters * 3).map(|place| Sample(0, ns(place))).collect(),
                ..Contended::default()
            }
        };
        let mut blocks: Vec<Vec<Contended>> = WAITERS.iter().map(|_| Vec::new()).collect();
        for round in 0..10 {
            blocks[0].push(block(FEWEST, 1_000 + round));
            blocks[WAITERS.len() - 1].push(block(MOST, 1_250 + round));
        }
        let machine = punctual_harness::MachineFacts::read(&punctual_os::CpuSet::single(0));
        let mut outcome = Outcome::new("test", machine);
        claim(&blocks, &mut outcome);
        let measured = outcome.claims()[0].measured.as_f64().unwrap();
        assert!((1.24..1.26).contains(&measured), "{measured}");
        assert!(outcome.claims()[1].holds());
    }
}
