//! `case.*`: the case studies of [Gill 2004], with the services of Punctual instead of TAO's.

mod channel;
mod flight_program;
mod image_transfer;
mod recomputation;

use crate::{
    benchmark::Benchmark,
    experiment::benchmark,
    role::{Role, entry},
};

/// The case simulated, in the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    benchmark::<flight_program::FlightProgramCase>(),
    benchmark::<image_transfer::ImageTransfer>(),
    benchmark::<recomputation::Recomputation>(),
];

/// The roles of their child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[
    entry::<flight_program::Aircraft>(),
    entry::<image_transfer::Client>(),
    entry::<image_transfer::Server>(),
    entry::<image_transfer::Environment>(),
    entry::<recomputation::Calculator>(),
];
