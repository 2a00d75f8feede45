//! `os.timer-latency`: the time from the expiry of a timer to the code of the thread that waits for it.
//!
//! Replaces, in user space, the interrupt latency of [Fayyad-Kazan 2013] IV.B.4: it contains that latency and
//! the wake-up of the thread. Without a signal line and an analyser, interrupt latency itself cannot be
//! measured and is not claimed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use punctual_harness::{Outcome, Row, statistics};
use punctual_os::{TaskId, ThreadSpec};
use punctual_trace::kernel::Recorded;
use serde::{Deserialize, Serialize};

use super::{
    more_samples,
    samples::{Log, Sample, now_ns},
    subject::{Interrupts, Subject, record},
    timer::{Timer, sleep_until},
    wake_up::{Parts, WakeUps},
    worker::{Job, fifo, joined},
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
};

pub(crate) struct TimerLatency;

impl Experiment for TimerLatency {
    const NAME: &'static str = "os.timer-latency";
    const ABOUT: &'static str = "time from a timer's expiry to user code, which includes interrupt latency";
    const PAGE: &'static str = include_str!("timer_latency.toml");
    const CONTROLS: &'static [Control] = &[more_samples::CONTROL];

    fn expected(length: Length) -> Duration {
        let extent = Extent::of(length);
        extent.expected() * CASES.len() as u32 + extent.expected_recorded() * RECORDED.len() as u32
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extent = Extent::of(trial.length());
        let full = Extent::of(Length::Full).expiries;
        trial.shortened(format!("{} expiries each instead of {full}", extent.expiries));
        trial.outcome.parameter("period_us", PERIOD.as_micros() as u64);
        let limit = extent.expected() * 20;
        let mut subject = Subject::for_jobs(trial.testbed, limit, Interrupts::Ignored)?;
        let mut measured = Vec::new();
        for case in CASES {
            trial.stage(case.name(), extent.expected());
            let woken_up = subject.run(case.wake_up(extent.expiries), extent.expected())?;
            measured.push((case, woken_up.samples));
        }
        let recorded = recorded(trial, &mut subject, extent)?;
        let disturbances = subject.finish(&mut trial.outcome)?;
        let series: Vec<&[Sample]> = measured.iter().map(|(_, samples)| &samples[..]).collect();
        let few = trial.testbed.is_under(&more_samples::CONTROL);
        more_samples::claim(&series, &disturbances, few, &mut trial.outcome);
        for (case, samples) in &measured {
            // A sample contains one reading of the clock, at its end: half of the cost of a pair.
            let evaluated = disturbances.evaluate_half(samples);
            let row = Row::new()
                .with("wait", case.wait_name())
                .with("cpu", case.cpu_name());
            let row = evaluated.row(row);
            let like_it = recorded.iter().find(|(recorded, _)| recorded.busy == case.busy);
            trial
                .outcome
                .row(match like_it.and_then(|(_, parts)| longest_part(parts)) {
                    Some(part) if !evaluated.maximum_in_hole => row.with("max_cause", part),
                    _ => row,
                });
            trial.curve("latencies", case.name(), evaluated.corrected.curve());
        }
        for (case, parts) in &recorded {
            rows_of_parts(*case, parts, &mut trial.outcome);
        }
        Ok(())
    }
}

/// Durations of wake-ups with their parts.
type KnownParts = Vec<(u64, Parts)>;

/// Repeats some cases while the kernel records them.
fn recorded(
    trial: &mut Trial<'_>,
    subject: &mut Subject,
    extent: Extent,
) -> Result<Vec<(Case, KnownParts)>, Error> {
    let mut recorded = Vec::new();
    let expected = extent.expected_recorded();
    for case in RECORDED {
        trial.stage(format!("{}, recorded", case.name()), expected);
        match record(&trial.testbed.places, Recorded::All) {
            Ok(recorder) => {
                let woken_up = subject.run(case.wake_up(extent.recorded), expected)?;
                let pinned = &trial.testbed.places.pinned;
                let wake_ups = WakeUps::new(recorder.stop()?, pinned, woken_up.thread);
                recorded.push((case, with_parts(&woken_up.samples, &wake_ups)));
            }
            Err(reason) => {
                let what = format!("where the time goes: {}", case.name());
                trial.outcome.skip(None, what, reason);
            }
        }
    }
    Ok(recorded)
}

const PRIORITY: i16 = 80;
const PERIOD: Duration = Duration::from_micros(500);

#[derive(Clone, Copy)]
struct Extent {
    expiries: usize,
    /// Expiries in separate passes that the kernel records.
    recorded: usize,
}

impl Extent {
    fn of(length: Length) -> Self {
        let (expiries, recorded) = length.pick((3_000, 1_000), (20_000, 5_000), (20_000, 5_000));
        Self { expiries, recorded }
    }

    fn expected_recorded(self) -> Duration {
        PERIOD * u32::try_from(self.recorded).unwrap_or(u32::MAX)
    }

    fn expected(self) -> Duration {
        PERIOD * u32::try_from(self.expiries).unwrap_or(u32::MAX)
    }
}

/// How the thread waits.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
enum Wait {
    /// clock_nanosleep, until a point in time.
    Sleep,
    /// Reading a timerfd.
    TimerFd,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Case {
    wait: Wait,
    /// Whether a thread of the default class keeps the CPU busy, so that the timer interrupts a running
    /// thread as in the paper.
    busy: bool,
}

const CASES: [Case; 4] = [
    case(Wait::Sleep, true),
    case(Wait::Sleep, false),
    case(Wait::TimerFd, true),
    case(Wait::TimerFd, false),
];

/// The cases that are also recorded.
const RECORDED: [Case; 2] = [case(Wait::Sleep, true), case(Wait::Sleep, false)];

const fn case(wait: Wait, busy: bool) -> Case {
    Case { wait, busy }
}

impl Case {
    fn wait_name(self) -> &'static str {
        match self.wait {
            Wait::Sleep => "clock_nanosleep",
            Wait::TimerFd => "timerfd",
        }
    }

