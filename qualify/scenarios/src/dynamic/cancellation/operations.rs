//! The measured process: operations as distributable threads on one CPU.

mod costs;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use punctual::Minor;
use punctual_harness::child::{Role, Task, TaskEntry};
use punctual_rtsched::{BuildError, Current, SchedulingError};
use punctual_sched::{
    dynamic::{Time, TimedWork},
    simulator::{Arrival as Arrives, Model, Overrun, Step, Task as Modelled},
};

use serde::{Deserialize, Serialize};

use super::{
    super::{
        disciplines::Named,
        endsystem::{Endsystem, OUTSIDE, joined, spawn},
        processor::{Counted, Processor},
        random::Random,
    },
    Case,
    counts::{Arrival, Fate},
    workers::Workers,
};
use crate::{
    error::Error,
    os::{Measured, Ready, fifo, get_ready, now_ns, timed},
};

/// Time between the command and the start, enough to start the threads.
pub(super) const LEAD: Duration = Duration::from_millis(100);
/// The same for each second of a run, whose arrivals need threads.
pub(super) const LEAD_PER_SECOND: Duration = Duration::from_millis(60);
const WORKER_STACK: usize = 64 << 10;
/// An upper bound of the events per second; about 900 operations arrive.
const MARKS_PER_SECOND: usize = 20_000;

/// Arrivals per second that may be in the queue at the end; 478 of non-critical operations arrive.
const QUEUED_PER_SECOND: usize = 520;

/// A request for one run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Run {
    pub(super) case: Case,
    pub(super) seconds: u64,
}

/// The results. Times are nanoseconds since the start.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Response {
    /// The start, by the monotonic clock.
    pub(super) origin_ns: u64,
    pub(super) arrivals: Vec<Arrival>,
    /// Holes, in which the kernel or the host let no thread run: start and length.
    pub(super) holes: Vec<(u64, u64)>,
    /// Operations that the kernel did not admit.
    pub(super) not_admitted: usize,
    /// Why the kernel refused SCHED_DEADLINE for this process; nothing was run then.
    pub(super) refused: Option<String>,
    /// Processor time that the machine needs for an arrival, beyond the operation's own work.
    pub(super) cost_ns: u64,
}

/// The child process.
pub(crate) struct Operations(Arc<Endsystem>);

impl Role for Operations {
    const NAME: &'static str = "__dyn-operations";
    type Setup = ();
    type Ready = Ready;
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<Run>()];

    fn start((): ()) -> Result<(Self, Ready), Error> {
        let threads = super::CASES[0].model().tasks.len();
        let endsystem = Endsystem::start(Named::Muf, threads, None)?;
        Ok((Self(Arc::new(endsystem)), get_ready()?))
    }
}

impl Task<Operations> for Run {
    const NAME: &'static str = "run";
    type Reply = Measured<Response>;

    fn perform(self, operations: &mut Operations) -> Result<Self::Reply, Error> {
        timed(|| run(&operations.0, self))
    }
}

fn run(endsystem: &Arc<Endsystem>, Run { case, seconds }: Run) -> Result<Response, Error> {
    if case.by_kernel {
        match endsystem.install_deadline_class() {
            Err(error @ BuildError::KernelDeadlineRefused(_)) => return Ok(Response::refused(&error)),
            other => other?,
        }
    } else {
        endsystem.install(case.scheduler)?;
    }
    let cost_ns = costs::of_an_arrival(endsystem, case)?;
    let flight = fly(
        endsystem,
        case,
        seconds + super::TAIL_SECONDS,
        Work::All { cost_ns },
    )?;
    let mut arrivals = flight.arrivals;
    arrivals.retain(|arrival| arrival.release < seconds * 1_000_000_000);
    Ok(Response {
        origin_ns: flight.origin_ns,
        arrivals,
        holes: flight.holes,
        not_admitted: flight.not_admitted,
        refused: None,
        cost_ns,
    })
}

