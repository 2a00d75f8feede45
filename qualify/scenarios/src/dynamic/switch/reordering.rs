//! Reorderings of many distributable threads, as [Gill 2004] 2.4 compares them: the time and the system calls
//! of a hand-over by number of threads, and of updates that leave the order as it is.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

use punctual_harness::{Claim, Outcome, Row, child::Task, statistics::median};
use punctual_os::TaskId;
use punctual_rtsched::{Mechanism, RtScheduling, Segment};
use punctual_sched::dynamic::SchedulingParameters;
use punctual_system::{Semaphore, perf::Counter};
use serde::{Deserialize, Serialize};

use super::{
    super::disciplines::Named,
    Dispatcher, SOURCE, Way,
    hand_over::{self, OUTSIDE, STARTER},
};
use crate::{
    error::Error,
    os::{Measured, fifo, joined, now_ns, run, timed},
};

/// The largest number of threads that native priorities order: levels 3 to 89.
const MOST_BY_PRIORITIES: usize = 87;
/// Numbers of threads.
pub(super) const THREADS: [usize; 5] = [2, 10, 50, 100, 1_000];
/// Numbers of updates of a thread before another one runs.
pub(super) const UPDATES: [usize; 3] = [1, 10, 100];
pub(super) const WAYS: [Way; 2] = [Way::ReadyQueue, Way::OsPriorities];
/// Ids of the claims.
pub(super) const CLAIMS: [&str; 4] = ["fewer-calls", "calls-growth", "updates-calls", "order"];

/// The largest acceptable ratio of system calls to those by native priorities.
const FEWER: f64 = 0.9;
/// The largest acceptable ratio of system calls with 1,000 threads to those with two.
const SAME: f64 = 1.1;
/// The largest acceptable number of system calls of an update that leaves the order as it is.
const NONE: f64 = 0.01;

/// A request for hand-overs: each thread in turn updates its importance, at last to below all others.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Reorder {
    pub(super) way: Way,
    pub(super) threads: usize,
    /// Updates per hand-over. All but the last leave the thread the most important one.
    pub(super) updates: usize,
    /// Whether an update sets a native priority in addition, and a hand-over one for each thread.
    pub(super) sets_priorities: bool,
    /// Whether system calls are counted, which takes time.
    pub(super) counts: bool,
}

/// Results of a request.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Reordered {
    /// Time per hand-over in nanoseconds, unless system calls are counted.
    ns: Option<f64>,
    /// System calls per hand-over; `None`: not counted.
    calls: Option<f64>,
    /// Hand-overs to another thread than the one that was then the most important.
    out_of_order: usize,
}

/// Native priority of the thread that the ready queue lets run.
const ACTIVE: i16 = 70;

impl Reorder {
    fn hand_overs(self) -> usize {
        self.threads.max(100)
    }

    fn measure(self, scheduling: &RtScheduling) -> Result<Reordered, Error> {
        let (scheduler, mechanism) = match self.way {
            Way::OsPriorities => (Named::Tp, Mechanism::OsPriorities),
            _ => (Named::Mif, Mechanism::ReadyQueue),
        };
        scheduling.manager().install(scheduler.scheduler(), mechanism)?;
        if !self.counts {
            let turns = self.turns(scheduling, self.hand_overs())?;
            let elapsed = turns.ended_ns.load(Relaxed) - turns.began_ns.load(Relaxed);
            return Ok(Reordered {
                ns: Some(elapsed as f64 / self.hand_overs() as f64),
                calls: None,
                out_of_order: turns.out_of_order.load(Relaxed),
            });
        }
        // As many system calls for the threads themselves in both; the difference is that of the hand-overs.
        let counter = Counter::syscalls(TaskId::current_thread(), true)?;
        counter.enable()?;
        let counted = |hand_overs| -> Result<(u64, usize), Error> {
            let before = counter.read()?;
            let turns = self.turns(scheduling, hand_overs)?;
            Ok((counter.read()? - before, turns.out_of_order.load(Relaxed)))
        };
        let (once, _) = counted(self.hand_overs())?;
        let (twice, out_of_order) = counted(2 * self.hand_overs())?;
        Ok(Reordered {
            ns: None,
            calls: Some((twice as f64 - once as f64) / self.hand_overs() as f64),
            out_of_order,
        })
    }

