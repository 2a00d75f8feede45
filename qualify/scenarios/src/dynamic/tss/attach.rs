//! Attaching the storage of a thread that arrives, which replaces the look-up in each access of
//! [Gill 2004] table 4: once per migration.

use std::{hint::black_box, time::Duration};

use punctual_harness::{Claim, Outcome, Row, blocks::median_ratio};
use punctual_rtsched::storage::{
    RetainedStorage, RetentionLimits, StorageError, StorageKey, ThreadStorage, attach, detach,
};
use punctual_sched::dynamic::Time;
use punctual_system::PosixKey;
use punctual_types::DistributableThreadId;
use serde::{Deserialize, Serialize};

use super::{
    PRIORITY, SOURCE,
    access::{Block, block, medians, with_ratio},
    table::Table,
};
use crate::{
    error::Error,
    os::{Job, fifo, now_ns, run},
};

/// Timed action.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Way {
    /// A read of `pthread_getspecific`, for comparison.
    Posix,
    /// The storage of a thread that the dispatcher knows is attached and detached.
    AtHand,
    /// The storage is found by the id of a thread that returns, attached, detached, and retained until it
    /// returns again.
    Retained,
}

/// A block of batches. Each takes another one of the threads than the one before.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Attach {
    pub(super) way: Way,
    /// Number of distributable threads with a value.
    pub(super) threads: usize,
    pub(super) batches: usize,
    /// Whether each thread is searched in a table in addition.
    pub(super) searched: bool,
}

/// Numbers of distributable threads.
const THREADS: [usize; 5] = [1, 10, 100, 1_000, MOST];
const MOST: usize = 10_000;
/// Few threads, with which the largest number is compared. Retaining a single one wakes the housekeeper.
const FEW: usize = 10;

/// A read of the paper's emulation over one of the system's storage: it contains the look-up.
const PAPERS_LOOK_UP: f64 = 686.2 / 70.8;
/// The largest acceptable ratio of ten thousand threads to ten: the table and the values exceed the caches,
/// and a search would take a thousand times as long.
const GROWTH: f64 = 8.0;

/// Steps from one thread to the next, a prime number: no order that caches could foresee.
const STRIDE: usize = 6_101;

impl Attach {
    /// Returns all kinds of blocks.
    pub(super) fn all(batches: usize, searched: bool) -> Vec<Self> {
        let of = |way, threads| Self {
            way,
            threads,
            // A search takes longer.
            batches: if searched { batches.div_ceil(100) } else { batches },
            searched: searched && way != Way::Posix,
        };
        let ours = [Way::AtHand, Way::Retained];
        let ours = ours
            .into_iter()
            .flat_map(|way| THREADS.map(|threads| of(way, threads)));
        [of(Way::Posix, 1)].into_iter().chain(ours).collect()
    }

    fn name(self) -> &'static str {
        match self.way {
            Way::Posix => "POSIX, a read",
            Way::AtHand => "attach and detach",
            Way::Retained => "restore, attach, detach, retain",
        }
    }

    fn measure(self) -> Result<Block, Error> {
        let table = Table::with_room_for(self.threads);
        if self.searched {
            (0..self.threads).for_each(|thread| table.insert(thread));
        }
        let mut last = 0;
        let mut next = || {
            last = (last + STRIDE) % self.threads;
            if self.searched {
                black_box(table.get(last));
            }
            last
        };
        Ok(match self.way {
            Way::Posix => {
                let key = PosixKey::new()?;
                key.set(1)?;
                block(self.batches, || black_box(&key).get())
            }
            Way::AtHand => {
                let (key, storages) = written(self.threads)?;
                let block = block(self.batches, || {
                    attach(storages[next()].clone());
                    detach()
                });
                key.delete()?;
                block
            }
            Way::Retained => {
                let (key, storages) = written(self.threads)?;
                let id = |thread: usize| DistributableThreadId(thread as u128 + 1);
                let now = || Time(now_ns());
                let retained = RetainedStorage::new(RetentionLimits {
                    max_threads: self.threads,
                    max_age: Duration::MAX,
                });
                for (thread, storage) in storages.into_iter().enumerate() {
                    retained.retain(id(thread), storage, now());
                }
                let block = block(self.batches, || {
                    let id = id(next());
                    attach(retained.restore(id, now()).unwrap_or_default());
                    retained.retain(id, detach().unwrap_or_default(), now());
                });
                if retained.len() != self.threads {
                    return Err("storage was lost".into());
                }
                key.delete()?;
                block
            }
        })
    }
}

