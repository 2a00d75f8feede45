//! `os.sustained-timers`: the smallest period at which a thread misses no expiry of a timer, over bursts of a
//! thousand, a million and (with the papers' lengths) a billion.
//!
//! Replaces, in user space, the maximum sustained interrupt frequency of [Fayyad-Kazan 2013] IV.B.5, figure
//! 5.

use std::time::{Duration, Instant};

use punctual_harness::{Claim, Outcome, Row, statistics};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    samples::now_ns,
    subject::{Interrupts, Subject},
    timer::Timer,
    worker::{Job, fifo, run},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct SustainedTimers;

impl Experiment for SustainedTimers {
    const NAME: &'static str = "os.sustained-timers";
    const ABOUT: &'static str = "the smallest period at which no expiry of a timer is missed, over bursts of \
                                 a thousand and a million";
    const PAGE: &'static str = include_str!("sustained_timers.toml");
    const CONTROLS: &'static [Control] = &[SHORT_ONLY];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        trial.shortened("no burst of a million, and fewer rounds of a thousand");
        let limit = Duration::from_secs(600) + extent.longest * 4;
        let mut subject = Subject::for_jobs(trial.testbed, limit, Interrupts::Ignored)?;
        let mut sustained = Vec::new();
        for &burst in extent.bursts {
            let rounds = if burst == SHORT_BURST { extent.rounds } else { 1 };
            let short = trial.testbed.is_under(&SHORT_ONLY);
            let (length, rounds) = if short {
                (SHORT_BURST, extent.rounds)
            } else {
                (burst, rounds)
            };
            let mut one = sustain(trial, &mut subject, length, rounds, extent.longest)?;
            one.burst = burst;
            sustained.push(one);
        }
        let mut curve = Vec::new();
        for period_us in PERIODS_US.into_iter().filter(|period_us| *period_us <= 200) {
            trial.stage(format!("share missed at {period_us} µs"), extent.curve);
            let expire = Expire {
                period_ns: period_us * 1000,
                expiries: extent.curve.as_micros() as u64 / period_us,
                give_up: false,
            };
            curve.push((period_us, subject.run(expire, extent.curve)?));
        }
        subject.finish(&mut trial.outcome)?;
        sustained.iter().for_each(|one| trial.outcome.row(one.row()));
        for (period_us, burst) in &curve {
            trial.outcome.row(curve_row(*period_us, burst));
        }
        for burst in [LONG_BURST, LONGEST_BURST] {
            if !extent.bursts.contains(&burst) {
                let least = shown(Duration::from_micros(burst * 20));
                let reason = format!("needs at least {least}: included in longer runs");
                trial.outcome.skip(None, format!("bursts of {burst}"), reason);
            }
        }
        claim(&sustained, &mut trial.outcome);
        Ok(())
    }
}

const SHORT_ONLY: Control = Control {
    id: "short-only",
    about: "long bursts that are as short as the short ones",
    breaks: &["longer-burst"],
};

/// Claims that the long burst needs a longer period than the short one, or that none sustained it.
fn claim(sustained: &[Sustained], outcome: &mut Outcome) {
    let id = "longer-burst";
    let of = |burst: u64| {
        let found = sustained.iter().find(|one| one.burst == burst);
        found.map(Sustained::median_us)
    };
    let (Some(Some(short)), Some(long)) = (of(SHORT_BURST), of(LONG_BURST)) else {
        let reason = "no period sustained a short burst, or long ones are not part of this run";
        return outcome.skip(Some(id), "bursts of two lengths", reason);
    };
    let text = "smallest period that a long burst sustains over that of a short one, above 1";
    let source = "[Fayyad-Kazan 2013] IV.B.5";
    let measured = long.map_or("none sustained".into(), |long| Value::from(long / short));
    let holds = long.is_none_or(|long| short < long);
    outcome.claim(Claim::new(id, text, source, measured, 1.0, holds));
}

const PRIORITY: i16 = 80;
/// The periods in microseconds, tried in ascending order; most bursts end with their first miss.
const PERIODS_US: [u64; 22] = [
    2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000,
];
/// A gap this long has a cause other than the kernel's ticks.
const LONG_GAP_NS: u64 = 1_000_000;

