//! The findings of [Gill 2004] 3.3 about recomputations of the schedule.

use punctual_harness::{Claim, Outcome, statistics::median};

use super::client::Downloaded;

const SOURCE: &str = "[Gill 2004] 3.3, figure 10";

/// All claims.
pub(super) const ALL: [&str; 6] = ["count", "infeasible", "duration", "narrows", "settles", "met"];

/// Processor time of the last recomputations over that of the first computation, as repeated.
const SETTLED: f64 = 0.5;

/// Adds all claims. Downloads are those of the feasible deadlines, the most demanding first, and then those
/// of the infeasible ones.
pub(super) fn evaluate(
    feasible: &[(u64, Downloaded)],
    infeasible: &[(u64, Downloaded)],
    outcome: &mut Outcome,
) {
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
    durations(feasible, infeasible, outcome);
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

fn durations(feasible: &[(u64, Downloaded)], infeasible: &[(u64, Downloaded)], outcome: &mut Outcome) {
    let spent = |of: &(u64, Downloaded)| repeated_us(&of.1);
    let all: Vec<u64> = feasible.iter().chain(infeasible).map(spent).collect();
    let in_order = feasible.is_sorted_by(|one, later| spent(one) > spent(later));
    outcome.claim(Claim::new(
        "duration",
        "microseconds of processor time of all recomputations, as the medians of repetitions: descending with later \
         deadlines; 0 for 38 and 1 s",
        SOURCE,
        shown(&all),
        "descending",
        in_order && infeasible.iter().all(|one| spent(one) == 0),
    ));
    let narrowed = feasible.iter().filter_map(|(_, downloaded)| {
        let (first, last) = downloaded
            .recomputations
            .first()
            .zip(downloaded.recomputations.last())?;
        Some(first.choices.saturating_sub(last.choices) as f64)
    });
    outcome.claim(Claim::at_least(
        "narrows",
        "feasible deadlines: rates from which the scheduler chooses, less at the end than at first by",
        SOURCE,
        narrowed.fold(f64::INFINITY, f64::min),
        1.0,
    ));
    let settled: Vec<f64> = feasible.iter().filter_map(|of| last_over_first(&of.1)).collect();
    outcome.claim(Claim::at_most(
        "settles",
        "feasible deadlines: processor time of the last recomputations over that of the first computation, as the \
         medians of repetitions",
        SOURCE,
        median(&settled).unwrap_or(f64::NAN),
        SETTLED,
    ));
}

fn shown<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// Returns the processor time of the computations after the first one, during the download.
pub(super) fn spent_us(downloaded: &Downloaded) -> u64 {
    let took = downloaded.recomputations.iter().skip(1).map(|one| one.took_us);
    took.sum::<f64>().round() as u64
}

/// Returns the sum of the medians of their repetitions.
pub(super) fn repeated_us(downloaded: &Downloaded) -> u64 {
    let took = downloaded
        .recomputations
        .iter()
        .skip(1)
        .map(|one| one.repeated_us);
    took.sum::<f64>().round() as u64
}

/// The median of the last four recomputations over the first computation.
pub(super) fn last_over_first(downloaded: &Downloaded) -> Option<f64> {
    let took: Vec<f64> = downloaded
        .recomputations
        .iter()
        .map(|one| one.repeated_us)
        .collect();
    let (first, others) = took.split_first()?;
    let last = &others[others.len().saturating_sub(4)..];
    Some(median(last)? / first)
}
