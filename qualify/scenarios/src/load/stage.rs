//! Where the experiments take place: the server's process and the clients', each on its CPUs.

use std::time::Duration;

use punctual_harness::{Child, ChildSpec, OtherLoad, Watchdog};
use punctual_os::{CpuSet, TaskId};

use super::{
    CLIENT_ROLE, SERVER_ROLE,
    client::{Question, Said},
    network,
    server::{self, ServerSpec},
    task::{Answer, Task},
};
use crate::{error::Error, testbed::Places};

const START: Duration = Duration::from_secs(20);

/// Which CPUs server and clients run on, and what is between them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Placement {
    /// Both on the one that is measured.
    OneCpu,
    /// Both on all that a run has.
    AllCpus,
    /// The server on the one that is measured, the clients on the driver's.
    Apart,
    /// The same, each in a network of its own, with a cable between: as two machines.
    Linked,
}

/// What is wanted of a stage.
#[derive(Clone, Debug)]
pub(crate) struct Setup<'s> {
    pub(crate) server: ServerSpec,
    pub(crate) placement: Placement,
    /// What server and clients have in their environment besides ours.
    pub(crate) environment: &'s [(&'s str, String)],
    /// What is skipped where the machine cannot have this placement; without it nothing can be measured then.
    pub(crate) optional: Option<Optional<'s>>,
}

/// What is not measured where a stage cannot be set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optional<'s> {
    /// For the reader.
    pub(crate) what: &'s str,
    /// The claims that are absent for it.
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

    /// Its phases are skipped where the machine cannot have it.
    pub(crate) fn or_skip(self, what: &'s str, claims: &'s [&'s str]) -> Self {
        Self {
            optional: Some(Optional { what, claims }),
            ..self
        }
    }
}

impl Placement {
    /// Of the server, and of the clients.
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

    /// Whether it takes more than one CPU.
    pub(crate) fn needs_two(self) -> bool {
        self != Self::OneCpu
    }
}

/// The stage, set.
pub(crate) struct Stage {
    server: Child,
    client: Child,
    _watchdog: Watchdog,
    /// Those that it shares with everything else on the machine: none where nothing else is to be on its CPU.
    shared: Option<CpuSet>,
    /// How many rounds make one unit of work.
    pub(crate) rounds: u32,
}

impl Stage {
    /// Starts server and clients, which are killed after `limit`.
    pub(crate) fn set(
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
        let (mut server, references) = server.spawn::<Vec<String>>(START)?;
        let client = child("client", CLIENT_ROLE, called, serde_json::to_string(&references)?);
        let (mut client, ()) = client.spawn(START)?;
        if linked {
            let client_id = u32::try_from(client.id().get())?;
            let plug = server::Question::Plug { client: client_id };
            let () = server.ask(&plug, START)?;
            let _: Said = client.ask(&Question::PluggedIn, START)?;
        }
        let killers = vec![server.killer()?, client.killer()?];
        Ok(Self {
            _watchdog: Watchdog::start(limit, killers, &places.driver)?,
            shared: (setup.placement == Placement::AllCpus).then(|| setup.placement.cpus(places).0),
            server,
            client,
            rounds,
        })
    }

    /// Server and clients.
    pub(crate) fn processes(&self) -> Vec<TaskId> {
        vec![self.server.id(), self.client.id()]
    }

    /// As [`Self::run`], and the share that other programs had of its CPUs meanwhile, where it shares any.
    pub(crate) fn run_watched(
        &mut self,
        pool: usize,
        seconds: f64,
        workers: &[super::Worker],
    ) -> Result<(Answer, Option<f64>), Error> {
        let watch = self
            .shared
            .clone()
            .map(|cpus| OtherLoad::start(self.processes(), cpus));
        let watch = watch.transpose()?;
        let answer = self.run(pool, seconds, workers)?;
        let others = watch.map(|watch| watch.share()).transpose()?;
        Ok((answer, others))
    }

    /// Lets clients work for so many seconds.
    pub(crate) fn run(
        &mut self,
        pool: usize,
        seconds: f64,
        workers: &[super::Worker],
    ) -> Result<Answer, Error> {
        let task = Task {
            pool,
            rounds: self.rounds,
            seconds,
            workers: workers.to_vec(),
        };
        // Overload lets calls end late, by at most what the clients have still outstanding.
        let patience = START + Duration::from_secs_f64(seconds * 2.0);
        match self.client.ask(&Question::Run(task), patience)? {
            Said::Done(answer) => Ok(answer),
            Said::Connected => Err("the client process answered another question than was asked".into()),
        }
    }

    /// Ends server and clients.
    pub(crate) fn strike(self) -> Result<(), Error> {
        self.client.stop(START)?;
        Ok(self.server.stop(START)?)
    }
}