#[derive(Clone, Copy)]
struct Extent {
    /// Number of bursts of a thousand per period; the median counts.
    rounds: usize,
    /// The longest time for all bursts of one length; longer ones are not tried.
    longest: Duration,
    /// The expected time of all long bursts: those of a million end at their first miss, which comes early on
    /// virtual machines; the longest one is expected to succeed, at the paper's 36 µs per expiry.
    long_bursts: Duration,
    /// Time per point of the figure.
    curve: Duration,
    bursts: &'static [u64],
}

const SHORT_BURST: u64 = 1_000;
const LONG_BURST: u64 = 1_000_000;
const LONGEST_BURST: u64 = 1_000_000_000;

impl Extent {
    fn of(length: Length) -> Self {
        let day = Duration::from_secs(24 * 3600);
        Self {
            rounds: length.pick(5, 15, 31),
            longest: length.pick(Duration::ZERO, Duration::from_secs(150), day),
            long_bursts: Duration::from_secs(length.pick(0, 0, 36_000)),
            curve: Duration::from_millis(length.pick(150, 600, 1000)),
            bursts: length.pick(
                &[SHORT_BURST],
                &[SHORT_BURST, LONG_BURST],
                &[SHORT_BURST, LONG_BURST, LONGEST_BURST],
            ),
        }
    }

    fn expected(self) -> Duration {
        let short = Duration::from_millis(100) * self.rounds as u32;
        short + self.curve * PERIODS_US.len() as u32 + self.long_bursts
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Expire {
    period_ns: u64,
    expiries: u64,
    /// Whether the first miss ends the burst.
    give_up: bool,
}

/// The result of a burst.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Burst {
    /// Expiries, including missed ones.
    expiries: u64,
    /// Expiries that occurred while the thread had not finished the previous one.
    missed: u64,
    /// Missed expiries in gaps of at least a millisecond.
    missed_in_long_gaps: u64,
    long_gaps: u64,
    /// The longest time between two returns of the thread's wait.
    longest_gap_ns: u64,
}

impl Burst {
    /// Adds the result of a wait: `expired` expiries, `gap_ns` after the previous one.
    fn add(&mut self, expired: u64, gap_ns: u64) {
        let missed = expired.saturating_sub(1);
        self.expiries += expired;
        self.missed += missed;
        self.longest_gap_ns = self.longest_gap_ns.max(gap_ns);
        if missed > 0 && gap_ns >= LONG_GAP_NS {
            self.long_gaps += 1;
            self.missed_in_long_gaps += missed;
        }
    }

    fn missed_percent(&self) -> f64 {
        100.0 * self.missed as f64 / self.expiries as f64
    }
}

impl Job for Expire {
    const NAME: &'static str = "sustained-timers";
    type Reply = Burst;

