//! `case.*`: the case studies of [Gill 2004], with the services of Punctual in place of TAO's.

mod flight_program;

use crate::{benchmark::Benchmark, experiment::benchmark, role::Role};

/// The case studies, in the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[benchmark::<flight_program::FlightProgramCase>()];

/// The roles of their child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[(flight_program::ROLE, flight_program::child)];