/// Creates storage of this number of threads, each with a value.
fn written(threads: usize) -> Result<(StorageKey, Vec<ThreadStorage>), StorageError> {
    let key = StorageKey::new()?;
    let storages: Vec<_> = (0..threads).map(|_| ThreadStorage::new()).collect();
    storages
        .iter()
        .try_for_each(|storage| storage.enter(|| key.set(1)))?;
    Ok((key, storages))
}

impl Job for Attach {
    const NAME: &'static str = "attach";
    type Reply = Block;

    fn run(self) -> Result<Block, Error> {
        run(fifo("attaches", PRIORITY), move || self.measure())?
    }
}

/// Adds the rows and the claims.
pub(super) fn evaluate(attached: &[(Attach, Vec<Block>)], outcome: &mut Outcome) {
    let of = |way: Way, threads: usize| {
        let kind = |(attach, _): &&(Attach, Vec<Block>)| (attach.way, attach.threads) == (way, threads);
        attached.iter().find(kind).map(|(_, blocks)| medians(blocks))
    };
    let Some(native) = of(Way::Posix, 1) else { return };
    for (attach, blocks) in attached {
        let row = Row::new()
            .with("table", "attach")
            .with("what", attach.name())
            .with("threads", attach.threads)
            .with("p50_ns", punctual_harness::statistics::median(&medians(blocks)));
        outcome.row(with_ratio(row, median_ratio(&medians(blocks), &native)));
    }
    let ratio = |subject: Option<Vec<f64>>, reference: Option<Vec<f64>>| {
        let pair = subject.zip(reference);
        let ratio = pair.and_then(|(subject, reference)| median_ratio(&subject, &reference));
        ratio.map_or(f64::NAN, |ratio| ratio.median)
    };
    outcome.claim(Claim::at_most(
        "attach",
        "time to attach and detach the storage of one of 10,000 threads, once per migration, over one POSIX \
         read; the paper's emulation looks it up in each read, which takes 9.7 of them",
        "[Gill 2004] 3.1, table 4",
        ratio(of(Way::AtHand, MOST), Some(native)),
        PAPERS_LOOK_UP,
    ));
    for (id, way, what) in [
        ("attach-threads", Way::AtHand, "attach and detach the storage of"),
        (
            "return-threads",
            Way::Retained,
            "find, attach, detach and retain the storage of",
        ),
    ] {
        outcome.claim(Claim::at_most(
            id,
            format!("time to {what} one of 10,000 threads over that with ten"),
            SOURCE,
            ratio(of(way, MOST), of(way, FEW)),
            GROWTH,
        ));
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    #[test]
    fn every_kind_can_be_measured() {
        for searched in [false, true] {
            for attach in Attach::all(2, searched) {
                let few = Attach {
                    threads: attach.threads.min(100),
                    ..attach
                };
                assert!(few.measure().unwrap().median > 0.0, "{attach:?}");
            }
        }
    }

    #[test]
    fn a_search_breaks_the_claims() {
        let claimed = |ns: fn(usize) -> f64| {
            let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::single(0)));
            let attached = Attach::all(2, false).into_iter().map(|attach| {
                let ns = if attach.way == Way::Posix {
                    2.0
                } else {
                    ns(attach.threads)
                };
                (attach, vec![Block::of(ns); 10])
            });
            evaluate(&attached.collect::<Vec<_>>(), &mut outcome);
            outcome.claims().iter().map(Claim::holds).collect::<Vec<_>>()
        };
        assert_eq!(claimed(|_| 15.0), [true; 3]);
        assert_eq!(claimed(|threads| 15.0 + threads as f64 / 10.0), [false; 3]);
    }
}
