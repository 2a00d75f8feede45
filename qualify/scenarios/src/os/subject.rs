//! The driver's side: a child that is measured, and what else went on meanwhile.

use std::time::Duration;

use punctual_harness::{Child, ChildSpec, Hole, HoleRecorder, Outcome, Span, Watchdog, holes::unfit};
use punctual_os::{CpuSet, TaskId};
use punctual_report::{Chapter, Table};
use punctual_trace::kernel::{KernelRecorder, KernelSettings, Recorded};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use super::{
    disturbance::Disturbances,
    worker::{Measured, Ready},
};
use crate::{
    error::Error,
    length::Length,
    testbed::{Places, Testbed},
};

/// How long a child may take to start, and beyond what it is expected to take for an answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Below it, the waiters of the semaphore have no room: 90 of them, their driver, and what watches.
pub(crate) const HIGHEST: i16 = 95;

/// A child on the measured CPU, with a watchdog above it and witnesses of what disturbs it.
pub(crate) struct Subject {
    child: Child,
    places: Places,
    recorder: HoleRecorder,
    interrupts: Result<KernelRecorder, String>,
    wanted: Interrupts,
    asked: Vec<Span>,
    ready: Ready,
    _watchdog: Watchdog,
}

/// Whether interrupts are recorded while the child works. Each one takes a little longer then.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Interrupts {
    Recorded,
    /// Where the timer's interrupts are what is measured.
    Ignored,
}

impl Subject {
    /// Starts the child with a role. It is killed when `limit` has passed.
    pub(crate) fn start(
        testbed: &Testbed,
        role: &str,
        limit: Duration,
        interrupts: Interrupts,
    ) -> Result<Self, Error> {
        let places = testbed.places.clone();
        let spec = ChildSpec::new(role.trim_start_matches('_'), role).affinity(places.pinned.clone());
        let (child, ready) = spec.spawn::<Ready>(TIMEOUT)?;
        let watchdog = Watchdog::start(limit + TIMEOUT, vec![child.killer()?], &places.driver)?;
        let recorder = HoleRecorder::start(vec![child.id()], places.pinned.clone(), &places.driver)?;
        let wanted = interrupts;
        let interrupts = match wanted {
            Interrupts::Recorded => record(&places, Recorded::Interrupts),
            Interrupts::Ignored => Err("nothing is recorded in these passes".to_owned()),
        };
        Ok(Self {
            child,
            places,
            recorder,
            interrupts,
            wanted,
            asked: Vec::new(),
            ready,
            _watchdog: watchdog,
        })
    }

    pub(crate) fn process(&self) -> TaskId {
        self.child.id()
    }

    /// What a pair of clock readings costs in it.
    pub(crate) fn stamp_ns(&self) -> u64 {
        self.ready.stamp_ns
    }

    /// Has it measure something that takes about `expected`.
    pub(crate) fn ask<Q: Serialize, A: DeserializeOwned>(
        &mut self,
        command: &Q,
        expected: Duration,
    ) -> Result<A, Error> {
        let measured: Measured<A> = self.child.ask(command, expected * 4 + TIMEOUT)?;
        self.asked.push(measured.span);
        Ok(measured.response)
    }

    /// Ends the child; says in the outcome what was wrong with its surroundings.
    pub(crate) fn finish(self, outcome: &mut Outcome) -> Result<Disturbances, Error> {
        let recording = self.recorder.stop();
        let interrupts = match self.interrupts {
            Ok(recorder) => recorder.stop().map_err(|error| error.to_string()),
            Err(reason) => Err(reason),
        };
        if let (Interrupts::Recorded, Err(reason)) = (self.wanted, &interrupts) {
            outcome.skip(
                None,
                "which samples were disturbed by interrupts",
                reason.as_str(),
            );
        }
        self.child.stop(TIMEOUT)?;
        let holes = recording.holes(&self.asked);
        report_holes(&holes, &self.asked, outcome)?;
        outcome.parameter("stamp_us", self.ready.stamp_ns as f64 / 1000.0);
        outcome.parameter("memory_locked", self.ready.not_locked.is_none());
        if let Some(reason) = self.ready.not_locked {
            outcome.skip(None, "figures with locked memory", reason);
        }
        Ok(Disturbances::new(
            interrupts,
            holes,
            &self.places.pinned,
            self.ready.stamp_ns,
        ))
    }
}

/// Starts to record events of the kernel; the reader runs beside the measured CPU, or as an ordinary thread
/// where there is no other.
pub(crate) fn record(places: &Places, events: Recorded) -> Result<KernelRecorder, String> {
    let reader = if places.has_driver() {
        places.driver.clone()
    } else {
        CpuSet::empty()
    };
    let settings = KernelSettings {
        events,
        reader,
        ..KernelSettings::default()
    };
    KernelRecorder::start(&settings).map_err(|error| error.to_string())
}

fn report_holes(holes: &[Hole], asked: &[Span], outcome: &mut Outcome) -> Result<(), Error> {
    let nanoseconds = asked.iter().map(|span| span.end_ns - span.start_ns).sum();
    outcome.parameter("kernel_holes", serde_json::to_value(holes)?);
    outcome.parameter("measured_s", nanoseconds as f64 / 1e9);
    if let Some(reason) = unfit(holes, Duration::from_nanos(nanoseconds)) {
        outcome.unfit(reason);
    }
    Ok(())
}

/// Tells the report what a quick run has less of.
pub(crate) fn shortened(testbed: &Testbed, outcome: &mut Outcome, what: impl FnOnce() -> String) {
    if testbed.length == Length::Quick {
        outcome.parameter("shortened", what());
    }
}

/// Where priorities cannot be had that a benchmark is about: says so in the outcome, for it and each of its
/// claims, and gives the chapter that says it.
pub(crate) fn lacks_rights(outcome: &mut Outcome, heading: &str, claims: &[&str]) -> Option<Chapter> {
    let reason = no_rights(outcome)?;
    let name = outcome.benchmark().to_owned();
    for claim in claims {
        outcome.skip(Some(claim), format!("claim {claim} of {name}"), reason.as_str());
    }
    outcome.skip(None, format!("all of {name}"), reason.as_str());
    let row = json!({"what": name, "why": reason});
    let table = Table::of(row.as_object()).columns(&[("what", "not measured"), ("why", "why")]);
    Some(Chapter::new(heading).table(table))
}

/// Why priorities cannot be had that live measurements are about, if so.
pub(crate) fn no_rights(outcome: &Outcome) -> Option<String> {
    let highest = outcome.machine().highest_realtime_priority.unwrap_or(0);
    if highest >= HIGHEST {
        return None;
    }
    let here = match highest {
        0 => "this process may have none".to_owned(),
        highest => format!("{highest} is the highest that this process may have"),
    };
    Some(format!(
        "it is about threads of SCHED_FIFO with priorities up to {HIGHEST}, and {here}; `punctual doctor` \
         says how to get the right"
    ))
}
