//! The driver's side of a measured child process, with the recording of disturbances.

use std::time::Duration;

use punctual_harness::{
    ChildSpec, Hole, HoleRecorder, Outcome, Span, Watchdog,
    child::{Process, Role, Task},
    withheld_cpu::evaluate,
};
use punctual_os::TaskId;
use punctual_trace::kernel::{KernelRecorder, KernelSettings, Recorded};

use super::{
    disturbance::Disturbances,
    worker::{Job, Measured, Ready, Timed, Worker},
};
use crate::{
    error::Error,
    testbed::{Places, Testbed},
};

/// Timeout of the start of a child process, and of a response beyond its expected duration.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A child process on the measured CPU, with a watchdog and recorders of disturbances.
pub(crate) struct Subject<R = Worker> {
    child: Process<R>,
    places: Places,
    recorder: HoleRecorder,
    interrupts: Result<KernelRecorder, String>,
    wanted: Interrupts,
    spans: Vec<Span>,
    ready: Ready,
    _watchdog: Watchdog,
}

/// Whether interrupts are recorded during measurements, which makes each a little longer.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Interrupts {
    Recorded,
    /// Not recorded, because timer interrupts are measured.
    Ignored,
}

impl Subject {
    /// Starts the child process of `os.*`, like [`start`](Self::start).
    pub(crate) fn for_jobs(
        testbed: &Testbed,
        timeout: Duration,
        interrupts: Interrupts,
    ) -> Result<Self, Error> {
        Self::start(testbed, timeout, interrupts)
    }
}

impl<R: Role<Setup = (), Ready = Ready>> Subject<R> {
    /// Starts the child process. It is killed after `timeout`.
    pub(crate) fn start(testbed: &Testbed, timeout: Duration, interrupts: Interrupts) -> Result<Self, Error> {
        let places = testbed.places.clone();
        let spec = ChildSpec::of::<R>(R::NAME.trim_start_matches('_')).affinity(places.pinned.clone());
        let (child, ready) = spec.start::<R>(&(), TIMEOUT)?;
        let watchdog = Watchdog::start(timeout + TIMEOUT, vec![child.killer()?], &places.driver)?;
        let recorder = HoleRecorder::start(vec![child.id()], places.pinned.clone(), &places.driver)?;
        let wanted = interrupts;
        let interrupts = match wanted {
            Interrupts::Recorded => record(&places, Recorded::Interrupts),
            Interrupts::Ignored => Err("interrupts are not recorded in these passes".to_owned()),
        };
        Ok(Self {
            child,
            places,
            recorder,
            interrupts,
            wanted,
            spans: Vec::new(),
            ready,
            _watchdog: watchdog,
        })
    }

    pub(crate) fn process(&self) -> TaskId {
        self.child.id()
    }

    /// Returns the cost of a pair of clock readings in the child process.
    pub(crate) fn stamp_ns(&self) -> u64 {
        self.ready.stamp_ns
    }

    /// Executes a job that takes about `expected`, and returns its answer.
    pub(crate) fn run<J: Job>(&mut self, job: J, expected: Duration) -> Result<J::Reply, Error> {
        self.perform(&Timed(job), expected)
    }

    /// Sends a request that takes about `expected`, and returns its answer.
    pub(crate) fn perform<A, T: Task<R, Reply = Measured<A>>>(
        &mut self,
        task: &T,
        expected: Duration,
    ) -> Result<A, Error> {
        let measured = self.child.perform(task, expected * 4 + TIMEOUT)?;
        self.spans.push(measured.span);
        Ok(measured.response)
    }

    /// Ends the child process; reports disturbances and missing rights in the outcome.
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
        let holes = recording.holes(&self.spans);
        report_holes(&holes, &self.spans, outcome)?;
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

/// Starts recording kernel events; the reader runs on the driver's CPU, or without a fixed CPU if there is
/// only one.
pub(crate) fn record(places: &Places, events: Recorded) -> Result<KernelRecorder, String> {
    let settings = KernelSettings {
        events,
        reader: places.reader(),
        ..KernelSettings::default()
    };
    KernelRecorder::start(&settings).map_err(|error| error.to_string())
}

fn report_holes(holes: &[Hole], spans: &[Span], outcome: &mut Outcome) -> Result<(), Error> {
    let nanoseconds = spans.iter().map(|span| span.end_ns - span.start_ns).sum();
    outcome.parameter("kernel_holes", serde_json::to_value(holes)?);
    outcome.parameter("measured_s", nanoseconds as f64 / 1e9);
    evaluate(holes, Duration::from_nanos(nanoseconds), outcome);
    Ok(())
}
