//! `dyn.tss`: the cost of the storage of distributable threads, compared with that of the system's threads.
//!
//! Source: [Gill 2004] 3.1, tables 3 and 4. The paper's storage is looked up by the id of the distributable
//! thread; a read took 686 ns, compared with 71 ns for the system's storage.

mod access;
mod attach;
mod creation;
mod migration;
mod table;

use std::time::Duration;

use punctual_harness::{
    blocks::interleave,
    child::{Role, TaskEntry},
};

use self::{
    access::{Access, Block, Operation, Storage},
    attach::Attach,
    creation::{Create, Creation, Maker},
    migration::{Migrate, Migrated},
};
use crate::{
    control::{Control, Restored},
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    os::{Interrupts, Job, Ready, Subject, Timed, get_ready},
};

pub(super) struct ThreadStorage;

const SEARCHED: Control = Control {
    id: "searched",
    about: "a locked table that is searched from its start in the place of our storage",
    breaks: &[
        "creation",
        "read-*",
        "write-*",
        "attach*",
        "return-threads",
        "migration",
    ],
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
    /// Batches per block, of [`access::BATCH`] accesses each; of attachments a tenth.
    batches: usize,
    /// Migrations per block.
    migrations: u32,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            processes: length.pick(3, 9, 9),
            rounds: length.pick(4, 10, 10),
            batches: length.pick(200, 500, 500),
            migrations: length.pick(30, 100, 100),
        }
    }

    /// Returns the expected duration of one process.
    fn expected(self) -> Duration {
        let accesses = self.rounds * self.batches * access::BATCH;
        let kinds = Operation::ALL.len() * (Storage::ALL.len() + NUMBERS_OF_KEYS.len());
        let attachments = accesses / 10 * Attach::all(0, false).len();
        Duration::from_nanos(6 * (accesses * kinds) as u64)
            + Duration::from_nanos(60 * attachments as u64)
            + self.of_migrations()
    }

    /// Returns the expected duration of the migrations of one process.
    fn of_migrations(self) -> Duration {
        Duration::from_micros(200) * (2 * self.rounds as u32 * self.migrations)
    }
}

/// The child process.
pub(crate) struct Storages;

impl Role for Storages {
    const NAME: &'static str = "__dyn-tss";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[
        TaskEntry::of::<Timed<Create>>(),
        TaskEntry::of::<Timed<Access>>(),
        TaskEntry::of::<Timed<Attach>>(),
        TaskEntry::of::<Timed<Migrate>>(),
    ];

    fn start((): ()) -> Result<(Self, Ready), Error> {
        Ok((Self, get_ready()?))
    }
}

/// The results, without the cost of the clock.
#[derive(Default)]
struct Measured {
    creations: Vec<Creation>,
    accesses: Vec<(Access, Vec<Block>)>,
    over_keys: Vec<(Access, Vec<Block>)>,
    attached: Vec<(Attach, Vec<Block>)>,
    migrated: Migrated,
}

impl Experiment for ThreadStorage {
    const NAME: &'static str = "dyn.tss";
    const ABOUT: &'static str = "storage of distributable threads and pthread_getspecific: keys, reads, \
                                 writes ([Gill 2004] tables 3 and 4)";
    const PAGE: &'static str = include_str!("tss/tss.toml");
    const CONTROLS: &'static [Control] = &[SEARCHED];
    const RESTORED: &'static [Restored] = &[Restored {
        control: &SEARCHED,
        claims: &["creation.grows", "read.more", "write.more"],
    }];

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
            let mut subject = Subject::<Storages>::start(trial.testbed, limit, Interrupts::Ignored)?;
            let searched = trial.testbed.is_under(&SEARCHED);
            measured.add_process(&mut subject, extent, searched)?;
            subject.finish(&mut trial.outcome)?;
        }
        creation::evaluate(&measured.creations, &mut trial.outcome);
        access::evaluate(&measured.accesses, &mut trial.outcome);
        access::evaluate_over_keys(&measured.over_keys, &mut trial.outcome);
        attach::evaluate(&measured.attached, &mut trial.outcome);
        measured.migrated.evaluate(&mut trial.outcome);
        for creation in &measured.creations {
            trial.curve("creation", creation.maker.name(), creation.curve());
        }
        Ok(())
    }
}

impl Measured {
    fn add_process(
        &mut self,
        subject: &mut Subject<Storages>,
        extent: Extent,
        searched: bool,
    ) -> Result<(), Error> {
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
        let kinds = Attach::all(extent.batches.div_ceil(10), searched);
        let blocks = in_turn(subject, &kinds, extent.rounds, Duration::from_millis(200))?;
        add(&mut self.attached, kinds.into_iter().zip(blocks).collect());
        let migrate = Migrate {
            rounds: extent.rounds,
            migrations: extent.migrations,
            searched,
        };
        self.migrated.add(subject.run(migrate, extent.of_migrations())?);
        Ok(())
    }
}

fn add<K: PartialEq>(all: &mut Vec<(K, Vec<Block>)>, more: Vec<(K, Vec<Block>)>) {
    for (kind, blocks) in more {
        match all.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, all)) => all.extend(blocks),
            None => all.push((kind, blocks)),
        }
    }
}

/// Measures the creation of keys by each maker; `searched`: in a table in the place of ours.
fn creations(subject: &mut Subject<Storages>, rounds: usize, searched: bool) -> Result<Vec<Creation>, Error> {
    let expected = Duration::from_millis(5);
    let stamp_ns = subject.stamp_ns() as f64;
    let mut create = |maker: Maker| {
        let keys = maker.keys();
        let ns = subject.run(Create { maker, keys }, expected)?;
        Ok::<_, Error>(ns.into_iter().map(|ns| ns as f64 - stamp_ns).collect::<Vec<_>>())
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
    subject: &mut Subject<Storages>,
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
    let used: Vec<_> = kinds
        .iter()
        .map(|access| if searched { access.searched() } else { *access })
        .collect();
    let blocks = in_turn(subject, &used, extent.rounds, expected)?;
    Ok(kinds.into_iter().zip(blocks).collect())
}

/// Runs blocks of each kind in turn; returns their times without the cost of the clock.
fn in_turn<J: Job<Reply = Block> + Copy>(
    subject: &mut Subject<Storages>,
    kinds: &[J],
    rounds: usize,
    expected: Duration,
) -> Result<Vec<Vec<Block>>, Error> {
    let stamp_ns = subject.stamp_ns() as f64;
    interleave(kinds, rounds, |kind, _| {
        Ok(subject.run(kind, expected)?.without(stamp_ns))
    })
}

/// The source of the claims.
const SOURCE: &str = "Punctual's limit";
