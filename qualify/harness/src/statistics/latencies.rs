//! Histogram of latencies.

use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Latencies of up to an hour, with an error of at most 0.1 %. Recording does not allocate.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    /// Exact maximum in nanoseconds.
    max_ns: u64,
}

/// Summary of [`Latencies`] with the column names of rows; null without latencies.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// Median in microseconds.
    pub p50_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// 99.9th percentile.
    pub p999_us: Option<f64>,
    /// Exact maximum.
    pub max_us: Option<f64>,
    /// Arithmetic mean.
    pub mean_us: Option<f64>,
    /// Sample standard deviation, which the papers call jitter.
    pub jitter_us: Option<f64>,
}

impl Latencies {
    const HIGHEST_NS: u64 = 3_600_000_000_000;

    /// Creates an empty histogram. Allocates about 300 KiB.
    pub fn new() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, Self::HIGHEST_NS, 3)
                .expect("the bounds are constants that the histogram accepts"),
            max_ns: 0,
        }
    }

    /// Records a latency in nanoseconds.
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Records a latency of a caller that intends to call every `interval_ns` nanoseconds, together with the
    /// latencies of the calls that it could not make while it waited. Omitting these (coordinated omission)
    /// hides long waits, because a waiting caller calls less often.
    pub fn record_paced(&mut self, ns: u64, interval_ns: u64) {
        let within = ns.min(Self::HIGHEST_NS);
        self.histogram
            .record_correct(within, interval_ns)
            .expect("the value is within the bounds");
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds the latencies of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("all latencies have the same bounds");
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Removes all latencies and keeps the memory.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.max_ns = 0;
    }

    /// Returns the number of latencies, including those added for calls that a paced caller could not make.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the latency in microseconds that a share (0 to 1) of the calls did not exceed. `None` without
    /// latencies.
    pub fn quantile_us(&self, share: f64) -> Option<f64> {
        // Limited to the maximum: the histogram returns the upper end of a class.
        let ns = self.histogram.value_at_quantile(share).min(self.max_ns);
        (self.count() > 0).then(|| microseconds(ns))
    }

    /// Returns the values for a row.
    pub fn summary(&self) -> Summary {
        let some = self.count() > 0;
        Summary {
            p50_us: self.quantile_us(0.5),
            p99_us: self.quantile_us(0.99),
            p999_us: self.quantile_us(0.999),
            max_us: some.then(|| microseconds(self.max_ns)),
            mean_us: some.then(|| self.histogram.mean() / 1000.0),
            jitter_us: self.jitter_us(),
        }
    }

    /// Returns the sample standard deviation (divided by n - 1) in microseconds. `None` with fewer than two
    /// latencies.
    pub fn jitter_us(&self) -> Option<f64> {
        let n = self.count() as f64;
        (n > 1.0).then(|| self.histogram.stdev() * (n / (n - 1.0)).sqrt() / 1000.0)
    }

    /// Returns points for a percentile plot: shares of the calls in percent, ascending and below 100, each
    /// with the latency in microseconds that this share did not exceed. Points are closer together towards
    /// 100; the slowest call is at 100·n/(n+1). Empty without latencies.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let n = self.count() as f64;
        // Eight points per halving of the remaining share, so that the tail of a million calls has about 160.
        let slower = (0..).map(|step| 0.5f64.powf(f64::from(step) / 8.0));
        let shares = slower
            .take_while(|slower| slower * n >= 2.0)
            .map(|slower| 1.0 - slower);
        let points = shares.map(|share| {
            (
                100.0 * share,
                self.histogram.value_at_quantile(share).min(self.max_ns),
            )
        });
        let slowest = (n > 0.0).then_some((100.0 * n / (n + 1.0), self.max_ns));
        points
            .chain(slowest)
            .map(|(share, ns)| (share, microseconds(ns)))
            .collect()
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self::new()
    }
}

