//! The client process.

use std::{sync::Arc, time::Duration};

use punctual::Orb;
use punctual_harness::{Span, child::Control};
use punctual_os::{Thread, ThreadSpec};
use serde::{Deserialize, Serialize};

use super::{
    network,
    task::{Answer, Task},
    worker::{Start, Tools},
};
use crate::{error::Error, idl::load::bench::LoadRef};

/// What the driver asks of the client process.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Question {
    /// The cable's end is there: bring it up.
    PluggedIn,
    /// Let the workers work.
    Run(Task),
}

/// What it answers.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Said {
    /// There is a way to the server.
    Connected,
    /// The workers have worked.
    Done(Answer),
}

/// The client process. Arguments: the references behind the server's pools as a list, and [`network::LINKED`] for a network of
/// its own.
pub(crate) fn client(arguments: &[String]) -> Result<(), Error> {
    let [references, rest @ ..] = arguments else {
        return Err("the client needs to be told the references".into());
    };
    if rest.iter().any(|argument| argument == network::LINKED) {
        network::separate()?;
    }
    let references: Vec<String> = serde_json::from_str(references)?;
    let orb = Orb::builder().build()?;
    Control::ready(&())?.serve(|question: Question| {
        let said = match question {
            Question::PluggedIn => network::connect().map(|()| Said::Connected),
            Question::Run(task) => run(&orb, &references, task).map(Said::Done),
        };
        said.map_err(|error| error.to_string())
    })?;
    Ok(())
}

fn run(orb: &Orb, references: &[String], task: Task) -> Result<Answer, Error> {
    let reference = references
        .get(task.pool)
        .ok_or_else(|| format!("the server has no pool {}", task.pool))?;
    let load: LoadRef = orb.resolve(reference)?;
    let tools = Tools {
        orb: orb.clone(),
        load,
        rounds: task.rounds,
        seconds: task.seconds,
    };
    let start = Arc::new(Start::of(task.workers.len()));
    let mut threads = Vec::with_capacity(task.workers.len());
    for (number, worker) in task.workers.into_iter().enumerate() {
        let (tools, start) = (tools.clone(), Arc::clone(&start));
        let name = format!("client-{number}-{}", worker.name);
        let thread = ThreadSpec::new(name).prefault(true);
        threads.push(thread.spawn(move || tools.work(&worker, &start))?);
    }
    let ended: Vec<Result<_, Error>> = threads.into_iter().map(joined).collect();
    let reports = ended.into_iter().collect::<Result<Vec<_>, Error>>()?;
    let longest = reports.iter().map(|report| report.elapsed_s).fold(0.0, f64::max);
    let begin = start.at().clock;
    Ok(Answer {
        reports,
        span: Span::between(begin, begin + Duration::from_secs_f64(longest)),
    })
}

fn joined<T>(thread: Thread<Result<T, Error>>) -> Result<T, Error> {
    thread
        .join()
        .map_err(|_| "a client thread panicked; its message is on standard error")?
}
