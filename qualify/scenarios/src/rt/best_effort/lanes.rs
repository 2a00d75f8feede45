//! `rt.8`: three clients and best-effort threads with lanes: on one CPU at the capacity ([Pyarali 2002]
//! figure 24) and slightly below it (figure 25), and as on two machines (figure 26).

use std::time::Duration;

use punctual_harness::{Claim, MedianEstimate, Outcome, Row, blocks::median_ratio};

use super::{MOST_THREADS, Point, add_rows, as_tao, at, of_work, phase, server};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{self, Importance, Pace, Phase, PhaseResult, Placement, Pool, REFERENCE_WORK, STALLED, Setup},
    rt::{
        LOCAL, REMOTE, TAO_BEST_EFFORT_THREADS, TAO_BEST_EFFORT_WORK, claims::claim_deadlines_met,
        compare_with_tao, on_deployment, point_seconds, run,
    },
};

/// Lanes, with one for best effort.
pub(in crate::rt) struct Lanes;

const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "one pool for all priorities instead of lanes",
    breaks: &["all.30*", "unaffected.30", "all.28*"],
};
const NO_SLACK: Control = Control {
    id: "no-slack",
    about: "work that exceeds the capacity where the paper has slightly less",
    breaks: &["best-effort"],
};
const PAUSING: Control = Control {
    id: "pausing",
    about: "best-effort threads that call once per second, so that each adds to the others",
    breaks: &["best-effort.growth"],
};
const LOCAL_CLIENTS: Control = Control {
    id: "local-clients",
    about: "clients on the server's CPU where the paper has two machines",
    breaks: &[REMOTE_CLAIM],
};

/// Slightly below the capacity.
const SLACK_WORK: u32 = 28;
/// The largest acceptable growth of best-effort throughput with more threads: a call more or less at either
/// end.
const GROWTH: f64 = 1.1;
/// The shortest phase for counting best-effort calls, of which about ten per second remain.
const SLACK_SECONDS: f64 = 4.0;
/// The smallest acceptable share of its throughput that a client with a rate keeps beside best-effort
/// threads, as for deadlines.
const UNAFFECTED: f64 = 0.97;
const REMOTE_CLAIM: &str = "remote.slack";

/// Returns the phases; below the capacity the deployments alternate, so that changes of the processor's speed
/// affect both.
fn phases(length: Length) -> Vec<Phase<Point>> {
    let all = || (0..=MOST_THREADS).collect::<Vec<usize>>();
    let at_capacity = length.pick(vec![0, MOST_THREADS], all(), all());
    let below = length.pick(vec![1, MOST_THREADS], all(), all());
    let seconds = point_seconds(length, false);
    let mut phases = Vec::new();
    for threads in at_capacity {
        let work = REFERENCE_WORK;
        let seconds = point_seconds(length, [0, MOST_THREADS].contains(&threads));
        phases.push(phase(LOCAL, "lanes", Point { work, threads }, seconds));
    }
    for (number, threads) in below.into_iter().enumerate() {
        let point = Point {
            work: SLACK_WORK,
            threads,
        };
        let local = point_seconds(length, threads == MOST_THREADS).max(SLACK_SECONDS);
        let mut pair = [
            phase(LOCAL, "lanes", point, local),
            phase(REMOTE, "lanes, remote", point, seconds),
        ];
        // So that a steady drift favours neither.
        if number % 2 == 1 {
            pair.reverse();
        }
        phases.extend(pair);
    }
    phases.extend(as_tao(length, "lanes"));
    phases
}

impl Experiment for Lanes {
    const NAME: &'static str = "rt.8";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 8: clients of three rates and best-effort \
                                 threads, lanes; also across two network namespaces";
    const PAGE: &'static str = include_str!("lanes.toml");
    const CONTROLS: &'static [Control] = &[WITHOUT_LANES, NO_SLACK, PAUSING, LOCAL_CLIENTS, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let pool = trial
            .testbed
            .under(&WITHOUT_LANES, Pool::WithoutLanes, Pool::Lanes);
        let remote = Setup::new(server(pool), Placement::Linked);
        let mut setups = [
            Setup::new(server(pool), Placement::OneCpu),
            remote.or_skip("figure 26: remote", &[REMOTE_CLAIM]),
        ];
        let mut phases = phases(trial.length());
        if trial.testbed.is_under(&LOCAL_CLIENTS) {
            setups[REMOTE].placement = Placement::OneCpu;
        }
        if trial.testbed.is_under(&NO_SLACK) {
            phases.retain(|phase| phase.key.work == SLACK_WORK);
            let workers = phases.iter_mut().flat_map(|phase| &mut phase.workers);
            workers.for_each(|worker| worker.add_work(2 * (REFERENCE_WORK - SLACK_WORK)));
        }
        if trial.testbed.is_under(&PAUSING) {
            let workers = phases.iter_mut().flat_map(|phase| &mut phase.workers);
            for worker in workers.filter(|worker| worker.pace == Pace::Continuous) {
                let (hz, slices) = (1, None);
                worker.pace = Pace::Pausing { hz, slices };
            }
        }
        let results = run::<Self, _>(trial, &setups, phases)?;
        trial.shortened(
            "numbers of best-effort threads other than 1 and 10, at work 30 other than 0 and 10; the load of \
             TAO's figures",
        );
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
        claim_remote(&local, &remote, outcome);
        let nearest = at(&local, TAO_BEST_EFFORT_WORK, TAO_BEST_EFFORT_THREADS);
        compare_with_tao(trial, nearest, TAO_BEST_EFFORT_WORK);
        Ok(())
    }
}

