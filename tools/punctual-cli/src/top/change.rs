//! Difference of two snapshots: rates and response times of the interval between them.

use std::time::Duration;

use super::snapshot::{Lane, Snapshot};

/// Difference of two snapshots of the same ORB.
pub struct Change {
    /// Time between the snapshots.
    pub span: Duration,
    /// One entry per lane, in the order of the later snapshot.
    pub lanes: Vec<LaneChange>,
}

/// Activity of one lane between two snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneChange {
    /// Received requests per second.
    pub calls_per_s: f64,
    /// Response times of requests that ended in the interval; `None` if none did.
    pub times: Option<Times>,
}

/// Response times in microseconds, rounded up by at most a sixteenth.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    pub p50: f64,
    pub p999: f64,
    pub max: f64,
}

impl Change {
    pub fn between(before: &Snapshot, now: &Snapshot) -> Self {
        let span = Duration::from_nanos(now.uptime_ns.saturating_sub(before.uptime_ns));
        let lanes = now.lanes.iter().map(|lane| {
            // A new lane has no earlier counters.
            let before = before.lanes.iter().find(|other| other.lane == lane.lane);
            LaneChange {
                calls_per_s: rate(
                    lane.requests - before.map_or(0, |before| before.requests).min(lane.requests),
                    span,
                ),
                times: Times::between(before, lane),
            }
        });
        Self {
            span,
            lanes: lanes.collect(),
        }
    }
}

fn rate(count: u64, span: Duration) -> f64 {
    if span.is_zero() {
        0.0
    } else {
        count as f64 / span.as_secs_f64()
    }
}

impl Times {
    fn between(before: Option<&Lane>, now: &Lane) -> Option<Self> {
        let old = before.map_or(&[][..], |before| &before.service.buckets_below_ns);
        let count_before = |below: u64| {
            old.iter()
                .find(|(other, _)| *other == below)
                .map_or(0, |(_, count)| *count)
        };
        let buckets = now.service.buckets_below_ns.iter();
        let new: Vec<_> = buckets
            .map(|(below, count)| (*below, count.saturating_sub(count_before(*below))))
            .filter(|(_, count)| *count > 0)
            .collect();
        let all: u64 = new.iter().map(|(_, count)| count).sum();
        let (last, _) = *new.last()?;
        let quantile = |share: f64| {
            let rank = (share * all as f64).ceil().max(1.0) as u64;
            let mut seen = 0;
            let found = new.iter().find(|(_, count)| {
                seen += count;
                seen >= rank
            });
            found.map_or(last, |(below, _)| *below)
        };
        // The maximum since the start is exact: no time of this interval is longer.
        let at_most = |below: u64| below.min(now.service.max_ns) as f64 / 1e3;
        Some(Self {
            p50: at_most(quantile(0.5)),
            p999: at_most(quantile(0.999)),
            max: at_most(last),
        })
    }
}
