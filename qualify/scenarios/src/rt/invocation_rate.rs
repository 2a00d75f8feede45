//! `rt.2`: increasing rate. One server thread, one client with a rate, work 30, default class, one CPU.
//! Source: [Pyarali 2002] figure 11.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::{Chapter, Figure};

use super::{claims::claim_deadlines_met, ordinary, shortened, table};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    length::Length,
    load::{
        self, Counting, Pace, Phase, PhaseResult, Placement, PoolSpec, REFERENCE_WORK, STALLED, ServerSpec,
        Session, Setup,
    },
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.2",
    about: "[Pyarali 2002] experiment 2: deadlines met as a client's rate grows beyond the capacity",
    expected: |length| load::expected(&phases(length)),
    run: measure,
    controls: &[OTHER_CAPACITY, STALLED],
};

const OTHER_CAPACITY: Control = Control {
    id: "other-capacity",
    about: "clients that request twice the work for which the capacity was measured",
    breaks: &["below-capacity*", "above-capacity"],
};

/// Up to this share of the capacity all deadlines must be met; above it the formula applies.
const CLAIMED_SHARE: f64 = 0.93;
const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] figure 11";

/// What a phase measures: the capacity in this configuration, or the deadlines at a rate.
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

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let threads = PoolSpec::SinglePriority {
        threads: 1,
        priority: 0,
    };
    let server = ServerSpec::new(vec![threads], false);
    let mut phases = phases(length);
    if session.testbed.is_under(&OTHER_CAPACITY) {
        let workers = phases.iter_mut().skip(1).flat_map(|phase| &mut phase.workers);
        workers.for_each(|worker| worker.add_work(REFERENCE_WORK));
    }
    let results = session.run(&[Setup::new(server, Placement::OneCpu)], phases)?;
    let outcome = &mut session.outcome;
    let (first, rates) = results.split_first().ok_or("nothing was measured")?;
    let capacity = first.client("client").throughput();
    let capacity = capacity.ok_or("fewer than two calls returned while the capacity was measured")?;
    outcome.parameter("capacity_hz", capacity);
    shortened(outcome, length, "rates 175, 225 and 250 Hz; 4 s for each");
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
        phase.rows(&front).into_iter().for_each(|row| outcome.row(row));
    }
    claim(&rates, capacity, outcome);
    let chapter = chapter(&session.outcome, &rates, capacity);
    let outcome = session.end()?;
    Ok(Findings { outcome, chapter })
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

fn chapter(outcome: &Outcome, rates: &[(u32, &PhaseResult<Point>)], capacity: f64) -> Chapter {
    let curve = |of: &dyn Fn(u32, &PhaseResult<Point>) -> f64| -> Vec<(f64, f64)> {
        let point = |&(rate, phase): &(u32, &PhaseResult<Point>)| (f64::from(rate), of(rate, phase));
        rates.iter().map(point).collect()
    };
    let met = |phase: &PhaseResult<Point>, counting| phase.client("client").deadlines_met(counting).raw;
    let figure = Figure::new("Deadlines met over rate")
        .caption(format!(
            "Up to the capacity (here {capacity:.1} calls per second at work 30) all deadlines are met; \
             above it the share is P ÷ E, where P is the capacity and E the requested rate. [Pyarali 2002] \
             figure 11."
        ))
        .x("requested rate (Hz)")
        .y("deadlines met (%)")
        .line(
            "started in their period",
            curve(&|_, phase| met(phase, Counting::Start)),
        )
        .line("100 · P / E", curve(&|rate, _| formula(capacity, rate)))
        .line("also ended in it", curve(&|_, phase| met(phase, Counting::End)));
    let front = [("rate", "rate"), ("formula_percent", "100 · P / E")];
    Chapter::new("Experiment 2: increasing rate")
        .paragraph(
            "One client calls once in each period, and one server thread serves it, in the default \
             scheduling class on one CPU. A deadline is met if the call starts in its period; the stricter \
             count requires that it also ends there.",
        )
        .figure(figure)
        .table(table(outcome, &front).title("Deadlines over rate"))
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
