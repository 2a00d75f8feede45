//! The deployment of an experiment: the server process and the client process, each on its CPUs.

use std::time::Duration;

use punctual_harness::{ChildSpec, OtherLoad, Watchdog, child::Process};
use punctual_os::{CpuSet, TaskId};

use super::{
    client::{Client, ClientSetup, PluggedIn},
    server::{Hoard, Plug, ServePingPong, Server, ServerSetup, ServerSpec},
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
    /// Like [`Self::Apart`], in separate networks connected by a cable, as on two machines.
    Linked,
}

/// The configuration of a deployment.
#[derive(Clone, Debug)]
pub(crate) struct Setup<'s> {
    pub(crate) server: ServerSpec,
    pub(crate) placement: Placement,
    /// Additional environment variables of server and clients.
    pub(crate) environment: &'s [(&'s str, String)],
    /// Parts to skip if the machine does not support this placement; if `None`, the benchmark fails then.
    pub(crate) optional: Option<Optional<'s>>,
}

/// Parts to skip if a deployment is not possible.
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
    server: Process<Server>,
    client: Process<Client>,
    /// References of the server's servants, by pool.
    pub(crate) references: Vec<Vec<String>>,
    _watchdog: Watchdog,
    /// The CPUs that it shares with other programs; `None` if it has its CPU to itself.
    shared: Option<CpuSet>,
    /// Rounds per unit of work.
    pub(crate) rounds: u32,
}

impl Deployment {
    /// Starts server and clients, which are killed after `timeout`.
    pub(crate) fn start(
        places: &Places,
        setup: &Setup<'_>,
        rounds: u32,
        timeout: Duration,
    ) -> Result<Self, Error> {
        let linked = setup.placement == Placement::Linked;
        let (served, called) = setup.placement.cpus(places);
        let server = ChildSpec::of::<Server>("server").affinity(served);
        let server = server.environments(setup.environment);
        let of_server = ServerSetup {
            server: setup.server.clone(),
            linked,
        };
        let (mut server, references) = server.start::<Server>(&of_server, START_TIMEOUT)?;
        let client = ChildSpec::of::<Client>("client").affinity(called);
        let client = client.environments(setup.environment);
        let ping_pong = setup.server.ping_pong;
        let ping_pong = ping_pong
            .map(|priority| server.perform(&ServePingPong { priority }, START_TIMEOUT))
            .transpose()?;
        let of_client = ClientSetup {
            references,
            ping_pong,
            linked,
            server: server.id().get(),
        };
        let (mut client, ()) = client.start::<Client>(&of_client, START_TIMEOUT)?;
        if linked {
            let client_id = u32::try_from(client.id().get())?;
            server.perform(&Plug { client: client_id }, START_TIMEOUT)?;
            client.perform(&PluggedIn, START_TIMEOUT)?;
        }
        let killers = vec![server.killer()?, client.killer()?];
        Ok(Self {
            _watchdog: Watchdog::start(timeout, killers, &places.driver)?,
            shared: (setup.placement == Placement::AllCpus).then(|| setup.placement.cpus(places).0),
            server,
            client,
            references: of_client.references,
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
        Ok(self.client.begin(&task)?)
    }

    /// Waits for workers that have been started for this time.
    pub(crate) fn end(&mut self, seconds: f64) -> Result<TaskResult, Error> {
        // Under overload, calls end late, by at most the clients' outstanding calls.
        let timeout = START_TIMEOUT + Duration::from_secs_f64(seconds * 2.0);
        Ok(self.client.end::<Task>(timeout)?)
    }

    /// Makes the server keep so much memory, and release what it kept before.
    pub(crate) fn hoard(&mut self, octets: usize) -> Result<(), Error> {
        Ok(self.server.perform(&Hoard { octets }, START_TIMEOUT)?)
    }

    /// Ends server and clients.
    pub(crate) fn stop(self) -> Result<(), Error> {
        self.client.stop(START_TIMEOUT)?;
        Ok(self.server.stop(START_TIMEOUT)?)
    }
}
