//! The phases of one benchmark, corrected for the time that kernel and host took.

use std::time::Duration;

use punctual_harness::{Hole, HoleRecorder, Latencies, Outcome, Row, Span, withheld_cpu};

use super::{
    FAULTY, Fault, STALLED,
    calibration::{self, Calibration},
    deadlines::{Counting, Lost, Share},
    deployment::{Deployment, Optional, Placement, Setup},
    task::{Pace, Report, TaskResult, Worker},
};
use crate::{
    error::{Error, refusal},
    experiment::report_holes,
    testbed::Testbed,
};

/// The measurement of one point of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Phase<K> {
    /// Identifies the point for the benchmark.
    pub(crate) key: K,
    /// Title in the progress display.
    pub(crate) title: String,
    /// Index of the deployment.
    pub(crate) deployment: usize,
    /// Index of the server's pool.
    pub(crate) pool: usize,
    pub(crate) seconds: f64,
    pub(crate) workers: Vec<Worker>,
}

/// The result of a phase.
#[derive(Clone, Debug)]
pub(crate) struct PhaseResult<K> {
    pub(crate) key: K,
    /// Index of the deployment.
    pub(crate) deployment: usize,
    /// Index of the server's pool.
    pub(crate) pool: usize,
    /// In the order of the phase's workers.
    pub(crate) clients: Vec<Client>,
    pub(crate) span: Span,
    /// See [`TaskResult::server_context_switches`].
    pub(crate) server_context_switches: u64,
    /// Nominal length; outstanding calls end later.
    seconds: f64,
    /// Share of the CPUs, from 0 to 1, used by other programs; `None` if the deployment shares no CPU with
    /// them.
    pub(crate) others: Option<f64>,
}

/// One client of a phase.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) worker: Worker,
    pub(crate) report: Report,
    lost: Lost,
    /// Time withheld by kernel or host, in seconds.
    held_s: f64,
    /// Cause of its longest call.
    max_cause: String,
    /// The longest call that no hole excuses.
    longest_unexcused: Option<Duration>,
}

/// A benchmark in progress: its outcome, the unit of work, and the holes so far.
pub(crate) struct Session<'t> {
    pub(crate) testbed: &'t mut Testbed,
    pub(crate) outcome: Outcome,
    pub(crate) calibration: Calibration,
    engine: Engine,
}

/// Runs phases, and keeps the holes in them.
#[derive(Default)]
pub(crate) struct Engine {
    /// Rounds per unit of work; 0 if no worker requests work.
    rounds: u32,
    pub(crate) holes: Vec<Hole>,
    pub(crate) measured: Duration,
}

/// Average overhead of a phase; many phases share the start and end of processes.
const OVERHEAD: Duration = Duration::from_millis(100);

/// Returns the expected duration of phases, including calibration.
pub(crate) fn expected<K>(phases: &[Phase<K>]) -> Duration {
    let phases = phases
        .iter()
        .map(|phase| Duration::from_secs_f64(phase.seconds) + OVERHEAD);
    // The calibration for the first benchmark of a run, and the final check for each.
    phases.sum::<Duration>() + Duration::from_millis(1500)
}

impl<'t> Session<'t> {
    /// Starts a benchmark; calibrates the load if this has not happened yet.
    pub(crate) fn begin(testbed: &'t mut Testbed, benchmark: &str) -> Result<Self, Error> {
        let calibration = Calibration::of(testbed)?;
        let mut outcome = testbed.outcome(benchmark);
        outcome.parameter("rounds_per_unit_of_work", calibration.rounds);
        outcome.parameter("capacity_at_work_30_before", calibration::CAPACITY);
        Ok(Self {
            testbed,
            outcome,
            calibration,
            engine: Engine {
                rounds: calibration.rounds,
                ..Engine::default()
            },
        })
    }

