//! Phases and claims of the demo.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::Options;
use crate::{
    benchmark::Findings,
    error::Error,
    experiment::{self, Trial},
    length::Length,
    load::{self, Counting, Importance, Phase, PhaseResult, Placement, Pool, Session, Setup},
    settings::Settings,
    testbed::Testbed,
};

/// The works of the claims: far above capacity, but not so far that the high-priority client alone exceeds
/// it.
const CLAIMED_WORKS: [u32; 2] = [50, 55];

/// A pool with a work.
#[derive(Clone, Copy)]
struct Point {
    pool: Pool,
    work: u32,
}

pub(super) fn measure(options: &Options) -> Result<Findings, Error> {
    let phases = phases(options);
    let settings = Settings {
        quick: options.quick,
        leave_system_alone: options.leave_system_alone,
        ..Settings::default()
    };
    let length = if options.quick {
        Length::Quick
    } else {
        Length::Full
    };
    let expected = load::expected(&phases) + Duration::from_secs(2);
    let mut testbed = Testbed::prepare("demo", length, &settings, expected)?;
    let mut trial = Trial::new(&mut testbed, "demo");
    let mut session = Session::begin(trial.testbed, "demo")?;
    let setup = Setup::new(load::both_pools(false), Placement::OneCpu);
    let results = session.run(&[setup], phases)?;
    let outcome = &mut session.outcome;
    outcome.parameter("seconds_per_phase", options.seconds_per_phase());
    for phase in &results {
        let front = Row::new()
            .with("pool", phase.key.pool.name())
            .with("work", phase.key.work);
        phase.rows(&front).into_iter().for_each(|row| outcome.row(row));
    }
    claim(&results, outcome);
    trial.outcome = session.end()?;
    let chapter = experiment::chapter(include_str!("demo.toml"), &trial)?;
    let outcome = trial.outcome;
    testbed.finish()?;
    Ok(Findings { outcome, chapter })
}

fn phases(options: &Options) -> Vec<Phase<Point>> {
    let mut phases = Vec::new();
    for (number, pool) in Pool::ALL.into_iter().enumerate() {
        for &work in options.works() {
            phases.push(Phase {
                key: Point { pool, work },
                title: format!("{}, work {work}", pool.title()),
                deployment: 0,
                pool: number,
                seconds: options.seconds_per_phase(),
                workers: load::clients(work, 0),
            });
        }
    }
    phases
}

fn claim(phases: &[PhaseResult<Point>], outcome: &mut Outcome) {
    let source = "[Pyarali 2002] experiments 4 and 5";
    for phase in phases {
        let Point { pool, work } = phase.key;
        if !CLAIMED_WORKS.contains(&work) {
            continue;
        }
        let made = |of: Importance| phase.client(of.name()).deadlines_met(Counting::Start);
        let (high, high_corrected) = (made(Importance::High).raw, made(Importance::High).corrected);
        match pool {
            Pool::Lanes => {
                let text = format!("lanes, work {work}: share of deadlines that the 75 Hz client meets (%)");
                outcome.claim(Claim::at_least(
                    format!("lanes.high.{work}"),
                    text,
                    source,
                    high,
                    97.0,
                ));
                let text = format!(
                    "lanes, work {work}: the same, with deadlines lost to the kernel counted as met (%)"
                );
                let id = format!("lanes.high.corrected.{work}");
                outcome.claim(Claim::at_least(id, text, source, high_corrected, 99.0));
            }
            Pool::WithoutLanes => {
                let text = format!(
                    "pool without lanes, work {work}: share of deadlines that the 75 Hz client meets (%)"
                );
                outcome.claim(Claim::below(
                    format!("without-lanes.high.{work}"),
                    text,
                    source,
                    high,
                    90.0,
                ));
                let others = [Importance::Medium, Importance::Low].map(|other| made(other).raw);
                let least = others.into_iter().fold(f64::INFINITY, f64::min);
                let text = format!(
                    "pool without lanes, work {work}: the 75 Hz client's share is below the others' smallest \
                     (%)"
                );
                outcome.claim(Claim::below(
                    format!("without-lanes.high-is-least.{work}"),
                    text,
                    source,
                    high,
                    least,
                ));
            }
        }
    }
}
