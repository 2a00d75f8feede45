//! What experiments claim about shares of deadlines.

use punctual_harness::{Claim, Outcome};

use crate::load::{Client, Counting, Share};

/// Claims that the clients make "≥ 99 %" of their deadlines: the least share of them at least 97 %, and at least 99 % with
/// those counted as made that were lost to recorded holes. The ids are `id` and `id.corrected`.
pub(super) fn keeps_its_deadlines<'c>(
    outcome: &mut Outcome,
    id: &str,
    text: &str,
    source: &str,
    clients: impl IntoIterator<Item = &'c Client>,
) {
    let shares = clients.into_iter().map(|client| client.made(Counting::Start));
    let least = shares.fold(None, |least: Option<Share>, share| {
        Some(least.map_or(share, |least| Share {
            raw: least.raw.min(share.raw),
            corrected: least.corrected.min(share.corrected),
        }))
    });
    // Without a client there is nothing to hold.
    let least = least.unwrap_or(Share {
        raw: f64::NAN,
        corrected: f64::NAN,
    });
    let raw = format!("{text}: at least 97 % of the deadlines");
    outcome.claim(Claim::at_least(id, raw, source, least.raw, 97.0));
    let corrected = format!("{text}: at least 99 % with those lost to recorded holes counted as made");
    outcome.claim(Claim::at_least(
        format!("{id}.corrected"),
        corrected,
        source,
        least.corrected,
        99.0,
    ));
}

/// Claims that at each point a more important client makes at least the share of a less important one, where "≥ 99 %" is all of
/// them. Each point has the clients' shares, the most important first; without a point it does not hold.
pub(super) fn keeps_the_order(
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
        "{text}: the more important client makes at least the share of the less important one, where 99 % are all; measured is the \
         smallest lead (points)"
    );
    outcome.claim(Claim::new(id, text, source, least, 0.0, holds));
}

/// Whether each of these makes at least the share of the next one, where all of them (≥ 99 %) is all of them; and the smallest
/// lead of one over the next, in points.
fn in_order(shares: &[Share]) -> (bool, f64) {
    let mut pairs = shares.windows(2);
    let holds = pairs.all(|pair| pair[0].at_least(pair[1]));
    let leads = shares
        .windows(2)
        .map(|pair| pair[0].corrected - pair[1].corrected);
    (holds, leads.fold(f64::INFINITY, f64::min))
}

/// The share of one client less the smallest of others, in points: below 0 where it has the least.
pub(super) fn lead_over_least(of: Share, others: &[Share]) -> f64 {
    let least = others
        .iter()
        .map(|share| share.corrected)
        .fold(f64::INFINITY, f64::min);
    of.corrected - least
}

/// By how much the values differ from their median at most, as a share of it; not a number without values.
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
    fn order_is_of_neighbours_and_all_is_all() {
        assert_eq!(in_order(&shares(&[100.0, 75.0, 0.0])), (true, 25.0));
        assert!(in_order(&shares(&[99.5, 100.0, 45.0])).0, "both made all");
        assert!(!in_order(&shares(&[98.0, 100.0, 45.0])).0);
        assert!(in_order(&shares(&[50.0, 0.0, 0.0])).0);
        assert!(!in_order(&shares(&[50.0, 0.0, 1.0])).0);
    }

    #[test]
    fn the_least_is_below_zero() {
        let others = shares(&[70.0, 60.0]);
        assert_eq!(lead_over_least(shares(&[40.0])[0], &others), -20.0);
        assert_eq!(lead_over_least(shares(&[65.0])[0], &others), 5.0);
    }

    #[test]
    fn deviation_is_of_the_median() {
        assert_eq!(largest_deviation(&[100.0, 125.0, 75.0, 100.0]), 0.25);
        assert_eq!(largest_deviation(&[5.0]), 0.0);
        assert!(largest_deviation(&[]).is_nan());
    }
}
