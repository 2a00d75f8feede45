//! `os.tracing-overhead`: the cost of the measurements themselves.
//!
//! All samples depend on readings of the clock; each process measures their cost and subtracts it. The
//! kernel's recording provides causes. Source: [Fayyad-Kazan 2013] IV.B.1.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row, blocks::interleave, statistics::MedianEstimate};
use punctual_report::{Chapter, Figure, Table};
use punctual_trace::kernel::Recorded;
use serde::{Deserialize, Serialize};

use super::{
    context_switch::{Yielded, yield_to_each_other},
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, record, shortened},
    worker::{fifo, run, serve},
};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "os.tracing-overhead",
    about: "cost of reading the clock and of recording kernel events",
    expected: |length| Extent::of(length).expected(),
    run: measure,
    controls: &[],
};

pub(crate) const ROLE: &str = "__os-tracing-overhead";

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
        Duration::from_millis(400) * self.rounds as u32
    }
}

#[derive(Debug, Deserialize, Serialize)]
enum Command {
    Clock { readings: usize },
    Yield,
}

#[derive(Debug, Deserialize, Serialize)]
enum Response {
    Clock {
        /// Time per reading, in a batch.
        batch_ns: f64,
        /// Time per reading that is also logged, in a batch.
        kept_ns: f64,
        pairs: Vec<Sample>,
    },
    Yielded(Yielded),
}

pub(crate) fn child(_: &[String]) -> Result<(), Error> {
    serve(|command| {
        Ok(match command {
            Command::Clock { readings } => run(fifo("reads-clock", PRIORITY), move || clock(readings))?,
            Command::Yield => Response::Yielded(yield_to_each_other(YIELDS)?),
        })
    })
}

fn clock(readings: usize) -> Response {
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
    while !log.is_full() {
        let began = now_ns();
        log.record(began, now_ns());
    }
    Response::Clock {
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

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    let mut subject = Subject::start(testbed, ROLE, extent.expected() * 10, Interrupts::Ignored)?;
    testbed
        .progress
        .stage("reading the clock", Duration::from_secs(1));
    shortened(testbed, &mut outcome, || {
        format!(
            "{} rounds with and without a record instead of {}",
            extent.rounds,
            Extent::of(Length::Full).rounds
        )
    });
    let readings = extent.readings;
    let clock = match subject.ask(&Command::Clock { readings }, Duration::from_secs(1))? {
        Response::Clock {
            batch_ns,
            kept_ns,
            pairs,
        } => (batch_ns, kept_ns, pairs),
        _ => return Err(unexpected_response()),
    };
    let switches = if outcome.machine().is_realtime() {
        kernel_blocks(testbed, &mut subject, extent.rounds)
    } else {
        Err("yielding is meaningful only under SCHED_FIFO, which this process may not use".into())
    };
    let stamp_us = subject.stamp_ns() as f64 / 1000.0;
    let disturbances = subject.finish(&mut outcome)?;
    let (batch_ns, kept_ns, pairs) = clock;
    let per_reading = |what: &str, ns: f64| Row::new().with("what", what).with("cost_us", ns / 1000.0);
    outcome.row(per_reading("reading the clock, in a batch", batch_ns));
    outcome.row(per_reading("reading and logging it, in a batch", kept_ns));
    let pairs = disturbances.evaluate(&pairs, 0).raw;
    outcome.row(
        Row::new()
            .with(
                "what",
                "two consecutive readings, each pair timed: the correction of samples",
            )
            .with("cost_us", pairs.quantile_us(0.5))
            .with_fields(&pairs.summary()),
    );
    let median = pairs.quantile_us(0.5).unwrap_or(f64::NAN);
    let text = "time between two consecutive readings of the clock (µs, median)";
    outcome.claim(Claim::at_most(
        "stamp",
        text,
        "[Fayyad-Kazan 2013] IV.B.1",
        median,
        PRECISION_US,
    ));
    outcome.parameter("correction_us", stamp_us);
    match switches {
        Ok(blocks) => kernel_rows(&blocks, &mut outcome),
        Err(reason) => outcome.skip(
            None,
            "the cost of the kernel's recording per switch",
            reason.to_string(),
        ),
    }
    let chapter = chapter(&outcome, &pairs.curve());
    Ok(Findings { outcome, chapter })
}

fn unexpected_response() -> Error {
    "unexpected response of the child process".into()
}

/// Measures alternating blocks of yields; returns the time per switch in nanoseconds for each recording.
fn kernel_blocks(testbed: &Testbed, subject: &mut Subject, rounds: usize) -> Result<Vec<Vec<f64>>, Error> {
    let expected = Duration::from_millis(50);
    let run = |recording, round| {
        if recording == Recording::Nothing {
            let text = format!("recording by the kernel, round {} of {rounds}", round + 1);
            testbed.progress.stage(text, expected * RECORDINGS.len() as u32);
        }
        let recorder = match recording {
            Recording::Nothing => None,
            Recording::Some(events) => Some(record(&testbed.places, events)?),
        };
        let response = subject.ask(&Command::Yield, expected)?;
        if let Some(recorder) = recorder {
            recorder.stop()?;
        }
        match response {
            Response::Yielded(yielded) => Ok(yielded.ns),
            Response::Clock { .. } => Err(unexpected_response()),
        }
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
                .with(
                    "p50_us",
                    punctual_harness::statistics::median(ns).map(|ns| ns / 1000.0),
                )
                .with("cost_us", us(|cost| cost.median))
                .with("cost_low_us", us(|cost| cost.low))
                .with("cost_high_us", us(|cost| cost.high)),
        );
    }
}

fn chapter(outcome: &Outcome, pairs: &[(f64, f64)]) -> Chapter {
    let table = Table::of(outcome.rows().iter().map(Row::as_map)).columns(&[
        ("what", "what"),
        ("cost_us", "cost (µs)"),
        ("cost_low_us", "from"),
        ("cost_high_us", "to"),
        ("p50_us", "p50 (µs)"),
        ("p99_us", "p99 (µs)"),
        ("max_us", "max (µs)"),
    ]);
    let holds = outcome
        .claims()
        .iter()
        .find(|claim| claim.id == "stamp")
        .map(|claim| claim.holds());
    Chapter::new("Cost of measuring")
        .paragraph(
            "Every sample is the time between two readings of the clock. Each measuring process determines \
             the cost of such a pair, and its results are corrected by it; the raw figures are also shown. \
             The kernel's recording is used to determine causes: its cost is the median of the differences \
             between neighbouring blocks with and without it, with its 95 % confidence interval.",
        )
        .paper(
            "[Fayyad-Kazan 2013] IV.B.1",
            "results corrected by this constant are exact to 0.2 µs",
            holds,
        )
        .table(table)
        .figure(
            Figure::new("Two consecutive readings of the clock")
                .caption("The median is the constant that is subtracted; values above it are disturbances.")
                .tail()
                .x(super::SHORTER)
                .y("time between the readings (µs)")
                .y_log()
                .line("pairs", pairs.iter().copied())
                .limit("precision of [Fayyad-Kazan 2013]", PRECISION_US),
        )
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
