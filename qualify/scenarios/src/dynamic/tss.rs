//! `dyn.tss`: the cost of the storage of distributable threads, compared with that of the system's threads.
//!
//! Source: [Gill 2004] 3.1, tables 3 and 4. The paper's storage is looked up by the id of the distributable
//! thread; a read took 686 ns, compared with 71 ns for the system's storage.

mod access;
mod creation;
mod table;

use std::time::Duration;

use punctual_harness::blocks::interleave;
use serde::{Deserialize, Serialize};

use self::{
    access::{Access, Block, Operation, Storage},
    creation::{Creation, Maker},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    os::{Interrupts, Subject, serve},
};

pub(super) struct ThreadStorage;

pub(crate) const ROLE: &str = "__dyn-tss";

const SEARCHED: Control = Control {
    id: "searched",
    about: "a locked table that is searched from its start in the place of our storage",
    breaks: &["creation", "read-*", "write-*"],
};

const PRIORITY: i16 = 60;
/// Number of our keys; the paper created 500.
const KEYS: usize = 10_000;
/// Number of POSIX keys; of the 1,024 of the GNU C library, Rust and the library itself use some.
const POSIX_KEYS: usize = 1_000;
/// Numbers of keys for which the cost of an access is measured.
const NUMBERS_OF_KEYS: [usize; 5] = [1, 10, 100, 1_000, KEYS];

#[derive(Clone, Copy)]
struct Extent {
    /// Number of consecutive processes: ratios differ between processes of one binary, presumably because of
    /// the addresses of stack and heap.
    processes: usize,
    /// Rounds per process.
    rounds: usize,
    /// Batches per block, of [`access::BATCH`] accesses each.
    batches: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            processes: length.pick(3, 9, 9),
            rounds: length.pick(4, 10, 10),
            batches: length.pick(200, 500, 500),
        }
    }

    /// Returns the expected duration of one process.
    fn expected(self) -> Duration {
        let accesses = self.rounds * self.batches * access::BATCH;
        let kinds = Operation::ALL.len() * (Storage::ALL.len() + NUMBERS_OF_KEYS.len());
        Duration::from_nanos(6 * (accesses * kinds) as u64)
    }
}

#[derive(Debug, Deserialize, Serialize)]
enum Command {
    Create(Maker, usize),
    Access(Access),
}

#[derive(Debug, Deserialize, Serialize)]
enum Response {
    /// The time of each creation, in nanoseconds, including readings of the clock.
    Created(Vec<u64>),
    Accessed(Block),
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|command| {
        Ok(match command {
            Command::Create(maker, keys) => Response::Created(creation::create(maker, keys)?),
            Command::Access(access) => Response::Accessed(access::run(access)?),
        })
    })
}

/// The results, without the cost of the clock.
#[derive(Default)]
struct Measured {
    creations: Vec<Creation>,
    accesses: Vec<(Access, Vec<Block>)>,
    over_keys: Vec<(Access, Vec<Block>)>,
}

impl Experiment for ThreadStorage {
    const NAME: &'static str = "dyn.tss";
    const ABOUT: &'static str = "storage of distributable threads and pthread_getspecific: keys, reads, \
                                 writes ([Gill 2004] tables 3 and 4)";
    const PAGE: &'static str = include_str!("tss/tss.toml");
    const CONTROLS: &'static [Control] = &[SEARCHED];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected() * Extent::of(length).processes as u32
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let (extent, full) = (Extent::of(trial.length()), Extent::of(Length::Full));
        trial.shortened(format!(
            "{} processes with {} rounds of blocks instead of {} with {}",
            extent.processes, extent.rounds, full.processes, full.rounds
        ));
        trial.outcome.parameter("processes", extent.processes);
        trial.outcome.parameter("rounds", extent.rounds);
        trial.outcome.parameter("batch", access::BATCH);
        trial.outcome.parameter("batches", extent.batches);
        let mut measured = Measured::default();
        for process in 1..=extent.processes {
            let text = format!("process {process} of {}", extent.processes);
            trial.stage(text, extent.expected());
            let limit = extent.expected() * 10;
            let mut subject = Subject::start(trial.testbed, ROLE, limit, Interrupts::Ignored)?;
            let searched = trial.testbed.is_under(&SEARCHED);
            measured.add_process(&mut subject, extent, searched)?;
            subject.finish(&mut trial.outcome)?;
        }
        creation::evaluate(&measured.creations, &mut trial.outcome);
        access::evaluate(&measured.accesses, &mut trial.outcome);
        access::evaluate_over_keys(&measured.over_keys, &mut trial.outcome);
        for creation in &measured.creations {
            trial.curve("creation", creation.maker.name(), creation.curve());
        }
        Ok(())
    }
}

