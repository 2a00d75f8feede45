//! The findings of [Gill 2004] 3.3 about recomputations of the schedule.

use punctual_harness::{Claim, Outcome, statistics::median};

use super::client::Downloaded;

const SOURCE: &str = "[Gill 2004] 3.3, figure 10";

/// All claims.
pub(super) const ALL: [&str; 5] = ["count", "infeasible", "duration", "settles", "met"];

/// Duration of the later half of the recomputations over that of the earlier half, including the first
/// computation.
const SETTLED: f64 = 0.9;

/// Adds all claims. Downloads are those of the feasible deadlines, the most demanding first, and then those
/// of the infeasible ones.
pub(super) fn evaluate(feasible: &[(u64, Downloaded)], infeasible: &[(u64, Downloaded)], outcome: &mut Outcome) {
    let count = |of: &(u64, Downloaded)| of.1.recomputations.len();
    let counts: Vec<usize> = feasible.iter().map(count).collect();
    outcome.claim(Claim::new(
        "count",
        "number of computations, by deadline: 42 > 46 > 48 > 50 > 52 > 54 > 58 s",
        SOURCE,
        shown(&counts),
        "descending",
        counts.is_sorted_by(|one, next| one > next),
    ));
    let least: Vec<usize> = infeasible.iter().map(count).collect();
    let (most, fewest) = (least.iter().max(), counts.iter().min());
    outcome.claim(Claim::new(
        "infeasible",
        "number of computations for 38 and 1 s: the same, and fewer than for any feasible deadline",
        SOURCE,
        shown(&least),
        "minimal",
        least.iter().all(|one| Some(one) == most) && most < fewest,
    ));
    let spent: Vec<u64> = feasible.iter().chain(infeasible).map(|of| spent_us(&of.1)).collect();
    let (some, none) = spent.split_at(feasible.len());
    outcome.claim(Claim::new(
        "duration",
        "time of all recomputations in microseconds, in the same order; none for 38 and 1 s",
        SOURCE,
        shown(&spent),
        "descending",
        some.is_sorted_by(|one, next| one > next) && none.iter().all(|one| *one == 0),
    ));
    let halves: Vec<f64> = feasible.iter().filter_map(|of| later_over_earlier(&of.1)).collect();
    outcome.claim(Claim::at_most(
        "settles",
        "median duration of the later half of the computations over that of the earlier half",
        SOURCE,
        median(&halves).unwrap_or(f64::NAN),
        SETTLED,
    ));
    let met = |of: &&(u64, Downloaded)| of.1.displayed_s.is_some_and(|at| at <= of.0 as f64);
    let met = feasible.iter().filter(met).count();
    outcome.claim(Claim::at_least(
        "met",
        "feasible deadlines by which the whole image was displayed",
        SOURCE,
        met as f64,
        feasible.len() as f64,
    ));
}

fn shown<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the time of the computations after the first one.
pub(super) fn spent_us(downloaded: &Downloaded) -> u64 {
    let took = downloaded.recomputations.iter().skip(1).map(|one| one.took_us);
    took.sum::<f64>().round() as u64
}

fn later_over_earlier(downloaded: &Downloaded) -> Option<f64> {
    let took: Vec<f64> = downloaded.recomputations.iter().map(|one| one.took_us).collect();
    let (earlier, later) = took.split_at(took.len() / 2);
    Some(median(later)? / median(earlier)?)
}