/// Behaviour of operations.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Work {
    /// They use the processor for half of their execution times, so that it has time to spare.
    Half,
    /// They use the processor for their execution times, in which the cost of an arrival is contained.
    All { cost_ns: u64 },
}

/// The results of one run.
struct Flight {
    origin_ns: u64,
    arrivals: Vec<Arrival>,
    holes: Vec<(u64, u64)>,
    not_admitted: usize,
    /// Processor time that was neither work nor left to threads of the lowest priority; where operations do
    /// all of their work, only meaningful under overload and if arrivals queue.
    cost_ns: u64,
}

impl Flight {
    fn cost_of_an_arrival_ns(&self) -> u64 {
        self.cost_ns / (self.arrivals.len() as u64).max(1)
    }
}

fn fly(endsystem: &Arc<Endsystem>, case: Case, seconds: u64, work: Work) -> Result<Flight, Error> {
    let lead = LEAD + LEAD_PER_SECOND * seconds as u32;
    let origin_ns = now_ns() + lead.as_nanos() as u64;
    let processor = Processor::with_room_for(MARKS_PER_SECOND * (seconds + 1) as usize);
    processor.begin(origin_ns);
    let queued = match case.overrun() {
        Overrun::Queue => QUEUED_PER_SECOND * seconds as usize,
        Overrun::Skip => 0,
    };
    let program = Arc::new(Program {
        case,
        work,
        worked: AtomicU64::new(0),
        workers: Workers::new(queued),
        seconds,
        model: case.model(),
        processor,
        endsystem: Arc::clone(endsystem),
        not_admitted: AtomicUsize::new(0),
    });
    let tasks = 0..program.model.tasks.len() as u32;
    let threads = tasks.map(|task| {
        let name = format!("operation-{task}");
        let program = Arc::clone(&program);
        spawn(name, move || match program.case.by_kernel {
            true => program.reserved(task),
            false => program.operation(task),
        })
    });
    // All threads are started before the first one is joined.
    let threads: Vec<_> = threads.collect::<Result<_, _>>()?;
    let workers = (0..queued).map(|number| {
        let program = Arc::clone(&program);
        let spec = fifo(format!("arrival-{number}"), OUTSIDE);
        let spec = spec.stack_bytes(WORKER_STACK).prefault_bytes(WORKER_STACK / 2);
        spec.spawn(move || program.serve(number))
    });
    let workers: Vec<_> = workers.collect::<Result<_, _>>()?;
    let spare = (work == Work::Half)
        .then(|| costs::spare_time(origin_ns, origin_ns + seconds * 1_000_000_000))
        .transpose()?;
    // Busy until the start, because a sleeping process would look like a hole.
    while now_ns() < origin_ns {
        std::hint::spin_loop();
    }
    let mut arrivals = Vec::new();
    for thread in threads {
        arrivals.extend(joined(thread)?);
    }
    program.workers.close();
    for worker in workers {
        arrivals.extend(joined(worker)?);
    }
    let record = program.processor.record(1);
    let record = record.ok_or("the record was too small for the events")?;
    let used = match spare {
        Some(spare) => (seconds * 1_000_000_000).saturating_sub(crate::os::joined(spare)?),
        // Under overload the processor is never idle before the queue is empty.
        None => now_ns().saturating_sub(origin_ns + record.holes.iter().map(|hole| hole.1).sum::<u64>()),
    };
    let cost_ns = used.saturating_sub(program.worked.load(Ordering::Relaxed));
    Ok(Flight {
        origin_ns,
        arrivals,
        holes: record.holes,
        not_admitted: program.not_admitted.load(Ordering::Relaxed),
        cost_ns,
    })
}

impl Response {
    fn refused(error: &BuildError) -> Self {
        Self {
            origin_ns: 0,
            arrivals: Vec::new(),
            holes: Vec::new(),
            not_admitted: 0,
            refused: Some(error.to_string()),
            cost_ns: 0,
        }
    }
}

/// One arrival: its operation, release time, and share of the variation of its length.
struct Job {
    number: u32,
    release: u64,
    share: f64,
}

