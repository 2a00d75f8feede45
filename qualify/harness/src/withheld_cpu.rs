//! Holes: intervals in which kernel or host ran none of the pinned processes although a call was outstanding.
//!
//! The kernel's fair server and the host's scheduling withhold the CPU for 20 to 50 ms. No ORB can meet
//! deadlines in such an interval, so these are reported separately, each with its hole as evidence. A hole in
//! which the CPU was idle excuses nothing: it looks like a lost wake-up, unless real-time throttling was on.

mod recorder;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Outcome;

pub(crate) use recorder::CpuAccount;
pub use recorder::{HoleRecorder, Recording};

/// Interval of the monotonic clock ([`punctual_os::clock::monotonic`]) in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Span {
    /// Start.
    pub start_ns: u64,
    /// Exclusive end.
    pub end_ns: u64,
}

impl Span {
    /// Returns the interval between two readings of the clock.
    pub fn between(start: Duration, end: Duration) -> Self {
        Self {
            start_ns: nanoseconds(start),
            end_ns: nanoseconds(end),
        }
    }

    /// Returns its length.
    pub fn length(self) -> Duration {
        Duration::from_nanos(self.end_ns.saturating_sub(self.start_ns))
    }

    fn overlap(self, other: Self) -> Option<Self> {
        let common = Self {
            start_ns: self.start_ns.max(other.start_ns),
            end_ns: self.end_ns.min(other.end_ns),
        };
        (common.start_ns < common.end_ns).then_some(common)
    }
}

/// Interval in which the summed CPU time of the pinned processes did not advance although a call was
/// outstanding.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hole {
    /// Start on the monotonic clock, at most one sampling period late.
    pub start_ns: u64,
    /// Minimum length; the true length is at most two sampling periods more.
    pub length_ns: u64,
    /// Activity of the CPU meanwhile.
    pub source: HoleSource,
}

/// Activity of the pinned CPUs during a hole, according to the kernel's accounting (`/proc/stat`).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoleSource {
    /// The CPUs were idle although a call was outstanding: as after a lost wake-up.
    Idle,
    /// The CPUs were idle, and real-time throttling was left on: throttling, or a lost wake-up.
    Throttling,
    /// The CPUs ran other tasks: the kernel's fair server for starving ordinary tasks, or a higher priority.
    OtherTasks,
    /// Not accounted: the host did not run the virtual CPU.
    Unaccounted,
}

impl Hole {
    /// Minimum length of a hole.
    pub const SHORTEST: Duration = Duration::from_millis(20);

    /// Returns the interval.
    pub fn span(&self) -> Span {
        Span {
            start_ns: self.start_ns,
            end_ns: self.start_ns + self.length_ns,
        }
    }

    /// Returns whether kernel or host withheld the CPU, so that nothing could have run. Not if it was idle: a
    /// wake-up may have been lost, also with real-time throttling.
    pub fn is_withheld(&self) -> bool {
        !matches!(self.source, HoleSource::Idle | HoleSource::Throttling)
    }

    /// Returns whether the hole explains a delay in this interval: it overlaps it, and the CPU was withheld.
    pub fn excuses(&self, span: Span) -> bool {
        self.is_withheld() && self.span().overlap(span).is_some()
    }
}

/// Returns for each missed deadline whether a hole excuses it: one that overlaps the interval in which the
/// call had to start. The caller determines that interval; for a paced client it extends from the start of
/// the previous call (or the release of this one, if earlier) to the deadline.
pub fn lost_to_holes(missed: &[Span], holes: &[Hole]) -> Vec<bool> {
    let lost = |span: &Span| holes.iter().any(|hole| hole.excuses(*span));
    missed.iter().map(lost).collect()
}

/// Returns the cause of a long interval as text: the hole that overlaps it most, or none.
pub fn cause_of(slowest: Span, holes: &[Hole]) -> String {
    let shared = |hole: &Hole| hole.span().overlap(slowest).map(Span::length);
    let longest = holes
        .iter()
        .filter_map(|hole| Some((shared(hole)?, hole.source)))
        .max_by_key(|(length, _)| *length);
    match longest {
        Some((length, source)) => format!("a hole of {} ms: {source}", length.as_millis()),
        None => "no recorded hole".to_owned(),
    }
}

impl fmt::Display for HoleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "the CPU was idle",
            Self::Throttling => "the CPU was idle, as the kernel's real-time throttling leaves it",
            Self::OtherTasks => "the CPU ran other tasks",
            Self::Unaccounted => "the host did not run the CPU",
        })
    }
}

/// Maximum share of holes in the measured time; beyond it the results are not valid. Idle holes do not count:
/// they are part of the results.
pub const LARGEST_EXCLUDED_SHARE: f64 = 0.02;

/// Returns the share of withheld time in the measured time.
pub fn excluded_share(holes: &[Hole], measured: Duration) -> f64 {
    let withheld = holes.iter().filter(|hole| hole.is_withheld());
    let total: Duration = withheld.map(|hole| hole.span().length()).sum();
    if total.is_zero() {
        return 0.0;
    }
    total.as_secs_f64() / measured.as_secs_f64()
}

/// Records that the machine was unfit, if the share of holes exceeds [`LARGEST_EXCLUDED_SHARE`], or one could
/// be real-time throttling as well as a lost wake-up.
pub fn evaluate(holes: &[Hole], measured: Duration, outcome: &mut Outcome) {
    let throttled = holes.iter().filter(|hole| hole.source == HoleSource::Throttling);
    let lengths: Vec<Duration> = throttled.map(|hole| hole.span().length()).collect();
    if !lengths.is_empty() {
        outcome.throttled(format!(
            "the kernel's real-time throttling was left on and stopped the pinned threads (holes: {}, {} ms in \
             all), or wake-ups were lost, which looks the same; run as root without `--leave-system-alone`, \
             or lift it meanwhile: `sysctl kernel.sched_rt_runtime_us=-1`",
            lengths.len(),
            lengths.iter().sum::<Duration>().as_millis()
        ));
    }
    let share = excluded_share(holes, measured);
    if share > LARGEST_EXCLUDED_SHARE {
        outcome.unfit(format!(
            "in {:.1} % of the measured time no pinned process ran although a call was outstanding ({} holes \
             of 20 ms or more); at most {:.0} % may be excluded; stop other load and repeat the run",
            share * 100.0,
            holes.iter().filter(|hole| hole.is_withheld()).count(),
            LARGEST_EXCLUDED_SHARE * 100.0
        ));
    }
}

/// Returns the parts of `stall` in which a call was outstanding and that are long enough for a hole.
fn outstanding_parts(stall: Span, outstanding: &[Span]) -> Vec<Span> {
    let parts = outstanding
        .iter()
        .filter_map(|call| call.overlap(stall))
        .collect();
    let mut parts = merged(parts);
    parts.retain(|part| part.length() >= Hole::SHORTEST);
    parts
}

/// Converts to nanoseconds; the clock starts at boot and leaves the range after five centuries.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the union of the intervals without overlaps, ascending.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start_ns <= last.end_ns => last.end_ns = last.end_ns.max(span.end_ns),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
