//! `dyn.cancellation`: the effect of cancelling late operations under overload, and the accrued utility.
//!
//! About 70 critical and other operations of an operational flight program overload the CPU. The same
//! operations run under the same schedulers in virtual time, and live as distributable threads on one CPU.
//! Source: [Gill 2004] 3.2, figures 7 and 8.

mod claims;
mod counts;
mod live;
mod operations;
mod simulated;
mod workers;

use std::time::Duration;

use punctual_harness::{Outcome, Row};
use punctual_sched::{
    dynamic::SheddingPolicy,
    simulator::{Model, Overrun},
};
use serde::{Deserialize, Serialize};

use self::counts::{Counts, Sample};
use super::disciplines::Named;
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    rights::no_rights,
    simulated::FlightProgram,
    testbed::Testbed,
};

pub(super) struct Cancellation;

pub(super) use operations::Operations;

const RMS_FOR_MUF: Control = Control {
    id: "rms-for-muf",
    about: "RMS in the place of MUF",
    breaks: &["*.muf.critical", "*.rms.cancelled"],
};
const NEVER: Control = Control {
    id: "never",
    about: "nothing is cancelled in the runs with cancellation",
    breaks: &["*.muf.wasted", "*.rms.worse"],
};
const EDF_FOR_MAU: Control = Control {
    id: "edf-for-mau",
    about: "EDF in the place of MAU, and MAU in the place of EDF",
    breaks: &["*.mau.utility"],
};
const HALF_WITHOUT: Control = Control {
    id: "half-without",
    about: "half the load in the runs without cancellation",
    breaks: &["*.rms.critical", "*.muf.made"],
};
const HALF_WITH: Control = Control {
    id: "half-with",
    about: "half the load in the runs with cancellation",
    breaks: &["*.rms.cancelling", "*.muf.not-more"],
};
const DOUBLE: Control = Control {
    id: "double",
    about: "twice the load",
    breaks: &["*.rms.critical-most", "*.rms.cancelling-most", "*.muf.additional"],
};

/// Length of simulations.
const SIMULATED_SECONDS: u64 = 10;
/// Time after the last sample in which operations still arrive, so that the last sample has the load of the
/// others.
const TAIL_SECONDS: u64 = 1;

fn live_seconds(length: Length) -> u64 {
    length.pick(2, 10, 10)
}

/// A scheduler, with or without cancellation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Case {
    scheduler: Named,
    /// Non-critical operations are cancelled if they can no longer complete in time.
    cancels: bool,
    /// The kernel dispatches with SCHED_DEADLINE.
    by_kernel: bool,
    load: Load,
}

/// The load, in multiples of the [paper's](FlightProgram::load_of_the_paper).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
enum Load {
    Paper,
    Half,
    Double,
}

const fn case(scheduler: Named, cancels: bool) -> Case {
    Case {
        scheduler,
        cancels,
        by_kernel: false,
        load: Load::Paper,
    }
}

const CASES: [Case; 6] = [
    case(Named::Muf, false),
    case(Named::Muf, true),
    case(Named::Rms, false),
    case(Named::Rms, true),
    case(Named::Edf, false),
    case(Named::Mau, false),
];

/// Runs live only, if the CPU can be an exclusive scheduling domain.
const KERNEL: Case = Case {
    by_kernel: true,
    ..case(Named::Edf, false)
};

impl Case {
    /// Returns the case that is run in the place of this one under the control of this run.
    fn under(self, testbed: &Testbed) -> Self {
        let mut used = self;
        if testbed.is_under(&RMS_FOR_MUF) && self.scheduler == Named::Muf {
            used.scheduler = Named::Rms;
        }
        if testbed.is_under(&NEVER) {
            used.cancels = false;
        }
        if testbed.is_under(&EDF_FOR_MAU) {
            used.scheduler = match self.scheduler {
                Named::Edf => Named::Mau,
                Named::Mau => Named::Edf,
                other => other,
            };
        }
        let halved = if self.cancels { &HALF_WITH } else { &HALF_WITHOUT };
        if testbed.is_under(halved) {
            used.load = Load::Half;
        }
        if testbed.is_under(&DOUBLE) {
            used.load = Load::Double;
        }
        used
    }

    fn name(self) -> String {
        let how = if self.cancels {
            "with cancellation"
        } else {
            "without cancellation"
        };
        format!("{}, {how}", self.discipline())
    }

    fn discipline(self) -> String {
        let by = if self.by_kernel { " by SCHED_DEADLINE" } else { "" };
        format!("{}{by}", self.scheduler.name())
    }

    /// Returns what becomes of operations that would be late.
    fn policy(self) -> SheddingPolicy {
        match self.cancels {
            true => SheddingPolicy::before_dispatch().sparing_critical(),
            false => SheddingPolicy::never(),
        }
    }

    /// Returns what becomes of an arrival while the previous one has not completed: live and simulated, it
    /// queues, except under the schedulers that the paper does not compare, because a decision of MAU
    /// examines the whole queue.
    fn overrun(self) -> Overrun {
        match self.scheduler {
            Named::Muf | Named::Rms => Overrun::Queue,
            _ => Overrun::Skip,
        }
    }

