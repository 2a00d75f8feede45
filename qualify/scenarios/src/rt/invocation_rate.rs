//! `rt.2`: increasing rate. One server thread, one client with a rate, work 30, default class, one CPU.
//! Source: [Pyarali 2002] figure 11.

use std::time::Duration;

use punctual_harness::{Claim, Outcome, Row};

use super::{claims::claim_deadlines_met, ordinary, run};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{
        self, Counting, Pace, Phase, PhaseResult, Placement, PoolSpec, REFERENCE_WORK, STALLED, ServerSpec,
        Setup,
    },
};

pub(crate) struct IncreasingRate;

const OTHER_CAPACITY: Control = Control {
    id: "other-capacity",
    about: "clients that request twice the work for which the capacity was measured",
    breaks: &["below-capacity*", "above-capacity"],
};

/// Up to this share of the capacity all deadlines must be met; above it the formula applies.
const CLAIMED_SHARE: f64 = 0.93;
const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] figure 11";

/// Subject of a phase: the capacity in this configuration, or the deadlines at a rate.
#[derive(Clone, Copy)]
enum Point {
    Capacity,
    Rate(u32),
}

fn phases(length: Length) -> Vec<Phase<Point>> {
    let rates: &[u32] = length.pick(
        &[100, 125, 150, 200],
        &[100, 125, 150, 175, 200, 225, 250],
        &[100, 125, 150, 175, 200, 225, 250],
    );
    let capacity = Phase {
        key: Point::Capacity,
        title: "capacity".to_owned(),
        deployment: 0,
        pool: 0,
        seconds: length.pick(0.8, 2.0, 5.0),
        workers: vec![ordinary("client", Pace::Continuous, REFERENCE_WORK)],
    };
    let rates = rates.iter().map(|&rate| Phase {
        key: Point::Rate(rate),
        title: format!("{rate} Hz"),
        deployment: 0,
        pool: 0,
        seconds: length.pick(1.5, 4.0, 10.0),
        workers: vec![ordinary("client", Pace::Hertz(rate), REFERENCE_WORK)],
    });
    std::iter::once(capacity).chain(rates).collect()
}

/// Returns the expected share of deadlines, in percent, that a client with this rate meets at this capacity.
fn formula(capacity: f64, rate: u32) -> f64 {
    (100.0 * capacity / f64::from(rate)).min(100.0)
}

impl Experiment for IncreasingRate {
    const NAME: &'static str = "rt.2";
    const ABOUT: &'static str =
        "[Pyarali 2002] experiment 2: deadlines met as a client's rate grows beyond the capacity";
    const PAGE: &'static str = include_str!("invocation_rate.toml");
    const CONTROLS: &'static [Control] = &[OTHER_CAPACITY, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let threads = PoolSpec::SinglePriority {
            threads: 1,
            priority: 0,
        };
        let server = ServerSpec::new(vec![threads], false);
        let mut phases = phases(trial.length());
        if trial.testbed.is_under(&OTHER_CAPACITY) {
            let workers = phases.iter_mut().skip(1).flat_map(|phase| &mut phase.workers);
            workers.for_each(|worker| worker.add_work(REFERENCE_WORK));
        }
        let results = run::<Self, _>(trial, &[Setup::new(server, Placement::OneCpu)], phases)?;
        let (first, rates) = results.split_first().ok_or("nothing was measured")?;
        let capacity = first.client("client").throughput();
        let capacity = capacity.ok_or("fewer than two calls returned while the capacity was measured")?;
        trial.outcome.parameter("capacity_hz", capacity);
        trial.text("capacity", format!("{capacity:.1}"));
        trial.shortened("rates 175, 225 and 250 Hz; 4 s for each");
        let rates: Vec<_> = rates
            .iter()
            .filter_map(|phase| match phase.key {
                Point::Rate(rate) => Some((rate, phase)),
                Point::Capacity => None,
            })
            .collect();
        for (rate, phase) in &rates {
            let front = Row::new().with("rate", *rate);
            let front = front.with("formula_percent", formula(capacity, *rate));
            let rows = phase.rows(&front).into_iter();
            rows.for_each(|row| trial.outcome.row(row));
        }
        claim(&rates, capacity, &mut trial.outcome);
        Ok(())
    }
}

fn claim(rates: &[(u32, &PhaseResult<Point>)], capacity: f64, outcome: &mut Outcome) {
    let below = |rate: u32| f64::from(rate) <= CLAIMED_SHARE * capacity;
    let (within, above): (Vec<_>, Vec<_>) = rates.iter().partition(|(rate, _)| below(*rate));
    let clients = within.iter().map(|(_, phase)| phase.client("client"));
    let text = "the client at rates up to 0.93 × capacity, smallest share";
    claim_deadlines_met(outcome, "below-capacity", text, SOURCE, clients);
    let off = above.iter().map(|(rate, phase)| {
        let met = phase.client("client").deadlines_met(Counting::Start).corrected;
        (met - formula(capacity, *rate)).abs()
    });
    let off = off.fold(f64::NAN, f64::max);
    let text =
        "above it: largest difference between the share of deadlines met and 100·P/E (points), at most 3";
    outcome.claim(Claim::at_most("above-capacity", text, SOURCE, off, 3.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_capacity_over_rate() {
        assert_eq!(formula(150.0, 100), 100.0);
        assert_eq!(formula(150.0, 200), 75.0);
        assert_eq!(formula(150.0, 250), 60.0);
    }
}
