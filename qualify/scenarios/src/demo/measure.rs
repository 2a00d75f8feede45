use std::time::Duration;

use punctual_harness::{
    Claim, HoleRecorder, Outcome, Row, Span,
    holes::{lost_to_holes, unfit},
};

use super::{
    Importance, Options, Pool,
    client::Paced,
    stage::{CAPACITY, Setup, Stage},
};
use crate::{
    Error, Length,
    testbed::{Settings, Testbed},
};

/// Where the claims are made: a quarter and more over capacity, but not so far that the high client alone exceeds it.
const CLAIMED_WORKS: [u32; 2] = [50, 55];

/// One phase: a pool under a work.
struct Phase {
    pool: Pool,
    work: u32,
    paced: Vec<Paced>,
    /// Deadlines lost while the kernel held the CPU, in the order of `paced`.
    lost: Vec<u32>,
}

pub(super) fn measure(options: &Options) -> Result<Outcome, Error> {
    let seconds = options.seconds_per_phase();
    let phases = options.works().len() * Pool::ALL.len();
    let calibration = if options.quick { 0.6 } else { 1.2 };
    let total = seconds * phases as f64 + calibration * 4.0;
    let settings = Settings {
        leave_system_alone: options.leave_system_alone,
        ..Settings::default()
    };
    let expected = Duration::from_secs_f64(total + 1.0);
    let testbed = Testbed::prepare("demo", Length::Full, &settings, expected)?;
    let (places, progress) = (testbed.places.clone(), &testbed.progress);
    let mut outcome = testbed.outcome("demo");
    let setup = Setup {
        best_effort: false,
        environment: &[],
        // Overload lets calls end late, by at most what the clients have still outstanding.
        limit: Duration::from_secs_f64(total * 2.0 + 30.0),
    };
    let mut stage = Stage::set(&places, &setup)?;
    progress.stage("calibrating the load", Duration::from_secs_f64(calibration * 3.0));
    stage.calibrate(calibration)?;
    let recorder = HoleRecorder::start(stage.processes(), places.pinned, &places.driver)?;
    let mut measured = Vec::new();
    for pool in Pool::ALL {
        for &work in options.works() {
            progress.stage(
                format!("{} pool, work {work}", pool.name()),
                Duration::from_secs_f64(seconds),
            );
            let rates = stage.rates(pool, work, seconds, 0)?;
            measured.push(Phase {
                pool,
                work,
                paced: rates.paced,
                lost: Vec::new(),
            });
        }
    }
    let recording = recorder.stop();
    let capacity_after = stage.capacity(calibration)?;
    let rounds = stage.rounds;
    stage.strike()?;
    testbed.finish()?;

    let clients = measured.iter().flat_map(|phase| &phase.paced);
    let mut outstanding: Vec<Span> = clients
        .flat_map(|paced| paced.outstanding.iter().copied())
        .collect();
    outstanding.sort_by_key(|span| span.start_ns);
    let holes = recording.holes(&outstanding);
    for phase in &mut measured {
        let lost = |paced: &Paced| {
            lost_to_holes(&paced.missed, &holes)
                .into_iter()
                .filter(|lost| *lost)
                .count() as u32
        };
        phase.lost = phase.paced.iter().map(lost).collect();
    }
    outcome.parameter("seconds_per_phase", seconds);
    outcome.parameter("rounds_per_unit_of_work", rounds);
    outcome.parameter("capacity_at_work_30_before", CAPACITY);
    outcome.parameter("capacity_at_work_30_after", capacity_after);
    outcome.parameter("kernel_holes", serde_json::to_value(&holes)?);
    let measured_time = Duration::from_secs_f64(
        measured
            .iter()
            .map(|phase| {
                phase
                    .paced
                    .iter()
                    .map(|paced| paced.elapsed_s)
                    .fold(0.0, f64::max)
            })
            .sum(),
    );
    measured.iter().for_each(|phase| phase.add_rows(&mut outcome));
    claim(&measured, &mut outcome);
    if let Some(reason) = unfit(&holes, measured_time) {
        outcome.unfit(reason);
    }
    Ok(outcome)
}

impl Phase {
    fn add_rows(&self, outcome: &mut Outcome) {
        for (paced, lost) in self.paced.iter().zip(&self.lost) {
            let share = |count: u32| 100.0 * f64::from(count) / f64::from(paced.periods);
            let row = Row::new()
                .with("pool", self.pool.name())
                .with("work", self.work)
                .with("priority", paced.importance.name())
                .with("asked_hz", paced.importance.rate())
                .with("achieved_hz", f64::from(paced.made) / paced.elapsed_s)
                .with("deadlines_made_percent", share(paced.made))
                .with("deadlines_lost_to_kernel_percent", share(*lost));
            outcome.row(row);
        }
    }

    /// Share of deadlines made, and of those made or lost to the kernel, in percent.
    fn made(&self, importance: Importance) -> (f64, f64) {
        let found = self
            .paced
            .iter()
            .zip(&self.lost)
            .find(|(paced, _)| paced.importance == importance);
        found.map_or((0.0, 0.0), |(paced, lost)| {
            let share = |count: u32| 100.0 * f64::from(count) / f64::from(paced.periods);
            (share(paced.made), share(paced.made + lost))
        })
    }
}

fn claim(phases: &[Phase], outcome: &mut Outcome) {
    let source = "[S2] experiments 4 and 5";
    for phase in phases.iter().filter(|phase| CLAIMED_WORKS.contains(&phase.work)) {
        let work = phase.work;
        let (high, high_corrected) = phase.made(Importance::High);
        match phase.pool {
            Pool::Lanes => {
                let text = format!("lanes, work {work}: share of deadlines the 75 Hz client makes (%)");
                outcome.claim(Claim::at_least(
                    format!("lanes.high.{work}"),
                    text,
                    source,
                    high,
                    97.0,
                ));
                let text = format!(
                    "lanes, work {work}: the same, with those lost to the kernel counted as made (%)"
                );
                let id = format!("lanes.high.corrected.{work}");
                outcome.claim(Claim::at_least(id, text, source, high_corrected, 99.0));
            }
            Pool::Classic => {
                let text =
                    format!("classic pool, work {work}: share of deadlines the 75 Hz client makes (%)");
                outcome.claim(Claim::below(
                    format!("classic.high.{work}"),
                    text,
                    source,
                    high,
                    90.0,
                ));
                let others = [Importance::Medium, Importance::Low].map(|other| phase.made(other).0);
                let least = others.into_iter().fold(f64::INFINITY, f64::min);
                let text = format!(
                    "classic pool, work {work}: the 75 Hz client's share is below the others' smallest (%)"
                );
                outcome.claim(Claim::below(
                    format!("classic.high-is-least.{work}"),
                    text,
                    source,
                    high,
                    least,
                ));
            }
        }
    }
}