    fn cpu_name(self) -> &'static str {
        if self.busy {
            "busy with a thread of the default class"
        } else {
            "idle"
        }
    }

    fn wake_up(self, expiries: usize) -> WakeUp {
        WakeUp {
            case: self,
            expiries,
            period_ns: PERIOD.as_nanos() as u64,
        }
    }

    fn name(self) -> String {
        format!("{}, CPU {}", self.wait_name(), self.cpu_name())
    }
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct WakeUp {
    case: Case,
    expiries: usize,
    period_ns: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct WokenUp {
    samples: Vec<Sample>,
    /// The kernel's id of the waiting thread.
    thread: i32,
}

impl Job for WakeUp {
    const NAME: &'static str = "timer-latency";
    type Reply = WokenUp;

    fn run(self) -> Result<WokenUp, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let spinner = self.case.busy.then(|| {
            ThreadSpec::new("ordinary").spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        });
        let waiter = fifo("waits", PRIORITY).spawn(move || {
            let thread = TaskId::current_thread().get();
            let samples = wait(&self)?;
            Ok(WokenUp { samples, thread })
        });
        let woken_up = waiter.map_err(Error::from).and_then(joined);
        stop.store(true, Ordering::Relaxed);
        if let Some(spinner) = spinner {
            joined(spinner?)?;
        }
        woken_up?
    }
}

/// Measures every expiry from its nominal time, including expiries before the thread finished the previous
/// one.
fn wait(command: &WakeUp) -> Result<Vec<Sample>, Error> {
    let log = Log::with_room_for(command.expiries);
    let first = now_ns() + command.period_ns;
    let mut expiry = first;
    match command.case.wait {
        Wait::Sleep => {
            while !log.is_full() {
                sleep_until(expiry);
                log.record(expiry, now_ns());
                expiry += command.period_ns;
            }
        }
        Wait::TimerFd => {
            let timer = Timer::start(first, command.period_ns)?;
            while !log.is_full() {
                let expired = timer.wait()?;
                let now = now_ns();
                for _ in 0..expired {
                    log.record(expiry, now);
                    expiry += command.period_ns;
                }
            }
        }
    }
    Ok(log.samples())
}

/// Returns the durations of wake-ups with their parts, for those that were recorded completely.
fn with_parts(samples: &[Sample], wake_ups: &WakeUps) -> KnownParts {
    let known = samples
        .iter()
        .filter_map(|sample| Some((sample.1, wake_ups.parts(*sample)?)));
    known.collect()
}

/// Describes the longest part of the slowest recorded wake-up, as an indication for wake-ups that were not
/// recorded.
fn longest_part(known: &[(u64, Parts)]) -> Option<String> {
    let (all_ns, parts) = known.iter().max_by_key(|(ns, _)| *ns)?;
    let (name, ns) = Parts::NAMES
        .into_iter()
        .zip(parts.all())
        .max_by_key(|(_, ns)| *ns)?;
    let percent = 100 * ns / all_ns.max(&1);
    Some(format!(
        "not recorded; in the slowest recorded one, {percent} % was {name}"
    ))
}

/// Adds a row for each part: its median, and its value in the slowest wake-up.
fn rows_of_parts(case: Case, known: &[(u64, Parts)], outcome: &mut Outcome) {
    let Some((slowest_ns, slowest)) = known.iter().copied().max_by_key(|(ns, _)| *ns) else {
        let reason = "no wake-up was recorded completely by the kernel";
        outcome.skip(None, format!("where the time goes: {}", case.name()), reason);
        return;
    };
    let row = |part: &str, of_all: &dyn Fn(&(u64, Parts)) -> u64, of_slowest: u64| {
        let us: Vec<f64> = known.iter().map(|one| of_all(one) as f64 / 1000.0).collect();
        Row::new()
            .with("recorded_wait", case.wait_name())
            .with("cpu", case.cpu_name())
            .with("part", part)
            .with("wake_ups", known.len())
            .with("median_us", statistics::median(&us))
            .with("in_the_slowest_us", of_slowest as f64 / 1000.0)
    };
    for (place, part) in Parts::NAMES.into_iter().enumerate() {
        outcome.row(row(part, &|(_, parts)| parts.all()[place], slowest.all()[place]));
    }
    outcome.row(row("total", &|(ns, _)| *ns, slowest_ns));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_the_longest_part_of_the_slowest_wake_up() {
        let parts = |interrupt_ns, handler_ns, thread_ns| Parts {
            interrupt_ns,
            handler_ns,
            thread_ns,
        };
        let known = [
            (10, parts(2, 1, 7)),
            (100, parts(80, 1, 19)),
            (20, parts(1, 1, 18)),
        ];
        let cause = longest_part(&known).unwrap();
        assert!(cause.ends_with("80 % was expiry to interrupt"), "{cause}");
        assert_eq!(longest_part(&[]), None);
    }

    #[test]
    fn each_way_of_waiting_returns_the_requested_samples_in_order() {
        for case in CASES {
            let command = WakeUp {
                case,
                expiries: 20,
                period_ns: 100_000,
            };
            let samples = wait(&command).unwrap();
            assert_eq!(samples.len(), 20);
            let distances = samples.windows(2).map(|pair| pair[1].0 - pair[0].0);
            assert!(
                distances.into_iter().all(|distance| distance == 100_000),
                "{case:?}"
            );
        }
    }
}