/// Serialised form: the classes that are not empty.
#[derive(Deserialize, Serialize)]
struct Wire {
    max_ns: u64,
    classes: Vec<(u64, u64)>,
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let classes = self.histogram.iter_recorded();
        Wire {
            max_ns: self.max_ns,
            classes: classes
                .map(|class| (class.value_iterated_to(), class.count_at_value()))
                .collect(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let mut latencies = Self::new();
        for (ns, count) in wire.classes {
            latencies
                .histogram
                .record_n(ns, count)
                .map_err(|error| D::Error::custom(format!("invalid latency of {ns} ns: {error}")))?;
        }
        latencies.max_ns = wire.max_ns;
        Ok(latencies)
    }
}

fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(actual: Option<f64>, expected: f64) {
        let actual = actual.unwrap();
        assert!(
            (actual / expected - 1.0).abs() < 0.0011,
            "{actual}, expected {expected}"
        );
    }

    #[test]
    fn percentiles_are_within_a_thousandth_and_the_maximum_is_exact() {
        let mut latencies = Latencies::new();
        (1..=10_000).for_each(|us| latencies.record(us * 1000));
        latencies.record(12_345_678);
        let summary = latencies.summary();
        close(summary.p50_us, 5000.0);
        close(summary.p99_us, 9900.0);
        close(summary.p999_us, 9991.0);
        close(summary.mean_us, 5001.2);
        // For 1 to 10000: the square root of n (n + 1) / 12.
        close(summary.jitter_us, 2887.7);
        assert_eq!(summary.max_us, Some(12_345.678));
        assert_eq!(latencies.count(), 10_001);
    }

    #[test]
    fn a_paced_caller_includes_calls_it_could_not_make() {
        let (mut naive, mut paced) = (Latencies::new(), Latencies::new());
        for ns in std::iter::repeat_n(1_000, 99).chain([100_000_000]) {
            naive.record(ns);
            paced.record_paced(ns, 1_000_000);
        }
        assert_eq!(naive.count(), 100);
        assert_eq!(paced.count(), 199);
        close(naive.quantile_us(0.9), 1.0);
        assert!(paced.quantile_us(0.9).unwrap() > 50_000.0);
        assert_eq!(naive.summary().max_us, paced.summary().max_us);
    }

    #[test]
    fn latencies_can_be_serialised_and_merged() {
        let mut latencies = Latencies::new();
        [17_321, 17_321, 900, 4_000_000]
            .into_iter()
            .for_each(|ns| latencies.record(ns));
        let text = serde_json::to_string(&latencies).unwrap();
        let mut back: Latencies = serde_json::from_str(&text).unwrap();
        assert_eq!(back.summary(), latencies.summary());
        back.merge(&latencies);
        assert_eq!(back.count(), 8);
        assert_eq!(back.summary().p50_us, latencies.summary().p50_us);
    }

    #[test]
    fn no_latencies_give_no_values() {
        let mut latencies = Latencies::new();
        latencies.record(5);
        latencies.clear();
        assert_eq!(latencies.count(), 0);
        let json = serde_json::to_value(latencies.summary()).unwrap();
        assert!(json.as_object().unwrap().values().all(serde_json::Value::is_null));
    }

    #[test]
    fn the_curve_ends_with_the_slowest_call() {
        let mut latencies = Latencies::new();
        assert_eq!(latencies.curve(), []);
        latencies.record(2_000);
        assert_eq!(latencies.curve(), [(50.0, 2.0)]);
        (0..99_999).for_each(|_| latencies.record(1_000));
        latencies.record(77_000);
        let curve = latencies.curve();
        assert_eq!(curve.last().unwrap().1, 77.0);
        assert!(
            curve
                .windows(2)
                .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1),
            "{curve:?}"
        );
        assert!(curve.iter().all(|point| point.0 < 100.0));
        assert!((100..200).contains(&curve.len()), "{}", curve.len());
    }

    #[test]
    fn latencies_are_limited_to_an_hour() {
        let mut latencies = Latencies::new();
        latencies.record(u64::MAX);
        latencies.record_paced(u64::MAX, Latencies::HIGHEST_NS);
        close(latencies.quantile_us(0.5), 3.6e9);
    }
}
