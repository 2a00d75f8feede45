//! `bench cubit`: what a call costs over the operating system's own cost of the same exchange.
//!
//! Client and server are processes of their own, on one CPU and on two. Blocks of calls alternate with blocks of a raw ping-pong of
//! the same kind (TCP, Unix socket, shared memory with futexes) and of the same numbers of octets over the same CPUs, so that what
//! disturbs one disturbs the other; the ratio is taken within each pair. Source: \[S0\] 3.2, TAO's IDL_Cubit.

mod client;
mod count;
mod operation;
mod placement;
mod raw;
mod rows;
mod server;
mod transport;

use std::{process::ExitCode, time::Duration};

use punctual_harness::{MachineFacts, Outcome, Progress};
use punctual_os::{CpuSet, affinity};

pub(crate) use client::client;
pub(crate) use server::server;

use self::{
    operation::OPERATIONS,
    placement::{LaneWait, Placement},
    transport::Transport,
};
use crate::{
    Error,
    report::{Files, could_not_run},
};

pub(crate) const SERVER_ROLE: &str = "__cubit-server";
pub(crate) const CLIENT_ROLE: &str = "__cubit-client";

/// What `punctual bench cubit` can be told.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    files: Files,
    /// Shorter blocks: a first impression in a few seconds, with wider confidence intervals
    #[arg(long)]
    quick: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are
    #[arg(long)]
    leave_system_alone: bool,
}

/// How much is measured.
#[derive(Clone, Copy)]
struct Extent {
    /// Pairs of blocks for each operation.
    rounds: usize,
    calls_per_block: u32,
    /// How long the processor time of one kind of call is summed.
    cpu_seconds: u64,
}

impl Options {
    fn extent(&self) -> Extent {
        if self.quick {
            Extent {
                rounds: 30,
                calls_per_block: 150,
                cpu_seconds: 0,
            }
        } else {
            Extent {
                rounds: 50,
                calls_per_block: 500,
                cpu_seconds: 30,
            }
        }
    }
}

/// Measures, prints, writes the files asked for. Exit code as the contract for machine reading says.
pub fn run(options: &Options) -> ExitCode {
    match measure(options) {
        Ok(outcome) => {
            rows::print(&outcome);
            options.files.finish(&outcome, || rows::html(&outcome))
        }
        Err(error) => could_not_run("bench cubit", &error),
    }
}

/// What is between client and server, and how the server waits.
const ROWS: [(Transport, LaneWait); 4] = [
    (Transport::Tcp, LaneWait::Polled),
    (Transport::Unix, LaneWait::Polled),
    (Transport::Unix, LaneWait::Blocking),
    (Transport::Shm, LaneWait::Polled),
];

fn measure(options: &Options) -> Result<Outcome, Error> {
    let extent = options.extent();
    let cpus: Vec<usize> = affinity::current().iter().collect();
    let &served = cpus.last().ok_or("no CPU to run on")?;
    let driver = cpus[0];
    let pinned = CpuSet::single(served);
    let mut outcome = Outcome::new("cubit", MachineFacts::read(&pinned));
    outcome.parameter("rounds", extent.rounds);
    outcome.parameter("calls_per_block", extent.calls_per_block);
    outcome.parameter("cpu_seconds", extent.cpu_seconds);

    // A pair of blocks takes about 50 µs for each of its calls.
    let calls = extent.rounds as u64 * u64::from(extent.calls_per_block) * OPERATIONS.len() as u64;
    let expected = Duration::from_micros(calls * 200) + Duration::from_secs(2 * extent.cpu_seconds);
    let progress = Progress::start("bench cubit", expected * 2);
    let supervisor = punctual_harness::supervisor::Preparation::new(pinned.clone())
        .leave_system_alone(options.leave_system_alone)
        .start()?;
    outcome.parameter("prepared", serde_json::to_value(supervisor.prepared())?);
    affinity::set_current(&CpuSet::single(driver))?;

    let on = |name, client, transport, lane_wait| Placement {
        name,
        client,
        server: served,
        transport,
        lane_wait,
    };
    for (transport, lane_wait) in ROWS {
        on("same-cpu", served, transport, lane_wait).measure(extent, &progress, &mut outcome)?;
    }
    if driver == served {
        let reason = "only one CPU is available to this process";
        outcome.skip(None, "every row of placement split-cpu", reason);
    } else {
        for (transport, lane_wait) in ROWS {
            on("split-cpu", driver, transport, lane_wait).measure(extent, &progress, &mut outcome)?;
        }
    }
    progress.finish();
    supervisor.finish()?;
    Ok(outcome)
}
