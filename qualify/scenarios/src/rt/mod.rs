//! The nine experiments of [Pyarali 2002] section 4, each with its configuration and figures.
//!
//! | Experiment | File |
//! |---|---|
//! | 1: throughput over work | `throughput.rs` |
//! | 2: deadlines over rate | `invocation_rate.rs` |
//! | 3: throughput over clients, on one CPU and two | `concurrency.rs` |
//! | 4, 5, 6: three clients over work, with and without lanes | `increasing_work/` |
//! | 7, 8: three clients over best-effort threads, with and without lanes | `best_effort/` |
//! | 9: a pool without lanes that propagates priorities | `propagated.rs` |
//! | 9, note: the effect of large requests | `large_request.rs` |
//! | the other policies beside CLIENT_PROPAGATED | `policies.rs`, `policies.toml` |
//!
//! All experiments run through one driver (`load/`), with work in a unit that is calibrated once per run. For
//! the figures with two machines, server and clients are in separate network namespaces with a link between
//! them.
//!
//! Shared code is here and in `claims.rs`. Each experiment has its page, with TAO's results, beside it.

mod band_resources;
mod best_effort;
mod claims;
mod concurrency;
mod increasing_work;
mod invocation_rate;
mod large_request;
mod policies;
mod propagated;
mod throughput;

use punctual_harness::Row;

use crate::{
    benchmark::Benchmark,
    error::Error,
    experiment::{Experiment, Trial, benchmark},
    length::Length,
    load::{Counting, Importance, Pace, Phase, PhaseResult, Request, Session, Setup, Worker},
};

/// All benchmarks, in the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    benchmark::<throughput::IncreasingWork>(),
    benchmark::<invocation_rate::IncreasingRate>(),
    benchmark::<concurrency::IncreasingConcurrency>(),
    benchmark::<increasing_work::WithoutLanes>(),
    benchmark::<increasing_work::Lanes>(),
    benchmark::<increasing_work::DecreasingRates>(),
    benchmark::<best_effort::WithoutLanes>(),
    benchmark::<best_effort::Lanes>(),
    benchmark::<propagated::Propagated>(),
    benchmark::<large_request::LargeRequests>(),
    benchmark::<policies::Policies>(),
];

/// Indices of an experiment's deployments: server and clients on one CPU, and as on two machines.
const LOCAL: usize = 0;
const REMOTE: usize = 1;

/// The works of the paper's figures.
const PAPER_WORKS: [u32; 13] = [25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85];

/// The loads of TAO 2.2.2's results for comparison, from its own Thread_Pool test on a virtual machine with
/// two CPUs, on our axes: 1.48 × the capacity, and 0.8 × with best-effort threads.
const TAO_OVERLOAD_WORK: u32 = 45;
const TAO_BEST_EFFORT_WORK: u32 = 24;
const TAO_BEST_EFFORT_THREADS: usize = 5;

/// Returns the length of a phase in seconds; longer if a claim about a 25 Hz client depends on it. The paper
/// used 10 s.
fn point_seconds(length: Length, claimed: bool) -> f64 {
    let other: f64 = length.pick(2.0, 4.0, 10.0);
    if claimed { other.max(8.0) } else { other }
}

/// Returns a client in the default scheduling class, without a priority.
fn ordinary(name: impl Into<String>, pace: Pace, work: u32) -> Worker {
    Worker {
        name: name.into(),
        priority: None,
        pace,
        request: Request::Work(work),
        ..Worker::default()
    }
}

/// Runs the phases of an experiment; its outcome then has the calibration and the holes.
fn run<E: Experiment, K>(
    trial: &mut Trial<'_>,
    setups: &[Setup<'_>],
    phases: Vec<Phase<K>>,
) -> Result<Vec<PhaseResult<K>>, Error> {
    let mut session = Session::begin(trial.testbed, E::NAME)?;
    let results = session.run(setups, phases)?;
    trial.outcome = session.end()?;
    Ok(results)
}

/// Returns the results of one deployment, in their order.
fn on_deployment<K: Clone>(results: &[PhaseResult<K>], deployment: usize) -> Vec<PhaseResult<K>> {
    results
        .iter()
        .filter(|phase| phase.deployment == deployment)
        .cloned()
        .collect()
}

/// Shows the shares of deadlines of this phase, if it was measured, beside those of TAO on the page.
fn compare_with_tao<K>(trial: &mut Trial<'_>, nearest: Option<&PhaseResult<K>>, work: u32) {
    let Some(phase) = nearest else { return };
    let source = format!("here, {:.2} × capacity", f64::from(work) / 30.0);
    let row = Importance::ALL
        .into_iter()
        .fold(Row::new().with("source", source), |row, of| {
            let share = phase.client(of.name()).deadlines_met(Counting::Start);
            row.with(of.name(), share.raw)
        });
    trial.shown_row("tao", row);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn all_of(length: Length) -> Duration {
        BENCHMARKS
            .iter()
            .map(|benchmark| (benchmark.expected)(length))
            .sum()
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(
            all_of(Length::Quick) <= Duration::from_secs(240),
            "{:?}",
            all_of(Length::Quick)
        );
        assert!(
            all_of(Length::Full) <= Duration::from_secs(16 * 60),
            "{:?}",
            all_of(Length::Full)
        );
        assert!(all_of(Length::Paper) > all_of(Length::Full));
    }

    #[test]
    fn points_with_claims_take_at_least_8_seconds() {
        for length in [Length::Quick, Length::Full, Length::Paper] {
            assert!(point_seconds(length, true) >= 8.0);
            assert!(point_seconds(length, false) <= point_seconds(length, true));
        }
    }
}