    /// Runs phases like [`Engine::run`].
    pub(crate) fn run<K>(
        &mut self,
        setups: &[Setup<'_>],
        phases: Vec<Phase<K>>,
    ) -> Result<Vec<PhaseResult<K>>, Error> {
        self.engine.run(self.testbed, &mut self.outcome, setups, phases)
    }

    /// Ends the benchmark: checks the calibration again, and reports the holes.
    pub(crate) fn end(self) -> Result<Outcome, Error> {
        let capacity = self.calibration.capacity_now(self.testbed)?;
        let mut outcome = self.outcome;
        let Engine { holes, measured, .. } = self.engine;
        outcome.parameter("capacity_at_work_30_after", capacity);
        report_holes(&mut outcome, &holes, measured)?;
        let drift = calibration::drift(capacity);
        if drift.is_some() {
            // The next benchmark of this run calibrates again.
            self.testbed.rounds_per_unit_of_work = None;
        }
        drift.into_iter().for_each(|reason| outcome.unfit(reason));
        Ok(outcome)
    }
}

impl Engine {
    /// Starts the deployments side by side, so that their phases can alternate, and runs the phases. Phases
    /// of an optional deployment that this machine does not support are skipped, with the reason in the
    /// outcome.
    pub(crate) fn run<K>(
        &mut self,
        testbed: &Testbed,
        outcome: &mut Outcome,
        setups: &[Setup<'_>],
        phases: Vec<Phase<K>>,
    ) -> Result<Vec<PhaseResult<K>>, Error> {
        // Under overload, calls end late, by at most the clients' outstanding calls.
        let timeout = expected(&phases) * 2 + Duration::from_secs(30);
        let mut deployments = Vec::with_capacity(setups.len());
        for setup in setups {
            deployments.push(self.deploy(testbed, outcome, setup, timeout)?);
        }
        let places = &testbed.places;
        let processes = deployments
            .iter()
            .flatten()
            .flat_map(Deployment::processes)
            .collect();
        let recorder = HoleRecorder::start(processes, places.pinned.clone(), &places.driver)?;
        let mut measured = Vec::with_capacity(phases.len());
        for phase in phases {
            let Some(deployment) = &mut deployments[phase.deployment] else {
                continue;
            };
            let expected = Duration::from_secs_f64(phase.seconds);
            testbed.progress.stage(&phase.title, expected);
            let (result, others) = deployment.run_watched(phase.pool, phase.seconds, &phase.workers)?;
            measured.push(Measured {
                phase,
                result,
                others,
            });
        }
        let recording = recorder.stop();
        deployments.into_iter().flatten().try_for_each(Deployment::stop)?;
        let reports = || measured.iter().flat_map(|measured| &measured.result.reports);
        let outstanding: Vec<Span> = reports().flat_map(|report| &report.calls).copied().collect();
        let holes = recording.holes(&outstanding);
        self.holes.extend(&holes);
        let results = measured.into_iter().map(
            |Measured {
                 phase,
                 result,
                 others,
             }| {
                self.measured += Duration::from_nanos(result.span.end_ns - result.span.start_ns);
                let clients = phase.workers.into_iter().zip(result.reports);
                PhaseResult {
                    key: phase.key,
                    deployment: phase.deployment,
                    pool: phase.pool,
                    clients: clients
                        .map(|(worker, report)| Client::of(worker, report, result.span, &holes))
                        .collect(),
                    span: result.span,
                    server_context_switches: result.server_context_switches,
                    seconds: phase.seconds,
                    others,
                }
            },
        );
        Ok(results.collect())
    }

    /// Starts a deployment; `None` if it is optional and this machine does not support it.
    fn deploy(
        &self,
        testbed: &Testbed,
        outcome: &mut Outcome,
        setup: &Setup<'_>,
        timeout: Duration,
    ) -> Result<Option<Deployment>, Error> {
        let places = &testbed.places;
        let started = if setup.placement.needs_two() && !places.has_driver() {
            Err("only one CPU is available to this process".to_owned())
        } else {
            let mut setup = setup.clone();
            if testbed.is_under(&STALLED) || testbed.is_under(&FAULTY) {
                setup.server.fault = Some(Fault::Faulty);
            }
            match Deployment::start(places, &setup, self.rounds, timeout) {
                Ok(deployment) => Ok(deployment),
                Err(error) => Err(refusal(&error)
                    .filter(|_| setup.placement == Placement::Linked)
                    .ok_or(error)?),
            }
        };
        match (started, setup.optional) {
            (Ok(deployment), _) => Ok(Some(deployment)),
            (Err(reason), None) => Err(reason.into()),
            (Err(reason), Some(Optional { what, claims })) => {
                for claim in claims {
                    outcome.skip(Some(claim), what, reason.as_str());
                }
                Ok(None)
            }
        }
    }
}

impl<K> PhaseResult<K> {
    /// Returns the client with this name.
    ///
    /// Panics if the phase has no such worker.
    pub(crate) fn client(&self, name: &str) -> &Client {
        let found = self.clients.iter().find(|client| client.worker.name == name);
        found.unwrap_or_else(|| panic!("no client `{name}` in this phase"))
    }

    /// Returns how many calls of the named client returned within the nominal length.
    pub(crate) fn returned_in_time(&self, name: &str) -> usize {
        let end = self.span.start_ns + (self.seconds * 1e9) as u64;
        let calls = self.client(name).report.calls.iter();
        calls.filter(|call| call.end_ns <= end).count()
    }

