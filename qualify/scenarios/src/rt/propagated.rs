//! `rt.9`: a pool without lanes whose threads adopt the priority of the request. They wait at low, medium and
//! high priority: [Pyarali 2002] figures 28, 29 and 30.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{
    claims::{claim_deadlines_met, claim_order, largest_ratio, lead_over_least},
    increasing_work::{ALIKE, At, Works, add_rows, rates_ratio, realtime, shares},
    run,
};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, PoolSpec, STALLED, Setup},
};

pub(crate) struct Propagated;

const ALL_HIGH: Control = Control {
    id: "all-high",
    about: "three pools of high priority",
    breaks: &["low.*", "medium.alike"],
};
const ALL_LOW: Control = Control {
    id: "all-low",
    about: "three pools of low priority",
    breaks: &["medium.low-yields", "high.*"],
};

/// Claims are made at clear overload, where the high-priority client alone is still feasible, and beyond it,
/// where no client gets what it asks for.
const WORKS: Works = Works {
    quick: &[50, ALL_OVERLOADED],
    full: &[25, 30, 35, 40, 50, 55, ALL_OVERLOADED, 85],
    claimed: |work| (50..=55).contains(&work),
};
/// From this work on, a third of the capacity is less than any client asks for.
const ALL_OVERLOADED: u32 = 70;
const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] figures 28 to 30";

/// Returns the phases; pools are in the order of [`PAPER_ORDER`].
fn phases(length: Length) -> Vec<Phase<u32>> {
    let pools = PAPER_ORDER.iter().enumerate();
    let of = |(number, pool): (usize, &Importance)| {
        let title = format!("pool of {} priority", pool.name());
        WORKS.phases(length, &title, At::pool(number), Importance::rate)
    };
    pools.flat_map(of).collect()
}

impl Experiment for Propagated {
    const NAME: &'static str = "rt.9";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 9: clients of three rates as work grows, pool \
                                 without lanes at three priorities";
    const PAGE: &'static str = include_str!("propagated.toml");
    const CONTROLS: &'static [Control] = &[ALL_HIGH, ALL_LOW, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let testbed = &*trial.testbed;
        let (all_high, all_low) = (testbed.is_under(&ALL_HIGH), testbed.is_under(&ALL_LOW));
        let pools = PAPER_ORDER.map(|of| PoolSpec::Propagated {
            threads: 3,
            priority: pool_priority(match of {
                _ if all_high => Importance::High,
                _ if all_low => Importance::Low,
                of => of,
            }),
        });
        let setup = Setup::new(realtime(pools.into()), Placement::OneCpu);
        let phases = phases(trial.length());
        let results = run::<Self, _>(trial, &[setup], phases)?;
        trial.shortened("works other than 50 and 70");
        for (number, pool) in PAPER_ORDER.into_iter().enumerate() {
            let of_pool = results.iter().filter(|phase| phase.pool == number).cloned();
            let of_pool: Vec<_> = of_pool.collect();
            let front = Row::new().with("pool_priority", pool.name());
            add_rows(&mut trial.outcome, &of_pool, &front);
            claim(pool, &of_pool, &mut trial.outcome);
        }
        Ok(())
    }
}

/// Returns the priority at which the threads of a pool wait: just below the client with the same name. TAO's
/// Thread_Pool test, with which the paper's figures were measured, has its pools at the native priorities 31,
/// 61 and 91, and its clients at 33, 66 and 99; these are the same on the scale of CORBA.
fn pool_priority(of: Importance) -> i16 {
    match of {
        Importance::Low => 10_031,
        Importance::Medium => 20_061,
        Importance::High => 30_092,
    }
}

const PAPER_ORDER: [Importance; 3] = [Importance::Low, Importance::Medium, Importance::High];

fn claim(pool: Importance, results: &[PhaseResult<u32>], outcome: &mut Outcome) {
    let claimed: Vec<_> = results
        .iter()
        .filter(|phase| (WORKS.claimed)(phase.key))
        .collect();
    let pair = |phase: &PhaseResult<u32>| {
        let hz = |of: Importance| phase.client(of.name()).achieved_hz_corrected();
        largest_ratio(&[hz(Importance::High), hz(Importance::Medium)])
    };
    let alike = || claimed.iter().map(|phase| pair(phase)).fold(f64::NAN, f64::max);
    let lead = |of: usize| {
        let leads = claimed.iter().map(|phase| {
            let shares = shares(phase);
            let others: Vec<_> = (0..3)
                .filter(|&other| other != of)
                .map(|other| shares[other])
                .collect();
            lead_over_least(shares[of], &others)
        });
        leads.fold(f64::NAN, f64::max)
    };
    match pool {
        Importance::Low => {
            let text = "pool of low priority, high and medium client: largest ratio of their calls per \
                        second at the claimed works: all are treated alike";
            outcome.claim(Claim::at_most("low.alike", text, SOURCE, alike(), ALIKE));
            let overloaded = results.iter().filter(|phase| phase.key >= ALL_OVERLOADED);
            let three = overloaded.map(rates_ratio).fold(f64::NAN, f64::max);
            let text = "pool of low priority, works from 70 on, where no client gets what it asks for: \
                        largest ratio of two clients' calls per second: the three rates are equal";
            outcome.claim(Claim::at_most("low.three-alike", text, SOURCE, three, ALIKE));
            let text = "pool of low priority: the high client's share of deadlines minus the smallest of the \
                        others' (points): it is not preferred";
            outcome.claim(Claim::at_most("low.high-no-better", text, SOURCE, lead(0), 0.0));
        }
        Importance::Medium => {
            let text = "pool of medium priority, high and medium client: largest ratio of their calls per \
                        second at the claimed works: the two are treated alike";
            outcome.claim(Claim::at_most("medium.alike", text, SOURCE, alike(), ALIKE));
            let text = "pool of medium priority: the low client's share of deadlines minus the smaller of \
                        the others' (points): the others are preferred";
            outcome.claim(Claim::below("medium.low-yields", text, SOURCE, lead(2), 0.0));
        }
        Importance::High => {
            let points = claimed.iter().map(|phase| shares(phase).to_vec());
            claim_order(outcome, "high.order", "pool of high priority", SOURCE, points);
            let high = claimed.iter().map(|phase| phase.client(Importance::High.name()));
            let text = "pool of high priority: the 75 Hz client, smallest share at the claimed works";
            claim_deadlines_met(outcome, "high.high", text, SOURCE, high);
        }
    }
}
