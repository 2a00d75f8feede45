//! Decisions of a scheduler, without threads.

use std::{hint::black_box, time::Duration};

use punctual_harness::child::Task;
use punctual_os::alloc_counter;
use punctual_sched::{
    dynamic::{SchedulingParameters, Slot, Time, Utility},
    simulator::Parameters,
};
use serde::{Deserialize, Serialize};

use super::{
    super::{disciplines::Named, random::Random},
    Dispatcher,
};
use crate::{
    error::Error,
    os::{Measured, fifo, now_ns, run, timed},
};

/// Above other threads of the child process, below the watchdog.
const PRIORITY: i16 = 60;
/// The time span of the threads' deadlines.
const HORIZON: Duration = Duration::from_secs(1);

/// The times of decisions.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Decided {
    /// Time of one decision in nanoseconds, by batch.
    pub(super) batches_ns: Vec<f64>,
    pub(super) allocations: u64,
}

/// A request for batches of decisions with a number of ready threads: the running one changes its parameters,
/// and the scheduler selects one.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Decide {
    pub(super) scheduler: Named,
    pub(super) ready: usize,
    pub(super) batches: usize,
    /// Number of decisions of a batch.
    pub(super) batch: usize,
    /// Whether each decision copies the list of ready threads and inspects each of them.
    pub(super) copies: bool,
}

impl Task<Dispatcher> for Decide {
    const NAME: &'static str = "decide";
    type Reply = Measured<Decided>;

    fn perform(self, _: &mut Dispatcher) -> Result<Self::Reply, Error> {
        timed(|| run(fifo("decides", PRIORITY), move || measure(self)))
    }
}

fn measure(
    Decide {
        scheduler,
        ready,
        batches,
        batch,
        copies,
    }: Decide,
) -> Decided {
    let mut scheduler = scheduler.scheduler();
    let mut random = Random::new(ready as u64);
    let kind = scheduler.kind();
    let mut parameters = || random_parameters(&mut random).at(kind, Time(0));
    // Drawn before the measurement.
    let drawn: Vec<SchedulingParameters> = (0..batch).map(|_| parameters()).collect();
    scheduler.reserve(ready);
    for slot in 0..ready as u32 {
        scheduler.ready(Slot(slot), &parameters(), Duration::ZERO, Time(0));
    }
    let all: Vec<u32> = (0..ready as u32).collect();
    let mut chosen = Vec::with_capacity(1);
    let mut batches_ns = Vec::with_capacity(batches);
    let mut now = 0;
    let mut decide = || {
        let began = now_ns();
        for parameters in &drawn {
            now += 1;
            if copies {
                all.clone().iter().for_each(|slot| {
                    black_box(slot);
                });
            }
            chosen.clear();
            scheduler.choose(1, Time(now), &|_| Duration::ZERO, &mut chosen);
            scheduler.update(chosen[0], parameters, Duration::ZERO, Time(now));
        }
        batches_ns.push((now_ns() - began) as f64 / batch as f64);
    };
    // The first batch has cold caches.
    decide();
    let ((), allocations) = alloc_counter::count_allocations(|| (1..batches).for_each(|_| decide()));
    Decided {
        batches_ns,
        allocations,
    }
}

/// Returns parameters of an arbitrary thread.
fn random_parameters(random: &mut Random) -> Parameters {
    let span =
        |random: &mut Random, most: Duration| Duration::from_nanos(random.below(most.as_nanos() as u64) + 1);
    Parameters {
        priority: punctual::Priority::new(random.below(32_768) as i16).unwrap_or(punctual::Priority::MIN),
        importance: random.below(1 << 16) as i32,
        criticality: random.below(5) as i32,
        period: span(random, HORIZON),
        deadline: Some(span(random, HORIZON)),
        execution_time: span(random, HORIZON / 100),
        utility: Utility {
            value: random.below(1000) as u32,
            decay: span(random, HORIZON),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_decides_among_few_and_many_threads() {
        for named in Named::ALL {
            for ready in [1, 2, 500] {
                let decided = measure(Decide {
                    scheduler: named,
                    ready,
                    batches: 3,
                    batch: 10,
                    copies: false,
                });
                assert_eq!(decided.batches_ns.len(), 3, "{named:?}");
                assert!(decided.batches_ns.iter().all(|time| *time > 0.0));
            }
        }
    }
}
