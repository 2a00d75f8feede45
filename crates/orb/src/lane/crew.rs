use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{Granted, PiMutex, Scheduling, Thread, ThreadSpec};

use super::{Lane, blocking, buffering, occupancy::Occupancy, worker};
use crate::{
    OrbError,
    orb_core::OrbCore,
    threadpool::{LaneWait, ThreadLife},
};

/// The threads of a lane.
pub(crate) struct Crew {
    pub(super) occupancy: Occupancy,
    plan: CrewPlan,
    threads: PiMutex<Vec<Thread<()>>>,
    /// Names tell them apart.
    next_number: AtomicUsize,
    /// Dynamic threads alive.
    dynamic: AtomicUsize,
    /// A thread is being made: one at a time.
    growing: AtomicBool,
}

/// What a lane's threads are made like.
#[derive(Clone, Default)]
pub(crate) struct CrewPlan {
    /// `None`: threads of the user's own, which call `Orb::run`.
    pub(crate) thread: Option<ThreadSpec>,
    /// How many are there from the start.
    pub(crate) threads: usize,
    pub(crate) wait: LaneWait,
    pub(crate) dynamic_threads: usize,
    pub(crate) dynamic_life: ThreadLife,
}

/// When a dynamic thread ends.
pub(super) struct Life {
    limit: ThreadLife,
    /// The start of its life, or its last request.
    since: Instant,
}

impl Crew {
    pub(super) fn new(plan: CrewPlan) -> Self {
        Self {
            occupancy: Occupancy::default(),
            plan,
            threads: PiMutex::new(Vec::new()),
            next_number: AtomicUsize::new(0),
            dynamic: AtomicUsize::new(0),
            growing: AtomicBool::new(false),
        }
    }

    /// What its threads run as. `None`: threads of the user's own.
    pub(super) fn scheduling(&self) -> Option<Scheduling> {
        self.plan.thread.as_ref().map(|thread| thread.scheduling)
    }

    /// How many threads it has from the start.
    pub(super) fn planned(&self) -> usize {
        self.plan.threads
    }

    /// Whether each thread waits for its own connection.
    pub(super) fn is_blocking(&self) -> bool {
        self.plan.wait == LaneWait::Blocking
    }

    /// How many threads it has, and could have.
    pub(super) fn most_threads(&self) -> usize {
        let to_come = self.plan.dynamic_threads - self.dynamic.load(Ordering::SeqCst);
        self.occupancy.threads() + to_come
    }

    pub(super) fn may_grow(&self) -> bool {
        self.plan.dynamic_threads > 0
    }

    fn spawn(&self, name: String, work: impl FnOnce() + Send + 'static) -> io::Result<Granted> {
        let mut thread = self.plan.thread.clone().unwrap_or_else(|| ThreadSpec::new(""));
        thread.name = name;
        // Before it runs: who looks whether threads are left sees it.
        self.occupancy.join();
        let thread = thread.spawn(work).inspect_err(|_| {
            self.occupancy.leave();
        })?;
        let granted = thread.granted();
        let mut threads = self.threads.lock();
        // Those that have ended: they would be kept until the end otherwise. Joining them does not wait.
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(granted)
    }

    /// Waits for the threads to end. Not on one of them.
    pub(super) fn join_all(&self) {
        loop {
            // One at a time: a thread that was just making another one adds it meanwhile.
            let Some(thread) = self.threads.lock().pop() else {
                return;
            };
            // A thread that panicked has said so; the others are to be waited for all the same.
            let _ = thread.join();
        }
    }
}

/// Starts a lane's static threads. Says whether all of them got the scheduling class that was asked for.
pub(crate) fn start(lane: &Arc<Lane>, core: &Arc<OrbCore>) -> Result<bool, OrbError> {
    let mut realtime = true;
    let mut start = |name: String, work: fn(&Arc<Lane>, &Arc<OrbCore>)| {
        let (own, core) = (Arc::clone(lane), Arc::clone(core));
        let granted = lane.crew.spawn(name.clone(), move || work(&own, &core));
        granted
            .map(|granted| realtime &= granted == Granted::RealTime)
            .map_err(|source| OrbError::Thread { name, source })
    };
    let work = if lane.crew.is_blocking() {
        start(format!("{}.poll", lane.name), worker::work_to_the_end)?;
        blocking::work
    } else if lane.buffering.is_some() {
        start(format!("{}.io", lane.name), buffering::read)?;
        buffering::work_to_the_end
    } else {
        worker::work_to_the_end
    };
    for _ in 0..lane.crew.plan.threads {
        let number = lane.crew.next_number.fetch_add(1, Ordering::Relaxed);
        start(format!("{}.{number}", lane.name), work)?;
    }
    Ok(realtime)
}

/// Makes a dynamic thread, if there may be one more.
///
/// By the thread that is about to leave nobody waiting, and before its upcall: with a thread of its own for this, every lane would
/// have one more to configure, and the new one would be there no earlier. `spawn` returns when the new thread is configured and
/// its stack is there, so under SCHED_FIFO on one CPU it waits for requests before the upcall begins.
#[cold]
pub(super) fn grow(lane: &Arc<Lane>, core: &Arc<OrbCore>) {
    let crew = &lane.crew;
    if crew.growing.swap(true, Ordering::SeqCst) {
        return;
    }
    if !lane.is_stopping() && crew.dynamic.load(Ordering::SeqCst) < crew.plan.dynamic_threads {
        let number = crew.next_number.fetch_add(1, Ordering::Relaxed);
        let (own, shared) = (Arc::clone(lane), Arc::clone(core));
        let life = Life {
            limit: crew.plan.dynamic_life,
            since: Instant::now(),
        };
        crew.dynamic.fetch_add(1, Ordering::SeqCst);
        let name = format!("{}.{number}", lane.name);
        let work = if lane.buffering.is_some() {
            buffering::work
        } else {
            worker::work
        };
        match crew.spawn(name, move || work(&own, &shared, Some(life))) {
            Ok(_) => lane.counters.dynamic_threads.add_one(),
            Err(_) => {
                crew.dynamic.fetch_sub(1, Ordering::SeqCst);
                lane.counters.thread_failures.add_one();
            }
        }
    }
    crew.growing.store(false, Ordering::SeqCst);
}

impl Life {
    /// A request came.
    pub(super) fn renew(&mut self) {
        if matches!(self.limit, ThreadLife::IdleTimeout(_)) {
            self.since = Instant::now();
        }
    }

    /// How long until it is over; `None`: it has no end.
    pub(super) fn left(&self) -> Option<Duration> {
        let (ThreadLife::IdleTimeout(limit) | ThreadLife::RunTime(limit)) = self.limit else {
            return None;
        };
        Some(limit.saturating_sub(self.since.elapsed()))
    }

    /// Leaves the lane, if its time is over and it is not the last one that waits. `false`: it has to go on.
    pub(super) fn has_ended(&mut self, crew: &Crew) -> bool {
        if self.left().is_none_or(|left| !left.is_zero()) {
            return false;
        }
        if crew.occupancy.leave_unless_needed() {
            crew.dynamic.fetch_sub(1, Ordering::SeqCst);
            return true;
        }
        // Needed: look again after a while, not in a loop.
        self.since = Instant::now();
        false
    }
}