    /// Returns the calls per second of all continuous clients together; `None` without such clients.
    pub(crate) fn collective_hz(&self) -> Option<f64> {
        self.sum_of_continuous(Client::achieved_hz)
    }

    /// Returns the same over the time outside holes.
    pub(crate) fn collective_hz_corrected(&self) -> Option<f64> {
        self.sum_of_continuous(Client::achieved_hz_corrected)
    }

    fn sum_of_continuous(&self, of: impl Fn(&Client) -> f64) -> Option<f64> {
        let continuous = || self.clients.iter().filter(|client| client.rate().is_none());
        continuous().next()?;
        Some(continuous().map(of).sum())
    }

    /// Returns a row for each client with a rate and one for all continuous clients, after the columns of
    /// `front`.
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
        let unexcused = report
            .calls
            .iter()
            .filter(|call| !holes.iter().any(|hole| hole.excuses(**call)));
        Self {
            longest_unexcused: unexcused.map(|call| call.length()).max(),
            lost: Lost::of(&report, holes),
            held_s: held(phase, holes),
            max_cause: slowest.map_or_else(String::new, |slowest| withheld_cpu::cause_of(*slowest, holes)),
            worker,
            report,
        }
    }

    /// Returns the requested calls per second; `None` for a continuous client.
    pub(crate) fn rate(&self) -> Option<u32> {
        match self.worker.pace {
            Pace::Hertz(rate) => Some(rate),
            Pace::Continuous | Pace::Pausing { .. } | Pace::Spinning { .. } => None,
        }
    }

    pub(crate) fn achieved_hz(&self) -> f64 {
        self.report.calls.len() as f64 / self.report.elapsed_s
    }

    /// Returns the calls per second over the time outside holes.
    pub(crate) fn achieved_hz_corrected(&self) -> f64 {
        self.report.calls.len() as f64 / (self.report.elapsed_s - self.held_s)
    }

    /// Returns the calls per second of a continuous client between the returns of its first and last call,
    /// without holes. `None` with fewer than two calls.
    pub(crate) fn throughput(&self) -> Option<f64> {
        let raw = self.report.calls_per_second()?;
        Some(raw * self.report.elapsed_s / (self.report.elapsed_s - self.held_s))
    }

    /// Returns the share of deadlines that it met.
    pub(crate) fn deadlines_met(&self, counting: Counting) -> Share {
        Share::of(&self.report, self.lost, counting)
    }

    /// Returns the length in microseconds of its longest call that no hole excuses.
    pub(crate) fn max_outside_holes_us(&self) -> Option<f64> {
        Some(self.longest_unexcused?.as_secs_f64() * 1e6)
    }

    /// Returns the latencies of its calls.
    pub(crate) fn latencies(&self) -> Latencies {
        let mut latencies = Latencies::new();
        for call in &self.report.calls {
            latencies.record(call.end_ns - call.start_ns);
        }
        latencies
    }

    fn row(&self, front: Row) -> Option<Row> {
        let rate = self.rate()?;
        let (start, end) = (
            self.deadlines_met(Counting::Start),
            self.deadlines_met(Counting::End),
        );
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

/// A phase with its result, before correction for holes.
struct Measured<K> {
    phase: Phase<K>,
    result: TaskResult,
    others: Option<f64>,
}

/// Returns the time of a span that was withheld, in seconds.
fn held(span: Span, holes: &[Hole]) -> f64 {
    let common = |hole: &Hole| {
        let Span { start_ns, end_ns } = hole.span();
        end_ns
            .min(span.end_ns)
            .saturating_sub(start_ns.max(span.start_ns))
    };
    let withheld = holes.iter().filter(|hole| hole.is_withheld());
    withheld.map(common).sum::<u64>() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use punctual_harness::withheld_cpu::HoleSource;

    use super::*;

    fn span(start_ns: u64, end_ns: u64) -> Span {
        Span { start_ns, end_ns }
    }

    #[test]
    fn only_the_withheld_part_of_a_phase_counts() {
        let hole = |start_ns, length_ns| Hole {
            start_ns,
            length_ns,
            source: HoleSource::Unaccounted,
        };
        let idle = Hole {
            source: HoleSource::Idle,
            ..hole(300_000_000, 100_000_000)
        };
        let holes = [
            idle,
            hole(0, 200_000_000),
            hole(900_000_000, 50_000_000),
            hole(5_000_000_000, 1),
        ];
        assert_eq!(held(span(100_000_000, 1_000_000_000), &holes), 0.15);
    }
}
