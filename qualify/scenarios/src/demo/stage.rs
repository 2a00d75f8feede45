//! Where the experiments with thread pools take place: server and clients on one CPU that is prepared for them, under a load
//! that fits the machine.

use std::time::Duration;

use punctual_harness::{Child, ChildSpec, Span, Watchdog};
use punctual_os::TaskId;

use super::{
    CLIENT_ROLE, Pool, SERVER_ROLE,
    client::{Answer, Paced, Task},
    server::{Ready, WITH_BEST_EFFORT},
};
use crate::{Error, testbed::Places};

pub(crate) const START: Duration = Duration::from_secs(20);
/// Calls per second that work 30 is to allow, as in [S2].
pub(crate) const CAPACITY: f64 = 150.0;
const REFERENCE_WORK: u32 = 30;

/// What is wanted of a stage.
pub(crate) struct Setup<'s> {
    pub(crate) best_effort: bool,
    /// What server and clients have in their environment besides ours.
    pub(crate) environment: &'s [(&'s str, String)],
    /// How long all of it may take before server and clients are killed.
    pub(crate) limit: Duration,
}

/// The stage, set.
pub(crate) struct Stage {
    server: Child,
    client: Child,
    _watchdog: Watchdog,
    /// How many rounds make one unit of work.
    pub(crate) rounds: u32,
}

/// What came of clients with rates.
pub(crate) struct Rates {
    pub(crate) paced: Vec<Paced>,
    pub(crate) best_effort_calls: u64,
    pub(crate) span: Span,
}

impl Stage {
    /// Starts server and clients.
    pub(crate) fn set(places: &Places, setup: &Setup<'_>) -> Result<Self, Error> {
        let child = |name: &str, role: &str| {
            let spec = ChildSpec::new(name, role).affinity(places.pinned.clone());
            let environment = setup.environment.iter();
            environment.fold(spec, |spec, (name, value)| spec.environment(*name, value))
        };
        let mut server = child("server", SERVER_ROLE);
        if setup.best_effort {
            server = server.argument(WITH_BEST_EFFORT);
        }
        let (server, ready) = server.spawn::<Ready>(START)?;
        let client = child("client", CLIENT_ROLE);
        let client = client.argument(ready.classic).argument(ready.lanes);
        let (client, ()) = client.spawn(START)?;
        let watchdog = Watchdog::start(
            setup.limit,
            vec![server.killer()?, client.killer()?],
            &places.driver,
        )?;
        Ok(Self {
            server,
            client,
            _watchdog: watchdog,
            rounds: 20,
        })
    }

    /// Server and clients.
    pub(crate) fn processes(&self) -> Vec<TaskId> {
        vec![self.server.id(), self.client.id()]
    }

    /// Finds out how many rounds make one unit of work, so that work 30 allows 150 calls per second through the ORB.
    pub(crate) fn calibrate(&mut self, seconds: f64) -> Result<(), Error> {
        let mut rounds = f64::from(self.rounds);
        // The time per call is linear in the rounds but for the call's own cost; three steps leave under 1 %.
        for share in [0.2, 0.8, 1.0] {
            self.rounds = rounds as u32;
            let achieved = self.capacity(seconds * share)?;
            rounds = (rounds * achieved / CAPACITY).clamp(1.0, 1e6);
        }
        self.rounds = rounds.round() as u32;
        Ok(())
    }

    /// How many calls per second a single client at the highest priority gets through at work 30.
    pub(crate) fn capacity(&mut self, seconds: f64) -> Result<f64, Error> {
        let task = Task::Capacity {
            work: REFERENCE_WORK,
            rounds: self.rounds,
            seconds,
        };
        match self.ask(&task, seconds)? {
            Answer::CallsPerSecond(rate) => Ok(rate),
            Answer::Rates { .. } => Err(out_of_step()),
        }
    }

    /// Runs the three clients, and best-effort threads beside them.
    pub(crate) fn rates(
        &mut self,
        pool: Pool,
        work: u32,
        seconds: f64,
        best_effort: usize,
    ) -> Result<Rates, Error> {
        let task = Task::Rates {
            pool,
            work,
            rounds: self.rounds,
            seconds,
            best_effort,
        };
        match self.ask(&task, seconds)? {
            Answer::CallsPerSecond(_) => Err(out_of_step()),
            Answer::Rates {
                paced,
                best_effort_calls,
                span,
            } => Ok(Rates {
                paced,
                best_effort_calls,
                span,
            }),
        }
    }

    fn ask(&mut self, task: &Task, seconds: f64) -> Result<Answer, Error> {
        Ok(self
            .client
            .ask(task, START + Duration::from_secs_f64(seconds * 2.0))?)
    }

    /// Ends server and clients.
    pub(crate) fn strike(self) -> Result<(), Error> {
        self.client.stop(START)?;
        Ok(self.server.stop(START)?)
    }
}

fn out_of_step() -> Error {
    "the client process answered another question than was asked".into()
}
