//! Claims about shares of deadlines.

use punctual_harness::{Claim, Outcome};

use crate::load::{Client, Counting, Importance, PhaseResult, Share};

/// Claims that the clients meet "≥ 99 %" of their deadlines: the smallest share is at least 97 %, and at
/// least 99 % if deadlines lost to recorded holes count as met. The ids are `id` and `id.corrected`.
pub(super) fn claim_deadlines_met<'c>(
    outcome: &mut Outcome,
    id: &str,
    text: &str,
    source: &str,
    clients: impl IntoIterator<Item = &'c Client>,
) {
    let shares = clients
        .into_iter()
        .map(|client| client.deadlines_met(Counting::Start));
    let least = shares.fold(None, |least: Option<Share>, share| {
        Some(least.map_or(share, |least| Share {
            raw: least.raw.min(share.raw),
            corrected: least.corrected.min(share.corrected),
        }))
    });
    // Without a client, neither claim holds.
    let least = least.unwrap_or(Share {
        raw: f64::NAN,
        corrected: f64::NAN,
    });
    let raw = format!("{text}: at least 97 % of the deadlines");
    outcome.claim(Claim::at_least(id, raw, source, least.raw, 97.0));
    let corrected = format!("{text}: at least 99 % if those lost to recorded holes count as met");
    outcome.claim(Claim::at_least(
        format!("{id}.corrected"),
        corrected,
        source,
        least.corrected,
        99.0,
    ));
}

/// Claims for each of the works that all clients meet their deadlines there: the works up to the capacity.
pub(super) fn claim_all_below_capacity(
    outcome: &mut Outcome,
    source: &str,
    results: &[PhaseResult<u32>],
    works: [u32; 2],
) {
    for work in works {
        let phase = results.iter().find(|phase| phase.key == work);
        let all = phase.into_iter().flat_map(|phase| &phase.clients);
        let text = format!("work {work}, up to the capacity: the clients, smallest share");
        let id = format!("all.{work}");
        claim_deadlines_met(outcome, &id, &text, source, all);
    }
}

/// Claims that at each point a more important client meets at least the share of a less important one, where
/// "≥ 99 %" counts as all. Each point has the clients' shares, the most important first; without a point, the
/// claim does not hold.
pub(super) fn claim_order(
    outcome: &mut Outcome,
    id: &str,
    text: &str,
    source: &str,
    points: impl IntoIterator<Item = Vec<Share>>,
) {
    let orders = points.into_iter().map(|shares| in_order(&shares));
    let all = orders.reduce(|(holds, least), (order, lead)| (holds && order, least.min(lead)));
    let (holds, least) = all.unwrap_or((false, f64::NAN));
    let text = format!(
        "{text}: the more important client meets at least the share of the less important one, where 99 % \
         counts as all; measured: the smallest lead (points)"
    );
    outcome.claim(Claim::new(id, text, source, least, 0.0, holds));
}

/// Returns whether each share is at least the next one (≥ 99 % counts as all), and the smallest lead of one
/// over the next, in points.
fn in_order(shares: &[Share]) -> (bool, f64) {
    let mut pairs = shares.windows(2);
    let holds = pairs.all(|pair| pair[0].at_least(pair[1]));
    let leads = shares
        .windows(2)
        .map(|pair| pair[0].corrected - pair[1].corrected);
    (holds, leads.fold(f64::INFINITY, f64::min))
}

/// The smallest share of deadlines, in percent, at which a client counts as not affected.
const UNAFFECTED: f64 = 97.0;

/// Claims in which order the clients are affected as work grows: for each the smallest work at which it meets
/// less than 97 % of its deadlines (apart from recorded holes) ascends strictly in the given order, and
/// `never` are affected at no work.
pub(super) fn claim_losses(
    outcome: &mut Outcome,
    id: &str,
    text: &str,
    source: &str,
    results: &[PhaseResult<u32>],
    order: &[Importance],
    never: &[Importance],
) {
    let works = |clients: &[Importance]| -> Vec<Option<u32>> {
        clients.iter().map(|of| first_loss(results, *of)).collect()
    };
    let clients = order.iter().chain(never);
    let named = clients.map(|of| match first_loss(results, *of) {
        Some(work) => format!("{} at {work}", of.name()),
        None => format!("{} never", of.name()),
    });
    let named: Vec<String> = named.collect();
    let holds = ascending(&works(order)) && works(never).iter().all(Option::is_none);
    let text = format!(
        "{text}: the smallest work at which each client meets less than {UNAFFECTED} % of its deadlines \
         ascends strictly"
    );
    let limit: Vec<&str> = order.iter().map(|of| of.name()).collect();
    let (measured, limit) = (named.join(", "), limit.join(", then "));
    outcome.claim(Claim::new(id, text, source, measured, limit, holds));
}

