//! `orb.*`: the ORB on one machine, measured as in [Schmidt 2002] 3.2 to 3.4 and [Levine 1999].
//!
//! | Benchmark | Subject |
//! |---|---|
//! | [`throughput`] | Calls and octets per second, by type of argument |
//! | [`latency`] | Latency of an important client with many less important ones |
//! | [`priority_inversion`] | Waits for less important work, and latency by priority |
//! | [`cpu_overhead`] | Processor time per call |
//! | [`context_switches`] | Context switches per call, and their share of its latency |
//! | [`footprint`] | Sizes of programs, servers and the ORB's layers |
//!
//! Several benchmarks use MT_Cubit (`mt_cubit/`): many clients, each with its rate and priority. Where a
//! paper compares systems or compilers, the chapter states that this run cannot decide.

mod context_switches;
mod cpu_overhead;
mod footprint;
mod latency;
mod mt_cubit;
mod priority_inversion;
mod tables;
mod throughput;

pub(crate) use footprint::Memory;

use crate::{benchmark::Benchmark, role::Role};

/// The benchmarks, in the order of the list above.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    throughput::BENCHMARK,
    latency::BENCHMARK,
    priority_inversion::BENCHMARK,
    cpu_overhead::BENCHMARK,
    context_switches::BENCHMARK,
    footprint::BENCHMARK,
];

/// The roles of their child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[
    (mt_cubit::server::SERVER_ROLE, mt_cubit::server::server),
    (throughput::client::CLIENT_ROLE, throughput::client::client),
    (
        cpu_overhead::scavenger::SCAVENGER_ROLE,
        cpu_overhead::scavenger::scavenger,
    ),
    (mt_cubit::client::CLIENT_ROLE, mt_cubit::client::client),
];
