//! Phases and claims of the demo.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Counting, Importance, Phase, PhaseResult, Placement, Pool, STALLED, Session, Setup},
};

pub(crate) struct Demo;

const EXCHANGED: Control = Control {
    id: "exchanged",
    about: "lanes in the place of the pool without lanes, and that pool in the place of lanes",
    breaks: &["lanes.*", "without-lanes.*"],
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

impl Experiment for Demo {
    const NAME: &'static str = "demo";
    const ABOUT: &'static str =
        "clients of three rates as work grows, in a pool without lanes and with lanes";
    const PAGE: &'static str = include_str!("demo.toml");
    const CONTROLS: &'static [Control] = &[EXCHANGED, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length, None))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let (length, seconds) = (trial.length(), trial.testbed.settings.seconds);
        let mut pools = load::both_pools(false);
        if trial.testbed.is_under(&EXCHANGED) {
            pools.pools.reverse();
        }
        let mut session = Session::begin(trial.testbed, Self::NAME)?;
        let setup = Setup::new(pools, Placement::OneCpu);
        let results = session.run(&[setup], phases(length, seconds))?;
        let outcome = &mut session.outcome;
        outcome.parameter("seconds_per_phase", seconds_per_phase(length, seconds));
        for phase in &results {
            let front = Row::new()
                .with("pool", phase.key.pool.name())
                .with("work", phase.key.work);
            phase.rows(&front).into_iter().for_each(|row| outcome.row(row));
        }
        claim(&results, outcome);
        trial.outcome = session.end()?;
        trial.shortened("works other than 30, 50 and 55");
        Ok(())
    }
}

fn works(length: Length) -> &'static [u32] {
    match length {
        Length::Quick => &[30, 50, 55],
        Length::Full | Length::Paper => &[30, 40, 50, 55, 65, 80],
    }
}

/// Returns how long one work is measured with one pool; `seconds` is the total, if it was requested.
fn seconds_per_phase(length: Length, seconds: Option<u32>) -> f64 {
    let total = seconds.unwrap_or(length.pick(12, 36, 36));
    f64::from(total) / (2 * works(length).len()) as f64
}

fn phases(length: Length, seconds: Option<u32>) -> Vec<Phase<Point>> {
    let mut phases = Vec::new();
    for (number, pool) in Pool::ALL.into_iter().enumerate() {
        for &work in works(length) {
            phases.push(Phase {
                key: Point { pool, work },
                title: format!("{}, work {work}", pool.title()),
                deployment: 0,
                pool: number,
                seconds: seconds_per_phase(length, seconds),
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
                let claim = Claim::at_least(format!("lanes.high.{work}"), text, source, high, 97.0);
                outcome.claim(claim);
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
