//! TAO's MT_Cubit test: clients with rates and priorities call servants that return the cube of an octet. The
//! server and the clients are two processes on one CPU. The clients start together; each calls, pauses for
//! the rest of its period, and calls again. Source: [Schmidt 2002] 3.3 and figure 3, TAO's MT_Cubit.

pub(super) mod client;
mod pacing;
pub(super) mod server;
mod slices;

use std::time::Duration;

use punctual_harness::{
    Child, ChildSpec, Hole, Row, Span, Watchdog,
    holes::cause_of,
    statistics::{mean, standard_deviation},
};
use punctual_os::TaskId;

use self::{client::CLIENT_ROLE, server::SERVER_ROLE};
pub(super) use self::{
    client::{Call, Calls, ClientSpec, Run, Task},
    server::{Pool, Threads},
    slices::Slices,
};
use crate::{error::Error, testbed::Places};

const START: Duration = Duration::from_secs(30);

/// The highest CORBA priority of a client, slightly below the maximum, to leave room for the supervisor.
const HIGHEST: i16 = 32_000;
/// Difference of priorities, large enough for distinct native priorities under the linear mapping, where a
/// step is 331.
const STEP: i16 = 600;

/// Returns the priority of a client; number 0 is the most important one. 51 clients have distinct native
/// priorities.
pub(super) fn priority(number: usize) -> i16 {
    let number = i16::try_from(number).unwrap_or(i16::MAX);
    HIGHEST - number.saturating_mul(STEP).min(HIGHEST)
}

/// A running server and client process.
pub(super) struct Deployment {
    server: Child,
    client: Child,
    _watchdog: Watchdog,
}

impl Deployment {
    /// Starts the processes on the pinned CPU; they are killed after the time `limit`.
    pub(super) fn start(
        places: &Places,
        pools: &[Pool],
        environment: &[(&str, String)],
        limit: Duration,
    ) -> Result<Self, Error> {
        let child = |name: &str, role: &str| {
            let spec = ChildSpec::new(name, role).affinity(places.pinned.clone());
            spec.environments(environment)
        };
        let server = child("server", SERVER_ROLE);
        let (server, references) = server::spawn(server, pools)?;
        let (mut client, ()) = child("client", CLIENT_ROLE).spawn(START)?;
        let watchdog = Watchdog::start(limit, vec![server.killer()?, client.killer()?], &places.driver)?;
        // The references of many objects would exceed the length of a command line.
        client.ask::<_, client::Response>(&client::Command::Resolve(references), START)?;
        Ok(Self {
            server,
            client,
            _watchdog: watchdog,
        })
    }

    /// Returns the server process and the client process.
    pub(super) fn processes(&self) -> Vec<TaskId> {
        vec![self.server.id(), self.client.id()]
    }

    /// Runs clients concurrently.
    pub(super) fn run(&mut self, task: &Task) -> Result<Run, Error> {
        let within = START + Duration::from_secs_f64(task.seconds * 2.0);
        let command = client::Command::Run(task.clone(), self.server.id().get());
        match self.client.ask(&command, within)? {
            client::Response::Ran(run) => Ok(run),
            _ => Err(unexpected_response()),
        }
    }

    /// Measures the time of a context switch in nanoseconds with the yield test on the pinned CPU. It
    /// includes the system call and is therefore an upper bound.
    pub(super) fn switch_ns(&mut self) -> Result<f64, Error> {
        match self.client.ask(&client::Command::SwitchTime, START)? {
            client::Response::SwitchTime(ns) => Ok(ns),
            _ => Err(unexpected_response()),
        }
    }

    /// Ends server and clients.
    pub(super) fn stop(self) -> Result<(), Error> {
        self.client.stop(START)?;
        Ok(self.server.stop(START)?)
    }
}

fn unexpected_response() -> Error {
    "unexpected response of the client process".into()
}