impl Measured {
    fn add_process(&mut self, subject: &mut Subject, extent: Extent, searched: bool) -> Result<(), Error> {
        // First, because the slots of keys are reused later.
        for more in creations(subject, extent.rounds, searched)? {
            match self.creations.iter_mut().find(|all| all.maker == more.maker) {
                Some(all) => all.passes.extend(more.passes),
                None => self.creations.push(more),
            }
        }
        let kinds = Storage::ALL.map(|storage| (storage, 1));
        add(&mut self.accesses, alternate(subject, &kinds, extent, searched)?);
        let kinds = NUMBERS_OF_KEYS.map(|keys| (Storage::Word, keys));
        add(&mut self.over_keys, alternate(subject, &kinds, extent, searched)?);
        Ok(())
    }
}

fn add(all: &mut Vec<(Access, Vec<Block>)>, more: Vec<(Access, Vec<Block>)>) {
    for (access, blocks) in more {
        match all.iter_mut().find(|(other, _)| *other == access) {
            Some((_, all)) => all.extend(blocks),
            None => all.push((access, blocks)),
        }
    }
}

/// Measures the creation of keys by each maker; `searched`: in a table in the place of ours.
fn creations(subject: &mut Subject, rounds: usize, searched: bool) -> Result<Vec<Creation>, Error> {
    let expected = Duration::from_millis(5);
    let stamp_ns = subject.stamp_ns() as f64;
    let mut create = |maker: Maker| match subject.ask(&Command::Create(maker, maker.keys()), expected)? {
        Response::Created(ns) => {
            Ok::<_, Error>(ns.into_iter().map(|ns| ns as f64 - stamp_ns).collect::<Vec<_>>())
        }
        Response::Accessed(_) => Err(unexpected_response()),
    };
    let first = create(if searched { Maker::Searched } else { Maker::First })?;
    let again = interleave(&[Maker::Again, Maker::Posix], rounds, |maker, _| create(maker))?;
    let again = [Maker::Again, Maker::Posix].into_iter().zip(again);
    let first = [(Maker::First, vec![first])];
    let all = first.into_iter().chain(again);
    Ok(all.map(|(maker, passes)| Creation { maker, passes }).collect())
}

/// Measures reads and writes of all kinds in alternating blocks.
fn alternate(
    subject: &mut Subject,
    kinds: &[(Storage, usize)],
    extent: Extent,
    searched: bool,
) -> Result<Vec<(Access, Vec<Block>)>, Error> {
    let expected = Duration::from_nanos(6 * (extent.batches * access::BATCH) as u64);
    let of_operation = |operation| {
        let kinds = kinds.iter();
        kinds.map(move |(storage, keys)| Access::of(operation, *storage, *keys, extent.batches))
    };
    let kinds: Vec<_> = Operation::ALL.into_iter().flat_map(of_operation).collect();
    let stamp_ns = subject.stamp_ns() as f64;
    let blocks = interleave(&kinds, extent.rounds, |access, _| {
        let used = if searched { access.searched() } else { access };
        match subject.ask(&Command::Access(used), expected)? {
            Response::Accessed(block) => Ok(block.without(stamp_ns)),
            Response::Created(_) => Err(unexpected_response()),
        }
    })?;
    Ok(kinds.into_iter().zip(blocks).collect())
}

fn unexpected_response() -> Error {
    "unexpected response of the child process".into()
}

/// The source of the claims.
const SOURCE: &str = "Punctual's limit";
