//! Reads and writes: [Gill 2004] table 4.

use std::{cell::Cell, hint::black_box};

use punctual_harness::{
    Claim, MedianEstimate, Outcome, Row,
    blocks::median_ratio,
    statistics::{mean, median},
};
use punctual_rtsched::storage::{ObjectKey, StorageKey, ThreadStorage, WordKey};
use punctual_system::PosixKey;
use serde::{Deserialize, Serialize};

use super::{KEYS, PRIORITY, SOURCE, table::Table};
use crate::{
    error::Error,
    os::{Job, fifo, now_ns, run},
};

/// Number of accesses that are timed together, because one is shorter than reading the clock.
pub(super) const BATCH: usize = 1_000;

/// The kind of access.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Operation {
    Read,
    Write,
}

/// The kind of storage.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Storage {
    /// `pthread_getspecific` and `pthread_setspecific`, called native in [Gill 2004].
    Posix,
    /// [`StorageKey`].
    Word,
    /// [`WordKey`].
    Typed,
    /// [`ObjectKey`]; a write creates an object.
    Object,
    /// Rust's `thread_local!`, a `Cell`.
    ThreadLocal,
    /// [`Table`], in the place of ours under a control.
    Searched,
}

/// A block of batches.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Access {
    operation: Operation,
    storage: Storage,
    /// Number of keys, all with a value; the last one is accessed.
    keys: usize,
    batches: usize,
}

/// Times of an access in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Block {
    pub(super) median: f64,
    mean: f64,
    min: f64,
    max: f64,
}

impl Block {
    /// A block whose batches all took this time.
    #[cfg(test)]
    pub(super) fn of(ns: f64) -> Self {
        Self {
            median: ns,
            mean: ns,
            min: ns,
            max: ns,
        }
    }

    /// Subtracts the cost of the clock, which each batch includes.
    pub(super) fn without(self, stamp_ns: f64) -> Self {
        let each = stamp_ns / BATCH as f64;
        Self {
            median: self.median - each,
            mean: self.mean - each,
            min: self.min - each,
            max: self.max - each,
        }
    }
}

impl Operation {
    pub(super) const ALL: [Self; 2] = [Self::Read, Self::Write];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Storage {
    pub(super) const ALL: [Self; 5] = [
        Self::Posix,
        Self::Word,
        Self::Typed,
        Self::Object,
        Self::ThreadLocal,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Posix => "POSIX",
            Self::Word => "Punctual, a word",
            Self::Typed => "Punctual, a typed word",
            Self::Object => "Punctual, an object",
            Self::ThreadLocal => "thread_local! of Rust",
            Self::Searched => "a table that is searched",
        }
    }

    /// Id of the claim about an operation, if there is one.
    fn id(self, operation: Operation) -> Option<&'static str> {
        match (self, operation) {
            (Self::Word, Operation::Read) => Some("read-word"),
            (Self::Word, Operation::Write) => Some("write-word"),
            (Self::Typed, Operation::Read) => Some("read-typed"),
            (Self::Typed, Operation::Write) => Some("write-typed"),
            (Self::Posix | Self::Object | Self::ThreadLocal | Self::Searched, _) => None,
        }
    }
}

impl Access {
    /// Returns the access that is measured in the place of this one if ours are searched. It takes longer, so
    /// there are fewer batches.
    pub(super) fn searched(self) -> Self {
        match self.storage {
            Storage::Word | Storage::Typed => Self {
                storage: Storage::Searched,
                batches: (self.batches / 40).max(1),
                ..self
            },
            _ => self,
        }
    }

    pub(super) fn of(operation: Operation, storage: Storage, keys: usize, batches: usize) -> Self {
        Self {
            operation,
            storage,
            keys,
            batches,
        }
    }
}

/// [Gill 2004] table 4: mean, minimum and maximum of reads, then of writes, in nanoseconds.
const PAPER: [(&str, [f64; 3], [f64; 3]); 2] = [
    (
        "[Gill 2004]: emulated",
        [686.2, 609.0, 1_203.0],
        [1_292.4, 1_203.0, 1_893.0],
    ),
    ("[Gill 2004]: native", [70.8, 68.0, 101.0], [77.6, 71.0, 130.0]),
];

/// The largest acceptable ratio to POSIX.
const LIMIT: f64 = 1.5;
/// The largest acceptable ratio of ten thousand keys to one, with a margin for noise.
const SAME: f64 = 1.15;

