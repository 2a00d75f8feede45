//! `rt.2`: increasing rate. One server thread, one client with a rate, work 30, default class, one CPU. Figure 11.

use punctual_harness::{Claim, Outcome, Row};
use punctual_report::{Chapter, Figure};

use super::{holds, ordinary, promise::keeps_its_deadlines, shortened, table};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    load::{
        self, Counting, Pace, Phase, Placement, Played, PoolSpec, REFERENCE_WORK, ServerSpec, Session, Setup,
    },
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "rt.2",
    about: "[Pyarali 2002] experiment 2: deadlines made as a client's rate grows past the capacity",
    expected: |length| load::expected(&phases(length)),
    run: measure,
};

/// Up to this share of the capacity all deadlines are to be made; above it the formula holds.
const CLAIMED_SHARE: f64 = 0.93;
const SOURCE: &str = "issue 4, [Pyarali 2002] figure 11";

/// What is measured: the capacity in this very configuration, or the deadlines at a rate.
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
        stage: 0,
        pool: 0,
        seconds: length.pick(0.8, 2.0, 5.0),
        workers: vec![ordinary("client", Pace::Continuous, REFERENCE_WORK)],
    };
    let rates = rates.iter().map(|&rate| Phase {
        key: Point::Rate(rate),
        title: format!("{rate} Hz"),
        stage: 0,
        pool: 0,
        seconds: length.pick(1.5, 4.0, 10.0),
        workers: vec![ordinary("client", Pace::Hertz(rate), REFERENCE_WORK)],
    });
    std::iter::once(capacity).chain(rates).collect()
}

/// The share of its deadlines, in percent, that a client makes whose rate is `rate`, where `capacity` calls are possible.
fn formula(capacity: f64, rate: u32) -> f64 {
    (100.0 * capacity / f64::from(rate)).min(100.0)
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let length = testbed.length;
    let mut session = Session::begin(testbed, BENCHMARK.name)?;
    let threads = PoolSpec::Classic {
        threads: 1,
        priority: 0,
    };
    let server = ServerSpec {
        pools: vec![threads],
        realtime: false,
    };
    let played = session.play(&[Setup::new(server, Placement::OneCpu)], phases(length))?;
    let outcome = &mut session.outcome;
    let (first, rates) = played.split_first().ok_or("nothing was measured")?;
    let capacity = first.client("client").throughput();
    let capacity = capacity.ok_or("not two calls were made to find the capacity")?;
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

fn claim(rates: &[(u32, &Played<Point>)], capacity: f64, outcome: &mut Outcome) {
    let below = |rate: u32| f64::from(rate) <= CLAIMED_SHARE * capacity;
    let (within, above): (Vec<_>, Vec<_>) = rates.iter().partition(|(rate, _)| below(*rate));
    let clients = within.iter().map(|(_, phase)| phase.client("client"));
    let text = "the client at rates up to 0.93 × capacity, least of all rates";
    keeps_its_deadlines(outcome, "below-capacity", text, SOURCE, clients);
    let off = above.iter().map(|(rate, phase)| {
        let made = phase.client("client").made(Counting::Start).corrected;
        (made - formula(capacity, *rate)).abs()
    });
    let off = off.fold(f64::NAN, f64::max);
    let text = "above it: largest distance of the share of deadlines made from 100·P/E (points), at most 3";
    outcome.claim(Claim::at_most("above-capacity", text, SOURCE, off, 3.0));
}

fn chapter(outcome: &Outcome, rates: &[(u32, &Played<Point>)], capacity: f64) -> Chapter {
    let curve = |of: &dyn Fn(u32, &Played<Point>) -> f64| -> Vec<(f64, f64)> {
        let point = |&(rate, phase): &(u32, &Played<Point>)| (f64::from(rate), of(rate, phase));
        rates.iter().map(point).collect()
    };
    let made = |phase: &Played<Point>, counting| phase.client("client").made(counting).raw;
    let figure = Figure::new("Deadlines made against rate")
        .caption(format!(
            "Up to the capacity (here {capacity:.1} calls per second at work 30) all deadlines are made; above it P ÷ E of them, P \
             being what is possible and E what is asked. [Pyarali 2002] figure 11."
        ))
        .x("asked rate (Hz)")
        .y("deadlines made (%)")
        .line("started in their period", curve(&|_, phase| made(phase, Counting::Start)))
        .line("100 · P / E", curve(&|rate, _| formula(capacity, rate)))
        .line("also ended in it", curve(&|_, phase| made(phase, Counting::End)));
    let front = [("rate", "rate"), ("formula_percent", "100 · P / E")];
    Chapter::new("Experiment 2: increasing rate")
        .paper("[Pyarali 2002] experiment 2",
            "a client makes all its deadlines until its rate exceeds the capacity, then misses more the higher its rate",
            holds(outcome, ""),
        )
        .paragraph(
            "One client calls once in each of its periods, one server thread serves it, in the default scheduling class on one \
             CPU. A deadline is made if the call can start in its period; the stricter count asks that it ends there.",
        )
        .figure(figure)
        .table(table(outcome, &front).title("Deadlines against rate"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_is_of_what_is_possible() {
        assert_eq!(formula(150.0, 100), 100.0);
        assert_eq!(formula(150.0, 200), 75.0);
        assert_eq!(formula(150.0, 250), 60.0);
    }
}
