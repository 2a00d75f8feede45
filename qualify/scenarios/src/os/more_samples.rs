//! Whether more samples come closer to the worst case: the longest of all samples, over that of a hundredth
//! of them. Source: [Fayyad-Kazan 2013] IV.B.4.

use punctual_harness::{Claim, Outcome, statistics::median};

use super::{disturbance::Disturbances, samples::Sample};
use crate::control::Control;

pub(super) const CONTROL: Control = Control {
    id: "few-samples",
    about: "as many samples as are compared with, a hundredth",
    breaks: &[CLAIM],
};

const CLAIM: &str = "more-samples";
/// "Dramatically increasing the number of samples".
const TIMES: usize = 100;
/// Longer, by more than the precision of the samples.
const LONGER: f64 = 1.1;

/// Claims that the longest of all samples, in each of the series, is longer than that of a hundredth of them.
pub(super) fn claim(
    series: &[&[Sample]],
    disturbances: &Disturbances,
    is_under_control: bool,
    outcome: &mut Outcome,
) {
    let gains = series.iter().map(|samples| {
        let number = samples.len() / if is_under_control { TIMES } else { 1 };
        gain(&samples[..number], samples.len() / TIMES, |sample| {
            disturbances.is_in_hole(sample.span())
        })
    });
    let least = gains.collect::<Option<Vec<_>>>().unwrap_or_default();
    let least = least.into_iter().reduce(f64::min).unwrap_or(f64::NAN);
    let text = "longest of all samples outside holes over the median longest of a hundredth, smallest \
                of all ways to wait: more samples come closer to the worst case";
    let claim = Claim::at_least(CLAIM, text, "[Fayyad-Kazan 2013] IV.B.4", least, LONGER);
    outcome.claim(claim);
}

/// Returns the longest sample over the median of the longest of each part with this number; `None` without
/// any.
fn gain(samples: &[Sample], number: usize, is_excused: impl Fn(&Sample) -> bool) -> Option<f64> {
    let longest = |part: &[Sample]| {
        let counted = part.iter().filter(|sample| !is_excused(sample));
        counted.map(|sample| sample.1 as f64).reduce(f64::max)
    };
    let of_parts: Vec<f64> = samples.chunks_exact(number.max(1)).filter_map(longest).collect();
    Some(longest(samples)? / median(&of_parts)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_samples_of_a_tail_contain_longer_ones_and_those_of_a_constant_do_not() {
        let samples = |length: fn(u64) -> u64| (1..=1_000).map(|one| Sample(one, length(one))).collect();
        let gain_of = |samples: Vec<Sample>, number| gain(&samples, number, |sample| sample.1 > 1_000_000);
        let tail = |one| if one % 500 == 0 { 300 } else { 100 };
        assert_eq!(gain_of(samples(tail), 10), Some(3.0));
        assert_eq!(gain_of(samples(tail), 1_000), Some(1.0), "as many");
        assert_eq!(gain_of(samples(|_| 100), 10), Some(1.0));
        let in_hole = |one| if one == 500 { 30_000_000 } else { 100 };
        assert_eq!(gain_of(samples(in_hole), 10), Some(1.0), "a hole is none of them");
        assert_eq!(gain_of(Vec::new(), 10), None);
    }
}