/// Latency as the papers report it, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MeanAndJitter {
    pub(super) samples: usize,
    pub(super) mean_us: Option<f64>,
    /// The sample standard deviation.
    pub(super) jitter_us: Option<f64>,
    pub(super) max_us: Option<f64>,
    /// The span of the slowest call.
    pub(super) slowest: Option<Span>,
}

impl MeanAndJitter {
    /// Computes the values over the calls of several clients, without calls that one of `holes` excuses.
    pub(super) fn of<'c>(clients: impl IntoIterator<Item = &'c Calls>, holes: &[Hole]) -> Self {
        let outside = |call: &&client::Call| {
            let span = call.span();
            !holes.iter().any(|hole| hole.excuses(span))
        };
        let calls = clients.into_iter().flat_map(|client| &client.calls);
        let calls: Vec<_> = calls.filter(outside).collect();
        let latencies: Vec<f64> = calls.iter().map(|call| call.latency_ns as f64 / 1e3).collect();
        let slowest = calls.iter().max_by_key(|call| call.latency_ns);
        Self {
            samples: latencies.len(),
            mean_us: mean(&latencies),
            jitter_us: standard_deviation(&latencies),
            max_us: slowest.map(|call| call.latency_ns as f64 / 1e3),
            slowest: slowest.map(|call| call.span()),
        }
    }

    /// Adds the columns of a row: over all calls, and over those outside `holes`.
    pub(super) fn columns<'c>(
        row: Row,
        clients: impl IntoIterator<Item = &'c Calls> + Clone,
        holes: &[Hole],
    ) -> Row {
        let raw = Self::of(clients.clone(), &[]);
        let without = Self::of(clients, holes);
        row.with("calls", raw.samples)
            .with("mean_us", raw.mean_us)
            .with("jitter_us", raw.jitter_us)
            .with("max_us", raw.max_us)
            .with("max_cause", raw.slowest.map(|slowest| cause_of(slowest, holes)))
            .with("calls_in_holes", raw.samples - without.samples)
            .with("mean_without_holes_us", without.mean_us)
            .with("jitter_without_holes_us", without.jitter_us)
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::holes::HoleSource;

    use super::*;
    use client::Call;

    #[test]
    fn fifty_one_clients_have_distinct_native_priorities() {
        let native = |number| (i32::from(priority(number)) * 98 / 32_767) + 1;
        let natives: std::collections::BTreeSet<_> = (0..=50).map(native).collect();
        assert_eq!(natives.len(), 51);
        assert!(
            *natives.last().unwrap() < 99,
            "the watchdog has a higher priority"
        );
        assert_eq!(priority(1000), 0);
    }

    #[test]
    fn only_calls_in_holes_are_excluded() {
        let call = |start_ms: u64, ms: u64| Call {
            start_ns: start_ms * 1_000_000,
            latency_ns: ms * 1_000_000,
        };
        let calls = Calls {
            calls: vec![call(0, 1), call(10, 50), call(60, 3)],
            ..Calls::default()
        };
        let hole = Hole {
            start_ns: 30_000_000,
            length_ns: 25_000_000,
            source: HoleSource::OtherTasks,
        };
        let raw = MeanAndJitter::of([&calls], &[]);
        assert_eq!(
            (raw.samples, raw.mean_us, raw.max_us),
            (3, Some(18_000.0), Some(50_000.0))
        );
        let without = MeanAndJitter::of([&calls], &[hole]);
        assert_eq!((without.samples, without.mean_us), (2, Some(2_000.0)));
        assert!((without.jitter_us.unwrap() - 2f64.sqrt() * 1000.0).abs() < 1e-6);
        assert_eq!(MeanAndJitter::of([], &[]), MeanAndJitter::default());
        let row = MeanAndJitter::columns(Row::new(), [&calls], &[hole]);
        assert_eq!(row.number("calls_in_holes"), Some(1.0));
        assert_eq!(
            row.get("max_cause").unwrap(),
            "a hole of 25 ms: the CPU ran other tasks"
        );
    }
}
