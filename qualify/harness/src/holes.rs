//! Holes: times in which the kernel or the host let none of the pinned processes run though a call was outstanding.
//!
//! Real-time throttling, the kernel's fair server and the host's own scheduling take the CPU away for 20 to 50 ms. No
//! ORB can make the deadlines that fall into such a time, so they are told apart, each with its hole as evidence.

mod recorder;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use recorder::CpuAccount;
pub use recorder::{HoleRecorder, Recording};

/// A time, by the monotonic clock ([`punctual_os::clock::monotonic`]) in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Span {
    /// Its first nanosecond.
    pub start_ns: u64,
    /// The one after its last.
    pub end_ns: u64,
}

impl Span {
    /// Between two readings of the clock.
    pub fn between(start: Duration, end: Duration) -> Self {
        Self {
            start_ns: nanoseconds(start),
            end_ns: nanoseconds(end),
        }
    }

    fn length(self) -> Duration {
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

/// A time in which the summed CPU clock of the pinned processes stood still while a call was outstanding.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hole {
    /// When it began, by the monotonic clock. At most one sampling period late.
    pub start_ns: u64,
    /// How long it was: at least so much, at most two sampling periods more.
    pub length_ns: u64,
    /// What the CPU did instead.
    pub source: HoleSource,
}

/// What the pinned CPUs did while none of the pinned processes ran, by the kernel's own account (`/proc/stat`).
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoleSource {
    /// They idled: real-time throttling, or nobody had reason to run.
    Idle,
    /// They ran other tasks: the kernel's fair server for starving ordinary tasks, or a higher priority.
    OtherTasks,
    /// The kernel does not know: the host did not run the virtual CPU.
    Unaccounted,
}

impl Hole {
    /// The shortest time that counts as a hole.
    pub const SHORTEST: Duration = Duration::from_millis(20);

    /// The time of it.
    pub fn span(&self) -> Span {
        Span {
            start_ns: self.start_ns,
            end_ns: self.start_ns + self.length_ns,
        }
    }
}

/// Which deadlines were lost to a hole: for each one missed, whether a hole overlaps the time in which the call had to
/// start. The caller says what that time is; for a paced client it runs from the start of the call before (or the
/// release of this one, whichever is earlier) to the deadline.
pub fn lost_to_holes(missed: &[Span], holes: &[Hole]) -> Vec<bool> {
    let lost = |span: &Span| holes.iter().any(|hole| hole.span().overlap(*span).is_some());
    missed.iter().map(lost).collect()
}

/// What made a time long, as text beside a maximum: the hole that took most of it, or that none did.
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
            Self::Idle => "the CPU idled",
            Self::OtherTasks => "the CPU ran other tasks",
            Self::Unaccounted => "the host did not run the CPU",
        })
    }
}

/// The largest share of the measured time that holes may have before the figures are worth nothing.
pub const LARGEST_EXCLUDED_SHARE: f64 = 0.02;

/// The share of the measured time that holes took, from 0 up.
pub fn excluded_share(holes: &[Hole], measured: Duration) -> f64 {
    let total: Duration = holes.iter().map(|hole| hole.span().length()).sum();
    if total.is_zero() {
        return 0.0;
    }
    total.as_secs_f64() / measured.as_secs_f64()
}

/// Why the machine was unfit, when holes took more than [`LARGEST_EXCLUDED_SHARE`] of the measured time; for
/// [`crate::Outcome::unfit`].
pub fn unfit(holes: &[Hole], measured: Duration) -> Option<String> {
    let share = excluded_share(holes, measured);
    (share > LARGEST_EXCLUDED_SHARE).then(|| {
        format!(
            "in {:.1} % of the measured time none of the pinned processes ran though a call was outstanding ({} holes \
             of 20 ms or more); at most {:.0} % may be excluded: stop other load and run it again",
            share * 100.0,
            holes.len(),
            LARGEST_EXCLUDED_SHARE * 100.0
        )
    })
}

/// The parts of `stall` in which a call was outstanding, as far as they are long enough.
fn outstanding_parts(stall: Span, outstanding: &[Span]) -> Vec<Span> {
    let parts = outstanding
        .iter()
        .filter_map(|call| call.overlap(stall))
        .collect();
    let mut parts = merged(parts);
    parts.retain(|part| part.length() >= Hole::SHORTEST);
    parts
}

/// The clock starts at boot and would take five centuries to leave the range.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The same times without overlaps, ascending.
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
