//! TAO's MT_Cubit test: clients with rates and priorities call servants that return the cube of an octet.
//!
//! Server and clients are processes of their own on one CPU. The clients wait for each other, then each
//! calls, pauses for what is left of its period, and calls again. Source: [Schmidt 2002] 3.3 and figure 3,
//! TAO's MT_Cubit.

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

/// The highest CORBA priority of a client, a little below the highest there is, so that what supervises the
/// run stands above it.
const HIGHEST: i16 = 32_000;
/// So far apart that each has a native priority of its own under the linear mapping, where a step is 331.
const STEP: i16 = 600;

/// The priority of the client of that number; 0 is the most important one. Below 50 of them there is room
/// down to native 1.
pub(super) fn priority(number: usize) -> i16 {
    let number = i16::try_from(number).unwrap_or(i16::MAX);
    HIGHEST - number.saturating_mul(STEP).min(HIGHEST)
}

/// Server and clients, running.
pub(super) struct Stage {
    server: Child,
    client: Child,
    _watchdog: Watchdog,
}

impl Stage {
    /// Starts them on the pinned CPU; they are killed when `limit` has passed.
    pub(super) fn set(
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
        // References of many objects are longer than a command line may be.
        client.ask::<_, client::Response>(&client::Command::Resolve(references), START)?;
        Ok(Self {
            server,
            client,
            _watchdog: watchdog,
        })
    }

    /// Server and clients.
    pub(super) fn processes(&self) -> Vec<TaskId> {
        vec![self.server.id(), self.client.id()]
    }

    /// Runs clients side by side.
    pub(super) fn run(&mut self, task: &Task) -> Result<Run, Error> {
        let within = START + Duration::from_secs_f64(task.seconds * 2.0);
        let command = client::Command::Run(task.clone(), self.server.id().get());
        match self.client.ask(&command, within)? {
            client::Response::Ran(run) => Ok(run),
            _ => Err(out_of_step()),
        }
    }

    /// The time of a context switch in nanoseconds, by the yield test on the pinned CPU: two threads give it
    /// to each other. With the system call that does it, so rather too long.
    pub(super) fn switch_ns(&mut self) -> Result<f64, Error> {
        match self.client.ask(&client::Command::SwitchTime, START)? {
            client::Response::SwitchTime(ns) => Ok(ns),
            _ => Err(out_of_step()),
        }
    }

    /// Ends server and clients.
    pub(super) fn strike(self) -> Result<(), Error> {
        self.client.stop(START)?;
        Ok(self.server.stop(START)?)
    }
}

fn out_of_step() -> Error {
    "unexpected response of the client process".into()
}

/// Latency as the papers tell it, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct MeanAndJitter {
    pub(super) samples: usize,
    pub(super) mean_us: Option<f64>,
    /// The sample standard deviation.
    pub(super) jitter_us: Option<f64>,
    pub(super) max_us: Option<f64>,
    /// When the slowest call was under way.
    pub(super) slowest: Option<Span>,
}

impl MeanAndJitter {
    /// Of the calls of several clients. Calls that were under way in one of `holes` are left out.
    pub(super) fn of<'c>(clients: impl IntoIterator<Item = &'c Calls>, holes: &[Hole]) -> Self {
        let outside = |call: &&client::Call| {
            let Span { start_ns, end_ns } = call.span();
            let meets = |hole: &Hole| start_ns < hole.span().end_ns && hole.span().start_ns < end_ns;
            !holes.iter().any(meets)
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

    /// The columns of a row: of all calls, and of those outside `holes`.
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
    fn fifty_one_clients_have_native_priorities_of_their_own() {
        let native = |number| (i32::from(priority(number)) * 98 / 32_767) + 1;
        let natives: std::collections::BTreeSet<_> = (0..=50).map(native).collect();
        assert_eq!(natives.len(), 51);
        assert!(*natives.last().unwrap() < 99, "the watchdog stands above them");
        assert_eq!(priority(1000), 0);
    }

    #[test]
    fn calls_in_a_hole_are_left_out_and_no_others() {
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
            source: HoleSource::Idle,
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
        assert_eq!(row.get("max_cause").unwrap(), "a hole of 25 ms: the CPU idled");
    }
}
