//! `os.clock-tick`: the duration of the kernel's clock tick, seen as gaps in a loop that only reads the
//! clock.
//!
//! Source: [Fayyad-Kazan 2013] IV.B.2, figure 1.

use std::time::Duration;

use punctual_harness::{Claim, Latencies, Row};
use punctual_trace::{
    event::Interrupt,
    kernel::{KernelTrace, Recorded},
};
use serde::{Deserialize, Serialize};

use super::{
    disturbance::Disturbances,
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, record},
    tick_clock::TickClock,
    worker::{Job, fifo, run},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct ClockTick;

impl Experiment for ClockTick {
    const NAME: &'static str = "os.clock-tick";
    const ABOUT: &'static str = "duration of the clock tick, seen as gaps in a spinning loop";
    const PAGE: &'static str = include_str!("clock_tick.toml");
    const CONTROLS: &'static [Control] = &[SHIFTED];

    fn expected(length: Length) -> Duration {
        Extent::of(length).expected()
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        let limit = extent.expected() * 8;
        let mut subject = Subject::for_jobs(trial.testbed, limit, Interrupts::Ignored)?;
        let seconds = |extent: Extent| extent.spinning().as_secs_f64();
        let (here, full) = (seconds(extent), seconds(Extent::of(Length::Full)));
        trial.shortened(format!("{here:.1} s of spinning instead of {full:.1}"));
        let Blocks { plain, recorded } = blocks(trial, &mut subject, extent)?;
        let disturbances = subject.finish(&mut trial.outcome)?;
        trial.outcome.parameter("spin_ms", SPIN.as_millis() as u64);
        trial.outcome.parameter("pause_ms", PAUSE.as_millis() as u64);
        let every = Gaps::of(&plain, |_| true);
        let clock = if recorded.is_empty() {
            trial.curve("gaps", "every gap", every.corrected.curve());
            None
        } else {
            identify(trial, &plain, &every, recorded)
        };
        let cause = |gap: Sample| match clock {
            _ if disturbances.is_in_hole(gap.span()) => disturbances.cause(gap.span()),
            Some(clock) if clock.falls_into(gap) => "a clock tick was due".to_owned(),
            Some(_) => "no clock tick was due: another interrupt, the host or a thread".to_owned(),
            None => "unknown: interrupts were not recorded".to_owned(),
        };
        let row = row("all", "all gaps", &every);
        trial.outcome.row(row.with("max_cause", every.longest.map(cause)));
        Ok(())
    }
}

/// Alternating blocks without and with a recording of the interrupts.
struct Blocks {
    plain: Vec<Spun>,
    recorded: Vec<(Spun, KernelTrace)>,
}

fn blocks(trial: &mut Trial<'_>, subject: &mut Subject, extent: Extent) -> Result<Blocks, Error> {
    let (mut plain, mut recorded) = (Vec::new(), Vec::new());
    let slices = extent.slices;
    for round in 1..=extent.rounds {
        trial.stage(format!("round {round} of {}", extent.rounds), extent.block() * 2);
        plain.push(subject.run(Spin { slices }, extent.block())?);
        match record(&trial.testbed.places, Recorded::Interrupts) {
            Ok(recorder) => {
                let spun = subject.run(Spin { slices }, extent.block())?;
                recorded.push((spun, recorder.stop()?));
            }
            Err(reason) if round == 1 => trial.outcome.skip(None, "which gaps are clock ticks", reason),
            Err(_) => {}
        }
    }
    Ok(Blocks { plain, recorded })
}

/// Identifies the gaps of clock ticks, and adds a row for each source of gaps.
fn identify(
    trial: &mut Trial<'_>,
    plain: &[Spun],
    every: &Gaps,
    recorded: Vec<(Spun, KernelTrace)>,
) -> Option<TickClock> {
    let place = trial.testbed.places.pinned.clone();
    let (spun, traces): (Vec<_>, Vec<_>) = recorded.into_iter().unzip();
    let sorted: Vec<_> = spun
        .iter()
        .zip(traces)
        .map(|(spun, trace)| Sorted::of(spun, &Disturbances::new(Ok(trace), Vec::new(), &place, 0)))
        .collect();
    let begun = sorted
        .iter()
        .flat_map(|sorted| sorted.of_source(Source::Tick).map(|gap| gap.0));
    let clock = TickClock::of(&begun.collect::<Vec<_>>(), trial.outcome.machine().tick_hz);
    let clock = match trial.testbed.is_under(&SHIFTED) {
        true => clock.map(TickClock::shifted),
        false => clock,
    };
    let ticks = Gaps::of(plain, |gap| clock.is_some_and(|clock| clock.falls_into(gap)));
    trial
        .outcome
        .row(row("tick", "clock tick, by the time in its period", &ticks));
    let cost_ns = recording_cost_ns(&ticks, &recorded_gaps(&sorted, Source::Tick, 0.0));
    trial.outcome.parameter("recording_cost_us", cost_ns / 1000.0);
    for source in Source::ALL {
        // Gaps without interrupts contain no recording cost.
        let cost_ns = if source == Source::Unrecorded {
            0.0
        } else {
            cost_ns
        };
        let gaps = recorded_gaps(&sorted, source, cost_ns);
        trial.outcome.row(row(source.id(), source.name(), &gaps));
    }
    let due = ticks.spun_ns as f64 / 1e9 * f64::from(trial.outcome.machine().tick_hz);
    let text = "gaps of a loop at high priority at the phase of the clock tick, as a share of the ticks that \
                were due, at least";
    let source = "[Fayyad-Kazan 2013] IV.B.2";
    let found = ticks.raw.count() as f64 / due;
    let claim = Claim::at_least("ticks", text, source, found, LEAST_FOUND);
    trial.outcome.claim(claim);
    trial.curve("gaps", "every gap", every.corrected.curve());
    trial.curve("gaps", "clock ticks", ticks.corrected.curve());
    clock
}

