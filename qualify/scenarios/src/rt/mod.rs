//! The nine experiments of [Pyarali 2002], section 4, each with its configuration and figures.
//!
//! | Experiment | File |
//! |---|---|
//! | 1: throughput against work | `throughput.rs` |
//! | 2: deadlines against rate | `invocation_rate.rs` |
//! | 3: throughput against clients, on one CPU and two | `concurrency.rs` |
//! | 4, 5, 6: the three clients against work, in a classic pool and in lanes | `increasing_work/` |
//! | 7, 8: the same against best-effort threads | `best_effort/` |
//! | 9: a pool without lanes, and what a large request does to it | `without_lanes.rs`, `large_request.rs` |
//!
//! What they have in common is here and in `promise.rs` (claims) and `tao.rs` (TAO's figures beside ours).

mod best_effort;
mod concurrency;
mod increasing_work;
mod invocation_rate;
mod large_request;
mod promise;
mod tao;
mod throughput;
mod without_lanes;

use punctual_harness::{Outcome, Row};
use punctual_report::{Figure, Series, Table};

use crate::{
    benchmark::Benchmark,
    length::Length,
    load::{self, Pace, Played, Request, Worker},
};

/// All, in the order of the paper.
pub(crate) const BENCHMARKS: &[Benchmark] = &[
    throughput::BENCHMARK,
    invocation_rate::BENCHMARK,
    concurrency::BENCHMARK,
    increasing_work::CLASSIC,
    increasing_work::LANES,
    increasing_work::DECREASING,
    best_effort::CLASSIC,
    best_effort::LANES,
    without_lanes::BENCHMARK,
    large_request::BENCHMARK,
];

/// The numbers of an experiment's stages, where it has two: server and clients on one CPU, and as on two machines.
const LOCAL: usize = 0;
const REMOTE: usize = 1;

/// The works of the paper's figures.
const PAPER_WORKS: [u32; 13] = [25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85];

/// How long a point takes that a claim about a 25 Hz client stands on, in seconds, and any other one. The paper took 10 for each.
fn point_seconds(length: Length, claimed: bool) -> f64 {
    let other: f64 = length.pick(2.0, 4.0, 10.0);
    if claimed { other.max(8.0) } else { other }
}

/// A client of the default class without a priority.
fn ordinary(name: impl Into<String>, pace: Pace, work: u32) -> Worker {
    Worker {
        name: name.into(),
        priority: None,
        pace,
        request: Request::Work(work),
    }
}

/// Says in the outcome what a quick run leaves out, in a sentence.
fn shortened(outcome: &mut Outcome, length: Length, what: &str) {
    if length == Length::Quick {
        outcome.parameter("shortened", what);
    }
}

/// Whether all claims hold whose id begins so; `None` where there are none.
fn holds(outcome: &Outcome, prefix: &str) -> Option<bool> {
    let claims = || {
        outcome
            .claims()
            .iter()
            .filter(|claim| claim.id.starts_with(prefix))
    };
    claims().next()?;
    Some(claims().all(|claim| claim.holds))
}

/// Those on one stage, in their order.
fn on_stage<K: Clone>(played: &[Played<K>], stage: usize) -> Vec<Played<K>> {
    played
        .iter()
        .filter(|phase| phase.stage == stage)
        .cloned()
        .collect()
}

/// What each client with a pace got through over what varies, and all without one together.
fn achieved<K>(played: &[Played<K>], x: impl Fn(&K) -> f64) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    let mut add = |name: String, point| match series.iter_mut().find(|series| series.name == name) {
        Some(series) => series.points.push(point),
        None => series.push(Series {
            name,
            points: vec![point],
        }),
    };
    for phase in played {
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

/// A figure with throughput over something.
fn figure(title: &str, caption: &str, x_label: &str, series: Vec<Series>) -> Figure {
    let figure = Figure::new(title)
        .caption(caption)
        .x(x_label)
        .y("calls per second");
    series
        .into_iter()
        .fold(figure, |figure, series| figure.line(series.name, series.points))
}

const WORK_AXIS: &str = "work per call (30: 150 calls per second are all that the processor can do)";
const BEST_EFFORT_AXIS: &str = "best-effort threads";

/// Every number: the columns that the experiment has in front, and those of each client.
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
    fn they_keep_their_budgets() {
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
    fn what_is_claimed_of_25_hz_takes_8_seconds() {
        for length in [Length::Quick, Length::Full, Length::Paper] {
            assert!(point_seconds(length, true) >= 8.0);
            assert!(point_seconds(length, false) <= point_seconds(length, true));
        }
    }

    #[test]
    fn claims_are_found_by_the_beginning_of_their_ids() {
        use punctual_harness::{Claim, MachineFacts};
        let machine = MachineFacts::read(&punctual_os::CpuSet::single(0));
        let mut outcome = Outcome::new("rt.0", machine);
        outcome.claim(Claim::at_least("high", "", "", 1.0, 0.0));
        outcome.claim(Claim::at_least("high.corrected", "", "", 0.0, 1.0));
        outcome.claim(Claim::at_least("order", "", "", 1.0, 0.0));
        assert_eq!(holds(&outcome, "order"), Some(true));
        assert_eq!(holds(&outcome, "high"), Some(false));
        assert_eq!(holds(&outcome, "remote"), None, "it was not measured");
    }
}
