//! `rt.5`: three clients over work with lanes, where more important clients have higher rates: on one CPU
//! ([Pyarali 2002] figure 17), and as on two machines (figure 18).

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{At, Works, add_rows, at, double, realtime, share, shares};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Importance, Phase, PhaseResult, Placement, Pool, STALLED, Setup},
    rt::{
        LOCAL, PAPER_WORKS, REMOTE, TAO_OVERLOAD_WORK,
        claims::{claim_all_below_capacity, claim_deadlines_met, claim_losses, claim_order},
        compare_with_tao, on_deployment, run,
    },
};

/// Lanes, where more important clients have higher rates.
pub(in crate::rt) struct Lanes;

const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "one pool for all priorities instead of lanes",
    breaks: &["high*", "order", "losses", REMOTE_ORDER_CLAIM],
};
const DOUBLED: Control = Control {
    id: "doubled",
    about: "twice the work where the paper is up to the capacity",
    breaks: &["all.*"],
};
const LOCAL_CLIENTS: Control = Control {
    id: "local-clients",
    about: "clients on the server's CPU where the paper has two machines",
    breaks: &[REMOTE_CLAIM],
};

/// The order of the three is claimed from work 33 on; at 30, where the CPU is just full, and below it only
/// that all clients make their rates.
const WORKS: Works = Works {
    quick: &[25, 30, 33, 45, 55, 85],
    full: &[25, 29, 30, 33, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85],
    claimed: |work| work >= 33 || KEPT.contains(&work),
};
const KEPT: [u32; 2] = [25, 30];
const IN_ORDER_FROM: u32 = 33;
/// The largest work at which the 75 Hz client alone is feasible with time to spare.
const HIGH_KEPT_TO: u32 = 55;
/// The smallest work at which the 75 Hz client alone exceeds the CPU: the others run in the gaps between its
/// calls.
const GAPS_FROM: u32 = 65;
/// Only the order of the high and the medium client is claimed, and that the gaps are used.
const REMOTE_WORKS: Works = Works {
    quick: &[GAPS_FROM],
    full: &PAPER_WORKS,
    claimed: |work| work == GAPS_FROM,
};

fn phases(length: Length) -> Vec<Phase<u32>> {
    let mut phases = WORKS.phases(length, "lanes", At::deployment(LOCAL), Importance::rate);
    phases.extend(REMOTE_WORKS.phases(length, "lanes, remote", At::deployment(REMOTE), Importance::rate));
    phases
}

impl Experiment for Lanes {
    const NAME: &'static str = "rt.5";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 5: clients of three rates as work grows, lanes; \
                                 also across two network namespaces";
    const PAGE: &'static str = include_str!("lanes.toml");
    const CONTROLS: &'static [Control] = &[WITHOUT_LANES, DOUBLED, LOCAL_CLIENTS, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let pool = trial
            .testbed
            .under(&WITHOUT_LANES, Pool::WithoutLanes, Pool::Lanes);
        let server = realtime(vec![pool.spec(false)]);
        let remote = Setup::new(server.clone(), Placement::Linked);
        let mut setups = [
            Setup::new(server, Placement::OneCpu),
            remote.or_skip("figure 18: remote", &[REMOTE_CLAIM, REMOTE_ORDER_CLAIM]),
        ];
        let mut phases = phases(trial.length());
        if trial.testbed.is_under(&LOCAL_CLIENTS) {
            phases.retain(|phase| phase.deployment == REMOTE);
            setups[REMOTE].placement = Placement::OneCpu;
        }
        if trial.testbed.is_under(&DOUBLED) {
            double(&mut phases, &KEPT);
        }
        let results = run::<Self, _>(trial, &setups, phases)?;
        trial.shortened("works other than 25, 30, 33, 45, 55 and 85; remote, work 65 only");
        let (local, remote) = (on_deployment(&results, LOCAL), on_deployment(&results, REMOTE));
        let outcome = &mut trial.outcome;
        for (place, results) in [("local", &local), ("remote", &remote)] {
            add_rows(
                outcome,
                results,
                &Row::new().with("pool", "lanes").with("place", place),
            );
        }
        claim(&local, outcome);
        claim_remote(&remote, outcome);
        compare_with_tao(trial, at(&local, TAO_OVERLOAD_WORK), TAO_OVERLOAD_WORK);
        Ok(())
    }
}

fn claim(results: &[PhaseResult<u32>], outcome: &mut Outcome) {
    let source = "Punctual's limit, after [Pyarali 2002] figure 17";
    let high = results
        .iter()
        .filter(|phase| phase.key <= HIGH_KEPT_TO)
        .map(|phase| phase.client(Importance::High.name()));
    claim_deadlines_met(
        outcome,
        "high",
        "the 75 Hz client, smallest share at works up to 55",
        source,
        high,
    );
    claim_all_below_capacity(outcome, source, results, KEPT);
    let claimed = results.iter().filter(|phase| phase.key >= IN_ORDER_FROM);
    let points = claimed.map(|phase| shares(phase).to_vec());
    claim_order(outcome, "order", "at every work from 33 on", source, points);
    let order = [Importance::Low, Importance::Medium, Importance::High];
    let text = "the least important client is affected first, then the medium one, finally the high one";
    claim_losses(outcome, "losses", text, source, results, &order, &[]);
}

const REMOTE_CLAIM: &str = "remote.medium";
const REMOTE_ORDER_CLAIM: &str = "remote.order";

fn claim_remote(results: &[PhaseResult<u32>], outcome: &mut Outcome) {
    let source = "Punctual's limit, after [Pyarali 2002] figure 18";
    if results.is_empty() {
        return;
    }
    let in_gaps = results
        .iter()
        .filter(|phase| phase.key >= GAPS_FROM)
        .map(|phase| phase.returned_in_time(Importance::Medium.name()));
    let text = "remote, works from 65 on, where the 75 Hz client alone exceeds the CPU: calls of the 50 Hz \
                client that returned, at least one: it progresses in the gaps";
    outcome.claim(Claim::at_least(
        REMOTE_CLAIM,
        text,
        source,
        in_gaps.sum::<usize>() as f64,
        1.0,
    ));
    let claimed = results.iter().filter(|phase| phase.key >= IN_ORDER_FROM);
    let points = claimed.map(|phase| vec![share(phase, Importance::High), share(phase, Importance::Medium)]);
    let text = "remote, at every work from 33 on, of the 75 and the 50 Hz client";
    claim_order(outcome, REMOTE_ORDER_CLAIM, text, source, points);
}
