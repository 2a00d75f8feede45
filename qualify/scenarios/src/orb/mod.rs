//! The ORB on the endsystem: what [Schmidt 2002] 3.2 to 3.4 and [Levine 1999] measured of an ORB, on one
//! machine.
//!
//! | Benchmark | Question |
//! |---|---|
//! | [`throughput`] | How many calls and octets per second, by type of argument |
//! | [`latency`] | What many less important clients do to the latency of an important one |
//! | [`priority_inversion`] | Who waits for something less important, and how latency depends on priority |
//! | [`cpu_overhead`] | How much processor time a call takes from everything else |
//! | [`context_switches`] | How many context switches a call takes, and what they cost of it |
//! | [`footprint`] | How large programs, servers and the ORB's layers are |

mod context_switches;
mod cpu_overhead;
mod footprint;
mod latency;
mod mt_cubit;
mod priority_inversion;
mod tables;
mod throughput;

use crate::{benchmark::Benchmark, role::Role};

pub(crate) const BENCHMARKS: &[Benchmark] = &[
    throughput::BENCHMARK,
    latency::BENCHMARK,
    priority_inversion::BENCHMARK,
    cpu_overhead::BENCHMARK,
    context_switches::BENCHMARK,
    footprint::BENCHMARK,
];

pub(crate) const ROLES: &[(&str, Role)] = &[
    (mt_cubit::server::SERVER_ROLE, mt_cubit::server::server),
    (throughput::client::CLIENT_ROLE, throughput::client::client),
    (
        cpu_overhead::scavenger::SCAVENGER_ROLE,
        cpu_overhead::scavenger::scavenger,
    ),
    (mt_cubit::client::CLIENT_ROLE, mt_cubit::client::client),
];