fn claim(results: &[PhaseResult<Point>], outcome: &mut Outcome) {
    let at_capacity = at(results, REFERENCE_WORK, MOST_THREADS);
    let source = "Punctual's limit, after [Pyarali 2002] figure 24";
    let all = at_capacity
        .into_iter()
        .flat_map(|phase| Importance::ALL.map(|of| phase.client(of.name())));
    let text = "work 30, 10 best-effort threads: the clients with rates, smallest share";
    claim_deadlines_met(outcome, "all.30", text, source, all);
    let crowded = of_work(results, REFERENCE_WORK);
    let alone = at(results, REFERENCE_WORK, 0);
    let keeps = alone.into_iter().flat_map(|alone| {
        let hz = |phase: &PhaseResult<Point>, of: Importance| phase.client(of.name()).achieved_hz_corrected();
        let crowded = crowded.iter().filter(|phase| phase.key.threads > 0);
        crowded.flat_map(move |phase| Importance::ALL.map(|of| hz(phase, of) / hz(alone, of)))
    });
    let least = keeps.fold(f64::NAN, f64::min);
    let text = "work 30: calls per second of a client with a rate beside best-effort threads over those \
                without any, smallest over clients and numbers of threads: they are not affected";
    outcome.claim(Claim::at_least("unaffected.30", text, source, least, UNAFFECTED));

    let source = "Punctual's limit, after [Pyarali 2002] figure 25";
    let below = at(results, SLACK_WORK, MOST_THREADS);
    let all = below
        .into_iter()
        .flat_map(|phase| Importance::ALL.map(|of| phase.client(of.name())));
    let text = "work 28, 10 best-effort threads: the clients with rates, smallest share";
    claim_deadlines_met(outcome, "all.28", text, source, all);

    let best_effort = best_effort(&of_work(results, SLACK_WORK));
    // The median, because a processor that is slower for a while may leave nothing to best-effort threads.
    let mut sorted: Vec<f64> = best_effort.iter().map(|(_, hz)| *hz).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
    let text = "work 28: calls per second of all best-effort threads together, median over their numbers, \
                more than 0";
    let claim = Claim::above("best-effort", text, source, median, 0.0);
    outcome.claim(claim);
    let growth = |gained: &[f64]| {
        let (few, many) = gained.split_at(gained.len() / 2);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        mean(many) / mean(few)
    };
    let raw: Vec<f64> = best_effort.iter().map(|(_, hz)| *hz).collect();
    outcome.parameter("best_effort_growth_raw", growth(&raw));
    let shares: Vec<f64> = of_work(results, SLACK_WORK)
        .iter()
        .filter_map(share_of_what_is_left)
        .collect();
    let text = "work 28: calls per second of best-effort threads, as a share of what the clients with rates \
                leave at the processor's current speed; mean over the larger half of the numbers of threads \
                over that of the smaller half: more threads do not gain (except one call at either end)";
    let claim = Claim::at_most("best-effort.growth", text, source, growth(&shares), GROWTH);
    outcome.claim(claim);
}

/// Returns best-effort throughput as a share of what the other clients leave. A processor that is 2 % slower
/// for a while leaves a third less at this work; the uninterrupted client shows its current speed.
fn share_of_what_is_left(phase: &PhaseResult<Point>) -> Option<f64> {
    let call_us = phase
        .client(Importance::High.name())
        .latencies()
        .quantile_us(0.5)?;
    let calls: u32 = Importance::ALL.into_iter().map(Importance::rate).sum();
    let left_hz = 1e6 / call_us - f64::from(calls);
    Some(phase.collective_hz()? / left_hz).filter(|_| left_hz >= 1.0)
}

/// Returns numbers of best-effort threads with their calls per second together.
fn best_effort(results: &[PhaseResult<Point>]) -> Vec<(usize, f64)> {
    let of = |phase: &PhaseResult<Point>| Some((phase.key.threads, phase.collective_hz()?));
    results.iter().filter_map(of).collect()
}

fn claim_remote(local: &[PhaseResult<Point>], remote: &[PhaseResult<Point>], outcome: &mut Outcome) {
    if remote.is_empty() {
        return;
    }
    let here = best_effort(&of_work(local, SLACK_WORK));
    let both = best_effort(remote).into_iter().filter_map(|(threads, there)| {
        let (_, here) = here.iter().find(|(other, _)| *other == threads)?;
        Some((there, *here))
    });
    let (there, here): (Vec<f64>, Vec<f64>) = both.unzip();
    let Some(growth) = median_ratio(&there, &here) else {
        let reason = format!(
            "a processor that is 1 % slower for a while leaves 15 % less for best effort, so a median of at \
             least {} pairs is needed; this run has {}",
            MedianEstimate::FEWEST,
            there.len()
        );
        return outcome.skip(Some(REMOTE_CLAIM), "whether the slack grows", reason);
    };
    outcome.parameter("remote_slack_growth_median", growth.median);
    outcome.parameter("remote_slack_growth_high", growth.high);
    let text = "remote, work 28: calls per second of best-effort threads over those on one machine, lower \
                bound of the median over their numbers (95 %), above 1: the slack grows";
    let source = "Punctual's limit, after [Pyarali 2002] figure 26";
    outcome.claim(Claim::above(REMOTE_CLAIM, text, source, growth.low, 1.0));
}
