//! The client process.

use std::{sync::Arc, time::Duration};

use punctual::Orb;
use punctual_harness::{Span, child::Control};
use punctual_os::ThreadSpec;
use serde::{Deserialize, Serialize};

use super::{
    network,
    task::{Task, TaskResult},
    worker::{Start, WorkerContext},
};
use crate::{error::Error, idl::load::bench::LoadRef, os::joined};

/// A command of the driver.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Command {
    /// Bring up the client's end of the cable, which is now in this namespace.
    PluggedIn,
    /// Run the workers.
    Run(Task),
}

/// The response to a command.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Response {
    /// The network to the server is up.
    Connected,
    /// The workers have ended.
    Done(TaskResult),
}

/// Runs the client process. Arguments: the list of references, one for each of the server's pools, and
/// [`network::LINKED`] for a separate network.
pub(crate) fn client(arguments: &[String]) -> Result<(), Error> {
    let [references, rest @ ..] = arguments else {
        return Err("the client process needs the list of references".into());
    };
    if rest.iter().any(|argument| argument == network::LINKED) {
        network::separate()?;
    }
    let references: Vec<String> = serde_json::from_str(references)?;
    let orb = Orb::builder().build()?;
    Control::ready(&())?.serve(|command: Command| {
        let response = match command {
            Command::PluggedIn => network::connect().map(|()| Response::Connected),
            Command::Run(task) => run(&orb, &references, task).map(Response::Done),
        };
        response.map_err(|error| error.to_string())
    })?;
    Ok(())
}

fn run(orb: &Orb, references: &[String], task: Task) -> Result<TaskResult, Error> {
    let reference = references
        .get(task.pool)
        .ok_or_else(|| format!("the server has no pool {}", task.pool))?;
    let load: LoadRef = orb.resolve(reference)?;
    let context = WorkerContext {
        orb: orb.clone(),
        load,
        rounds: task.rounds,
        seconds: task.seconds,
        tolerance: task.tolerance,
    };
    let delay = task.tolerance.map_or(Duration::ZERO, |tolerance| tolerance.delay);
    let start = Arc::new(Start::of(task.workers.len(), delay));
    let mut threads = Vec::with_capacity(task.workers.len());
    for (number, worker) in task.workers.into_iter().enumerate() {
        let (context, start) = (context.clone(), Arc::clone(&start));
        let name = format!("client-{number}-{}", worker.name);
        let thread = ThreadSpec::new(name).prefault_bytes(ThreadSpec::USUAL_PREFAULT_BYTES);
        threads.push(thread.spawn(move || context.run(&worker, &start))?);
    }
    // All threads are joined before an error is returned.
    let ended: Vec<Result<_, Error>> = threads.into_iter().map(|thread| joined(thread)?).collect();
    let reports = ended.into_iter().collect::<Result<Vec<_>, Error>>()?;
    let longest = reports.iter().map(|report| report.elapsed_s).fold(0.0, f64::max);
    let begin = start.at().clock;
    Ok(TaskResult {
        reports,
        span: Span::between(begin, begin + Duration::from_secs_f64(longest)),
    })
}