thread_local! {
    static CELL: Cell<u64> = const { Cell::new(0) };
}

impl Job for Access {
    const NAME: &'static str = "access";
    type Reply = Block;

    fn run(self) -> Result<Block, Error> {
        measure(self)
    }
}

/// Measures accesses in a new thread that runs a distributable thread.
fn measure(access: Access) -> Result<Block, Error> {
    run(fifo("accesses", PRIORITY), move || {
        ThreadStorage::new().enter(|| match access.storage {
            Storage::Posix => {
                let key = PosixKey::new()?;
                key.set(1)?;
                Ok(match access.operation {
                    Operation::Read => block(access.batches, || black_box(&key).get()),
                    Operation::Write => block(access.batches, || black_box(&key).set(black_box(2)).is_ok()),
                })
            }
            Storage::Word => {
                let keys = made(access.keys, StorageKey::new, |key| key.set(1))?;
                let key = keys[access.keys - 1];
                let block = match access.operation {
                    Operation::Read => block(access.batches, || black_box(&key).get()),
                    Operation::Write => block(access.batches, || black_box(&key).set(black_box(2))),
                };
                keys.into_iter().rev().try_for_each(StorageKey::delete)?;
                Ok(block)
            }
            Storage::Typed => {
                let keys = made(access.keys, WordKey::<i32>::new, |key| key.set(1))?;
                let key = keys[access.keys - 1];
                let block = match access.operation {
                    Operation::Read => block(access.batches, || black_box(&key).get()),
                    Operation::Write => block(access.batches, || black_box(&key).set(black_box(2))),
                };
                keys.into_iter().rev().try_for_each(WordKey::delete)?;
                Ok(block)
            }
            Storage::Object => {
                let key = ObjectKey::<u64>::new(1)?;
                key.set(1)?;
                let block = match access.operation {
                    Operation::Read => block(access.batches, || black_box(&key).get()),
                    Operation::Write => block(access.batches, || black_box(&key).set(black_box(2))),
                };
                key.delete()?;
                Ok(block)
            }
            Storage::Searched => {
                let table = Table::with_room_for(access.keys);
                let key = (0..access.keys).map(|_| table.create()).max().unwrap_or(0);
                Ok(match access.operation {
                    Operation::Read => block(access.batches, || table.get(black_box(key))),
                    Operation::Write => block(access.batches, || table.set(black_box(key), black_box(2))),
                })
            }
            Storage::ThreadLocal => Ok(match access.operation {
                Operation::Read => block(access.batches, || CELL.get()),
                Operation::Write => block(access.batches, || CELL.set(black_box(2))),
            }),
        })
    })?
}

fn made<K: Copy, E>(
    number: usize,
    make: impl Fn() -> Result<K, E>,
    write: impl Fn(K) -> Result<(), E>,
) -> Result<Vec<K>, E> {
    let keys: Vec<K> = (0..number).map(|_| make()).collect::<Result<_, _>>()?;
    keys.iter().copied().try_for_each(write)?;
    Ok(keys)
}

/// Measures a block. Never inlined, so that each kind of access is compiled in the same context.
#[inline(never)]
pub(super) fn block<T>(batches: usize, mut once: impl FnMut() -> T) -> Block {
    let mut batches = vec![0.0; batches];
    let mut batch = || {
        let began = now_ns();
        for _ in 0..BATCH {
            black_box(once());
        }
        (now_ns() - began) as f64 / BATCH as f64
    };
    // Warm-up of caches and branch prediction.
    for _ in 0..10 {
        batch();
    }
    for place in &mut batches {
        *place = batch();
    }
    Block {
        median: median(&batches).unwrap_or(f64::NAN),
        mean: mean(&batches).unwrap_or(f64::NAN),
        min: batches.iter().copied().fold(f64::INFINITY, f64::min),
        max: batches.iter().copied().fold(0.0, f64::max),
    }
}

