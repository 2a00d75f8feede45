//! `dyn.*`: Real-time CORBA 1.2, as [Gill 2004] measured it.
//!
//! | Benchmark | Question |
//! |---|---|
//! | [`tss`] | What the storage of distributable threads costs |
//! | [`dispatch`] | Who of five threads runs on which of two hosts, under each scheduler, live and simulated |
//! | [`switch`] | What a decision and a hand-over take |
//! | [`cancellation`] | What cancelling hopeless operations does under overload |
//!
//! What the last three share: the schedulers by name (`disciplines.rs`), the runtime on one host
//! (`endsystem.rs`), and a processor whose work tells when it runs (`processor.rs`, `schedule.rs`).

mod cancellation;
mod disciplines;
mod dispatch;
mod endsystem;
mod processor;
mod random;
mod schedule;
mod switch;
mod tss;

use crate::{benchmark::Benchmark, role::Role};

/// In the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    tss::BENCHMARK,
    dispatch::BENCHMARK,
    switch::BENCHMARK,
    cancellation::BENCHMARK,
];

/// What their child processes do.
pub(crate) const ROLES: &[(&str, Role)] = &[
    (tss::ROLE, tss::child),
    (dispatch::ROLE, dispatch::child),
    (switch::ROLE, switch::child),
    (cancellation::ROLE, cancellation::child),
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::length::Length;

    #[test]
    fn quick_runs_are_quick() {
        let all: Duration = BENCHMARKS
            .iter()
            .map(|benchmark| (benchmark.expected)(Length::Quick))
            .sum();
        assert!(all <= Duration::from_secs(50), "{all:?}");
    }
}
