//! `os.tracing-overhead`: the cost of the measurements themselves.
//!
//! All samples depend on readings of the clock; each process measures their cost and subtracts it. The
//! kernel's recording provides causes. Source: [Fayyad-Kazan 2013] IV.B.1.

use std::time::Duration;

use punctual_harness::{
    Claim, Outcome, Row,
    blocks::interleave,
    statistics::{MedianEstimate, median},
};
use punctual_trace::kernel::{KernelRecorder, Recorded};
use serde::{Deserialize, Serialize};

use super::{
    context_switch::YieldToEachOther,
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, record},
    worker::{Job, fifo, run},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct TracingOverhead;

impl Experiment for TracingOverhead {
    const NAME: &'static str = "os.tracing-overhead";
    const ABOUT: &'static str = "cost of reading the clock and of recording kernel events";
    const PAGE: &'static str = include_str!("tracing_overhead.toml");
    const CONTROLS: &'static [Control] = &[UNEVEN];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let Extent { rounds, readings } = Extent::of(trial.length());
        let limit = Self::expected(trial.length()) * 10;
        let mut subject = Subject::for_jobs(trial.testbed, limit, Interrupts::Ignored)?;
        trial.stage("reading the clock", Duration::from_secs(1));
        let full = Extent::of(Length::Full).rounds;
        trial.shortened(format!(
            "{rounds} rounds with and without a record instead of {full}"
        ));
        let uneven = trial.testbed.is_under(&UNEVEN);
        let clock = subject.run(ReadClock { readings, uneven }, Duration::from_secs(1))?;
        let switches = if trial.outcome.machine().is_realtime() {
            kernel_blocks(trial, &mut subject, rounds)
        } else {
            Err("yielding is meaningful only under SCHED_FIFO, which this process may not use".into())
        };
        let stamp_us = subject.stamp_ns() as f64 / 1000.0;
        let disturbances = subject.finish(&mut trial.outcome)?;
        let outcome = &mut trial.outcome;
        let per_reading = |what: &str, ns: f64| Row::new().with("what", what).with("cost_us", ns / 1000.0);
        outcome.row(per_reading("reading the clock, in a batch", clock.batch_ns));
        outcome.row(per_reading("reading and logging it, in a batch", clock.kept_ns));
        let pairs = disturbances.evaluate(&clock.pairs, 0).raw;
        let what = "two consecutive readings, each pair timed: the correction of samples";
        let row = Row::new()
            .with("what", what)
            .with("cost_us", pairs.quantile_us(0.5));
        outcome.row(row.with_fields(&pairs.summary()));
        let quantile = |share| pairs.quantile_us(share).unwrap_or(f64::NAN);
        let (median, high) = (quantile(0.5), quantile(0.99));
        let text = "time between two consecutive readings of the clock (µs, median)";
        let source = "Punctual's limit, after [Fayyad-Kazan 2013] IV.B.1";
        outcome.claim(Claim::at_most("stamp", text, source, median, PRECISION_US));
        let text =
            "99th percentile of that time less its median, by which corrected results may be wrong (µs)";
        let source = "[Fayyad-Kazan 2013] IV.B.1";
        let claim = Claim::at_most("spread", text, source, high - median, PRECISION_US);
        outcome.claim(claim);
        outcome.parameter("correction_us", stamp_us);
        match switches {
            Ok(blocks) => kernel_rows(&blocks, outcome),
            Err(reason) => {
                let what = "the cost of the kernel's recording per switch";
                outcome.skip(None, what, reason.to_string());
            }
        }
        trial.curve("pairs", "pairs", pairs.curve());
        Ok(())
    }
}

const UNEVEN: Control = Control {
    id: "uneven",
    about: "stamps that read the clock 1 to 100 times",
    breaks: &["spread", "stamp"],
};

const PRIORITY: i16 = 60;
const YIELDS: u32 = 2_000;
/// The precision of the paper's results.
const PRECISION_US: f64 = 0.2;