const SHIFTED: Control = Control {
    id: "shifted",
    about: "half a period after the phase of the clock tick",
    breaks: &["ticks"],
};
/// The smallest share of the due ticks that counts as interrupting the loop: a tick of less than
/// [`GAP_NS`] makes no gap.
const LEAST_FOUND: f64 = 0.5;

const PRIORITY: i16 = 80;
/// The loop spins and pauses alternately, so that it uses 90 % of the CPU.
const SPIN: Duration = Duration::from_millis(45);
const PAUSE: Duration = Duration::from_millis(5);
/// Two readings further apart than this were interrupted.
const GAP_NS: u64 = 1_000;

#[derive(Clone, Copy)]
struct Extent {
    /// Pairs of blocks; interrupts are recorded during the second one.
    rounds: usize,
    slices: u32,
}

impl Extent {
    fn of(length: Length) -> Self {
        let (rounds, slices) = length.pick((4, 8), (8, 25), (8, 25));
        Self { rounds, slices }
    }

    fn block(self) -> Duration {
        (SPIN + PAUSE) * self.slices
    }

    fn spinning(self) -> Duration {
        SPIN * self.slices * (2 * self.rounds) as u32
    }

    fn expected(self) -> Duration {
        // Starting and stopping the kernel's recorder takes a while.
        (self.block() * 2 + Duration::from_millis(300)) * self.rounds as u32
    }
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Spin {
    pub(super) slices: u32,
}

/// The observations of a spinning loop.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Spun {
    pub(super) gaps: Vec<Sample>,
    spun_ns: u64,
    /// Time between two uninterrupted readings, which every gap includes.
    loop_ns: u64,
}

impl Job for Spin {
    const NAME: &'static str = "clock-tick";
    type Reply = Spun;

    fn run(self) -> Result<Spun, Error> {
        run(fifo("spins", PRIORITY), move || spin(self.slices))
    }
}

pub(super) fn spin(slices: u32) -> Spun {
    // Room for ten gaps per millisecond, far more than ticks cause.
    let log = Log::with_room_for(SPIN.as_millis() as usize * 10 * slices as usize);
    let mut spun = Spun::default();
    let mut readings = 0;
    for slice in 0..slices {
        if slice > 0 {
            std::thread::sleep(PAUSE);
        }
        let began = now_ns();
        let until = began + SPIN.as_nanos() as u64;
        let mut last = began;
        while last < until {
            let now = now_ns();
            if now - last >= GAP_NS {
                log.record(last, now);
            }
            readings += 1;
            last = now;
        }
        spun.spun_ns += last - began;
    }
    spun.gaps = log.samples();
    let in_gaps: u64 = spun.gaps.iter().map(|gap| gap.1).sum();
    spun.loop_ns = (spun.spun_ns - in_gaps) / (readings - spun.gaps.len() as u64).max(1);
    spun
}

/// The source of a gap.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    /// The CPU's timer, with the work deferred to its end.
    Tick,
    OtherInterrupt,
    /// Time that the kernel does not record: the host, or another thread.
    Unrecorded,
}

impl Source {
    const ALL: [Self; 3] = [Self::Tick, Self::OtherInterrupt, Self::Unrecorded];

    fn id(self) -> &'static str {
        match self {
            Self::Tick => "recorded-tick",
            Self::OtherInterrupt => "recorded-other",
            Self::Unrecorded => "unrecorded",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tick => "clock tick, recorded by the kernel",
            Self::OtherInterrupt => "other interrupt, recorded by the kernel",
            Self::Unrecorded => "no recorded interrupt: the host or a thread",
        }
    }

    fn of(gap: Sample, disturbances: &Disturbances) -> Self {
        match disturbances.interruption_in(gap.span()) {
            Some(found) if found.kinds.contains(&Interrupt::Timer) => Self::Tick,
            Some(_) => Self::OtherInterrupt,
            None => Self::Unrecorded,
        }
    }
}

