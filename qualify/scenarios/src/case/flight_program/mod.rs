//! `case.flight-program`: an operational flight program on the event service and the reconfigurable
//! scheduler.
//!
//! 70 operations, critical and other ones, overload one CPU: each is a consumer of an event channel, and each
//! arrival an event, in the lane of the operation's level. Source: [Gill 2004] 3.2, figures 7 and 8.

mod claims;
mod flight;
mod operations;

use std::time::Duration;

use punctual_harness::{Outcome, Row};

pub(super) use self::flight::Aircraft;
use self::{
    flight::{Arrival, Fate, Flown, Fly},
    operations::Operation,
};
use crate::{
    control::{Control, Restored},
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    os::{Disturbances, Interrupts, Subject},
};

pub(super) struct FlightProgramCase;

impl Experiment for FlightProgramCase {
    const NAME: &'static str = "case.flight-program";
    const ABOUT: &'static str = "70 operations on event channel and scheduler in overload: MUF and RMS, \
                                 with and without cancellation";
    const PAGE: &'static str = include_str!("page.toml");
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = Some(&claims::ALL);
    const CONTROLS: &'static [Control] = &[
        UNDERLOAD,
        BY_RATE,
        NEVER,
        PESSIMISTIC,
        ACCURATE,
        GREATER_LOAD,
        COSTLY,
    ];
    const RESTORED: &'static [Restored] = &[Restored {
        control: &COSTLY,
        claims: &["rms.cancelling", "rms.worse"],
    }];

    fn expected(length: Length) -> Duration {
        (Duration::from_secs(seconds(length)) + AROUND) * CASES.len() as u32
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let seconds = seconds(trial.length());
        trial.shortened(format!(
            "{seconds} samples of a second for each case instead of {}",
            self::seconds(Length::Full)
        ));
        let load = match () {
            () if trial.testbed.is_under(&UNDERLOAD) => 0.8,
            () if trial.testbed.is_under(&GREATER_LOAD) => 1.25,
            () => operations::load_of_the_paper(),
        };
        let by_rate = trial.testbed.is_under(&BY_RATE);
        trial.outcome.parameter("load", load);
        let expected = Duration::from_secs(seconds) + AROUND;
        let limit = expected * CASES.len() as u32 * 3;
        let mut subject = Subject::<Aircraft>::start(trial.testbed, limit, Interrupts::Ignored)?;
        let mut flown: Vec<(Case, Flown)> = Vec::new();
        for case in CASES {
            trial.stage(case.name(), expected);
            let fly = Fly {
                strategy: if by_rate { "RMS" } else { case.strategy }.to_owned(),
                cancels: case.cancels && !trial.testbed.is_under(&NEVER),
                load,
                pessimism: match () {
                    () if trial.testbed.is_under(&PESSIMISTIC) => WHOLE_PERIODS,
                    () if trial.testbed.is_under(&ACCURATE) => AS_THEY_ARE,
                    () => case.pessimism,
                },
                decision: match trial.testbed.is_under(&COSTLY) {
                    true => DECISION,
                    false => Duration::ZERO,
                },
                seconds,
            };
            flown.push((case, subject.run(fly, expected)?));
        }
        let disturbances = subject.finish(&mut trial.outcome)?;
        let operations = operations::all();
        let counted: Vec<Counted> = flown
            .into_iter()
            .map(|(case, flown)| Counted::of(case, &flown, &operations, seconds, &disturbances))
            .collect();
        for counted in &counted {
            report(counted, &mut trial.outcome);
        }
        claims::evaluate(&counted, &mut trial.outcome);
        Ok(())
    }
}

const UNDERLOAD: Control = Control {
    id: "underload",
    about: "a load of 0.8 instead of overload",
    breaks: &["rms.critical", "rms.cancelling"],
};

const PESSIMISTIC: Control = Control {
    id: "pessimistic",
    about: "execution times stated as whole periods, so that cancellation gives up what would be in time",
    breaks: &["muf.made"],
};

const ACCURATE: Control = Control {
    id: "accurate",
    about: "execution times stated as they are in the case with pessimistic ones, too",
    breaks: &["muf.pessimistic"],
};

const GREATER_LOAD: Control = Control {
    id: "greater-load",
    about: "a load of 1.25, with which operations of more than the lowest rate have no room under RMS",
    breaks: &[
        "muf.not-more",
        "muf.additional",
        "rms.critical-most",
        "rms.cancelling-most",
    ],
};

