use std::{
    sync::{
        Arc, Barrier, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use punctual::{Orb, Priority, SystemException};
use punctual_harness::{Span, child::Control};
use punctual_os::{Thread, ThreadSpec, clock};
use serde::{Deserialize, Serialize};

use super::{BEST_EFFORT, Importance, Pool};
use crate::{Error, idl::load::bench::LoadRef};

/// A prime whose test takes about a microsecond, so that the load can be set finely.
const PRIME: u32 = 997;

/// What the driver asks of the client process.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) enum Task {
    /// How many calls per second a single client at the highest priority gets through.
    Capacity { work: u32, rounds: u32, seconds: f64 },
    /// The three clients at once.
    Rates {
        pool: Pool,
        work: u32,
        rounds: u32,
        seconds: f64,
        /// Threads that call without a pause at the lowest priority there is.
        best_effort: usize,
    },
}

/// What it answers.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Answer {
    CallsPerSecond(f64),
    Rates {
        paced: Vec<Paced>,
        /// Calls that best-effort threads made.
        best_effort_calls: u64,
        /// From the common start to the last period.
        span: Span,
    },
}

/// What one client went through.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Paced {
    pub(crate) importance: Importance,
    /// Periods in all.
    pub(crate) periods: u32,
    /// Calls made within their period.
    pub(crate) made: u32,
    /// The periods in which no call could start.
    pub(super) missed: Vec<Span>,
    /// When calls were under way.
    pub(super) outstanding: Vec<Span>,
    pub(super) elapsed_s: f64,
}

/// The client process. Arguments: the references behind the classic pool and behind the lanes.
pub(crate) fn client(arguments: &[String]) -> Result<(), Error> {
    let [classic, lanes] = arguments else {
        return Err("the client needs two references".into());
    };
    let orb = Orb::builder().build()?;
    let load = Loads {
        classic: orb.resolve(classic)?,
        lanes: orb.resolve(lanes)?,
        orb,
    };
    Control::ready(&())?.serve(|task: Task| load.run(task).map_err(|error| error.to_string()))?;
    Ok(())
}

#[derive(Clone)]
struct Loads {
    orb: Orb,
    classic: LoadRef,
    lanes: LoadRef,
}

impl Loads {
    fn run(&self, task: Task) -> Result<Answer, Error> {
        match task {
            Task::Capacity {
                work,
                rounds,
                seconds,
            } => {
                let this = self.clone();
                let thread =
                    ThreadSpec::new("capacity").spawn(move || this.capacity(work, rounds, seconds))?;
                Ok(Answer::CallsPerSecond(joined(thread)??))
            }
            Task::Rates {
                pool,
                work,
                rounds,
                seconds,
                best_effort,
            } => {
                let start = Arc::new(Start {
                    barrier: Barrier::new(Importance::ALL.len() + best_effort),
                    at: OnceLock::new(),
                    over: AtomicBool::new(false),
                });
                let continuous: Result<Vec<_>, _> = (0..best_effort)
                    .map(|number| {
                        let (this, start) = (self.clone(), Arc::clone(&start));
                        ThreadSpec::new(format!("best-effort-{number}"))
                            .prefault(true)
                            .spawn(move || this.continuous(pool, work, rounds, &start))
                    })
                    .collect();
                let threads: Result<Vec<_>, _> = Importance::ALL
                    .into_iter()
                    .map(|importance| {
                        let (this, start) = (self.clone(), Arc::clone(&start));
                        ThreadSpec::new(format!("client-{}", importance.name()))
                            .prefault(true)
                            .spawn(move || this.paced(importance, pool, work, rounds, seconds, &start))
                    })
                    .collect();
                let paced: Result<Vec<_>, Error> =
                    threads?.into_iter().map(|thread| Ok(joined(thread)??)).collect();
                // Before an error of theirs is told, the others must be able to end.
                start.over.store(true, Ordering::Release);
                let mut best_effort_calls = 0;
                for thread in continuous? {
                    best_effort_calls += joined(thread)??;
                }
                let paced = paced?;
                let longest = paced.iter().map(|paced| paced.elapsed_s).fold(0.0, f64::max);
                let (_, begin) = start.together_at();
                Ok(Answer::Rates {
                    paced,
                    best_effort_calls,
                    span: Span::between(begin, begin + Duration::from_secs_f64(longest)),
                })
            }
        }
    }