    fn turns(self, scheduling: &RtScheduling, hand_overs: usize) -> Result<Arc<Turns>, Error> {
        let turns = Arc::new(Turns {
            reorder: self,
            hand_overs,
            taken: AtomicUsize::new(0),
            least: AtomicI32::new(1 - self.threads as i32),
            began_ns: AtomicU64::new(0),
            ended_ns: AtomicU64::new(0),
            out_of_order: AtomicUsize::new(0),
        });
        let (all, scheduling) = (Arc::clone(&turns), scheduling.clone());
        run(fifo("starts", STARTER), move || -> Result<(), Error> {
            let mut threads = Vec::with_capacity(self.threads);
            for number in (0..self.threads).rev() {
                let (turns, scheduling) = (Arc::clone(&all), scheduling.clone());
                let gate = Arc::new(Semaphore::new(0)?);
                let waits = Arc::clone(&gate);
                let thread = fifo("takes-turns", OUTSIDE).spawn(move || {
                    waits.acquire();
                    turns.take(&scheduling, number)
                })?;
                threads.push((gate, thread));
            }
            // They begin their segments, the most important one last, before one of them has its first turn.
            threads.iter().for_each(|(gate, _)| gate.release());
            threads.into_iter().try_for_each(|(_, thread)| joined(thread)?)
        })??;
        Ok(turns)
    }
}

/// State that the threads share.
struct Turns {
    reorder: Reorder,
    hand_overs: usize,
    taken: AtomicUsize,
    /// The importance of the least important thread.
    least: AtomicI32,
    began_ns: AtomicU64,
    ended_ns: AtomicU64,
    out_of_order: AtomicUsize,
}

impl Turns {
    fn take(&self, scheduling: &RtScheduling, number: usize) -> Result<(), Error> {
        let importance = -(number as i32);
        let parameters = SchedulingParameters::Importance { importance };
        scheduling
            .current()
            .segment("takes turns", parameters, |segment| {
                self.all(number, importance, segment)
            })
    }

    /// Takes turns until there have been enough.
    fn all(&self, number: usize, mut importance: i32, segment: &Segment<'_>) -> Result<(), Error> {
        loop {
            let turn = self.taken.fetch_add(1, Relaxed);
            if turn == 0 {
                self.began_ns.store(now_ns(), Relaxed);
            }
            if turn == self.hand_overs {
                self.ended_ns.store(now_ns(), Relaxed);
            }
            if turn >= self.hand_overs {
                return Ok(());
            }
            if turn % self.reorder.threads != number {
                self.out_of_order.fetch_add(1, Relaxed);
            }
            for update in 1..self.reorder.updates {
                let importance = importance + (update % 2) as i32;
                self.set_priorities(1)?;
                segment.update(SchedulingParameters::Importance { importance })?;
            }
            importance = self.least.fetch_sub(1, Relaxed) - 1;
            self.set_priorities(self.reorder.threads)?;
            segment.update(SchedulingParameters::Importance { importance })?;
        }
    }

    fn set_priorities(&self, times: usize) -> Result<(), Error> {
        let times = if self.reorder.sets_priorities { times } else { 0 };
        (0..times).try_for_each(|_| hand_over::set(ACTIVE))
    }
}

impl Task<Dispatcher> for Reorder {
    const NAME: &'static str = "reorder";
    type Reply = Measured<Reordered>;

    fn perform(self, dispatcher: &mut Dispatcher) -> Result<Self::Reply, Error> {
        timed(|| self.measure(&dispatcher.scheduling))
    }
}