    fn run(self) -> Result<Burst, Error> {
        run(fifo("handles", PRIORITY), move || burst(self))?
    }
}

fn burst(command: Expire) -> Result<Burst, Error> {
    let mut burst = Burst::default();
    let first = now_ns() + LONG_GAP_NS;
    let timer = Timer::start(first, command.period_ns)?;
    let mut last = None;
    while burst.expiries < command.expiries && !(command.give_up && burst.missed > 0) {
        let expired = timer.wait()?;
        let now = now_ns();
        burst.add(expired, now - last.unwrap_or(now));
        last = Some(now);
    }
    Ok(burst)
}

/// The results for one length of burst.
struct Sustained {
    burst: u64,
    /// The smallest period without a miss, if any, by round.
    smallest_us: Vec<Option<u64>>,
    /// The longest period that was tried.
    largest_tried_us: u64,
    /// The result at that period.
    at_largest: Burst,
}

fn shown(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..600 => format!("{seconds} s"),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// Tries periods in ascending order until a burst has no miss.
fn sustain(
    trial: &Trial<'_>,
    subject: &mut Subject,
    burst: u64,
    rounds: usize,
    longest: Duration,
) -> Result<Sustained, Error> {
    let mut sustained = Sustained {
        burst,
        smallest_us: Vec::new(),
        largest_tried_us: 0,
        at_largest: Burst::default(),
    };
    let began = Instant::now();
    for _ in 0..rounds {
        let mut smallest = None;
        for period_us in PERIODS_US {
            let expected = Duration::from_micros(period_us * burst);
            if burst > SHORT_BURST && began.elapsed() + expected > longest {
                break;
            }
            if burst > SHORT_BURST {
                trial.stage(format!("{burst} expiries, one each {period_us} µs"), expected);
            }
            let expire = Expire {
                period_ns: period_us * 1000,
                expiries: burst,
                give_up: true,
            };
            let came = subject.run(expire, expected)?;
            if period_us >= sustained.largest_tried_us {
                (sustained.largest_tried_us, sustained.at_largest) = (period_us, came);
            }
            if came.missed == 0 {
                smallest = Some(period_us);
                break;
            }
        }
        sustained.smallest_us.push(smallest);
    }
    Ok(sustained)
}

impl Sustained {
    /// Returns the median over rounds; a round without a period counts as infinite.
    fn median_us(&self) -> Option<f64> {
        let periods = self.smallest_us.iter();
        let periods: Vec<f64> = periods
            .map(|period| period.map_or(f64::INFINITY, |us| us as f64))
            .collect();
        statistics::median(&periods).filter(|period| period.is_finite())
    }

    fn row(&self) -> Row {
        let found = self.smallest_us.iter().flatten();
        let note = if self.median_us().is_some() {
            String::new()
        } else {
            format!(
                "missed at every period up to {} µs, where the first miss occurred after {} expiries with a \
                 gap of {:.0} µs",
                self.largest_tried_us,
                self.at_largest.expiries - self.at_largest.missed,
                self.at_largest.longest_gap_ns as f64 / 1000.0
            )
        };
        Row::new()
            .with("burst", self.burst)
            .with("smallest_period_us", self.median_us())
            .with("best_us", found.clone().min().copied())
            .with("worst_us", found.max().copied())
            .with("rounds", self.smallest_us.len())
            .with(
                "rounds_without",
                self.smallest_us.iter().filter(|period| period.is_none()).count(),
            )
            .with("note", note)
    }
}

fn curve_row(period_us: u64, burst: &Burst) -> Row {
    Row::new()
        .with("period_us", period_us)
        .with("expiries", burst.expiries)
        .with("missed_percent", burst.missed_percent())
        .with("missed", burst.missed)
        .with("missed_in_long_gaps", burst.missed_in_long_gaps)
        .with("long_gaps", burst.long_gaps)
        .with("longest_gap_us", burst.longest_gap_ns as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_expiries_are_counted_by_length_of_gap() {
        let mut burst = Burst::default();
        for (expired, gap_ns) in [(1, 0), (1, 10_000), (3, 30_000), (200, 2_000_000), (1, 1_500_000)] {
            burst.add(expired, gap_ns);
        }
        let expected = Burst {
            expiries: 206,
            missed: 201,
            missed_in_long_gaps: 199,
            long_gaps: 1,
            longest_gap_ns: 2_000_000,
        };
        assert_eq!(burst, expected);
    }

    #[test]
    fn a_round_without_a_period_counts_as_infinite() {
        let sustained = |smallest_us: &[Option<u64>]| Sustained {
            burst: 1_000,
            smallest_us: smallest_us.to_vec(),
            largest_tried_us: 1000,
            at_largest: Burst::default(),
        };
        assert_eq!(sustained(&[Some(10), None, Some(12)]).median_us(), Some(12.0));
        let none = sustained(&[None, None, Some(12)]);
        assert_eq!(none.median_us(), None);
        assert!(
            none.row()
                .get("note")
                .unwrap()
                .as_str()
                .unwrap()
                .contains("up to 1000 µs")
        );
    }

    #[test]
    fn the_first_miss_ends_a_burst_if_requested() {
        // No thread reads a timer every nanosecond.
        let command = Expire {
            period_ns: 1,
            expiries: u64::MAX,
            give_up: true,
        };
        assert!(burst(command).unwrap().missed > 0);
        let command = Expire {
            period_ns: 1_000,
            expiries: 100,
            give_up: false,
        };
        assert!(burst(command).unwrap().expiries >= 100);
    }
}