#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    readings: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        Self {
            rounds: length.pick(6, 30, 30),
            readings: length.pick(100_000, 1_000_000, 1_000_000),
        }
    }

    fn expected(self) -> Duration {
        // Mostly starting and stopping the kernel's recorder.
        Duration::from_millis(230) * self.rounds as u32
    }
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ReadClock {
    readings: usize,
    /// Whether stamps read the clock 1 to 100 times.
    uneven: bool,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Readings {
    /// Time per reading, in a batch.
    batch_ns: f64,
    /// Time per reading that is also logged, in a batch.
    kept_ns: f64,
    pairs: Vec<Sample>,
}

impl Job for ReadClock {
    const NAME: &'static str = "read-clock";
    type Reply = Readings;

    fn run(self) -> Result<Readings, Error> {
        run(fifo("reads-clock", PRIORITY), move || {
            clock(self.readings, self.uneven)
        })
    }
}

fn clock(readings: usize, uneven: bool) -> Readings {
    let each = |elapsed_ns: u64| elapsed_ns as f64 / readings as f64;
    let began = now_ns();
    for _ in 0..readings {
        std::hint::black_box(now_ns());
    }
    let batch_ns = each(now_ns() - began);
    let log = Log::with_room_for(readings);
    let began = now_ns();
    for _ in 0..readings {
        log.record(began, now_ns());
    }
    let kept_ns = each(now_ns() - began);
    let log = Log::with_room_for(readings.min(100_000));
    let mut more = 0;
    while !log.is_full() {
        let began = now_ns();
        for _ in 0..more {
            std::hint::black_box(now_ns());
        }
        log.record(began, now_ns());
        more = if uneven { (more + 1) % 100 } else { 0 };
    }
    Readings {
        batch_ns,
        kept_ns,
        pairs: log.samples(),
    }
}

/// The kernel's recording during a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Recording {
    Nothing,
    Some(Recorded),
}

/// The recordings of alternating blocks. Interrupts are recorded while switches are timed, so this should
/// cost switches nothing.
const RECORDINGS: [Recording; 3] = [
    Recording::Nothing,
    Recording::Some(Recorded::Interrupts),
    Recording::Some(Recorded::Switches),
];

/// Measures alternating blocks of yields; returns the time per switch in nanoseconds for each recording.
fn kernel_blocks(trial: &Trial<'_>, subject: &mut Subject, rounds: usize) -> Result<Vec<Vec<f64>>, Error> {
    let expected = Duration::from_millis(50);
    let run = |recording, round| {
        if recording == Recording::Nothing {
            let text = format!("recording by the kernel, round {} of {rounds}", round + 1);
            trial.stage(text, expected * RECORDINGS.len() as u32);
        }
        let recorder = match recording {
            Recording::Nothing => None,
            Recording::Some(events) => Some(record(&trial.testbed.places, events)?),
        };
        let yields = YieldToEachOther {
            repetitions: 1,
            yields: YIELDS,
            handed_over: false,
        };
        let yielded = subject.run(yields, expected)?;
        recorder.map(KernelRecorder::stop).transpose()?;
        Ok(yielded.first().map_or(f64::NAN, |yielded| yielded.ns))
    };
    interleave(&RECORDINGS, rounds, run)
}

impl Recording {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Some(Recorded::Switches) => "switches",
            Self::Some(Recorded::Interrupts) => "interrupts",
            Self::Some(Recorded::All) => "all scheduling events and interrupts",
        }
    }
}

/// Adds a row for each recording; its cost is the median difference to the block without recording in the
/// same round.
fn kernel_rows(blocks: &[Vec<f64>], outcome: &mut Outcome) {
    for (recording, ns) in RECORDINGS.iter().zip(blocks) {
        let differences: Vec<f64> = ns
            .iter()
            .zip(&blocks[0])
            .map(|(with, without)| with - without)
            .collect();
        let cost = MedianEstimate::of(&differences).filter(|_| *recording != Recording::Nothing);
        let us = |choose: fn(MedianEstimate) -> f64| cost.map(|cost| choose(cost) / 1000.0);
        outcome.row(
            Row::new()
                .with(
                    "what",
                    format!(
                        "a switch between two threads while the kernel records {}",
                        recording.name()
                    ),
                )
                .with("p50_us", median(ns).map(|ns| ns / 1000.0))
                .with("cost_us", us(|cost| cost.median))
                .with("cost_low_us", us(|cost| cost.low))
                .with("cost_high_us", us(|cost| cost.high)),
        );
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::MachineFacts;
    use punctual_os::CpuSet;

    use super::*;

    #[test]
    fn the_cost_of_recording_is_the_difference_within_a_round() {
        let mut outcome = Outcome::new("test", MachineFacts::read(&CpuSet::single(0)));
        // The machine becomes slower; the difference does not change.
        let plain: Vec<f64> = (0..10).map(|round| 2_000.0 + 500.0 * f64::from(round)).collect();
        let more = |more: f64| plain.iter().map(|ns| ns + more).collect();
        kernel_rows(&[plain.clone(), more(0.0), more(700.0)], &mut outcome);
        let costs: Vec<_> = outcome.rows().iter().map(|row| row.number("cost_us")).collect();
        assert_eq!(costs, [None, Some(0.0), Some(0.7)]);
    }
}
