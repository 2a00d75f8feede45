//! One benchmark's phases, one after the other, with what kernel and host took from them.

use std::time::Duration;

use punctual_harness::{
    Hole, HoleRecorder, Latencies, Outcome, Row, Span,
    child::{ChildError, Failure},
    holes,
};

use super::{
    calibration::{self, Calibration},
    deadlines::{Counting, Lost, Share},
    stage::{Optional, Placement, Setup, Stage},
    task::{Pace, Report, Worker},
};
use crate::{error::Error, testbed::Testbed};

/// What is measured for one point of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Phase<K> {
    /// What it is to the one who asked for it.
    pub(crate) key: K,
    /// What the user sees meanwhile.
    pub(crate) title: String,
    /// Which of the stages.
    pub(crate) stage: usize,
    /// Which of its server's pools.
    pub(crate) pool: usize,
    pub(crate) seconds: f64,
    pub(crate) workers: Vec<Worker>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(crate) struct Played<K> {
    pub(crate) key: K,
    /// On which of the stages.
    pub(crate) stage: usize,
    /// Through which of its server's pools.
    pub(crate) pool: usize,
    /// In the order of the phase's workers.
    pub(crate) clients: Vec<Client>,
    pub(crate) span: Span,
    /// How long it was to be. Calls that are under way then end later.
    seconds: f64,
    /// The share of the CPUs, from 0 to 1, that programs had which are no part of it; `None` where none are to be there.
    pub(crate) others: Option<f64>,
}

/// One client of a phase.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) worker: Worker,
    pub(crate) report: Report,
    lost: Lost,
    /// How long holes held it up.
    held_s: f64,
    /// What made its longest call long.
    max_cause: String,
}

/// A benchmark under way: its outcome, the unit of work, and the holes so far.
pub(crate) struct Session<'t> {
    pub(crate) testbed: &'t mut Testbed,
    pub(crate) outcome: Outcome,
    pub(crate) calibration: Calibration,
    holes: Vec<Hole>,
    measured: Duration,
}

/// What a phase takes besides its own time, on average: starting and ending processes is shared by many.
const OVERHEAD: Duration = Duration::from_millis(100);

/// How long phases take, with what comes before and after them.
pub(crate) fn expected<K>(phases: &[Phase<K>]) -> Duration {
    let phases = phases
        .iter()
        .map(|phase| Duration::from_secs_f64(phase.seconds) + OVERHEAD);
    // The calibration, for the first benchmark of a run; the last look at it, for each.
    phases.sum::<Duration>() + Duration::from_millis(1500)
}

impl<'t> Session<'t> {
    /// Makes sure that there is a unit of work.
    pub(crate) fn begin(testbed: &'t mut Testbed, benchmark: &str) -> Result<Self, Error> {
        let calibration = Calibration::of(testbed)?;
        let mut outcome = testbed.outcome(benchmark);
        outcome.parameter("rounds_per_unit_of_work", calibration.rounds);
        outcome.parameter("capacity_at_work_30_before", calibration::CAPACITY);
        Ok(Self {
            testbed,
            outcome,
            calibration,
            holes: Vec::new(),
            measured: Duration::ZERO,
        })
    }

