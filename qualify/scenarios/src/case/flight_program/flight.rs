//! The measured process: arrivals as events of the dispatcher, and what becomes of each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use punctual::NativePriority;
use punctual_dispatch::{Cancellation, Command, Execution, Hopeless};
use punctual_harness::child::{Role, TaskEntry};
use punctual_os::clock;
use punctual_sched::dynamic::{SheddingPolicy, Time};
use punctual_scheduling::{
    ScheduledDispatcher, fifo,
    reconfigurable::{OperationId, ReconfigurableScheduler},
};
use punctual_types::SplitMix64;
use serde::{Deserialize, Serialize};

use super::operations::{self, Operation};
use crate::{
    error::Error,
    os::{Job, Ready, Timed, fifo as thread, get_ready, joined, now_ns},
};

/// A flight.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Fly {
    pub(super) strategy: String,
    pub(super) cancels: bool,
    pub(super) load: f64,
    /// Factor by which stated execution times are multiplied.
    pub(super) pessimism: f64,
    pub(super) seconds: u64,
}

/// What became of all arrivals.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Flown {
    /// The start, by the monotonic clock.
    pub(super) origin_ns: u64,
    pub(super) arrivals: Vec<Arrival>,
}

/// One arrival.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Arrival {
    pub(super) operation: u32,
    /// Since the start.
    pub(super) release_ns: u64,
    pub(super) fate: Fate,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Fate {
    /// Never dispatched before the end.
    Waiting,
    /// Dispatched, and completed by its deadline.
    Made,
    /// Dispatched, and completed later.
    Missed,
    /// Cancelled in place of being dispatched.
    Cancelled,
}

const FATES: [Fate; 4] = [Fate::Waiting, Fate::Made, Fate::Missed, Fate::Cancelled];

/// Priority of the thread that releases operations; levels are below it.
const RELEASES: i16 = 60;
const HIGHEST_LEVEL: NativePriority = NativePriority(50);
/// Enough for all arrivals of a level.
const CAPACITY: usize = 1 << 14;
/// Admits everything: the overload is the subject.
const NO_THRESHOLD: f64 = 1e3;
/// Time between the command and the start.
const LEAD: Duration = Duration::from_millis(200);
/// Seconds after the samples in which operations still arrive.
const TAIL: u64 = 1;

/// The child process.
pub(crate) struct Aircraft;

impl Role for Aircraft {
    const NAME: &'static str = "__flight-program";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Timed<Fly>>()];

    fn start((): ()) -> Result<(Self, Ready), Error> {
        Ok((Self, get_ready()?))
    }
}

impl Job for Fly {
    const NAME: &'static str = "fly";
    type Answer = Flown;

    fn run(self) -> Result<Flown, Error> {
        let operations = operations::all();
        let mut scheduler = ReconfigurableScheduler::new(self.strategy.parse()?);
        scheduler = scheduler.thresholds(NO_THRESHOLD, NO_THRESHOLD);
        let described = operations
            .iter()
            .map(|own| own.described(self.load, self.pessimism));
        let ids = described.map(|own| scheduler.add(own));
        let ids: Vec<OperationId> = ids.collect::<Result<_, _>>()?;
        let shedding = match self.cancels {
            true => SheddingPolicy::before_dispatch().sparing_critical(),
            false => SheddingPolicy::never(),
        };
        let priorities = fifo(HIGHEST_LEVEL);
        let configure = move |place, level| priorities(place, level).capacity(CAPACITY).shedding(shedding);
        let dispatcher = ScheduledDispatcher::start(scheduler, configure)?;
        let releases = self.releases(&operations);
        let fates: Arc<[AtomicU8]> = releases.iter().map(|_| AtomicU8::new(0)).collect();
        let origin_ns = now_ns() + LEAD.as_nanos() as u64;
        let releaser = thread("releases", RELEASES).spawn({
            let (fates, releases) = (Arc::clone(&fates), releases.clone());
            let end_ns = origin_ns + (self.seconds + TAIL) * 1_000_000_000;
            move || {
                for (place, release) in releases.into_iter().enumerate() {
                    let at_ns = origin_ns + release.at_ns;
                    sleep_until(at_ns);
                    let run = Run {
                        fates: Arc::clone(&fates),
                        place,
                        work: release.work,
                    };
                    let id = ids[release.operation as usize];
                    dispatcher
                        .dispatch(id, Time(at_ns), run)
                        .map_err(|refused| refused.to_string())?;
                }
                sleep_until(end_ns);
                // What still waits is cancelled.
                drop(dispatcher);
                Ok::<_, String>(())
            }
        })?;
        joined(releaser)??;
        let arrivals = releases.iter().zip(fates.iter()).map(|(release, fate)| Arrival {
            operation: release.operation,
            release_ns: release.at_ns,
            fate: FATES[usize::from(fate.load(Relaxed))],
        });
        Ok(Flown {
            origin_ns,
            arrivals: arrivals.collect(),
        })
    }
}

/// A release of an operation.
#[derive(Clone, Copy)]
struct Release {
    at_ns: u64,
    operation: u32,
    /// Its execution time.
    work: Duration,
}

impl Fly {
    /// Returns all releases in order; their execution times are the same in all flights.
    fn releases(&self, operations: &[Operation]) -> Vec<Release> {
        let mut releases = Vec::new();
        for (own, number) in operations.iter().zip(0u32..) {
            let mut random = SplitMix64::new(u64::from(number));
            let end = (self.seconds + TAIL) * 1_000_000_000;
            for at_ns in (own.offset_ns()..end).step_by(own.period_ns() as usize) {
                let share = (random.next() % 1_001) as f64 * 0.001;
                releases.push(Release {
                    at_ns,
                    operation: number,
                    work: own.execution(self.load, share),
                });
            }
        }
        releases.sort_by_key(|release| (release.at_ns, release.operation));
        releases
    }
}

/// One execution of an operation.
struct Run {
    fates: Arc<[AtomicU8]>,
    place: usize,
    work: Duration,
}

impl Run {
    fn note(&self, fate: Fate) {
        self.fates[self.place].store(fate as u8, Relaxed);
    }
}

impl Command for Run {
    fn execute(&mut self, execution: &Execution) -> Result<(), Hopeless> {
        let end = clock::thread_cpu_time() + self.work;
        while clock::thread_cpu_time() < end {
            std::hint::spin_loop();
        }
        let in_time = Time(now_ns()) <= execution.qos().deadline;
        self.note(if in_time { Fate::Made } else { Fate::Missed });
        Ok(())
    }

    fn cancelled(&mut self, cancellation: Cancellation) {
        if cancellation == Cancellation::Hopeless {
            self.note(Fate::Cancelled);
        }
    }
}

fn sleep_until(at_ns: u64) {
    let left = at_ns.saturating_sub(now_ns());
    clock::sleep_until(Instant::now() + Duration::from_nanos(left));
}
