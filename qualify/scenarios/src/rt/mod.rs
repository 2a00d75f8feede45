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
//! Shared code is here, in `claims.rs`, and in `tao.rs` (TAO's results for comparison).

mod best_effort;
mod claims;
mod concurrency;
mod increasing_work;
mod invocation_rate;
mod large_request;
mod policies;
mod propagated;
mod tao;
mod throughput;

use punctual_harness::{Outcome, Row};
use punctual_report::{Figure, Series, Table};

use crate::{
    benchmark::Benchmark,
    experiment::benchmark,
    length::Length,
    load::{self, Pace, PhaseResult, Request, Worker},
};

/// All benchmarks, in the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    throughput::BENCHMARK,
    invocation_rate::BENCHMARK,
    concurrency::BENCHMARK,
    increasing_work::SINGLE_PRIORITY,
    increasing_work::LANES,
    increasing_work::DECREASING,
    best_effort::SINGLE_PRIORITY,
    best_effort::LANES,
    propagated::BENCHMARK,
    large_request::BENCHMARK,
    benchmark::<policies::Policies>(),
];

/// Indices of an experiment's deployments: server and clients on one CPU, and as on two machines.
const LOCAL: usize = 0;
const REMOTE: usize = 1;

/// The works of the paper's figures.
const PAPER_WORKS: [u32; 13] = [25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85];

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

/// States in the outcome what a quick run omits.
fn shortened(outcome: &mut Outcome, length: Length, what: &str) {
    if length == Length::Quick {
        outcome.parameter("shortened", what);
    }
}

/// Returns the results of one deployment, in their order.
fn on_deployment<K: Clone>(results: &[PhaseResult<K>], deployment: usize) -> Vec<PhaseResult<K>> {
    results
        .iter()
        .filter(|phase| phase.deployment == deployment)
        .cloned()
        .collect()
}

/// Returns the calls per second of each client with a rate, and of all continuous clients together, over `x`.
fn achieved<K>(results: &[PhaseResult<K>], x: impl Fn(&K) -> f64) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    let mut add = |name: String, point| match series.iter_mut().find(|series| series.name == name) {
        Some(series) => series.points.push(point),
        None => series.push(Series {
            name,
            points: vec![point],
        }),
    };
    for phase in results {
        let x = x(&phase.key);
        for client in &phase.clients {
            if let Some(rate) = client.rate() {
                let name = format!("{rate} Hz ({} priority)", client.worker.name);
                add(name, (x, client.achieved_hz()));
            }
        }
        if let Some(hz) = phase.collective_hz() {
            add("best effort, all together".to_owned(), (x, hz));
        }
    }
    series
}

/// Creates a figure of throughput.
fn figure(title: &str, caption: &str, x_label: &str, series: Vec<Series>) -> Figure {
    let figure = Figure::new(title)
        .caption(caption)
        .x(x_label)
        .y("calls per second");
    series
        .into_iter()
        .fold(figure, |figure, series| figure.line(series.name, series.points))
}

const WORK_AXIS: &str = "work per call (30: the processor can do 150 calls per second)";
const BEST_EFFORT_AXIS: &str = "best-effort threads";

/// Returns a table of all rows: the experiment's columns in front, then those of each client.
fn table(outcome: &Outcome, front: &[(&str, &str)]) -> Table {
    let columns: Vec<_> = front.iter().chain(load::COLUMNS).copied().collect();
    Table::of(outcome.rows().iter().map(Row::as_map)).columns(&columns)
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
            all_of(Length::Quick) <= Duration::from_secs(200),
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