    /// Runs phases on stages that are set for them and stand side by side, so that phases of several can alternate. Those on
    /// a stage that the machine cannot have are left out, and the outcome says why, if the stage may be missing.
    pub(crate) fn play<K>(
        &mut self,
        setups: &[Setup<'_>],
        phases: Vec<Phase<K>>,
    ) -> Result<Vec<Played<K>>, Error> {
        // Overload lets calls end late, by at most what the clients have still outstanding.
        let limit = expected(&phases) * 2 + Duration::from_secs(30);
        let mut stages = Vec::with_capacity(setups.len());
        for setup in setups {
            stages.push(self.set(setup, limit)?);
        }
        let places = &self.testbed.places;
        let processes = stages.iter().flatten().flat_map(Stage::processes).collect();
        let recorder = HoleRecorder::start(processes, places.pinned.clone(), &places.driver)?;
        let mut answers = Vec::with_capacity(phases.len());
        for phase in phases {
            let Some(stage) = &mut stages[phase.stage] else {
                continue;
            };
            let expected = Duration::from_secs_f64(phase.seconds);
            self.testbed.progress.stage(&phase.title, expected);
            let answer = stage.run_watched(phase.pool, phase.seconds, &phase.workers)?;
            answers.push((phase, answer));
        }
        let recording = recorder.stop();
        stages.into_iter().flatten().try_for_each(Stage::strike)?;
        let reports = || answers.iter().flat_map(|(_, (answer, _))| &answer.reports);
        let outstanding: Vec<Span> = reports().flat_map(|report| &report.calls).copied().collect();
        let holes = recording.holes(&outstanding);
        self.holes.extend(&holes);
        let played = answers.into_iter().map(|(phase, (answer, others))| {
            self.measured += Duration::from_nanos(answer.span.end_ns - answer.span.start_ns);
            let clients = phase.workers.into_iter().zip(answer.reports);
            Played {
                key: phase.key,
                stage: phase.stage,
                pool: phase.pool,
                clients: clients
                    .map(|(worker, report)| Client::of(worker, report, answer.span, &holes))
                    .collect(),
                span: answer.span,
                seconds: phase.seconds,
                others,
            }
        });
        Ok(played.collect())
    }

    /// `None` where the machine cannot have it, and it may be missing.
    fn set(&mut self, setup: &Setup<'_>, limit: Duration) -> Result<Option<Stage>, Error> {
        let places = &self.testbed.places;
        let set = if setup.placement.needs_two() && !places.has_driver() {
            Err("only one CPU is available to this process".to_owned())
        } else {
            match Stage::set(places, setup, self.calibration.rounds, limit) {
                Ok(stage) => Ok(stage),
                Err(error) => Err(refused(error.as_ref())
                    .filter(|_| setup.placement == Placement::Linked)
                    .ok_or(error)?),
            }
        };
        match (set, setup.optional) {
            (Ok(stage), _) => Ok(Some(stage)),
            (Err(reason), None) => Err(reason.into()),
            (Err(reason), Some(Optional { what, claims })) => {
                for claim in claims {
                    self.outcome.skip(Some(claim), what, reason.as_str());
                }
                Ok(None)
            }
        }
    }

    /// Looks whether a unit of work is still what it was, and how much holes took.
    pub(crate) fn end(self) -> Result<Outcome, Error> {
        let capacity = self.calibration.capacity_now(self.testbed)?;
        let mut outcome = self.outcome;
        outcome.parameter("capacity_at_work_30_after", capacity);
        outcome.parameter("kernel_holes", serde_json::to_value(&self.holes)?);
        let drift = calibration::drift(capacity);
        if drift.is_some() {
            // What comes after it in this run gets a unit that fits.
            self.testbed.rounds_per_unit_of_work = None;
        }
        let reasons = drift.into_iter().chain(holes::unfit(&self.holes, self.measured));
        reasons.for_each(|reason| outcome.unfit(reason));
        Ok(outcome)
    }
}

impl<K> Played<K> {
    /// The client of that name.
    ///
    /// Panics where no worker had it.
    pub(crate) fn client(&self, name: &str) -> &Client {
        let found = self.clients.iter().find(|client| client.worker.name == name);
        found.unwrap_or_else(|| panic!("there is no client `{name}` in this phase"))
    }

    /// How many calls of the client of that name returned while all were at work.
    pub(crate) fn returned_in_time(&self, name: &str) -> usize {
        let end = self.span.start_ns + (self.seconds * 1e9) as u64;
        let calls = self.client(name).report.calls.iter();
        calls.filter(|call| call.end_ns <= end).count()
    }

    /// What all clients without a pace got through together, in calls per second; `None` without any.
    pub(crate) fn collective_hz(&self) -> Option<f64> {
        self.sum_of_continuous(Client::achieved_hz)
    }

    /// The same over the time outside holes.
    pub(crate) fn collective_hz_corrected(&self) -> Option<f64> {
        self.sum_of_continuous(Client::achieved_hz_corrected)
    }

    fn sum_of_continuous(&self, of: impl Fn(&Client) -> f64) -> Option<f64> {
        let continuous = || self.clients.iter().filter(|client| client.rate().is_none());
        continuous().next()?;
        Some(continuous().map(of).sum())
    }

    /// A row for each client with a pace and one for all without, with columns of the caller's in front.
    pub(crate) fn rows(&self, front: &Row) -> Vec<Row> {
        let paced = self.clients.iter().filter_map(|client| client.row(front.clone()));
        let mut rows: Vec<Row> = paced.collect();
        if let Some((hz, corrected)) = self.collective_hz().zip(self.collective_hz_corrected()) {
            let threads = self.clients.len() - rows.len();
            let name = self.clients.last().map_or("", |client| &client.worker.name);
            let row = front.clone().with("priority", name).with("threads", threads);
            rows.push(
                row.with("achieved_hz", hz)
                    .with("achieved_hz_without_holes", corrected),
            );
        }
        rows
    }
}

impl Client {
    fn of(worker: Worker, report: Report, phase: Span, holes: &[Hole]) -> Self {
        let slowest = report.calls.iter().max_by_key(|call| call.end_ns - call.start_ns);
        Self {
            lost: Lost::of(&report, holes),
            held_s: held(phase, holes),
            max_cause: slowest.map_or_else(String::new, |slowest| holes::cause_of(*slowest, holes)),
            worker,
            report,
        }
    }

