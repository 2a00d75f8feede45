//! `bench cubit`: the cost of a call, compared with the operating system's own cost of the same exchange.
//!
//! Client and server are separate processes, on one CPU and on two. Blocks of calls alternate with blocks of
//! a raw ping-pong of the same kind (TCP, Unix socket, shared memory with futexes), with equal message sizes
//! and on the same CPUs, so that disturbances affect both; the ratio is computed within each pair. Source:
//! [Schmidt 2002] 3.2, TAO's IDL_Cubit.

pub(crate) mod client;
mod count;
pub(crate) mod cube;
mod explained;
mod measure;
pub(crate) mod operation;
mod placement;
mod raw;
mod rows;
mod servant;
pub(crate) mod server;
pub(crate) mod transport;

use std::time::Duration;

use self::{
    operation::OPERATIONS,
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
                placement.measure(extent, &trial.testbed.progress, outcome)?;
            }
        }
        for (_, client) in clients {
            explained::measure(trial.testbed, client, outcome)?;
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

    /// Returns the expected duration; a pair of blocks takes about 50 µs per call.
    fn expected(self) -> Duration {
        let calls = self.rounds as u64 * u64::from(self.calls_per_block) * OPERATIONS.len() as u64;
        (Duration::from_micros(calls * 200) + Duration::from_secs(2 * self.cpu_seconds)) * 2
    }
}

/// The measured transports and wait modes of the lane.
const ROWS: [(Transport, LaneWait); 4] = [
    (Transport::Tcp, LaneWait::Polled),
    (Transport::Unix, LaneWait::Polled),
    (Transport::Unix, LaneWait::Blocking),
    (Transport::Shm, LaneWait::Polled),
];
