//! Hand-overs between two threads on one CPU, each timed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use punctual::NativePriority;
use punctual_os::Scheduling;
use punctual_rtsched::{Mechanism, RtScheduling};
use punctual_sched::dynamic::SchedulingParameters;
use punctual_system::Semaphore;

use super::{super::disciplines::Named, Way};
use crate::{
    error::Error,
    os::{Log, Sample, fifo, joined, now_ns},
};

/// Above the priorities that the runtime assigns, for threads that have not begun a segment.
pub(super) const OUTSIDE: i16 = 92;
/// Priority of the thread that starts both; neither runs before it waits.
pub(super) const STARTER: i16 = 93;
/// First priority of the threads that use `sched_setparam` alone.
const RAW_HIGH: i16 = 80;
/// Number of times that these threads lower their priority.
const RAW_STEPS: usize = 35;
/// Priority of the threads that use futexes alone.
const RAW_FUTEX: i16 = 70;

/// Most distributable threads.
const MAX_THREADS: usize = 1_024;

/// Creates the runtime of the measured process.
pub(super) fn scheduling() -> Result<RtScheduling, Error> {
    let builder = RtScheduling::builder().scheduler(Named::Mif.scheduler());
    Ok(builder.processors(1).max_threads(MAX_THREADS).build()?)
}

/// Measures about this number of hand-overs of one kind, each after a stall.
pub(super) fn hand_over(
    scheduling: &RtScheduling,
    way: Way,
    switches: usize,
    stall: Duration,
) -> Result<Vec<Sample>, Error> {
    let each = switches / 2;
    let dispatched = |named: Named, mechanism: Mechanism| {
        scheduling.manager().install(named.scheduler(), mechanism)?;
        let scheduling = scheduling.clone();
        pair(1, each, move |pair, number| {
            less_and_less_important(&scheduling, pair, number, (each, stall))
        })
    };
    match way {
        Way::ReadyQueue => dispatched(Named::Mif, Mechanism::ReadyQueue),
        Way::OsPriorities => dispatched(Named::Tp, Mechanism::OsPriorities),
        Way::RawPriorities => pair(each.div_ceil(RAW_STEPS), RAW_STEPS, lower_and_lower),
        Way::RawFutex => pair(1, each, move |pair, number| waking_each_other(pair, number, each)),
    }
}

fn less_and_less_important(
    scheduling: &RtScheduling,
    pair: &Pair,
    number: usize,
    (each, stall): (usize, Duration),
) -> Result<(), Error> {
    let mut importance = -(number as i32);
    let parameters = SchedulingParameters::Importance { importance };
    scheduling.current().segment("hands over", parameters, |segment| {
        for step in 0..each {
            importance -= 2;
            pair.give_way(number, step + 1 == each, || {
                let until = now_ns() + stall.as_nanos() as u64;
                while now_ns() < until {}
                segment.update(SchedulingParameters::Importance { importance })
            })?;
        }
        Ok::<(), Error>(())
    })
}

fn lower_and_lower(pair: &Pair, number: usize) -> Result<(), Error> {
    let mut priority = RAW_HIGH - number as i16;
    set(priority)?;
    for step in 0..RAW_STEPS {
        priority -= 2;
        pair.give_way(number, step + 1 == RAW_STEPS, || set(priority))?;
    }
    set(OUTSIDE)
}

fn waking_each_other(pair: &Pair, number: usize, each: usize) -> Result<(), Error> {
    let (own, other) = (&pair.turns[number], &pair.turns[1 - number]);
    set(RAW_FUTEX)?;
    if number == 1 {
        own.acquire();
    }
    for step in 0..each {
        let last = step + 1 == each;
        pair.give_way(number, last, || {
            other.release();
            // The second thread is not woken after its last turn.
            if !(last && number == 1) {
                own.acquire();
            }
            Ok::<(), Error>(())
        })?;
    }
    set(OUTSIDE)
}

pub(super) fn set(priority: i16) -> Result<(), Error> {
    Ok(punctual_os::scheduling::set_current(Scheduling::fifo(
        NativePriority(priority),
    ))?)
}

/// Two threads that run alternately.
struct Pair {
    /// Time at which a thread last gave way.
    left: AtomicU64,
    log: Log,
    /// Each thread waits here for the start.
    gates: [Semaphore; 2],
    /// Each thread waits here for its turn, if futexes are measured.
    turns: [Semaphore; 2],
    /// The starter waits here for both.
    done: Semaphore,
}

impl Pair {
    /// Gives way, and records the time from when the other thread gave way until this one runs again.
    fn give_way<E>(
        &self,
        number: usize,
        last: bool,
        give_way: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.left.store(now_ns(), Ordering::Relaxed);
        give_way()?;
        let now = now_ns();
        // When the second thread returns from its last turn, the first one has already ended its turns.
        if !(last && number == 1) {
            self.log.record(self.left.load(Ordering::Relaxed), now);
        }
        Ok(())
    }
}

/// Runs two threads with `each` turns, repeated `times` times, and returns the durations of the hand-overs.
/// The second thread starts first, until the first one preempts it.
fn pair(
    times: usize,
    each: usize,
    turns: impl Fn(&Pair, usize) -> Result<(), Error> + Clone + Send + 'static,
) -> Result<Vec<Sample>, Error> {
    let pair = Arc::new(Pair {
        left: AtomicU64::new(0),
        log: Log::with_room_for(times * each * 2),
        gates: [Semaphore::new(0)?, Semaphore::new(0)?],
        turns: [Semaphore::new(0)?, Semaphore::new(0)?],
        done: Semaphore::new(0)?,
    });
    let start = |number: usize| {
        let (pair, turns) = (Arc::clone(&pair), turns.clone());
        let work = move || -> Result<(), Error> {
            for _ in 0..times {
                pair.gates[number].acquire();
                turns(&pair, number)?;
                pair.done.release();
            }
            Ok(())
        };
        fifo(format!("hands-over-{number}"), OUTSIDE).spawn(work)
    };
    let threads = [start(0)?, start(1)?];
    let starter = Arc::clone(&pair);
    let starter = fifo("starts", STARTER).spawn(move || {
        for _ in 0..times {
            starter.gates[1].release();
            starter.gates[0].release();
            starter.done.acquire();
            starter.done.acquire();
        }
    })?;
    for thread in threads {
        joined(thread)??;
    }
    joined(starter)?;
    Ok(pair.log.samples())
}
