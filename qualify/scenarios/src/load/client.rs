//! The client process.

use std::{sync::Arc, time::Duration};

use punctual::{Orb, PolicyOverrides};
use punctual_harness::{
    Span,
    child::{self, Role, TaskEntry},
};
use punctual_os::{TaskId, ThreadSpec};
use serde::{Deserialize, Serialize};

use super::{
    network,
    task::{Pace, Report, Task, TaskResult},
    worker::{Start, WorkerContext},
};
use crate::{cubit::raw::RawAddress, error::Error, idl::load::bench::LoadRef, os::joined};

/// The client process.
pub(crate) struct Client {
    orb: Orb,
    setup: ClientSetup,
    /// The server's servants, by pool.
    servants: Vec<Vec<LoadRef>>,
}

/// Parameters of the client process.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ClientSetup {
    /// References of the server's servants, by pool.
    pub(super) references: Vec<Vec<String>>,
    /// Address of the server's raw ping-pong.
    pub(super) ping_pong: Option<RawAddress>,
    /// Whether it has a separate network.
    pub(super) linked: bool,
    /// The server process.
    pub(super) server: i32,
}

impl Role for Client {
    const NAME: &'static str = "__load-client";
    type Setup = ClientSetup;
    type Ready = ();
    const TASKS: &'static [TaskEntry<Self>] = &[TaskEntry::of::<PluggedIn>(), TaskEntry::of::<Task>()];

    fn start(setup: ClientSetup) -> Result<(Self, ()), Error> {
        if setup.linked {
            network::separate()?;
        }
        let orb = Orb::builder().build()?;
        let pool = |references: &Vec<String>| references.iter().map(|ior| Ok(orb.resolve(ior)?)).collect();
        let servants = setup.references.iter().map(pool).collect::<Result<_, Error>>()?;
        Ok((Self { orb, setup, servants }, ()))
    }
}

/// Bring up the client's end of the cable, which is now in this namespace.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct PluggedIn;

impl child::Task<Client> for PluggedIn {
    const NAME: &'static str = "plugged-in";
    type Reply = ();

    fn perform(self, _: &mut Client) -> Result<(), Error> {
        network::connect()
    }
}

impl child::Task<Client> for Task {
    const NAME: &'static str = "run";
    type Reply = TaskResult;

    fn perform(self, client: &mut Client) -> Result<TaskResult, Error> {
        run(client, self)
    }
}

/// Enough for calls even without optimisation, and small enough for a hundred locked stacks.
const STACK_BYTES: usize = 512 << 10;

fn run(client: &Client, task: Task) -> Result<TaskResult, Error> {
    let servants = client
        .servants
        .get(task.pool)
        .ok_or_else(|| format!("the server has no pool {}", task.pool))?;
    let server = TaskId::new(client.setup.server);
    let delay = task.tolerance.map_or(Duration::ZERO, |tolerance| tolerance.delay);
    let start = Arc::new(Start::of(task.workers.len(), delay));
    let mut threads = Vec::with_capacity(task.workers.len());
    for (number, worker) in task.workers.into_iter().enumerate() {
        let servant = servants.get(worker.servant).ok_or("unknown servant")?;
        let load = if worker.private_connection {
            servant
                .with_policies(PolicyOverrides::new().private_connection(true))
                .unchecked()
        } else {
            servant.clone()
        };
        let is_watching = number == 0 && matches!(worker.pace, Pace::Pausing { .. });
        let context = WorkerContext {
            orb: client.orb.clone(),
            load,
            ping_pong: client.setup.ping_pong.clone(),
            watched: server.filter(|_| is_watching),
            rounds: task.rounds,
            seconds: task.seconds,
            tolerance: task.tolerance,
        };
        let start = Arc::clone(&start);
        let name = format!("client-{number}-{}", worker.name);
        let thread = ThreadSpec::new(name)
            .stack_bytes(STACK_BYTES)
            .prefault_bytes(STACK_BYTES);
        threads.push(thread.spawn(move || context.run(&worker, &start))?);
    }
    // All threads are joined before an error is returned.
    let ended: Vec<Result<_, Error>> = threads.into_iter().map(|thread| joined(thread)?).collect();
    let ended = ended.into_iter().collect::<Result<Vec<(Report, u64)>, Error>>()?;
    let (reports, of_server): (Vec<_>, Vec<_>) = ended.into_iter().unzip();
    let longest = reports.iter().map(|report| report.elapsed_s).fold(0.0, f64::max);
    let begin = start.at().clock;
    Ok(TaskResult {
        reports,
        server_context_switches: of_server.iter().sum(),
        span: Span::between(begin, begin + Duration::from_secs_f64(longest)),
    })
}
