//! `dyn.*`: Real-time CORBA 1.2, after \[S4\].

mod tss;

use crate::{Benchmark, Role};

/// In the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[tss::BENCHMARK];

/// What their child processes do.
pub(crate) const ROLES: &[(&str, Role)] = &[(tss::ROLE, tss::child)];
