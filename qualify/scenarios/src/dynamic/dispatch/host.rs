//! The process of one of the two hosts: an ORB, the scheduler, and the threads that start there.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use punctual::{Completion, SystemException, SystemExceptionKind};
use punctual_harness::child::Control;
use punctual_os::Thread;
use punctual_rtsched::{Current, SchedulingError};
use punctual_sched::{
    dynamic::Time,
    simulator::{Arrival, Model, Step, Task},
};
use serde::{Deserialize, Serialize};

use super::{
    super::{
        disciplines::Named,
        endsystem::{Endsystem, joined, spawn},
        processor::{Counted, Processor, Record},
    },
    model,
};
use crate::{
    error::Error,
    idl::dynamic::dynamic::{Host, HostRef},
    load::network,
};

pub(crate) const ROLE: &str = "__dyn-host";

/// The configuration of a host.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Spec {
    /// Index in the model.
    pub(super) host: usize,
    /// Whether it has a separate network.
    pub(super) linked: bool,
    pub(super) scheduler: Named,
    pub(super) unit_ns: u64,
    /// How long a thread keeps its turn after its work; zero except under a control.
    pub(super) stall: Duration,
}

/// A command of the driver.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Command {
    /// Move the other end of the cable to this process; sent to the host that created the cable.
    Plug { other: u32 },
    /// Bring up the end of the cable; sent to the other host.
    PluggedIn,
    /// Start the threads; the schedule starts at this time of the monotonic clock.
    Start { origin_ns: u64, other: String },
    /// Wait for the threads to end, and return the record.
    Finish,
}

/// The response to a command.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Response {
    Done,
    Record(Record),
}

pub(crate) fn child(arguments: &[String]) -> Result<(), Error> {
    let [spec] = arguments else {
        return Err("a host process needs its configuration".into());
    };
    let spec: Spec = serde_json::from_str(spec)?;
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
    let model = model::figure_6(Duration::from_nanos(spec.unit_ns));
    let threads = model.tasks.len();
    let endsystem = Endsystem::start(spec.scheduler, threads, serves.then_some(address))?;
    let executor = Arc::new(Executor {
        host: spec.host,
        scheduler: spec.scheduler,
        stall: spec.stall,
        processor: Processor::with_room_for(4096),
        model,
        endsystem,
        other: OnceLock::new(),
    });
    let reference = match serves {
        true => executor.endsystem.activate(Upcalls(Arc::clone(&executor)))?,
        false => String::new(),
    };
    let mut threads = Vec::new();
    Control::ready(&reference)?.serve(|command: Command| {
        let response = match command {
            Command::Plug { other } => network::plug_into(other).map(|()| Response::Done),
            Command::PluggedIn => network::connect().map(|()| Response::Done),
            Command::Start { origin_ns, other } => executor.start(origin_ns, &other).map(|started| {
                threads = started;
                Response::Done
            }),
            Command::Finish => executor
                .finish(std::mem::take(&mut threads))
                .map(Response::Record),
        };
        response.map_err(|error| error.to_string())
    })?;
    Ok(())
}

/// Executes the part of the model on one host.
struct Executor {
    host: usize,
    scheduler: Named,
    stall: Duration,
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
            .segment(self.scheduler, &task.name, &parameters, from, work);
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
                        .sleep_until(self.processor.now() + self.stall.as_nanos() as u64);
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
fn begin_ns(task: &Task) -> Option<u64> {
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
