//! Migrations of a thread from host A to host B, back to A in a callback, and home, with and without values
//! stored at both hosts: [Gill 2004] figure 5.

use std::sync::{Arc, OnceLock};

use punctual::{Completion, SystemException, SystemExceptionKind};
use punctual_harness::{Claim, Outcome, Row, blocks::median_ratio, interleave, statistics::median};
use punctual_rtsched::{Current, SchedulingError, storage::WordKey};
use punctual_sched::{dynamic::Time, simulator::Parameters};
use serde::{Deserialize, Serialize};

use super::{
    super::{
        disciplines::Named,
        endsystem::{Endsystem, joined, spawn},
    },
    KEYS, SOURCE,
    access::with_ratio,
    table::Table,
};
use crate::{
    error::Error,
    idl::dynamic::dynamic::{Host, HostRef},
    os::{Job, now_ns},
};

/// Blocks of migrations in alternation, with storage and without.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Migrate {
    pub(super) rounds: usize,
    pub(super) migrations: u32,
    /// Whether threads are searched in a table at each arrival and each departure, where storage is used.
    pub(super) searched: bool,
}

/// Times of a migration in nanoseconds, by round.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Migrated {
    with_storage: Vec<f64>,
    without: Vec<f64>,
}

/// Threads for upcalls of a host: a call, and one in a callback.
const UPCALLS: usize = 2;
/// The largest acceptable ratio of migrations with storage to those without.
const LIMIT: f64 = 1.1;
/// Threads in the table of the control.
const SEARCHED: usize = 10 * KEYS;

/// Kind of a call, in the place of a task's number.
const USES_STORAGE: u32 = 1;

/// Servant of a host.
struct Visited {
    /// The other host, which it calls back; none at A.
    other: OnceLock<HostRef>,
    /// The number of visits of a thread, at this host.
    visits: WordKey<u32>,
    searched: Option<Table>,
}

impl Host for Arc<Visited> {
    /// `step` is the number of earlier visits, which storage has to contain.
    fn work(&self, task: u32, step: u32) -> Result<(), SystemException> {
        if task == USES_STORAGE {
            self.visit(step)?;
        }
        self.other.get().map_or(Ok(()), |other| other.work(task, step))
    }
}

impl Visited {
    fn new(searched: bool) -> Result<Arc<Self>, Error> {
        let searched = searched.then(|| {
            let table = Table::with_room_for(SEARCHED);
            (0..SEARCHED).for_each(|key| table.insert(key));
            table
        });
        Ok(Arc::new(Self {
            other: OnceLock::new(),
            visits: WordKey::new()?,
            searched,
        }))
    }

    fn visit(&self, earlier: u32) -> Result<(), SystemException> {
        if let Some(table) = &self.searched {
            for _arrival_and_departure in 0..2 {
                table.get(SEARCHED - 1);
            }
        }
        let lost = |_| SystemException::new(SystemExceptionKind::Internal, 0, Completion::No);
        if self.visits.get().map_err(lost)?.unwrap_or(0) != earlier {
            return Err(SystemException::new(
                SystemExceptionKind::DataConversion,
                0,
                Completion::No,
            ));
        }
        self.visits.set(earlier + 1).map_err(lost)
    }
}

impl Job for Migrate {
    const NAME: &'static str = "migrate";
    type Reply = Migrated;

    fn run(self) -> Result<Migrated, Error> {
        let hosts = [(); 2].map(|()| -> Result<_, Error> {
            let endsystem = Endsystem::start(Named::Mif, UPCALLS, Some("127.0.0.1"))?;
            let visited = Visited::new(self.searched)?;
            let reference = endsystem.activate(Arc::clone(&visited))?;
            Ok((endsystem, visited, reference))
        });
        let [a, b] = hosts;
        let ((a, visited_a, reference_a), (b, visited_b, reference_b)) = (a?, b?);
        let _ = visited_b.other.set(b.orb().resolve(&reference_a)?);
        let other: HostRef = a.orb().resolve(&reference_b)?;
        let keys = [visited_a.visits, visited_b.visits];
        let migrated = joined(spawn("migrates".to_owned(), move || {
            let parameters = Parameters::default();
            let work = |_: &Current<'_>| self.blocks(&other);
            let migrated = a.segment(Named::Mif, "migrates", &parameters, Time(now_ns()), work);
            a.orb().shutdown_and_wait().map_err(|error| error.to_string())?;
            migrated.map_err(|error| error.to_string())
        })?)?;
        b.orb().shutdown_and_wait()?;
        keys.into_iter().try_for_each(WordKey::delete)?;
        Ok(migrated)
    }
}

impl Migrate {
    fn blocks(self, other: &HostRef) -> Result<Migrated, SchedulingError> {
        let mut visits = 0;
        let mut block = |uses_storage: u32| {
            let began = now_ns();
            for _ in 0..self.migrations {
                other.work(uses_storage, visits)?;
                visits += uses_storage;
            }
            Ok::<_, SystemException>((now_ns() - began) as f64 / f64::from(self.migrations))
        };
        // Connections are opened, and buffers reach their final sizes.
        block(0)?;
        block(USES_STORAGE)?;
        let blocks = interleave(&[USES_STORAGE, 0], self.rounds, |uses_storage, _| {
            block(uses_storage)
        })?;
        let [with_storage, without] = <[Vec<f64>; 2]>::try_from(blocks).unwrap_or_default();
        Ok(Migrated {
            with_storage,
            without,
        })
    }
}

impl Migrated {
    pub(super) fn add(&mut self, more: Self) {
        self.with_storage.extend(more.with_storage);
        self.without.extend(more.without);
    }

    /// Adds the rows and the claim.
    pub(super) fn evaluate(&self, outcome: &mut Outcome) {
        let ratio = median_ratio(&self.with_storage, &self.without);
        for (what, times, ratio) in [
            ("a value at both hosts", &self.with_storage, ratio),
            ("no storage", &self.without, None),
        ] {
            let row = Row::new()
                .with("table", "migration")
                .with("what", what)
                .with("p50_us", median(times).map(|ns| ns / 1e3));
            outcome.row(with_ratio(row, ratio));
        }
        outcome.claim(Claim::at_most(
            "migration",
            "time of a migration from A to B, to A in a callback, and back, with a value stored at each, over \
             that without, median of alternating blocks",
            SOURCE,
            ratio.map_or(f64::NAN, |ratio| ratio.median),
            LIMIT,
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_at_each_host_in_each_migration() {
        for searched in [false, true] {
            let migrate = Migrate {
                rounds: 2,
                migrations: 3,
                searched,
            };
            let migrated = migrate.run().unwrap();
            assert_eq!((migrated.with_storage.len(), migrated.without.len()), (2, 2));
        }
    }
}