/// The results of one way with one number of threads and updates.
#[derive(Default)]
pub(super) struct Reorderings {
    ns: Vec<f64>,
    calls: Option<f64>,
    out_of_order: usize,
}

impl Reorderings {
    pub(super) fn add(&mut self, reordered: Reordered) {
        self.ns.extend(reordered.ns);
        self.calls = self.calls.or(reordered.calls);
        self.out_of_order = self.out_of_order.max(reordered.out_of_order);
    }
}

/// Results by way, number of threads, and updates.
pub(super) type All = BTreeMap<(Way, usize, usize), Reorderings>;

/// Adds the rows and the claims; `uncounted`: why system calls could not be counted.
pub(super) fn evaluate(all: &All, uncounted: Option<String>, outcome: &mut Outcome) {
    for ((way, threads, updates), reorderings) in all {
        let row = Row::new()
            .with("kind", "reordering")
            .with("way", way.name())
            .with("threads", *threads)
            .with("updates", *updates)
            .with("hand_over_us", median(&reorderings.ns).map(|ns| ns / 1e3))
            .with("system_calls", reorderings.calls)
            .with("out_of_order", reorderings.out_of_order);
        outcome.row(row);
    }
    let calls = |way, threads, updates| {
        let of = all.get(&(way, threads, updates)).and_then(|one| one.calls);
        of.unwrap_or(f64::NAN)
    };
    let most = |values: Vec<f64>| {
        // Unlike `max`, this propagates NaN.
        values.into_iter().fold(f64::NEG_INFINITY, |most, one| {
            if one > most || one.is_nan() { one } else { most }
        })
    };
    let ordered = THREADS
        .into_iter()
        .filter(|threads| (10..=MOST_BY_PRIORITIES).contains(threads));
    let ratio = |threads| calls(Way::ReadyQueue, threads, 1) / calls(Way::OsPriorities, threads, 1);
    let kept = |threads| {
        let [few, many] = [UPDATES[0], UPDATES[2]].map(|updates| calls(Way::ReadyQueue, threads, updates));
        (many - few) / (UPDATES[2] - UPDATES[0]) as f64
    };
    let is_ordered = |way, threads| way == Way::ReadyQueue || threads <= MOST_BY_PRIORITIES;
    let out_of_order = all
        .iter()
        .filter(|((way, threads, _), _)| is_ordered(*way, *threads));
    let out_of_order: usize = out_of_order.map(|(_, one)| one.out_of_order).sum();
    let claims = [
        Claim::at_most(
            CLAIMS[0],
            "system calls of a hand-over through the ready queue over those by native priorities, with 10 and \
             50 threads: the kernel has to be told each priority that moves",
            "[Gill 2004] 2.4",
            most(ordered.map(ratio).collect()),
            FEWER,
        ),
        Claim::at_most(
            CLAIMS[1],
            "system calls of a hand-over through the ready queue with 1,000 threads over those with two",
            SOURCE,
            calls(Way::ReadyQueue, 1_000, 1) / calls(Way::ReadyQueue, 2, 1),
            SAME,
        ),
        Claim::at_most(
            CLAIMS[2],
            "system calls of an update through the ready queue that leaves the order as it is, for any number \
             of threads",
            SOURCE,
            most(THREADS.into_iter().map(kept).collect()),
            NONE,
        ),
        Claim::at_most(
            CLAIMS[3],
            "hand-overs to another than the most important thread: through the ready queue with up to 1,000 \
             threads, by native priorities with up to 50",
            "[Gill 2004] 2.4",
            out_of_order as f64,
            0.0,
        ),
    ];
    for claim in claims {
        match &uncounted {
            Some(reason) if claim.id != CLAIMS[3] => {
                let what = format!("claim {}", claim.id);
                outcome.skip(Some(&claim.id), what, reason.as_str());
            }
            _ => outcome.claim(claim),
        }
    }
}
