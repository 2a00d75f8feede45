//! The process of attackers, and that of newcomers: each thread is one of them.

use std::time::{Duration, Instant};

use punctual::NativePriority;
use punctual_harness::child::Control;
use punctual_os::{Scheduling, ThreadSpec};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

use super::{
    attack::{Kind, NewConnections, new_connections},
    target::Target,
};
use crate::{error::Error, os::joined};

pub(super) const ROLE: &str = "__attacks-peer";

/// A command of the driver.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) enum Command {
    /// Attack a lane with this number of threads.
    Attack {
        kind: Kind,
        target: Target,
        attackers: usize,
        length: Duration,
    },
    /// Send newcomers to each of these lanes.
    Arrive { targets: Vec<Target>, length: Duration },
}

/// The response to a command.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) enum Response {
    /// Operations of all attackers.
    Attacked(u64),
    /// In the order of the lanes.
    Arrived(Vec<NewConnections>),
}

/// Runs the process.
pub(super) fn peer(_: &[String]) -> Result<(), Error> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = maximum;
    setrlimit(Resource::Nofile, Rlimit { current, maximum })?;
    Control::ready(&())?.serve(|command: Command| run(command).map_err(|error| error.to_string()))?;
    Ok(())
}

fn run(command: Command) -> Result<Response, Error> {
    match command {
        Command::Attack {
            kind,
            target,
            attackers,
            length,
        } => {
            let deadline = Instant::now() + length;
            let attack = |_| {
                let target = target.clone();
                (ThreadSpec::new("attacker"), move || kind.run(&target, deadline))
            };
            let operations = all((0..attackers).map(attack))?;
            Ok(Response::Attacked(operations.into_iter().sum()))
        }
        Command::Arrive { targets, length } => {
            let deadline = Instant::now() + length;
            // Above the attackers, with whom they share a CPU.
            let fifo = Scheduling::fifo(NativePriority(1));
            let arrive = |target| {
                let spec = ThreadSpec::new("newcomer").scheduling(fifo);
                (spec, move || new_connections(&target, deadline))
            };
            Ok(Response::Arrived(all(targets.into_iter().map(arrive))?))
        }
    }
}

/// Runs functions in threads at the same time, and waits for all.
fn all<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(
    threads: impl Iterator<Item = (ThreadSpec, F)>,
) -> Result<Vec<T>, Error> {
    let started: Vec<_> = threads
        .map(|(spec, run)| spec.spawn(run))
        .collect::<Result<_, _>>()?;
    started.into_iter().map(joined).collect()
}
