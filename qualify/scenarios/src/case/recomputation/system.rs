//! Random systems of operations, and how long the scheduler computes for them.

use std::time::{Duration, Instant};

use punctual_harness::child::{Role, TaskEntry};
use punctual_scheduling::reconfigurable::{
    Anomaly, Criticality, Firing, Operation, OperationId, ReconfigurableScheduler, Strategy,
};
use punctual_types::SplitMix64;
use serde::{Deserialize, Serialize};

use crate::{
    error::Error,
    os::{Job, Ready, Timed, fifo, get_ready, run},
};

/// Measurements of one system.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Compute {
    /// Number of operations with rates of their own.
    pub(super) sources: u32,
    /// Number of operations that follow others, and therefore have none.
    pub(super) followers: u32,
    pub(super) dependencies: u32,
    /// Number of computations while the system is built; the last one has all operations.
    pub(super) batches: u32,
    /// Whether a changed operation changes the structure, not only its rates.
    pub(super) changes_structure: bool,
    pub(super) samples: u32,
}

/// Durations in nanoseconds.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Computed {
    /// Durations for the whole schedule.
    pub(super) full: Vec<u64>,
    /// After a change of one operation.
    pub(super) partial: Vec<u64>,
    /// Number of operations that run.
    pub(super) running: u32,
}

/// The child process.
pub(crate) struct Calculator;

impl Role for Calculator {
    const NAME: &'static str = "__recomputation";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Timed<Compute>>()];

    fn start((): ()) -> Result<(Self, Ready), Error> {
        Ok((Self, get_ready()?))
    }
}

impl Job for Compute {
    const NAME: &'static str = "compute";
    type Reply = Computed;

    fn run(self) -> Result<Computed, Error> {
        let spec = fifo("computes", PRIORITY).stack_bytes(STACK_BYTES);
        Ok(run(spec, move || self.samples())??)
    }
}

const PRIORITY: i16 = 50;
const STACK_BYTES: usize = 1 << 20;
/// Rates of a source.
const RATES: u32 = 5;

impl Compute {
    fn operations(&self) -> u32 {
        self.sources + self.followers
    }

    fn samples(&self) -> Result<Computed, Anomaly> {
        let mut computed = Computed {
            full: Vec::new(),
            partial: Vec::new(),
            running: 0,
        };
        for sample in 0..self.samples {
            let (mut scheduler, took) = self.built()?;
            computed.full.push(nanoseconds(took));
            computed.running = self.running(&scheduler);
            // All kinds of operations, as often as they occur.
            let id = OperationId(sample * (self.operations() / self.samples));
            let mut tuples = scheduler.operations()[id.0 as usize].tuples.clone();
            tuples.iter_mut().for_each(|tuple| tuple.wcet *= 2);
            scheduler.replace(id, tuples)?;
            if self.changes_structure {
                scheduler.enable(id, false)?;
                scheduler.enable(id, true)?;
            }
            computed.partial.push(nanoseconds(timed(&mut scheduler)));
        }
        Ok(computed)
    }

    /// Returns the system with its schedule, and how long that was computed.
    fn built(&self) -> Result<(ReconfigurableScheduler, Duration), Anomaly> {
        let mut random = SplitMix64::new(1);
        let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
        let batch = self.operations() / self.batches;
        let mut took = Duration::ZERO;
        for number in 0..self.operations() {
            scheduler.add(self.operation(number, &mut random))?;
            let left = self.operations() - number - 1;
            if left > 0 && left.is_multiple_of(batch) {
                took += timed(&mut scheduler);
            }
        }
        for number in 0..self.dependencies {
            let follower = self.sources + number % self.followers;
            // Half of them on a source.
            let earlier = if random.next().is_multiple_of(2) {
                self.sources
            } else {
                follower
            };
            let on = (random.next() % u64::from(earlier)) as u32;
            scheduler.depend(OperationId(follower), OperationId(on), 1)?;
        }
        took += timed(&mut scheduler);
        Ok((scheduler, took))
    }

    fn operation(&self, number: u32, random: &mut SplitMix64) -> Operation {
        const CRITICALITIES: [Criticality; 5] = [
            Criticality::VeryLow,
            Criticality::Low,
            Criticality::Medium,
            Criticality::High,
            Criticality::VeryHigh,
        ];
        let criticality = CRITICALITIES[(random.next() % 5) as usize];
        let mut operation = Operation::new(format!("operation {number}"), criticality);
        operation.importance = (random.next() % 4) as i32;
        if random.next().is_multiple_of(5) {
            operation.firing = Firing::All;
        }
        // Shorter in larger systems, so that a part is admitted in each.
        let most = 2_000_000 / u64::from(self.operations());
        let wcet = Duration::from_nanos(1_000 + random.next() % most);
        if number >= self.sources {
            return operation.passive(wcet);
        }
        let shortest = Duration::from_micros(2_000 + random.next() % 1_000);
        (0..RATES).fold(operation, |operation, rate| {
            operation.tuple(shortest * (1 << (RATES - rate)), wcet)
        })
    }

    fn running(&self, scheduler: &ReconfigurableScheduler) -> u32 {
        let runs = |id: &u32| {
            let assignment = scheduler.assignment(OperationId(*id));
            assignment.is_some_and(|own| own.period.is_some())
        };
        (0..self.operations()).filter(runs).count() as u32
    }
}

fn timed(scheduler: &mut ReconfigurableScheduler) -> Duration {
    let start = Instant::now();
    std::hint::black_box(scheduler.compute());
    start.elapsed()
}

fn nanoseconds(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}