fn first_loss(results: &[PhaseResult<u32>], of: Importance) -> Option<u32> {
    let affected = results.iter().filter(|phase| {
        let share = phase.client(of.name()).deadlines_met(Counting::Start);
        share.corrected < UNAFFECTED
    });
    affected.map(|phase| phase.key).min()
}

/// Returns whether all values exist and ascend strictly.
fn ascending(works: &[Option<u32>]) -> bool {
    works.iter().all(Option::is_some) && works.is_sorted_by(|one, next| one < next)
}

/// Returns the largest ratio of two of these throughputs; NaN without values, infinite if one of them is 0.
pub(super) fn largest_ratio(hz: &[f64]) -> f64 {
    let most = hz.iter().copied().fold(f64::NAN, f64::max);
    let least = hz.iter().copied().fold(f64::NAN, f64::min);
    most / least
}

/// Returns the share of one client minus the smallest of the others, in points; negative if it is the
/// smallest.
pub(super) fn lead_over_least(of: Share, others: &[Share]) -> f64 {
    let least = others
        .iter()
        .map(|share| share.corrected)
        .fold(f64::INFINITY, f64::min);
    of.corrected - least
}

/// Returns the largest deviation of the values from their median, as a share of it; NaN without values.
pub(super) fn largest_deviation(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(&median) = sorted.get(sorted.len() / 2) else {
        return f64::NAN;
    };
    let deviations = sorted.iter().map(|value| (value / median - 1.0).abs());
    deviations.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(values: &[f64]) -> Vec<Share> {
        let share = |&corrected: &f64| Share {
            raw: corrected,
            corrected,
        };
        values.iter().map(share).collect()
    }

    #[test]
    fn order_compares_neighbours_and_99_percent_counts_as_all() {
        assert_eq!(in_order(&shares(&[100.0, 75.0, 0.0])), (true, 25.0));
        assert!(in_order(&shares(&[99.5, 100.0, 45.0])).0, "both meet all");
        assert!(!in_order(&shares(&[98.0, 100.0, 45.0])).0);
        assert!(in_order(&shares(&[50.0, 0.0, 0.0])).0);
        assert!(!in_order(&shares(&[50.0, 0.0, 1.0])).0);
    }

    #[test]
    fn losses_ascend_strictly() {
        assert!(ascending(&[Some(35), Some(40), Some(65)]));
        assert!(!ascending(&[Some(35), Some(35), Some(65)]));
        assert!(!ascending(&[Some(40), Some(35), Some(65)]));
        assert!(
            !ascending(&[Some(35), Some(45), None]),
            "the last one is affected, too"
        );
    }

    #[test]
    fn equal_throughputs_have_the_ratio_1() {
        assert_eq!(largest_ratio(&[20.0, 20.0, 20.0]), 1.0);
        assert_eq!(largest_ratio(&[20.0, 40.0, 39.0]), 2.0);
        assert!(largest_ratio(&[0.0, 1.0]).is_infinite() && largest_ratio(&[]).is_nan());
    }

    #[test]
    fn the_lead_of_the_smallest_share_is_negative() {
        let others = shares(&[70.0, 60.0]);
        assert_eq!(lead_over_least(shares(&[40.0])[0], &others), -20.0);
        assert_eq!(lead_over_least(shares(&[65.0])[0], &others), 5.0);
    }

    #[test]
    fn deviation_is_relative_to_the_median() {
        assert_eq!(largest_deviation(&[100.0, 125.0, 75.0, 100.0]), 0.25);
        assert_eq!(largest_deviation(&[5.0]), 0.0);
        assert!(largest_deviation(&[]).is_nan());
    }
}
