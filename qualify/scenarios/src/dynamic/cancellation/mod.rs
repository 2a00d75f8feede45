//! `dyn.cancellation`: what cancelling hopeless operations does under overload, and what the most valuable
//! ones are worth.
//!
//! About 70 operations of an operational flight program, critical and not, need more than the CPU. They run
//! in virtual time, and live as distributable threads on one CPU: the same operations under the same
//! schedulers. Source: [Gill 2004] 3.2, figures 7 and 8.

mod claims;
mod counts;
mod live;
mod operations;
mod page;
mod simulated;

use std::time::Duration;

use punctual_harness::{Outcome, Row};
use punctual_sched::simulator::{Model, Overrun, Shedding};
use serde::{Deserialize, Serialize};

use self::counts::{Counts, Sample};
use super::disciplines::Named;
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    os::no_rights,
    studies::FlightProgram,
    testbed::Testbed,
};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    name: "dyn.cancellation",
    about: "70 operations that need more than the CPU: deadlines of critical and other ones, with and \
            without cancellation",
    expected: |length| (Duration::from_secs(live_seconds(length)) + live::START) * (CASES.len() as u32 + 1),
    run: measure,
};

pub(super) use operations::{ROLE, child};

const HEADING: &str = "Cancelling operations under overload";

/// What the operations need of the CPU on average: 1 is all of it. Docs/simulation.md has what other loads
/// come to.
const LOAD: f64 = 1.08;
/// In virtual time, which is cheap.
const SIMULATED_SECONDS: u64 = 30;

fn live_seconds(length: Length) -> u64 {
    length.pick(2, 20, 20)
}

/// A scheduler, with or without cancellation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Case {
    scheduler: Named,
    /// Operations that are not critical are cancelled where they could not end in time any more.
    cancels: bool,
    /// The kernel dispatches, by SCHED_DEADLINE.
    by_kernel: bool,
}

const fn case(scheduler: Named, cancels: bool) -> Case {
    Case {
        scheduler,
        cancels,
        by_kernel: false,
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

/// Live only, where the CPU can be a scheduling domain of its own.
const KERNEL: Case = Case {
    by_kernel: true,
    ..case(Named::Edf, false)
};

impl Case {
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

    /// Live one thread plays all arrivals of an operation, so one that finds the one before it still there is
    /// dropped. In virtual time each is an event of its own, and queues, where that ends.
    fn model(self, live: bool) -> Model {
        let shedding = match self.cancels {
            true => Shedding::NonCritical,
            false => Shedding::None,
        };
        let queues = !live && [Named::Muf, Named::Rms].contains(&self.scheduler);
        let overrun = match queues {
            true => Overrun::Queue,
            false => Overrun::Skip,
        };
        let program = FlightProgram {
            load: LOAD,
            overrun,
            shedding,
            ..FlightProgram::default()
        };
        program.model()
    }
}

/// Of one case, live or simulated.
struct Ran {
    case: Case,
    live: bool,
    samples: Vec<Sample>,
    /// Critical operations that missed their deadlines though no hole was in the way; of a simulation all
    /// that missed.
    critical_unexcused: u32,
    /// What ended in time was worth, and what all would have been.
    utility: u64,
    offered: u64,
    /// Where the kernel or the host let nobody run, and for how long altogether.
    holes: usize,
    holes_ms: f64,
    /// Operations that the kernel did not admit: none of their arrivals was dispatched.
    not_admitted: usize,
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let mut outcome = testbed.outcome(BENCHMARK.name);
    outcome.parameter("load", LOAD);
    outcome.parameter("simulated_seconds", SIMULATED_SECONDS);
    let seconds = live_seconds(testbed.length);
    let lacking = no_rights(&outcome);
    if let Some(reason) = &lacking {
        for id in claims::LIVE {
            outcome.skip(Some(id), format!("claim {id}"), reason.as_str());
        }
        outcome.skip(None, "all live runs", reason.as_str());
    }
    if testbed.length == Length::Quick {
        let full = live_seconds(Length::Full);
        outcome.parameter(
            "shortened",
            format!("{seconds} s live for each case instead of {full}"),
        );
    }
    let mut ran = Vec::new();
    for case in CASES {
        testbed
            .progress
            .stage(format!("{}, simulated", case.name()), Duration::from_millis(100));
        ran.push(simulated::run(case, SIMULATED_SECONDS)?);
    }
    if lacking.is_none() {
        let mut live = live::Live::start(testbed, seconds, CASES.len())?;
        for case in CASES {
            let expected = Duration::from_secs(seconds) + live::START;
            testbed.progress.stage(format!("{}, live", case.name()), expected);
            live.run(case)?;
        }
        ran.extend(live.finish(&mut outcome)?);
        ran.extend(live::by_kernel(testbed, seconds, &mut outcome)?);
    }
    for one in &ran {
        one.rows(&mut outcome);
    }
    claims::evaluate(&ran, &mut outcome);
    let chapter = page::chapter(&outcome, &ran);
    Ok(Findings { outcome, chapter })
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
        };
        for (number, sample) in self.samples.iter().enumerate() {
            outcome.row(with_counts(front("sample").with("sample", number), *sample));
        }
        let total = with_counts(front("total"), self.total())
            .with("critical_missed_outside_holes", self.critical_unexcused)
            .with("utility", self.utility)
            .with(
                "utility_percent",
                100.0 * self.utility as f64 / self.offered as f64,
            )
            .with("holes", self.holes)
            .with("holes_ms", self.holes_ms)
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