    /// Calls per second that it is to make; `None` for one without a pace.
    pub(crate) fn rate(&self) -> Option<u32> {
        match self.worker.pace {
            Pace::Hertz(rate) => Some(rate),
            Pace::Continuous => None,
        }
    }

    pub(crate) fn achieved_hz(&self) -> f64 {
        self.report.calls.len() as f64 / self.report.elapsed_s
    }

    /// Over the time outside holes.
    pub(crate) fn achieved_hz_corrected(&self) -> f64 {
        self.report.calls.len() as f64 / (self.report.elapsed_s - self.held_s)
    }

    /// Of one that calls without a pause: between the return of its first call and that of its last, without holes. `None` with
    /// less than two calls.
    pub(crate) fn throughput(&self) -> Option<f64> {
        let raw = calls_per_second(&self.report.calls)?;
        Some(raw * self.report.elapsed_s / (self.report.elapsed_s - self.held_s))
    }

    pub(crate) fn made(&self, counting: Counting) -> Share {
        Share::of(&self.report, self.lost, counting)
    }

    /// What its calls took.
    pub(crate) fn latencies(&self) -> Latencies {
        let mut latencies = Latencies::new();
        for call in &self.report.calls {
            latencies.record(call.end_ns - call.start_ns);
        }
        latencies
    }

    fn row(&self, front: Row) -> Option<Row> {
        let rate = self.rate()?;
        let (start, end) = (self.made(Counting::Start), self.made(Counting::End));
        let row = front
            .with("priority", self.worker.name.as_str())
            .with("asked_hz", rate)
            .with("achieved_hz", self.achieved_hz())
            .with("deadlines_made_percent", start.raw)
            .with("deadlines_lost_to_kernel_percent", start.lost())
            .with("ends_made_percent", end.raw)
            .with("ends_lost_to_kernel_percent", end.lost())
            .with_fields(&self.latencies().summary())
            .with("max_cause", self.max_cause.as_str());
        Some(row)
    }
}

/// The columns of a table of such rows, after the caller's own.
pub(crate) const COLUMNS: &[(&str, &str)] = &[
    ("priority", "priority"),
    ("asked_hz", "asked (Hz)"),
    ("achieved_hz", "achieved (Hz)"),
    ("deadlines_made_percent", "started in time (%)"),
    ("deadlines_lost_to_kernel_percent", "lost to the kernel (%)"),
    ("ends_made_percent", "ended in time (%)"),
    ("ends_lost_to_kernel_percent", "lost to the kernel (%)"),
    ("mean_us", "mean (µs)"),
    ("max_us", "max (µs)"),
    ("max_cause", "cause of max"),
];

/// Between the end of the first call and that of the last; `None` with less than two.
pub(super) fn calls_per_second(calls: &[Span]) -> Option<f64> {
    let (first, last) = calls.first().zip(calls.last())?;
    let seconds = last.end_ns.checked_sub(first.end_ns).filter(|time| *time > 0)? as f64 / 1e9;
    Some((calls.len() - 1) as f64 / seconds)
}

/// How long holes took of a time, in seconds.
fn held(span: Span, holes: &[Hole]) -> f64 {
    let common = |hole: &Hole| {
        let Span { start_ns, end_ns } = hole.span();
        end_ns
            .min(span.end_ns)
            .saturating_sub(start_ns.max(span.start_ns))
    };
    holes.iter().map(common).sum::<u64>() as f64 / 1e9
}

/// The reason that one of the processes gave for not doing its part.
fn refused(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    match error.downcast_ref::<ChildError>()?.failure() {
        Failure::Refused(reason) => Some(reason.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use punctual_harness::holes::HoleSource;

    use super::*;

    fn span(start_ns: u64, end_ns: u64) -> Span {
        Span { start_ns, end_ns }
    }

    #[test]
    fn a_rate_is_counted_from_end_to_end() {
        let calls = [
            span(0, 1_000_000_000),
            span(0, 1_500_000_000),
            span(0, 2_000_000_000),
        ];
        assert_eq!(calls_per_second(&calls), Some(2.0));
        assert_eq!(calls_per_second(&calls[..1]), None);
        assert_eq!(calls_per_second(&[]), None);
    }

    #[test]
    fn only_the_part_of_a_hole_within_the_phase_counts() {
        let hole = |start_ns, length_ns| Hole {
            start_ns,
            length_ns,
            source: HoleSource::Idle,
        };
        let holes = [
            hole(0, 200_000_000),
            hole(900_000_000, 50_000_000),
            hole(5_000_000_000, 1),
        ];
        assert_eq!(held(span(100_000_000, 1_000_000_000), &holes), 0.15);
    }
}