const COSTLY: Control = Control {
    id: "costly",
    about: "0.15 ms for each decision whether another operation is cancelled",
    breaks: &[],
};

/// As 30,000 cycles of the paper's computer.
const DECISION: Duration = Duration::from_micros(150);

const NEVER: Control = Control {
    id: "never",
    about: "nothing is cancelled in the cases with cancellation",
    breaks: &["muf.wasted", "rms.worse"],
};

const BY_RATE: Control = Control {
    id: "by-rate",
    about: "levels by rate instead of MUF's levels by criticality",
    breaks: &["muf.critical"],
};

/// Time before and after the samples of a case.
const AROUND: Duration = Duration::from_millis(1_500);

fn seconds(length: Length) -> u64 {
    length.pick(5, 15, 15)
}

/// A strategy of the scheduler, with or without cancellation of non-critical operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Case {
    strategy: &'static str,
    cancels: bool,
    /// Factor by which stated execution times are multiplied.
    pessimism: f64,
}

impl Case {
    const fn of(strategy: &'static str, cancels: bool) -> Self {
        Self {
            strategy,
            cancels,
            pessimism: AS_THEY_ARE,
        }
    }

    fn name(self) -> String {
        let how = match self.cancels {
            true if self.pessimism > AS_THEY_ARE => "with pessimistic",
            true => "with",
            false => "without",
        };
        format!("{}, {how} cancellation", self.strategy)
    }
}

const AS_THEY_ARE: f64 = 1.0;
/// So pessimistic that every execution time is a whole period, the longest one that can be stated.
const WHOLE_PERIODS: f64 = 1e3;

/// In the order in which [`claims::evaluate`] takes them.
const CASES: [Case; 5] = [
    Case::of("MUF", false),
    Case::of("MUF", true),
    Case::of("RMS", false),
    Case::of("RMS", true),
    Case {
        pessimism: WHOLE_PERIODS,
        ..Case::of("MUF", true)
    },
];

/// Numbers of arrivals of one kind by what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    made: u32,
    missed: u32,
    cancelled: u32,
    waiting: u32,
}

impl Counts {
    fn add(&mut self, fate: Fate) {
        match fate {
            Fate::Made => self.made += 1,
            Fate::Missed => self.missed += 1,
            Fate::Cancelled => self.cancelled += 1,
            Fate::Waiting => self.waiting += 1,
        }
    }
}

/// Fates of all arrivals in a case, counted.
pub(super) struct Counted {
    case: Case,
    samples: u64,
    critical: Counts,
    other: Counts,
    /// Critical arrivals that missed their deadlines, other than by a hole in the kernel's scheduling.
    critical_missed: u32,
}

impl Counted {
    fn of(
        case: Case,
        flown: &Flown,
        operations: &[Operation],
        seconds: u64,
        disturbances: &Disturbances,
    ) -> Self {
        let mut counted = Self {
            case,
            samples: seconds,
            critical: Counts::default(),
            other: Counts::default(),
            critical_missed: 0,
        };
        let within = |arrival: &&Arrival| arrival.release_ns < seconds * 1_000_000_000;
        for arrival in flown.arrivals.iter().filter(within) {
            let operation = &operations[arrival.operation as usize];
            if !operation.is_critical {
                counted.other.add(arrival.fate);
                continue;
            }
            counted.critical.add(arrival.fate);
            let span = punctual_harness::Span {
                start_ns: flown.origin_ns + arrival.release_ns,
                end_ns: flown.origin_ns + arrival.release_ns + operation.period_ns(),
            };
            let is_excused = disturbances.holes.iter().any(|hole| hole.excuses(span));
            counted.critical_missed += u32::from(arrival.fate != Fate::Made && !is_excused);
        }
        counted
    }

    /// Returns critical deadlines missed per sample of a second.
    fn missed_per_sample(&self) -> f64 {
        f64::from(self.critical_missed) / self.samples as f64
    }
}

fn report(counted: &Counted, outcome: &mut Outcome) {
    for (kind, counts) in [("critical", counted.critical), ("other", counted.other)] {
        outcome.row(
            Row::new()
                .with("case", counted.case.name())
                .with("strategy", counted.case.strategy)
                .with("cancels", counted.case.cancels)
                .with("kind", kind)
                .with("in_time", counts.made)
                .with("dispatched_and_missed", counts.missed)
                .with("cancelled", counts.cancelled)
                .with("not_dispatched", counts.waiting)
                .with("samples", counted.samples),
        );
    }
}
