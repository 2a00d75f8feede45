//! One of the two hosts: a process with an ORB, the scheduler, and the threads that begin there.

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
        endsystem::{Endsystem, spawn},
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

/// What a host is told when it starts.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Spec {
    /// Its place in the model.
    pub(super) host: usize,
    /// In a network of its own.
    pub(super) linked: bool,
    pub(super) scheduler: Named,
    pub(super) unit_ns: u64,
}

/// What it is asked.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Command {
    /// Of the one that has both ends of the cable: to give the other end to this process.
    Plug { other: u32 },
    /// Of the other one: to bring its end up.
    PluggedIn,
    /// To start its threads; everything is to begin at this time of the monotonic clock.
    Start { origin_ns: u64, other: String },
    /// To wait until they have ended, and tell what happened.
    Finish,
}

/// What it answers.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Response {
    Done,
    Record(Record),
}

pub(crate) fn child(arguments: &[String]) -> Result<(), Error> {
    let [spec] = arguments else {
        return Err("a host needs to be told which one it is".into());
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
    let player = Arc::new(Player {
        host: spec.host,
        scheduler: spec.scheduler,
        processor: Processor::with_room_for(4096),
        model,
        endsystem,
        other: OnceLock::new(),
    });
    let reference = match serves {
        true => player.endsystem.activate(Upcalls(Arc::clone(&player)))?,
        false => String::new(),
    };
    let mut threads = Vec::new();
    Control::ready(&reference)?.serve(|command: Command| {
        let response = match command {
            Command::Plug { other } => network::plug_into(other).map(|()| Response::Done),
            Command::PluggedIn => network::connect().map(|()| Response::Done),
            Command::Start { origin_ns, other } => player.start(origin_ns, &other).map(|started| {
                threads = started;
                Response::Done
            }),
            Command::Finish => player.finish(std::mem::take(&mut threads)).map(Response::Record),
        };
        response.map_err(|error| error.to_string())
    })?;
    Ok(())
}

/// Plays a model's part on one host.
struct Player {
    host: usize,
    scheduler: Named,
    processor: Processor,
    model: Model,
    endsystem: Endsystem,
    /// The host that is called.
    other: OnceLock<HostRef>,
}

type Started = Thread<Result<(), String>>;

impl Player {
    fn start(self: &Arc<Self>, origin_ns: u64, other: &str) -> Result<Vec<Started>, Error> {
        self.processor.begin(origin_ns);
        if !other.is_empty() {
            let _ = self.other.set(self.endsystem.orb().resolve(other)?);
        }
        let tasks = self.model.tasks.iter().enumerate();
        let here = tasks.filter(|(_, task)| task.hosts == [self.host]);
        here.map(|(number, task)| {
            let (player, name) = (Arc::clone(self), task.name.clone());
            Ok(spawn(name, move || player.play(number))?)
        })
        .collect()
    }

    fn finish(&self, threads: Vec<Started>) -> Result<Record, Error> {
        for thread in threads {
            thread
                .join()
                .map_err(|_| "a thread panicked; its message is on standard error")??;
        }
        let record = self.processor.record(self.host as u8 + 1);
        Ok(record.ok_or("more happened than there was room for")?)
    }

    /// One distributable thread.
    fn play(&self, number: usize) -> Result<(), String> {
        let task = &self.model.tasks[number];
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", task.name);
        let begin =
            begin_ns(task).ok_or_else(|| told(&"it begins by itself in no way that is played here"))?;
        let parameters = task.parameters.ok_or_else(|| told(&"it has no parameters"))?;
        // The connection is there before time counts.
        if let Some(other) = self.other.get() {
            other.non_existent().map_err(|error| told(&error))?;
        }
        self.processor.sleep_until(begin);
        let from = Time(self.processor.origin() + begin);
        let work = |_: &Current<'_>| Ok::<_, SchedulingError>(self.steps(number, &task.steps, begin)?);
        let ended = self
            .endsystem
            .segment(self.scheduler, &task.name, &parameters, from, work);
        ended.map(|_| ()).map_err(|error| told(&error))
    }

    /// What a thread does on this host, from `ready` on; gives when its end was due.
    fn steps(&self, task: usize, steps: &[Step], mut ready: u64) -> Result<u64, SystemException> {
        for (number, step) in steps.iter().enumerate() {
            ready = match step {
                Step::Compute(work) => {
                    let amount = work.time.as_nanos() as u64;
                    self.processor
                        .work(task as u8 + 1, amount, Counted::AllSince(ready))
                }
                Step::Call(_) => {
                    let other = self.other.get().ok_or_else(|| not_played("a call from here"))?;
                    other.work(task as u32, number as u32, ready)?
                }
                _ => return Err(not_played("such a step")),
            };
        }
        Ok(ready)
    }
}

fn not_played(what: &str) -> SystemException {
    eprintln!("the host does not play {what}");
    SystemException::new(SystemExceptionKind::NoImplement, 0, Completion::No)
}

/// When a task begins.
fn begin_ns(task: &Task) -> Option<u64> {
    match task.arrival {
        Arrival::Once { at } => Some(at.0),
        _ => None,
    }
}

/// What the other host calls.
struct Upcalls(Arc<Player>);

impl Host for Upcalls {
    fn work(&self, task: u32, step: u32, ready: u64) -> Result<u64, SystemException> {
        let player = &self.0;
        let number = task as usize;
        let step = player
            .model
            .tasks
            .get(number)
            .and_then(|task| task.steps.get(step as usize));
        match step {
            Some(Step::Call(call)) => player.steps(number, &call.steps, ready),
            _ => Err(not_played("what is no call")),
        }
    }
}
