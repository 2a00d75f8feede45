//! The deployment of an experiment: the server process and the client process, each on its CPUs.

use std::time::Duration;

use punctual_harness::{Child, ChildSpec, OtherLoad, Watchdog};
use punctual_os::{CpuSet, TaskId};

use super::{
    CLIENT_ROLE, SERVER_ROLE,
    client::{Command, Response},
    network,
    server::{self, ServerSpec},
    task::{Task, TaskResult, Tolerance},
};
use crate::{error::Error, testbed::Places};

/// Timeout of starting and stopping a process.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The CPUs of server and clients, and the network between them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Placement {
    /// Both on the measured CPU.
    OneCpu,
    /// Both on all CPUs of the run.
    AllCpus,
    /// The server on the measured CPU, the clients on the driver's.
    Apart,
    /// As [`Self::Apart`], in separate networks connected by a cable, as on two machines.
    Linked,
}

/// The configuration of a deployment.
#[derive(Clone, Debug)]
pub(crate) struct Setup<'s> {
    pub(crate) server: ServerSpec,
    pub(crate) placement: Placement,
    /// Additional environment variables of server and clients.
    pub(crate) environment: &'s [(&'s str, String)],
    /// What is skipped if the machine does not support this placement; if `None`, the benchmark fails then.
    pub(crate) optional: Option<Optional<'s>>,
}

/// What is skipped if a deployment is not possible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optional<'s> {
    /// Description for the report.
    pub(crate) what: &'s str,
    /// The claims that are skipped.
    pub(crate) claims: &'s [&'s str],
}

impl<'s> Setup<'s> {
    pub(crate) fn new(server: ServerSpec, placement: Placement) -> Self {
        Self {
            server,
            placement,
            environment: &[],
            optional: None,
        }
    }

    /// Makes the deployment optional: its phases are skipped if the machine does not support it.
    pub(crate) fn or_skip(self, what: &'s str, claims: &'s [&'s str]) -> Self {
        Self {
            optional: Some(Optional { what, claims }),
            ..self
        }
    }
}

impl Placement {
    /// Returns the CPUs of the server and those of the clients.
    fn cpus(self, places: &Places) -> (CpuSet, CpuSet) {
        match self {
            Self::OneCpu => (places.pinned.clone(), places.pinned.clone()),
            Self::AllCpus => {
                let all: CpuSet = places.pinned.iter().chain(places.driver.iter()).collect();
                (all.clone(), all)
            }
            Self::Apart | Self::Linked => (places.pinned.clone(), places.driver.clone()),
        }
    }

    /// Returns whether it needs more than one CPU.
    pub(crate) fn needs_two(self) -> bool {
        self != Self::OneCpu
    }
}

/// A running server and client process.
pub(crate) struct Deployment {
    server: Child,
    client: Child,
    /// One for each of the server's pools.
    pub(crate) references: Vec<String>,
    _watchdog: Watchdog,
    /// The CPUs that it shares with other programs; `None` if it has its CPU to itself.
    shared: Option<CpuSet>,
    /// Rounds per unit of work.
    pub(crate) rounds: u32,
}

impl Deployment {
    /// Starts server and clients, which are killed after `limit`.
    pub(crate) fn start(
        places: &Places,
        setup: &Setup<'_>,
        rounds: u32,
        limit: Duration,
    ) -> Result<Self, Error> {
        let linked = setup.placement == Placement::Linked;
        let (served, called) = setup.placement.cpus(places);
        let child = |name: &str, role: &str, cpus: CpuSet, argument: String| {
            let spec = ChildSpec::new(name, role).affinity(cpus).argument(argument);
            let spec = if linked {
                spec.argument(network::LINKED)
            } else {
                spec
            };
            let environment = setup.environment.iter();
            environment.fold(spec, |spec, (name, value)| spec.environment(*name, value))
        };
        let server = child(
            "server",
            SERVER_ROLE,
            served,
            serde_json::to_string(&setup.server)?,
        );
        let (mut server, references) = server.spawn::<Vec<String>>(START_TIMEOUT)?;
        let client = child("client", CLIENT_ROLE, called, serde_json::to_string(&references)?);
        let (mut client, ()) = client.spawn(START_TIMEOUT)?;
        if linked {
            let client_id = u32::try_from(client.id().get())?;
            let plug = server::Command::Plug { client: client_id };
            let () = server.ask(&plug, START_TIMEOUT)?;
            let _: Response = client.ask(&Command::PluggedIn, START_TIMEOUT)?;
        }
        let killers = vec![server.killer()?, client.killer()?];
        Ok(Self {
            _watchdog: Watchdog::start(limit, killers, &places.driver)?,
            shared: (setup.placement == Placement::AllCpus).then(|| setup.placement.cpus(places).0),
            server,
            client,
            references,
            rounds,
        })
    }

    /// Returns the server process and the client process.
    pub(crate) fn processes(&self) -> Vec<TaskId> {
        vec![self.server.id(), self.client.id()]
    }

    /// Runs workers as [`Self::run`] does. Also returns the share of its CPUs that other programs used, if it
    /// shares them.
    pub(crate) fn run_watched(
        &mut self,
        pool: usize,
        seconds: f64,
        workers: &[super::Worker],
    ) -> Result<(TaskResult, Option<f64>), Error> {
        let watch = self
            .shared
            .clone()
            .map(|cpus| OtherLoad::start(self.processes(), cpus));
        let watch = watch.transpose()?;
        let result = self.run(pool, seconds, workers)?;
        let others = watch.map(|watch| watch.share()).transpose()?;
        Ok((result, others))
    }

    /// Runs the workers for this time.
    pub(crate) fn run(
        &mut self,
        pool: usize,
        seconds: f64,
        workers: &[super::Worker],
    ) -> Result<TaskResult, Error> {
        self.begin(pool, seconds, workers, None)?;
        self.end(seconds)
    }

    /// Starts the workers as [`Self::run`] does, and returns; [`Self::end`] waits for their result.
    pub(crate) fn begin(
        &mut self,
        pool: usize,
        seconds: f64,
        workers: &[super::Worker],
        tolerance: Option<Tolerance>,
    ) -> Result<(), Error> {
        let task = Task {
            pool,
            rounds: self.rounds,
            seconds,
            workers: workers.to_vec(),
            tolerance,
        };
        Ok(self.client.tell(&Command::Run(task))?)
    }

    /// Waits for workers that have been started for this time.
    pub(crate) fn end(&mut self, seconds: f64) -> Result<TaskResult, Error> {
        // Under overload, calls end late, by at most the clients' outstanding calls.
        let timeout = START_TIMEOUT + Duration::from_secs_f64(seconds * 2.0);
        match self.client.answer(timeout)? {
            Response::Done(result) => Ok(result),
            Response::Connected => Err("unexpected response of the client process".into()),
        }
    }

    /// Ends server and clients.
    pub(crate) fn stop(self) -> Result<(), Error> {
        self.client.stop(START_TIMEOUT)?;
        Ok(self.server.stop(START_TIMEOUT)?)
    }
}
