//! Latencies in a histogram.

use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Latencies of up to an hour, each kept within 0.1 % of its value. Recording takes no memory.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    /// The largest one exactly, in nanoseconds.
    max_ns: u64,
}

/// What is told of [`Latencies`], by the names that rows use; null without any.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Summary {
    /// The latency that half of the calls kept, in microseconds.
    pub p50_us: Option<f64>,
    /// The one that 99 % kept.
    pub p99_us: Option<f64>,
    /// The one that 99.9 % kept.
    pub p999_us: Option<f64>,
    /// The largest one, exactly.
    pub max_us: Option<f64>,
    /// The arithmetic mean.
    pub mean_us: Option<f64>,
    /// The sample standard deviation: what the papers call jitter.
    pub jitter_us: Option<f64>,
}

impl Latencies {
    const HIGHEST_NS: u64 = 3_600_000_000_000;

    /// None yet. Takes about 300 KiB, all of it now.
    pub fn new() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, Self::HIGHEST_NS, 3)
                .expect("the bounds are constants that the histogram accepts"),
            max_ns: 0,
        }
    }

    /// Records one, in nanoseconds.
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Records one of a caller that wanted to call every `interval_ns` nanoseconds, and with it those of the calls that
    /// the caller could not make while it waited. Leaving these out (coordinated omission) hides long waits, for a
    /// caller that waits asks less often.
    pub fn record_paced(&mut self, ns: u64, interval_ns: u64) {
        let within = ns.min(Self::HIGHEST_NS);
        self.histogram
            .record_correct(within, interval_ns)
            .expect("a value within the bounds is recorded");
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds those of another one.
    pub fn merge(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("all latencies have the same bounds");
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.histogram.reset();
        self.max_ns = 0;
    }

    /// How many there are, those that were filled in for a paced caller included.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The latency, in microseconds, that a share from 0 to 1 of the calls kept. `None` without any.
    pub fn quantile_us(&self, share: f64) -> Option<f64> {
        // Not above the largest: the histogram gives the upper end of a class.
        let ns = self.histogram.value_at_quantile(share).min(self.max_ns);
        (self.count() > 0).then(|| microseconds(ns))
    }

    /// The figures for a row.
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

    /// The sample standard deviation (divided by n - 1), in microseconds. `None` with fewer than two.
    pub fn jitter_us(&self) -> Option<f64> {
        let n = self.count() as f64;
        (n > 1.0).then(|| self.histogram.stdev() * (n / (n - 1.0)).sqrt() / 1000.0)
    }

    /// For a plot of percentiles: shares of the calls in percent, ascending and below 100, each with the latency in
    /// microseconds that this share kept. The closer to 100 the closer together, down to the single slowest call, which
    /// stands at 100·n/(n+1). Empty without any.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let n = self.count() as f64;
        // Eight points for each halving of what is left, so that a tail of a million calls has about 160.
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

/// From one process to another: the classes that are not empty.
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
                .map_err(|error| D::Error::custom(format!("a latency of {ns} ns: {error}")))?;
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
            "{actual} instead of {expected}"
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
        // Of 1 to 10000: the square root of n (n + 1) / 12.
        close(summary.jitter_us, 2887.7);
        assert_eq!(summary.max_us, Some(12_345.678));
        assert_eq!(latencies.count(), 10_001);
    }

    #[test]
    fn a_paced_caller_that_waited_counts_the_calls_it_could_not_make() {
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
    fn they_travel_between_processes() {
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
    fn none_gives_no_figures() {
        let mut latencies = Latencies::new();
        latencies.record(5);
        latencies.clear();
        assert_eq!(latencies.count(), 0);
        let json = serde_json::to_value(latencies.summary()).unwrap();
        assert!(json.as_object().unwrap().values().all(serde_json::Value::is_null));
    }

    #[test]
    fn the_curve_ends_with_the_slowest() {
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
    fn what_is_longer_than_an_hour_counts_as_an_hour() {
        let mut latencies = Latencies::new();
        latencies.record(u64::MAX);
        latencies.record_paced(u64::MAX, Latencies::HIGHEST_NS);
        close(latencies.quantile_us(0.5), 3.6e9);
    }
}