/// The gaps of a loop by source, observed while interrupts were recorded.
struct Sorted<'s> {
    spun: &'s Spun,
    gaps: Vec<(Source, Sample)>,
}

impl<'s> Sorted<'s> {
    fn of(spun: &'s Spun, disturbances: &Disturbances) -> Self {
        let gaps = spun.gaps.iter();
        Self {
            spun,
            gaps: gaps.map(|gap| (Source::of(*gap, disturbances), *gap)).collect(),
        }
    }

    fn of_source(&self, source: Source) -> impl Iterator<Item = Sample> {
        let chosen = self.gaps.iter().filter(move |(found, _)| *found == source);
        chosen.map(|(_, gap)| *gap)
    }
}

fn recorded_gaps(sorted: &[Sorted<'_>], source: Source, cost_ns: f64) -> Gaps {
    let mut gaps = Gaps::default();
    for sorted in sorted {
        gaps.add(sorted.spun, sorted.of_source(source), cost_ns);
    }
    gaps
}

/// Returns how much longer a tick is while interrupts are recorded.
fn recording_cost_ns(plain: &Gaps, recorded: &Gaps) -> f64 {
    let median = |gaps: &Gaps| gaps.raw.quantile_us(0.5).map(|us| us * 1000.0);
    let cost = median(recorded)
        .zip(median(plain))
        .map(|(recorded, plain)| recorded - plain);
    cost.unwrap_or(0.0).max(0.0)
}

/// Gaps of one source.
#[derive(Default)]
struct Gaps {
    raw: Latencies,
    corrected: Latencies,
    longest: Option<Sample>,
    spun_ns: u64,
    taken_ns: u64,
}

impl Gaps {
    fn of(all: &[Spun], chosen: impl Fn(Sample) -> bool) -> Self {
        let mut gaps = Self::default();
        for spun in all {
            gaps.add(spun, spun.gaps.iter().copied().filter(|gap| chosen(*gap)), 0.0);
        }
        gaps
    }

    fn add(&mut self, spun: &Spun, chosen: impl Iterator<Item = Sample>, cost_ns: f64) {
        self.spun_ns += spun.spun_ns;
        for gap in chosen {
            self.raw.record(gap.1);
            let corrected = gap.1.saturating_sub(spun.loop_ns + cost_ns.round() as u64);
            self.corrected.record(corrected);
            self.taken_ns += corrected;
            if self.longest.is_none_or(|longest| longest.1 < gap.1) {
                self.longest = Some(gap);
            }
        }
    }
}

fn row(id: &str, name: &str, gaps: &Gaps) -> Row {
    let raw = gaps.raw.summary();
    Row::new()
        .with("gaps", name)
        .with("source", id)
        .with("count", gaps.raw.count())
        .with("per_s", gaps.raw.count() as f64 * 1e9 / gaps.spun_ns as f64)
        .with_fields(&gaps.corrected.summary())
        .with(
            "share_percent",
            100.0 * gaps.taken_ns as f64 / gaps.spun_ns as f64,
        )
        .with("raw_mean_us", raw.mean_us)
        .with("raw_p50_us", raw.p50_us)
}

#[cfg(test)]
mod tests {
    use punctual_harness::Span;

    use super::*;

    #[test]
    fn gaps_are_corrected_for_the_loop_and_the_recording() {
        let spun = Spun {
            gaps: vec![Sample(0, 5_000), Sample(10_000, 3_000)],
            spun_ns: 1_000_000,
            loop_ns: 40,
        };
        let mut gaps = Gaps::default();
        gaps.add(&spun, spun.gaps.iter().copied(), 960.0);
        assert_eq!((gaps.taken_ns, gaps.longest), (6_000, Some(Sample(0, 5_000))));
        assert_eq!(gaps.corrected.summary().max_us, Some(4.0));
        assert_eq!(gaps.raw.summary().max_us, Some(5.0));
    }

    #[test]
    fn gaps_are_within_the_time_of_the_loop() {
        let before = now_ns();
        let spun = spin(2);
        let whole = Span {
            start_ns: before,
            end_ns: now_ns(),
        };
        assert!(spun.spun_ns >= 2 * SPIN.as_nanos() as u64);
        for gap in &spun.gaps {
            assert!(gap.1 >= GAP_NS && gap.0 >= whole.start_ns && gap.span().end_ns <= whole.end_ns);
        }
        assert!(spun.loop_ns < GAP_NS);
    }
}
