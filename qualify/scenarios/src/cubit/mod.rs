//! `bench cubit`: the cost of a call, compared with the operating system's own cost of the same exchange.
//!
//! Client and server are separate processes, on one CPU and on two. Blocks of calls alternate with blocks of
//! a raw ping-pong of the same kind (TCP, Unix socket, shared memory with futexes), with equal message sizes
//! and on the same CPUs, so that disturbances affect both; the ratio is computed within each pair. Source:
//! [Schmidt 2002] 3.2, TAO's IDL_Cubit.

pub(crate) mod client;
mod conclusion;
mod count;
pub(crate) mod cube;
mod explained;
mod measure;
pub(crate) mod operation;
mod placement;
pub(crate) mod raw;
mod rows;
mod servant;
pub(crate) mod server;
pub(crate) mod transport;

use std::time::Duration;

use self::{
    placement::Placement,
    server::Fault,
    transport::{LaneWait, Transport},
};
use crate::{
    benchmark::Benchmark,
    control::Control,
    error::Error,
    experiment::{Experiment, Trial, benchmark},
    length::Length,
    role::{Role, entry},
};

/// The roles of the child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[entry::<server::Server>(), entry::<client::Caller>()];

pub(crate) const BENCHMARK: Benchmark = benchmark::<Cubit>();

struct Cubit;

impl Experiment for Cubit {
    const NAME: &'static str = "cubit";
    const ABOUT: &'static str =
        "latency of calls with different arguments, compared with a raw ping-pong of the same octets";
    const PAGE: &'static str = include_str!("cubit.toml");
    const CONTROLS: &'static [Control] = &[TWICE, BOXES, WRONG];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        let places = &trial.testbed.places;
        let cpu = |set: &punctual_os::CpuSet| set.iter().next().ok_or("no CPU to run on");
        let (served, driver) = (cpu(&places.pinned)?, cpu(&places.driver)?);
        let outcome = &mut trial.outcome;
        outcome.parameter("rounds", extent.rounds);
        outcome.parameter("calls_per_block", extent.calls_per_block);
        outcome.parameter("cpu_seconds", extent.cpu_seconds);
        let mut clients = vec![("same-cpu", served)];
        if places.has_driver() {
            clients.push(("split-cpu", driver));
        } else {
            let reason = "only one CPU is available to this process";
            outcome.skip(None, "every row of placement split-cpu", reason);
        }
        let faults = [
            (TWICE, Fault::Twice),
            (BOXES, Fault::Boxes),
            (WRONG, Fault::Wrong),
        ];
        let fault = faults.iter().find(|(control, _)| trial.testbed.is_under(control));
        let fault = fault.map(|(_, fault)| *fault);
        let mut others = 0_f64;
        for &(name, client) in &clients {
            for (transport, lane_wait) in ROWS {
                let placement = Placement {
                    name,
                    client,
                    server: served,
                    transport,
                    lane_wait,
                    fault,
                };
                others = others.max(placement.measure(extent, &trial.testbed.progress, outcome)?);
            }
        }
        for (_, client) in clients {
            explained::measure(trial.testbed, client, outcome)?;
        }
        trial
            .outcome
            .parameter("other_programs_percent", (others * 100.0).round());
        if let Some(text) = conclusion::conclusion(trial.outcome.rows(), others) {
            trial.conclude(text);
        }
        Ok(())
    }
}

const TWICE: Control = Control {
    id: "twice",
    about: "two calls in the place of each one",
    breaks: &[
        "p50-over-raw*",
        "any-over-struct.*",
        "client-syscalls.*",
        "server-syscalls.*",
        "user-cpu.*",
    ],
};
const BOXES: Control = Control {
    id: "boxes",
    about: "client and servant that allocate memory at each call",
    breaks: &["allocations.*"],
};
const WRONG: Control = Control {
    id: "wrong-results",
    about: "a servant that adds 1 to each result",
    breaks: &["errors.*"],
};

/// The amount of measurements.
#[derive(Clone, Copy)]
struct Extent {
    /// Pairs of blocks per operation.
    rounds: usize,
    calls_per_block: u32,
    /// Time over which the processor time of one kind of call is summed.
    cpu_seconds: u64,
}

impl Extent {
    fn of(length: Length) -> Self {
        match length {
            Length::Quick => Self {
                rounds: 30,
                calls_per_block: 150,
                cpu_seconds: 0,
            },
            Length::Full | Length::Paper => Self {
                rounds: 50,
                calls_per_block: 500,
                cpu_seconds: 30,
            },
        }
    }

    /// Expected duration of starting client and server.
    const START: Duration = Duration::from_millis(200);

    /// Returns the expected duration of measuring an operation: about 100 µs for a call and its baseline.
    fn of_operation(self) -> Duration {
        Duration::from_micros(self.rounds as u64 * u64::from(self.calls_per_block) * 100)
    }

    /// Returns the duration of measuring the processor time of a call and its baseline.
    fn of_processor_time(self) -> Duration {
        Duration::from_secs(2 * self.cpu_seconds)
    }

    /// Returns the expected duration of all stages, on one CPU and on two.
    fn expected(self) -> Duration {
        let of_row = |(_, wait): &(_, LaneWait)| {
            let operations = u32::try_from(wait.operations().len()).unwrap_or(u32::MAX);
            Self::START + self.of_operation() * operations
        };
        let rows: Duration = ROWS.iter().map(of_row).sum();
        (rows + self.of_processor_time()) * 2
    }
}

/// The measured transports and wait modes of the lane.
const ROWS: [(Transport, LaneWait); 4] = [
    (Transport::Tcp, LaneWait::Polled),
    (Transport::Unix, LaneWait::Polled),
    (Transport::Unix, LaneWait::Blocking),
    (Transport::Shm, LaneWait::Polled),
];
