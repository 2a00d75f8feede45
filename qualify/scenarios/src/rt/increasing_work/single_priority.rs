//! `rt.4`: three clients over work with a pool without lanes. Source: [Pyarali 2002] figure 15.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{ALIKE, At, Works, add_rows, at, double, rates_ratio, realtime, shares};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, Pool, STALLED, Setup},
    rt::{
        PAPER_WORKS, TAO_OVERLOAD_WORK,
        claims::{claim_all_below_capacity, claim_deadlines_met, claim_losses, lead_over_least},
        compare_with_tao, run,
    },
};

/// A pool without lanes.
pub(in crate::rt) struct WithoutLanes;

const LANES: Control = Control {
    id: "lanes",
    about: "a lane for each priority instead of the pool without lanes",
    breaks: &["high-loses-first", "losses", "low.45*", "alike"],
};

const DOUBLED: Control = Control {
    id: "doubled",
    about: "twice the work where the paper is up to the capacity",
    breaks: &["all.*"],
};

/// Above the capacity the pool gives every client the same rate, or what it asks for if that is less: the
/// 75 Hz client is affected from work 31 on, the 50 Hz one from 37 on, and the 25 Hz one from 61 on.
const WORKS: Works = Works {
    quick: &[25, 30, 35, 45, 85],
    full: &PAPER_WORKS,
    claimed: |work| CLAIMED.contains(&work) || KEPT.contains(&work),
};

const CLAIMED: std::ops::RangeInclusive<u32> = 35..=50;
/// The works up to the capacity, at which all clients make their rates.
const KEPT: [u32; 2] = [25, 30];
const POOL: Pool = Pool::WithoutLanes;

fn phases(length: Length) -> Vec<Phase<u32>> {
    WORKS.phases(length, POOL.title(), At::pool(0), Importance::rate)
}

impl Experiment for WithoutLanes {
    const NAME: &'static str = "rt.4";
    const ABOUT: &'static str =
        "[Pyarali 2002] experiment 4: clients of three rates as work grows, pool without lanes";
    const PAGE: &'static str = include_str!("single_priority.toml");
    const CONTROLS: &'static [Control] = &[LANES, DOUBLED, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let pool = trial.testbed.under(&LANES, Pool::Lanes, POOL);
        let setup = Setup::new(realtime(vec![pool.spec(false)]), Placement::OneCpu);
        let mut phases = phases(trial.length());
        if trial.testbed.is_under(&DOUBLED) {
            double(&mut phases, &KEPT);
        }
        let results = run::<Self, _>(trial, &[setup], phases)?;
        trial.shortened("works other than 25, 30, 35, 45 and 85");
        let outcome = &mut trial.outcome;
        add_rows(outcome, &results, &Row::new().with("pool", POOL.name()));
        claim(&results, outcome);
        compare_with_tao(trial, at(&results, TAO_OVERLOAD_WORK), TAO_OVERLOAD_WORK);
        Ok(())
    }
}

fn claim(results: &[PhaseResult<u32>], outcome: &mut Outcome) {
    let claimed = results.iter().filter(|phase| CLAIMED.contains(&phase.key));
    let leads = claimed.map(|phase| {
        let [high, medium, low] = shares(phase);
        lead_over_least(high, &[medium, low])
    });
    let largest = leads.fold(f64::NAN, f64::max);
    let source = "Punctual's limit, after [Pyarali 2002] figure 15";
    claim_all_below_capacity(outcome, source, results, KEPT);
    let text = "as work grows beyond 30, the 75 Hz client is the first to miss deadlines: its share of \
                deadlines minus the smallest of the others' (points), largest over works 35 to 50, is below \
                0";
    outcome.claim(Claim::below("high-loses-first", text, source, largest, 0.0));
    let order = [Importance::High, Importance::Medium, Importance::Low];
    let text = "the most important client is affected first, then the medium one, finally the low one";
    claim_losses(outcome, "losses", text, source, results, &order, &[]);
    let low = at(results, TAO_OVERLOAD_WORK).map(|phase| phase.client(Importance::Low.name()));
    let text = "work 45 (1.5 times the capacity): the 25 Hz client, which asks for less than its third";
    claim_deadlines_met(outcome, "low.45", text, source, low);
    let most = results.iter().map(|phase| phase.key).max();
    let alike = most.and_then(|work| at(results, work)).map(rates_ratio);
    let text = "at the largest work, where no client gets what it asks for: largest ratio of two clients' \
                calls per second: all clients are treated alike";
    let claim = Claim::at_most("alike", text, source, alike.unwrap_or(f64::NAN), ALIKE);
    outcome.claim(claim);
}
