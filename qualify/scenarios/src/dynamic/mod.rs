//! `dyn.*`: dynamic scheduling of Real-time CORBA 1.2, measured as in [Gill 2004].
//!
//! | Benchmark | Subject |
//! |---|---|
//! | [`tss`] | Cost of the storage of distributable threads |
//! | [`dispatch`] | Schedules of five threads on two hosts, by scheduler, live and simulated |
//! | [`switch`] | Time of a decision and a hand-over |
//! | [`cancellation`] | Effect of cancelling late operations under overload |
//! The last three share the schedulers by name (`disciplines.rs`), the runtime on one host (`endsystem.rs`),
//! and a processor that records when threads run on it (`processor.rs`, `schedule.rs`).

mod cancellation;
mod disciplines;
mod dispatch;
mod endsystem;
mod paper_costs;
mod processor;
mod random;
mod schedule;
mod switch;
mod tss;

use crate::{
    benchmark::Benchmark,
    experiment::benchmark,
    role::{Role, entry},
};

/// The benchmarks, in the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    paper_costs::TSS,
    benchmark::<dispatch::Dispatching>(),
    paper_costs::SWITCH,
    benchmark::<cancellation::Cancellation>(),
];

/// The roles of their child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[
    entry::<tss::Storages>(),
    entry::<dispatch::Process>(),
    entry::<switch::Dispatcher>(),
    entry::<cancellation::Operations>(),
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::length::Length;

    #[test]
    fn expected_durations_of_quick_runs_are_within_budget() {
        let all: Duration = BENCHMARKS
            .iter()
            .map(|benchmark| (benchmark.expected)(Length::Quick))
            .sum();
        assert!(all <= Duration::from_secs(75), "{all:?}");
    }
}
