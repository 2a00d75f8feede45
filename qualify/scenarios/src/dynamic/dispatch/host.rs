//! The process of one of the two hosts: an ORB, the scheduler, and the threads that start there.

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use punctual::{Completion, SystemException, SystemExceptionKind};
use punctual_harness::child::{Role, Task, TaskEntry};
use punctual_os::Thread;
use punctual_rtsched::{Current, SchedulingError};
use punctual_sched::{
    dynamic::Time,
    simulator::{Arrival, Model, Step, Task as Modelled},
};
use serde::{Deserialize, Serialize};

use super::{
    super::{
        endsystem::{Endsystem, joined, spawn},
        processor::{Counted, Processor, Record},
    },
    model::{self, How},
};
use crate::{
    error::Error,
    idl::dynamic::dynamic::{Host, HostRef},
    load::network,
};

/// Index in the model.
const DT2: usize = 1;

/// The configuration of a host.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Spec {
    /// Index in the model.
    pub(super) host: usize,
    /// Whether it has a separate network.
    pub(super) linked: bool,
    pub(super) how: How,
}

/// The child process.
pub(crate) struct Process {
    executor: Arc<Executor>,
    threads: Vec<Started>,
}

impl Role for Process {
    const NAME: &'static str = "__dyn-host";
    type Setup = Spec;
    /// The reference of the second host.
    type Ready = String;
    const TASKS: &'static [TaskEntry<Self>] = &[
        TaskEntry::of::<Plug>(),
        TaskEntry::of::<Connect>(),
        TaskEntry::of::<Start>(),
        TaskEntry::of::<Finish>(),
    ];

    fn start(spec: Spec) -> Result<(Self, String), Error> {
        let serves = spec.host == 1;
        let address = match (spec.linked, serves) {
            (false, _) => "127.0.0.1",
            (true, true) => {
                network::make_cable()?;
                network::SERVER
            }
            (true, false) => {
                network::separate()?;
                "127.0.0.1"
            }
        };
        let mut model = model::figure_6(spec.how.unit);
        if spec.how.without_reply {
            model::keep_on_host_1(&mut model.tasks[DT2]);
        }
        let threads = model.tasks.len();
        let endsystem = Endsystem::start(spec.how.scheduler, threads, serves.then_some(address))?;
        let executor = Arc::new(Executor {
            host: spec.host,
            how: spec.how,
            processor: Processor::with_room_for(4096),
            model,
            endsystem,
            other: OnceLock::new(),
        });
        let reference = match serves {
            true => executor.endsystem.activate(Upcalls(Arc::clone(&executor)))?,
            false => String::new(),
        };
        let threads = Vec::new();
        Ok((Self { executor, threads }, reference))
    }
}

/// Moves the other end of the cable to this process; sent to the host that created the cable.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Plug(pub(super) u32);

impl Task<Process> for Plug {
    const NAME: &'static str = "plug";
    type Reply = ();

    fn perform(self, _: &mut Process) -> Result<(), Error> {
        network::plug_into(self.0)
    }
}

/// Brings up the end of the cable; sent to the other host.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Connect;

impl Task<Process> for Connect {
    const NAME: &'static str = "connect";
    type Reply = ();

    fn perform(self, _: &mut Process) -> Result<(), Error> {
        network::connect()
    }
}

/// Starts the threads; the schedule starts at this time of the monotonic clock.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Start {
    pub(super) origin_ns: u64,
    pub(super) other: String,
}

impl Task<Process> for Start {
    const NAME: &'static str = "start";
    type Reply = ();

    fn perform(self, process: &mut Process) -> Result<(), Error> {
        process.threads = process.executor.start(self.origin_ns, &self.other)?;
        Ok(())
    }
}

/// Waits for the threads to end, and returns the record.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Finish;

impl Task<Process> for Finish {
    const NAME: &'static str = "finish";
    type Reply = Record;

    fn perform(self, process: &mut Process) -> Result<Record, Error> {
        process.executor.finish(mem::take(&mut process.threads))
    }
}

/// Executes the part of the model on one host.
struct Executor {
    host: usize,
    how: How,
    processor: Processor,
    model: Model,
    endsystem: Endsystem,
    /// The other host, which this one calls.
    other: OnceLock<HostRef>,
}

type Started = Thread<Result<(), String>>;

impl Executor {
    fn start(self: &Arc<Self>, origin_ns: u64, other: &str) -> Result<Vec<Started>, Error> {
        self.processor.begin(origin_ns);
        if !other.is_empty() {
            let _ = self.other.set(self.endsystem.orb().resolve(other)?);
        }
        let tasks = self.model.tasks.iter().enumerate();
        let here = tasks.filter(|(_, task)| task.hosts == [self.host]);
        here.map(|(number, task)| {
            let (executor, name) = (Arc::clone(self), task.name.clone());
            Ok(spawn(name, move || executor.run(number))?)
        })
        .collect()
    }

    fn finish(&self, threads: Vec<Started>) -> Result<Record, Error> {
        for thread in threads {
            joined(thread)?;
        }
        let record = self.processor.record(self.host as u8 + 1);
        Ok(record.ok_or("the record was too small for the events")?)
    }

    /// Runs one distributable thread.
    fn run(&self, number: usize) -> Result<(), String> {
        let task = &self.model.tasks[number];
        let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", task.name);
        let begin = begin_ns(task).ok_or_else(|| describe(&"its arrival is not supported here"))?;
        let parameters = task.parameters.ok_or_else(|| describe(&"it has no parameters"))?;
        // Opens the connection before the start.
        if let Some(other) = self.other.get() {
            other.non_existent().map_err(|error| describe(&error))?;
        }
        self.processor.sleep_until(begin);
        let from = Time(self.processor.origin() + begin);
        let work = |_: &Current<'_>| Ok::<_, SchedulingError>(self.steps(number, &task.steps)?);
        let ended = self
            .endsystem
            .segment(self.how.scheduler, &task.name, &parameters, from, work);
        ended.map(|_| ()).map_err(|error| describe(&error))
    }

    /// Executes steps of a thread on this host.
    fn steps(&self, task: usize, steps: &[Step]) -> Result<(), SystemException> {
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Compute(work) => {
                    let amount = work.time.as_nanos() as u64;
                    self.processor.work(task as u8 + 1, amount, Counted::AlsoHoles);
                    self.processor
                        .sleep_until(self.processor.now() + self.how.stall.as_nanos() as u64);
                }
                Step::Call(_) => {
                    let other = self
                        .other
                        .get()
                        .ok_or_else(|| not_supported("a call from this host"))?;
                    other.work(task as u32, number as u32)?;
                }
                _ => return Err(not_supported("this kind of step")),
            }
        }
        Ok(())
    }
}

fn not_supported(what: &str) -> SystemException {
    eprintln!("this host does not support {what}");
    SystemException::new(SystemExceptionKind::NoImplement, 0, Completion::No)
}

/// Returns the start time of a task.
fn begin_ns(task: &Modelled) -> Option<u64> {
    match task.arrival {
        Arrival::Once { at } => Some(at.0),
        _ => None,
    }
}

/// The servant that the other host calls.
struct Upcalls(Arc<Executor>);

impl Host for Upcalls {
    fn work(&self, task: u32, step: u32) -> Result<(), SystemException> {
        let executor = &self.0;
        let number = task as usize;
        let step = executor
            .model
            .tasks
            .get(number)
            .and_then(|task| task.steps.get(step as usize));
        match step {
            Some(Step::Call(call)) => executor.steps(number, &call.steps),
            _ => Err(not_supported("an upcall for a step that is not a call")),
        }
    }
}