struct Program {
    case: Case,
    work: Work,
    /// Work of all operations that were dispatched, in nanoseconds.
    worked: AtomicU64,
    /// Seconds in which operations arrive.
    seconds: u64,
    model: Model,
    processor: Processor,
    endsystem: Arc<Endsystem>,
    workers: Workers<Job>,
    /// Number of operations that the kernel did not admit.
    not_admitted: AtomicUsize,
}

impl Program {
    /// Runs one operation at each of its arrivals.
    fn operation(&self, number: u32) -> Result<Vec<Arrival>, String> {
        let task = &self.model.tasks[number as usize];
        let operation = Operation::of(number, task)?;
        if self.case.overrun() == Overrun::Skip {
            return self.arrivals(number, &operation, |release, share| {
                self.dispatch(&operation, task, release, share)
            });
        }
        let mut random = Random::new(u64::from(number));
        let mut dropped = Vec::new();
        for release in operation.releases(self.seconds) {
            let share = random_share(&mut random);
            self.processor.sleep_until(release);
            let job = Job {
                number,
                release,
                share,
            };
            // The queue is bounded: what finds no room in it is never dispatched.
            if !self.workers.submit(job) {
                dropped.push(Arrival {
                    task: number,
                    release,
                    fate: Fate::Dropped,
                });
            }
        }
        Ok(dropped)
    }

    /// Executes arrivals that others release.
    fn serve(&self, number: usize) -> Result<Vec<Arrival>, String> {
        let (mut arrivals, mut failed) = (Vec::new(), None);
        self.workers.serve(number, |job| {
            let task = &self.model.tasks[job.number as usize];
            let fate = Operation::of(job.number, task)
                .and_then(|operation| self.dispatch(&operation, task, job.release, job.share));
            match fate {
                Ok(fate) => arrivals.push(Arrival {
                    task: job.number,
                    release: job.release,
                    fate,
                }),
                Err(error) => failed = Some(error),
            }
        });
        failed.map_or(Ok(arrivals), Err)
    }

