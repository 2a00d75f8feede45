//! Percentiles of latencies, medians with confidence intervals, jitter, linear fits.

mod latencies;

use serde::{Deserialize, Serialize};

pub use latencies::{Latencies, Summary};

/// Smallest count to which another one is compared: a ratio to fewer depends on chance.
const FEWEST_COUNTED: u32 = 20;

/// Returns the ratio of two counts; NaN if the second one is below 20.
pub fn ratio_of_counts(count: u32, to: u32) -> f64 {
    match to {
        ..FEWEST_COUNTED => f64::NAN,
        _ => f64::from(count) / f64::from(to),
    }
}

/// Median with its confidence interval of at least 95 %.
///
/// The interval follows from binomial order statistics: of `n` samples in ascending order, it extends from
/// the k-th smallest to the k-th largest, where `k` is the largest number for which fewer than `k` of `n`
/// fair coins show heads with a probability of at most 2.5 %. It assumes independent samples, but no
/// distribution.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct MedianEstimate {
    /// Middle sample, or the mean of the two middle ones.
    pub median: f64,
    /// Lower end of the interval: a sample.
    pub low: f64,
    /// Upper end of the interval: a sample.
    pub high: f64,
    /// Number of samples.
    pub samples: usize,
}

impl MedianEstimate {
    /// Minimum number of samples for 95 % confidence.
    pub const FEWEST: usize = 6;

    /// Estimates from samples in any order. `None` with fewer than [`FEWEST`](Self::FEWEST), or if one is not
    /// a number.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let sorted = sorted(samples)?;
        let k = confidence_rank(sorted.len())?;
        Some(Self {
            median: median_of_sorted(&sorted),
            low: sorted[k - 1],
            high: sorted[sorted.len() - k],
            samples: sorted.len(),
        })
    }
}

/// Returns the middle sample, or the mean of the two middle ones. `None` without samples, or if one is not a
/// number.
pub fn median(samples: &[f64]) -> Option<f64> {
    let sorted = sorted(samples)?;
    (!sorted.is_empty()).then(|| median_of_sorted(&sorted))
}

/// Returns the arithmetic mean. `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// Returns the sample standard deviation (divided by n - 1), which the papers call jitter. `None` with fewer
/// than two samples.
pub fn standard_deviation(samples: &[f64]) -> Option<f64> {
    if samples.len() < 2 {
        return None;
    }
    let mean = mean(samples)?;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    Some((squares / (samples.len() - 1) as f64).sqrt())
}

/// Least-squares line through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// Increase of y per unit of x.
    pub slope: f64,
    /// Value of y at x = 0.
    pub intercept: f64,
}

impl LinearFit {
    /// Fits points in any order. `None` with fewer than two different x.
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let mean_x = mean(&points.iter().map(|(x, _)| *x).collect::<Vec<_>>())?;
        let mean_y = mean(&points.iter().map(|(_, y)| *y).collect::<Vec<_>>())?;
        let products = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y));
        let squares: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let slope = products.sum::<f64>() / squares;
        (squares > 0.0).then_some(Self {
            slope,
            intercept: mean_y - slope * mean_x,
        })
    }
}

fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.iter().any(|sample| sample.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Returns the largest k with P(Binomial(n, 1/2) < k) ≤ 2.5 %; `None` if n is too small.
fn confidence_rank(n: usize) -> Option<usize> {
    // As logarithms, because 0.5ⁿ underflows from n = 1075.
    let mut ln_probability = n as f64 * 0.5f64.ln();
    let mut below = 0.0;
    for heads in 0..n {
        below += ln_probability.exp();
        if below > 0.025 {
            return (heads > 0).then_some(heads);
        }
        ln_probability += ((n - heads) as f64 / (heads + 1) as f64).ln();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_counts_have_no_ratio() {
        assert!(ratio_of_counts(23, 0).is_nan());
        assert!(ratio_of_counts(40, 19).is_nan());
        assert!((ratio_of_counts(40, 20) - 2.0).abs() < 1e-12);
        assert!(ratio_of_counts(0, 20).abs() < 1e-12);
    }

    #[test]
    fn a_line_is_fitted_through_scattered_points() {
        let line = |x: f64, off: f64| (x, 3.0 + 0.5 * x + off);
        let fit = LinearFit::of(&[line(4.0, 1.0), line(0.0, -1.0), line(0.0, 1.0), line(4.0, -1.0)]).unwrap();
        assert_eq!((fit.slope, fit.intercept), (0.5, 3.0));
        assert_eq!(LinearFit::of(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(LinearFit::of(&[]), None);
    }

    #[test]
    fn the_interval_has_the_ranks_of_the_published_tables() {
        // Ranks of the 95 % interval of a median from tables of order statistics.
        for (n, rank) in [
            (6, 1),
            (8, 1),
            (9, 2),
            (12, 3),
            (20, 6),
            (25, 8),
            (30, 10),
            (50, 18),
            (100, 40),
        ] {
            assert_eq!(confidence_rank(n), Some(rank), "n = {n}");
        }
        for n in 0..MedianEstimate::FEWEST {
            assert_eq!(confidence_rank(n), None, "n = {n}");
        }
        // Close to the normal approximation n/2 - 0.98 √n where 0.5ⁿ underflows.
        let rank = confidence_rank(10_000).unwrap();
        assert!((4_901..=4_903).contains(&rank), "{rank}");
    }

    #[test]
    fn order_does_not_matter() {
        let samples: Vec<f64> = (1..=30).rev().map(f64::from).collect();
        let estimate = MedianEstimate::of(&samples).unwrap();
        assert_eq!((estimate.median, estimate.low, estimate.high), (15.5, 10.0, 21.0));
        assert_eq!(estimate.samples, 30);
    }

    #[test]
    fn an_outlier_does_not_move_the_interval() {
        let mut samples = vec![1.0; 29];
        samples.push(1000.0);
        let estimate = MedianEstimate::of(&samples).unwrap();
        assert_eq!((estimate.low, estimate.high), (1.0, 1.0));
    }

    #[test]
    fn too_few_samples_give_no_result() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(MedianEstimate::of(&[1.0; 5]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn mean_median_and_deviation_are_correct() {
        let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&samples), Some(5.0));
        assert_eq!(median(&samples), Some(4.5));
        let expected = (32.0f64 / 7.0).sqrt();
        assert!((standard_deviation(&samples).unwrap() - expected).abs() < 1e-12);
    }
}
