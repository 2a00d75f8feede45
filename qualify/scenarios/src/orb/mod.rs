//! `orb.*`: the ORB on one machine, measured as in [Schmidt 2002] 3.2 to 3.4 and [Levine 1999].
//!
//! | Benchmark | Subject |
//! |---|---|
//! | [`throughput`] | Calls and octets per second, by type of argument |
//! | [`latency`] | Latency of an important client with many less important ones |
//! | [`priority_inversion`] | Waits for less important work, and latency by priority |
//! | [`cpu_overhead`] | Processor time per call |
//! | [`context_switches`] | Context switches per call, and their share of its latency |
//! | [`demultiplexing`] | Time to find objects and operations, by how many there are |
//! | [`peers`] | Latency of a call of another ORB, beside ours |
//! | [`footprint`] | Sizes of programs, servers and the ORB's layers |
//!
//! Several benchmarks use the clients of MT_Cubit (`mt_cubit.rs`): many, each with its rate and priority.
//! They run on the engine in `load/`. Where a paper compares systems or compilers, the chapter states that
//! this run cannot decide.

mod context_switches;
mod cpu_overhead;
mod demultiplexing;
mod footprint;
mod latency;
mod mt_cubit;
mod peers;
mod priority_inversion;
pub(crate) mod throughput;

pub(crate) use footprint::Memory;

use crate::{
    benchmark::Benchmark,
    experiment::benchmark,
    role::{Role, entry},
};

/// The benchmarks, in the order of the list above.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    benchmark::<throughput::Throughput>(),
    benchmark::<latency::Latency>(),
    benchmark::<priority_inversion::PriorityInversion>(),
    benchmark::<cpu_overhead::CpuOverhead>(),
    benchmark::<context_switches::ContextSwitches>(),
    benchmark::<demultiplexing::Demultiplexing>(),
    benchmark::<peers::Peers>(),
    benchmark::<footprint::Footprint>(),
];

/// The roles of their child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[
    entry::<cpu_overhead::Scavenger>(),
    entry::<demultiplexing::Orbs>(),
];