    /// Runs all arrivals of an operation in one distributable thread with a reservation of the kernel, whose
    /// deadline counts from each wake-up.
    fn reserved(&self, number: u32) -> Result<Vec<Arrival>, String> {
        let task = &self.model.tasks[number as usize];
        let operation = Operation::of(number, task)?;
        let parameters = task.parameters.ok_or("the operation has no parameters")?;
        let over = Time(self.processor.origin() + (self.seconds + 1) * 1_000_000_000);
        let work = |_: &Current<'_>| {
            let arrivals = self.arrivals(number, &operation, |release, share| {
                let amount = self.amount_ns(&operation, share);
                let end = self.processor.work(operation.name, amount, Counted::OwnTime);
                let made = end <= release + operation.period_ns;
                Ok(if made { Fate::Made } else { Fate::Missed })
            });
            Ok::<_, SchedulingError>(arrivals)
        };
        match self
            .endsystem
            .segment(self.case.scheduler, &task.name, &parameters, over, work)
        {
            Ok(arrivals) => arrivals,
            Err(SchedulingError::System(refused)) if refused.minor == Minor::DEADLINE_NOT_ADMITTED => {
                self.not_admitted.fetch_add(1, Ordering::Relaxed);
                let dropped = |release| Arrival {
                    task: number,
                    release,
                    fate: Fate::Dropped,
                };
                Ok(operation.releases(self.seconds).map(dropped).collect())
            }
            Err(error) => Err(format!("{}: {error}", task.name)),
        }
    }

    /// Runs each arrival at its time with `dispatch`, which receives the release time and the share of the
    /// variation of its length.
    fn arrivals(
        &self,
        number: u32,
        operation: &Operation,
        dispatch: impl Fn(u64, f64) -> Result<Fate, String>,
    ) -> Result<Vec<Arrival>, String> {
        let mut random = Random::new(u64::from(number));
        let releases = operation.releases(self.seconds);
        let mut arrivals = Vec::with_capacity(releases.len());
        let mut ended = 0;
        for release in releases {
            let share = random_share(&mut random);
            // As in the model, an arrival is dropped while the previous one has not completed.
            let fate = if release < ended {
                Fate::Dropped
            } else {
                self.processor.sleep_until(release);
                let fate = dispatch(release, share)?;
                ended = self.processor.now();
                fate
            };
            arrivals.push(Arrival {
                task: number,
                release,
                fate,
            });
        }
        Ok(arrivals)
    }

    /// Returns how long an operation works at one arrival.
    fn amount_ns(&self, operation: &Operation, share: f64) -> u64 {
        let amount = match self.work {
            Work::Half => operation.amount_ns(share) / 2,
            Work::All { cost_ns } => operation.amount_ns(share).saturating_sub(cost_ns),
        };
        self.worked.fetch_add(amount, Ordering::Relaxed);
        amount
    }

    /// Runs one arrival of an operation as a distributable thread.
    fn dispatch(
        &self,
        operation: &Operation,
        task: &Modelled,
        release: u64,
        share: f64,
    ) -> Result<Fate, String> {
        let parameters = task.parameters.ok_or("the operation has no parameters")?;
        let deadline = release + operation.period_ns;
        let from = Time(self.processor.origin() + release);
        let timed = TimedWork {
            deadline: from + Duration::from_nanos(operation.period_ns),
            execution_time: Duration::from_nanos(operation.stated_ns),
            is_critical: parameters.is_critical(),
        };
        let work = || {
            let amount = self.amount_ns(operation, share);
            Ok::<_, SchedulingError>(self.processor.work(operation.name, amount, Counted::OwnTime))
        };
        match self.endsystem.timed_segment(
            self.case.scheduler,
            &task.name,
            (&parameters, from),
            (timed, self.case.policy()),
            work,
        ) {
            Ok(end) if end <= deadline => Ok(Fate::Made),
            Ok(_) => Ok(Fate::Missed),
            Err(error) if error.is_lateness() => Ok(Fate::Cancelled),
            Err(error) => Err(format!("{}: {error}", task.name)),
        }
    }
}

/// Draws the share of the variation of a length.
fn random_share(random: &mut Random) -> f64 {
    0.001 * random.below(1001) as f64
}

/// The parameters of an operation in the model.
struct Operation {
    name: u8,
    offset_ns: u64,
    period_ns: u64,
    /// Stated execution time.
    stated_ns: u64,
    /// Smallest and largest share of the stated time that it takes.
    shares: (f64, f64),
}

impl Operation {
    /// Reads a task; fails unless it is periodic and only computes.
    fn of(number: u32, task: &Modelled) -> Result<Self, String> {
        Self::periodic(number, task)
            .ok_or_else(|| format!("{} is not a periodic task that only computes", task.name))
    }

    fn periodic(number: u32, task: &Modelled) -> Option<Self> {
        let Arrives::Periodic { offset, period, .. } = task.arrival else {
            return None;
        };
        let [Step::Compute(work)] = task.steps[..] else {
            return None;
        };
        Some(Self {
            name: u8::try_from(number + 1).ok()?,
            offset_ns: offset.0,
            period_ns: period.as_nanos() as u64,
            stated_ns: work.time.as_nanos() as u64,
            shares: (work.least, work.most),
        })
    }

    /// Returns the release times within this number of seconds.
    fn releases(&self, seconds: u64) -> impl ExactSizeIterator<Item = u64> {
        let count = (seconds * 1_000_000_000).saturating_sub(self.offset_ns) / self.period_ns;
        let (offset, period) = (self.offset_ns, self.period_ns);
        (0..count as u32).map(move |job| offset + u64::from(job) * period)
    }

    fn amount_ns(&self, share: f64) -> u64 {
        let (least, most) = self.shares;
        (self.stated_ns as f64 * (least + share * (most - least))) as u64
    }
}