    fn capacity(&self, work: u32, rounds: u32, seconds: f64) -> Result<f64, SystemException> {
        self.orb.current().set_priority(Importance::High.priority())?;
        self.lanes.method(1, 1, PRIME)?;
        let (start, mut calls) = (Instant::now(), 0_u32);
        while start.elapsed().as_secs_f64() < seconds {
            self.lanes.method(work, rounds, PRIME)?;
            calls += 1;
        }
        Ok(f64::from(calls) / start.elapsed().as_secs_f64())
    }

    /// Calls once in each period of its rate. A period in which no call can start, because the one before still runs, is missed
    /// and skipped. Source: TAO's Thread_Pool test; the warm-up call is not counted.
    fn paced(
        &self,
        importance: Importance,
        pool: Pool,
        work: u32,
        rounds: u32,
        seconds: f64,
        start: &Start,
    ) -> Result<Paced, SystemException> {
        let load = self.of(pool);
        let prepared = self.prepare(load, importance.priority());
        // Whoever failed must meet the others all the same, or they would wait for ever.
        let (begin, begin_clock) = start.together();
        prepared?;
        let period = Duration::from_secs(1) / importance.rate();
        let periods = (f64::from(importance.rate()) * seconds) as u32;
        let mut paced = Paced {
            importance,
            periods,
            made: 0,
            missed: Vec::with_capacity(periods as usize),
            outstanding: Vec::with_capacity(periods as usize),
            elapsed_s: 0.0,
        };
        for number in 1..=periods {
            let end_of_period = begin + period * number;
            if Instant::now() > end_of_period {
                paced.missed.push(Span::between(
                    begin_clock + period * (number - 1),
                    begin_clock + period * number,
                ));
                continue;
            }
            let called = clock::monotonic();
            load.method(work, rounds, PRIME)?;
            paced.outstanding.push(Span::between(called, clock::monotonic()));
            paced.made += 1;
            if Instant::now() < end_of_period {
                clock::sleep_until(end_of_period);
            }
        }
        paced.elapsed_s = begin.elapsed().as_secs_f64();
        Ok(paced)
    }
}

impl Loads {
    fn of(&self, pool: Pool) -> &LoadRef {
        match pool {
            Pool::Classic => &self.classic,
            Pool::Lanes => &self.lanes,
        }
    }

    /// Takes on the priority and makes a first call, which opens the connection and is not counted.
    fn prepare(&self, load: &LoadRef, priority: Priority) -> Result<(), SystemException> {
        self.orb.current().set_priority(priority)?;
        load.method(1, 1, PRIME)
    }

    /// Calls without a pause until the paced clients are done, and counts. Source: TAO's Thread_Pool test.
    fn continuous(&self, pool: Pool, work: u32, rounds: u32, start: &Start) -> Result<u64, SystemException> {
        let load = self.of(pool);
        let prepared = self.prepare(load, BEST_EFFORT);
        start.together();
        prepared?;
        let mut calls = 0;
        while !start.over.load(Ordering::Acquire) {
            load.method(work, rounds, PRIME)?;
            calls += 1;
        }
        Ok(calls)
    }
}

/// Where the clients meet. Their periods count from one common start, however late a starved one gets to see it.
struct Start {
    barrier: Barrier,
    at: OnceLock<(Instant, Duration)>,
    /// The paced clients are done.
    over: AtomicBool,
}

impl Start {
    /// The start on both clocks.
    fn together(&self) -> (Instant, Duration) {
        self.barrier.wait();
        self.together_at()
    }

    fn together_at(&self) -> (Instant, Duration) {
        *self.at.get_or_init(|| (Instant::now(), clock::monotonic()))
    }
}

fn joined<T>(thread: Thread<T>) -> Result<T, Error> {
    thread
        .join()
        .map_err(|_| "a client thread panicked; its message is on standard error".into())
}