    fn model(self) -> Model {
        let program = FlightProgram {
            load: FlightProgram::load_of_the_paper()
                * match self.load {
                    Load::Paper => 1.0,
                    Load::Half => 0.5,
                    Load::Double => 2.0,
                },
            overrun: self.overrun(),
            shedding: self.policy(),
            ..FlightProgram::default()
        };
        program.model()
    }
}

/// The results of one case, live or simulated.
struct Ran {
    case: Case,
    live: bool,
    samples: Vec<Sample>,
    /// Critical operations that missed their deadlines without a hole; in a simulation, all that missed.
    critical_unexcused: u32,
    /// Utility of the operations in time.
    utility: u64,
    /// Utility of all operations.
    offered: u64,
    /// Number of holes, in which the kernel or the host let no thread run.
    holes: usize,
    /// Total length of the holes.
    holes_ms: f64,
    /// Cost of an arrival on this machine, contained in the execution times, in microseconds; 0 in a
    /// simulation, whose model states its costs.
    cost_us: f64,
    /// Operations that the kernel did not admit, so that none of their arrivals was dispatched.
    not_admitted: usize,
}

impl Experiment for Cancellation {
    const NAME: &'static str = "dyn.cancellation";
    const ABOUT: &'static str = "70 operations that overload the CPU: deadlines of critical and other ones, \
                                 with and without cancellation";
    const PAGE: &'static str = include_str!("cancellation.toml");
    const CONTROLS: &'static [Control] = &[RMS_FOR_MUF, NEVER, EDF_FOR_MAU, HALF_WITHOUT, HALF_WITH, DOUBLE];

    fn expected(length: Length) -> Duration {
        (Duration::from_secs(live_seconds(length)) + live::START) * (CASES.len() as u32 + 1)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let load = FlightProgram::load_of_the_paper();
        trial.text("load", format!("{load:.3}"));
        trial.outcome.parameter("load", load);
        trial.outcome.parameter("simulated_seconds", SIMULATED_SECONDS);
        let seconds = live_seconds(trial.length());
        let full = live_seconds(Length::Full);
        trial.shortened(format!("{seconds} s live for each case instead of {full}"));
        let mut ran = Vec::new();
        for case in CASES {
            trial.stage(format!("{}, simulated", case.name()), Duration::from_millis(100));
            let used = case.under(trial.testbed);
            ran.push(Ran {
                case,
                ..simulated::run(used, SIMULATED_SECONDS)?
            });
        }
        match no_rights(&trial.outcome) {
            Some(reason) => {
                for id in claims::LIVE {
                    trial
                        .outcome
                        .skip(Some(id), format!("claim {id}"), reason.as_str());
                }
                trial.outcome.skip(None, "all live runs", reason);
            }
            None => ran.extend(live::all(trial, seconds)?),
        }
        ran.iter().for_each(|one| one.rows(&mut trial.outcome));
        claims::evaluate(&ran, &mut trial.outcome);
        Ok(())
    }
}

impl Ran {
    fn place(&self) -> &'static str {
        if self.live { "live" } else { "simulated" }
    }

    fn total(&self) -> Sample {
        Sample::total(&self.samples)
    }

    fn rows(&self, outcome: &mut Outcome) {
        let front = |kind: &str| {
            Row::new()
                .with("kind", kind)
                .with("place", self.place())
                .with("scheduler", self.case.discipline())
                .with("cancellation", self.case.cancels)
                .with("case", self.case.name())
        };
        for (number, sample) in self.samples.iter().enumerate() {
            outcome.row(with_counts(front("sample").with("sample", number), *sample));
        }
        let total = self.total();
        let per_second = |count: u32| f64::from(count) / self.samples.len() as f64;
        let total = with_counts(front("total"), total)
            .with("critical_made_per_s", per_second(total.critical.made))
            .with("critical_missed_per_s", per_second(total.critical.all_missed()))
            .with("other_made_per_s", per_second(total.other.made))
            .with("other_missed_per_s", per_second(total.other.all_missed()))
            .with("critical_missed_outside_holes", self.critical_unexcused)
            .with("utility", self.utility)
            .with(
                "utility_percent",
                100.0 * self.utility as f64 / self.offered as f64,
            )
            .with("holes", self.holes)
            .with("holes_ms", self.holes_ms)
            .with("cost_us", self.cost_us)
            .with("operations_not_admitted", self.not_admitted);
        outcome.row(total);
    }
}

fn with_counts(row: Row, sample: Sample) -> Row {
    let kinds = [("critical", sample.critical), ("other", sample.other)];
    kinds.into_iter().fold(row, |row, (kind, counts)| {
        let Counts {
            made,
            missed,
            cancelled,
            dropped,
        } = counts;
        row.with(format!("{kind}_made"), made)
            .with(format!("{kind}_dispatched_and_missed"), missed)
            .with(format!("{kind}_cancelled"), cancelled)
            .with(format!("{kind}_never_dispatched"), dropped)
    })
}
