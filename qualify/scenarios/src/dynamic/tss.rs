//! `dyn.tss`: what the storage of distributable threads costs beside that of the system's threads.
//!
//! Source: \[S4\] 3.1, tables 3 and 4. The paper's storage goes by the id of the distributable thread, and found what it looked for
//! in 686 ns where the system took 71 ns.

mod access;
mod creation;
mod page;

use std::time::Duration;

use punctual_harness::{Outcome, blocks::interleave};
use serde::{Deserialize, Serialize};

use self::{
    access::{Access, Block, Operation, Storage},
    creation::{Creation, Maker},
};
use crate::{
    Benchmark, Error, Findings,
    benchmark::Length,
    os::{Interrupts, Subject, serve, shortened},
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "dyn.tss",
    about: "storage of distributable threads beside pthread_getspecific: keys, reads, writes (tables 3 and 4 of [S4])",
    expected: |length| Extent::of(length).expected(),
    run: measure,
};

pub(crate) const ROLE: &str = "__dyn-tss";

const PRIORITY: i16 = 60;
/// As many as the issue asks for; the paper made 500.
const KEYS: usize = 10_000;
/// Of 1,024 in the GNU C library, some of which are Rust's and the C library's own.
const POSIX_KEYS: usize = 1_000;
/// Over how many numbers of keys the cost of an access is looked at.
const NUMBERS_OF_KEYS: [usize; 5] = [1, 10, 100, 1_000, KEYS];

#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    /// In a block, of [`access::BATCH`] accesses each.
    batches: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: length.pick(10, 60, 60),
            batches: length.pick(200, 1_000, 1_000),
        }
    }

    fn expected(self) -> Duration {
        let accesses = self.rounds * self.batches * access::BATCH;
        let kinds = Operation::ALL.len() * (Storage::ALL.len() + NUMBERS_OF_KEYS.len());
        Duration::from_nanos(6 * (accesses * kinds) as u64)
    }
}

#[derive(Debug, Deserialize, Serialize)]
enum Question {
    Create(Maker, usize),
    Access(Access),
}

#[derive(Debug, Deserialize, Serialize)]
enum Answer {
    /// What each creation took, in nanoseconds, with reading the clock.
    Created(Vec<u64>),
    Accessed(Block),
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|question| {
        Ok(match question {
            Question::Create(maker, keys) => Answer::Created(creation::create(maker, keys)?),
            Question::Access(access) => Answer::Accessed(access::run(access)?),
        })
    })
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    shortened(testbed, &mut outcome, || {
        let full = Extent::of(Length::Full);
        format!("{} rounds of blocks instead of {}", extent.rounds, full.rounds)
    });
    outcome.parameter("rounds", extent.rounds);
    outcome.parameter("batch", access::BATCH);
    outcome.parameter("batches", extent.batches);
    let mut subject = Subject::start(testbed, ROLE, extent.expected() * 10, Interrupts::Ignored)?;
    // First of all: afterwards places of keys are used again.
    let creations = creations(testbed, &mut subject, extent.rounds)?;
    let accesses = accesses(testbed, &mut subject, extent)?;
    let over_keys = over_keys(testbed, &mut subject, extent)?;
    let stamp_ns = subject.stamp_ns() as f64;
    subject.finish(&mut outcome)?;
    creation::judge(&creations, stamp_ns, &mut outcome);
    access::judge(&accesses, stamp_ns, &mut outcome);
    access::judge_over_keys(&over_keys, stamp_ns, &mut outcome);
    let chapter = page::chapter(&outcome, &creations, stamp_ns);
    Ok(Findings { outcome, chapter })
}

fn creations(testbed: &Testbed, subject: &mut Subject, rounds: usize) -> Result<Vec<Creation>, Error> {
    let expected = Duration::from_millis(5);
    testbed
        .progress
        .stage("making keys", expected * 2 * rounds as u32);
    let mut create = |maker: Maker| match subject.ask(&Question::Create(maker, maker.keys()), expected)? {
        Answer::Created(ns) => Ok::<_, Error>(ns),
        Answer::Accessed(_) => Err(out_of_step()),
    };
    let first = create(Maker::First)?;
    let again = interleave(&[Maker::Again, Maker::Posix], rounds, |maker, _| create(maker))?;
    let again = [Maker::Again, Maker::Posix].into_iter().zip(again);
    let mut creations = vec![Creation::new(Maker::First, vec![first])];
    creations.extend(again.map(|(maker, passes)| Creation::new(maker, passes)));
    Ok(creations)
}

/// In alternation, one key.
fn accesses(
    testbed: &Testbed,
    subject: &mut Subject,
    extent: Extent,
) -> Result<Vec<(Access, Vec<Block>)>, Error> {
    let kinds: Vec<_> = Operation::ALL
        .into_iter()
        .flat_map(|operation| Storage::ALL.map(|storage| Access::of(operation, storage, 1, extent.batches)))
        .collect();
    alternate(testbed, subject, "reading and writing", &kinds, extent)
}

/// In alternation, one of many keys.
fn over_keys(
    testbed: &Testbed,
    subject: &mut Subject,
    extent: Extent,
) -> Result<Vec<(Access, Vec<Block>)>, Error> {
    let kinds: Vec<_> = Operation::ALL
        .into_iter()
        .flat_map(|operation| {
            NUMBERS_OF_KEYS.map(|keys| Access::of(operation, Storage::Word, keys, extent.batches))
        })
        .collect();
    alternate(testbed, subject, "one key among many", &kinds, extent)
}

fn alternate(
    testbed: &Testbed,
    subject: &mut Subject,
    what: &str,
    kinds: &[Access],
    extent: Extent,
) -> Result<Vec<(Access, Vec<Block>)>, Error> {
    // An object takes as long as all others together.
    let expected = Duration::from_nanos(6 * (extent.batches * access::BATCH) as u64);
    testbed
        .progress
        .stage(what, expected * (kinds.len() * extent.rounds) as u32);
    let blocks = interleave(kinds, extent.rounds, |access, _| {
        match subject.ask(&Question::Access(access), expected)? {
            Answer::Accessed(block) => Ok(block),
            Answer::Created(_) => Err(out_of_step()),
        }
    })?;
    Ok(kinds.iter().copied().zip(blocks).collect())
}

fn out_of_step() -> Error {
    "the child answered another question than was asked".into()
}

/// Where the claims come from.
const SOURCE: &str = "issue 5";

/// A row of the outcome, by what its column `what` says.
fn find<'o>(outcome: &'o Outcome, table: &'o str) -> impl Iterator<Item = &'o punctual_harness::Row> {
    let rows = outcome.rows().iter();
    rows.filter(move |row| row.get("table").and_then(|name| name.as_str()) == Some(table))
}