/// Adds the rows and claims of reads and writes.
pub(super) fn evaluate(accesses: &[(Access, Vec<Block>)], outcome: &mut Outcome) {
    for operation in Operation::ALL {
        let of_operation = || {
            accesses
                .iter()
                .filter(move |(access, _)| access.operation == operation)
        };
        let Some((_, native)) = of_operation().find(|(access, _)| access.storage == Storage::Posix) else {
            return;
        };
        let native = medians(native);
        for (access, blocks) in of_operation() {
            let ratio = median_ratio(&medians(blocks), &native);
            let name = access.storage.name();
            outcome.row(with_ratio(row("access", operation, name, blocks), ratio));
            if let (Some(id), Some(ratio)) = (access.storage.id(operation), ratio) {
                let operation = operation.name();
                outcome.claim(Claim::at_most(
                    id,
                    format!("{name}: time of a {operation} over that of POSIX"),
                    SOURCE,
                    ratio.median,
                    LIMIT,
                ));
            }
        }
        for (name, read, write) in PAPER {
            let [mean, min, max] = match operation {
                Operation::Read => read,
                Operation::Write => write,
            };
            let native = match operation {
                Operation::Read => PAPER[1].1[0],
                Operation::Write => PAPER[1].2[0],
            };
            let row = Row::new()
                .with("table", "access")
                .with("operation", operation.name());
            let row = row.with("what", name).with("mean_ns", mean).with("min_ns", min);
            outcome.row(row.with("max_ns", max).with("ratio", mean / native));
        }
    }
}

/// Adds the rows and claims over numbers of keys.
pub(super) fn evaluate_over_keys(accesses: &[(Access, Vec<Block>)], outcome: &mut Outcome) {
    for operation in Operation::ALL {
        let of_operation = || {
            accesses
                .iter()
                .filter(move |(access, _)| access.operation == operation)
        };
        let Some((_, one)) = of_operation().find(|(access, _)| access.keys == 1) else {
            return;
        };
        let one = medians(one);
        for (access, blocks) in of_operation() {
            let ratio = median_ratio(&medians(blocks), &one);
            let row = row("keys", operation, access.storage.name(), blocks);
            outcome.row(with_ratio(row.with("keys", access.keys), ratio));
            if let (KEYS, Some(ratio)) = (access.keys, ratio) {
                let operation = operation.name();
                outcome.claim(Claim::at_most(
                    format!("{operation}-keys"),
                    format!("time of a {operation} with 10,000 keys over that with one"),
                    SOURCE,
                    ratio.median,
                    SAME,
                ));
            }
        }
    }
}

pub(super) fn medians(blocks: &[Block]) -> Vec<f64> {
    blocks.iter().map(|block| block.median).collect()
}

fn row(table: &str, operation: Operation, what: &str, blocks: &[Block]) -> Row {
    let means: Vec<f64> = blocks.iter().map(|block| block.mean).collect();
    let min = blocks.iter().map(|block| block.min).fold(f64::INFINITY, f64::min);
    let max = blocks.iter().map(|block| block.max).fold(0.0, f64::max);
    Row::new()
        .with("table", table)
        .with("operation", operation.name())
        .with("what", what)
        .with("p50_ns", median(&medians(blocks)))
        .with("mean_ns", mean(&means))
        .with("min_ns", min)
        .with("max_ns", max)
}

pub(super) fn with_ratio(row: Row, ratio: Option<MedianEstimate>) -> Row {
    row.with("ratio", ratio.map(|ratio| ratio.median))
        .with("ratio_low", ratio.map(|ratio| ratio.low))
        .with("ratio_high", ratio.map(|ratio| ratio.high))
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    #[test]
    fn every_kind_can_be_measured() {
        for operation in Operation::ALL {
            for storage in Storage::ALL {
                let block = measure(Access::of(operation, storage, 3, 5)).unwrap();
                assert!(block.min > 0.0 && block.min <= block.median && block.median <= block.max);
            }
        }
    }

    #[test]
    fn ratios_exclude_the_cost_of_the_clock() {
        let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::single(0)));
        let blocks = |ns: f64| vec![Block::of(ns + 0.04).without(40.0); 10];
        let access = |storage, ns| (Access::of(Operation::Read, storage, 1, 1), blocks(ns));
        let accesses = [
            access(Storage::Posix, 2.0),
            access(Storage::Word, 2.9),
            access(Storage::Typed, 3.1),
        ];
        evaluate(&accesses, &mut outcome);
        let claims = outcome.claims();
        assert_eq!(claims.len(), 2);
        assert!((claims[0].measured.as_f64().unwrap() - 1.45).abs() < 1e-9);
        assert!(claims[0].holds() && !claims[1].holds());
        let published: Vec<_> = outcome
            .rows()
            .iter()
            .filter_map(|row| row.number("ratio"))
            .collect();
        assert!((published[3] - 9.69).abs() < 0.01, "9.7 in the paper");
    }
}
