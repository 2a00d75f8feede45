//! Hand-overs between two threads on one CPU, each timed.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
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

/// Above all that the runtime gives to threads: who has begun no segment yet goes before those who have.
const OUTSIDE: i16 = 92;
/// Who starts the two: before it waits neither runs.
const STARTER: i16 = 93;
/// What raw threads begin with, and how far they go down.
const RAW_HIGH: i16 = 80;
const RAW_STEPS: usize = 35;
/// Where those of the futexes stay.
const RAW_FUTEX: i16 = 70;

/// The runtime that both ways go through.
pub(super) fn scheduling() -> Result<RtScheduling, Error> {
    let builder = RtScheduling::builder().scheduler(Named::Mif.scheduler());
    Ok(builder.processors(1).build()?)
}

/// About so many hand-overs of one kind.
pub(super) fn hand_over(scheduling: &RtScheduling, way: Way, switches: usize) -> Result<Vec<Sample>, Error> {
    let each = switches / 2;
    let dispatched = |named: Named, mechanism: Mechanism| {
        scheduling.manager().install(named.scheduler(), mechanism)?;
        let scheduling = scheduling.clone();
        pair(1, each, move |pair, number| {
            less_and_less_important(&scheduling, pair, number, each)
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
    each: usize,
) -> Result<(), Error> {
    let mut importance = -(number as i32);
    let parameters = SchedulingParameters::Importance { importance };
    scheduling.current().segment("hands over", parameters, |segment| {
        for step in 0..each {
            importance -= 2;
            pair.give_way(number, step + 1 == each, || {
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
            // Nobody wakes the second one after its last time.
            if !(last && number == 1) {
                own.acquire();
            }
            Ok::<(), Error>(())
        })?;
    }
    set(OUTSIDE)
}

fn set(priority: i16) -> Result<(), Error> {
    Ok(punctual_os::scheduling::set_current(Scheduling::fifo(
        NativePriority(priority),
    ))?)
}

/// Two threads, of which one runs at a time.
struct Pair {
    /// When the last one gave way.
    left: AtomicU64,
    log: Log,
    /// Where each waits to start.
    gates: [Semaphore; 2],
    /// Where each waits to be woken, where nothing else makes it run.
    turns: [Semaphore; 2],
    /// Where the starter waits for both.
    done: Semaphore,
}

impl Pair {
    /// Gives way, and notes how long it took until this thread ran again since the other one has given way.
    fn give_way<E>(
        &self,
        number: usize,
        last: bool,
        give_way: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.left.store(now_ns(), Ordering::Relaxed);
        give_way()?;
        let now = now_ns();
        // Before the second one comes back from its last time, the first one has gone on to something else.
        if !(last && number == 1) {
            self.log.record(self.left.load(Ordering::Relaxed), now);
        }
        Ok(())
    }
}

/// Has two threads take `each` turns, so many times from the start, and gives how long the hand-overs took.
/// The second one starts first, as far as it runs before the first one displaces it.
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
