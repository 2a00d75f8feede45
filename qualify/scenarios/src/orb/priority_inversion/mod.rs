//! `orb.priority-inversion`: clients at 20, 10, 5 and 1 Hz, where higher rates are more important, on one
//! processor.
//!
//! Measures mean and jitter for each rate, and the time in which a client was ready while something less
//! important ran; the latter in separate passes, because tracing takes time. Lanes are compared with a pool
//! without lanes. Source: [Levine 1999], TAO's MT_Cubit with a thread for each rate.

mod inverted;

use std::time::Duration;

use punctual_harness::{Claim, Hole, Outcome, Row};
use punctual_trace::{Analysis, Names, Recorded, Session};

use self::inverted::Inverted;
use super::mt_cubit::{MeanAndJitter, POOLS, client, columns, errors, lanes_and_pool, priority, setup};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    inversion::recording,
    length::Length,
    load::{Engine, FAULTY, Phase, PhaseResult, Setup},
    testbed::Places,
};

pub(crate) struct PriorityInversion;

/// Calls per second of the clients, the most important first.
const RATES: [u32; 4] = [20, 10, 5, 1];

/// The largest ratio of two means that a figure of the paper does not show as an inversion.
const INVERSION: f64 = 1.1;
/// Calls per second that load the server, but leave time for the others.
const LOADING_HZ: u32 = 5_000;
/// The largest acceptable share of the pool's inversions that remains with lanes.
const LANES_AGAINST_POOL: f64 = 0.1;
const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "a pool without lanes instead of lanes",
    breaks: &["lanes-against-pool"],
};
const REVERSED: Control = Control {
    id: "reversed",
    about: "the client that should be the most important one below the others, which load the server",
    breaks: &["average-inversion"],
};

/// Calls of which a mean is compared with others.
const FEWEST_CALLS: usize = 20;

/// Returns the time per pool in seconds: of the timed passes, and of the traced ones.
fn seconds(length: Length) -> [f64; 2] {
    length.pick([4.0, 4.0], [30.0, 20.0], [200.0, 20.0])
}

/// Returns a phase for each pool.
fn phases(seconds: f64, what: &str) -> Vec<Phase<()>> {
    let clients = RATES.into_iter().enumerate();
    let clients: Vec<_> = clients
        .map(|(number, hz)| client(format!("{hz}Hz"), number, hz))
        .collect();
    let pools = POOLS.into_iter().enumerate();
    let phase = |(pool, name)| Phase {
        key: (),
        title: format!("{name}, {what}"),
        deployment: 0,
        pool,
        seconds,
        workers: clients.clone(),
    };
    pools.map(phase).collect()
}

impl Experiment for PriorityInversion {
    const NAME: &'static str = "orb.priority-inversion";
    const ABOUT: &'static str = "latency and jitter of clients at 20, 10, 5 and 1 Hz, and their waits for \
                                 less important ones; needs root";
    const PAGE: &'static str = include_str!("priority_inversion.toml");
    const CONTROLS: &'static [Control] = &[WITHOUT_LANES, REVERSED, FAULTY];

    fn expected(length: Length) -> Duration {
        let per_pool: f64 = seconds(length).iter().sum();
        Duration::from_secs_f64(per_pool * POOLS.len() as f64 + 1.5)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let [timed, traced] = seconds(trial.length());
        trial.outcome.parameter("seconds_per_pool", timed);
        trial.outcome.parameter("seconds_per_pool_traced", traced);
        trial.shortened(
            "4 s instead of 30 s for the latencies of each pool, 4 s instead of 20 s for its trace",
        );
        let [lanes, without_lanes] = lanes_and_pool(RATES.len());
        let first = trial.testbed.under(&WITHOUT_LANES, without_lanes.clone(), lanes);
        let setup = || setup(vec![first.clone(), without_lanes.clone()], RATES.len());
        let mut engine = Engine::default();
        let outcome = &mut trial.outcome;
        let mut timed = phases(timed, "timed");
        if trial.testbed.is_under(&REVERSED) {
            timed.iter_mut().for_each(reverse);
        }
        let timed = engine.run(trial.testbed, outcome, &[setup()], timed)?;
        // The supervisor removes the trace instance if this process is killed.
        let session = Session::start(&recording(&trial.testbed.places))?;
        let setup = Setup {
            environment: &session.environment(),
            ..setup()
        };
        let phases = phases(traced, "traced");
        let traced = Engine::default().run(trial.testbed, outcome, &[setup], phases)?;
        trial.stage("reading the trace", Duration::from_millis(500));
        let recorded = session.stop()?;
        trial.holes(&engine.holes, engine.measured)?;
        rate_rows(&timed, &engine.holes, &mut trial.outcome);
        inverted_rows(&traced, &recorded, &trial.testbed.places, &mut trial.outcome);
        claim_means(&timed, &engine.holes, &mut trial.outcome);
        claim_waits(&mut trial.outcome);
        trial.claim_no_errors("[Levine 1999]", errors(&timed) + errors(&traced));
        Ok(())
    }
}

/// Puts the client with the highest rate below the others, one of which loads the server.
fn reverse(phase: &mut Phase<()>) {
    if let [high, next, ..] = &mut phase.workers[..] {
        high.priority = Some(priority(RATES.len() - 1));
        next.change_rate(|_| LOADING_HZ);
    }
}

fn rate_rows(timed: &[PhaseResult<()>], holes: &[Hole], outcome: &mut Outcome) {
    for (pool, phase) in POOLS.into_iter().zip(timed) {
        for (hz, client) in RATES.into_iter().zip(phase.clients.chunks(1)) {
            let row = Row::new()
                .with("kind", "rate")
                .with("pool", pool)
                .with("asked_hz", f64::from(hz));
            outcome.row(columns(row, client, holes));
        }
    }
}

/// Claims that no client has a larger mean than a less important one, among those with enough calls.
fn claim_means(timed: &[PhaseResult<()>], holes: &[Hole], outcome: &mut Outcome) {
    let of_lanes = timed.iter().take(1).flat_map(|phase| phase.clients.chunks(1));
    let means: Vec<f64> = of_lanes
        .map(|client| MeanAndJitter::of_clients(client, holes))
        .filter(|client| client.samples >= FEWEST_CALLS)
        .filter_map(|client| client.mean_us)
        .collect();
    let pairs = (0..means.len()).flat_map(|more| (more + 1..means.len()).map(move |less| (more, less)));
    let largest = pairs
        .map(|(more, less)| means[more] / means[less])
        .fold(f64::NAN, f64::max);
    let text = "lanes: mean latency of a client over that of a less important one, largest: no average \
                priority inversion";
    let source = "Punctual's limit, after [Levine 1999]";
    let claim = Claim::at_most("average-inversion", text, source, largest, INVERSION);
    outcome.claim(claim);
}

/// Evaluates lanes against the pool without lanes: by the time per call for which the most important client
/// waited for something less important.
fn claim_waits(outcome: &mut Outcome) {
    let waited = |pool: &str| {
        let row = outcome.rows().iter().find(|row| {
            row.get("kind").is_some_and(|kind| kind == "inverted")
                && row.get("pool").is_some_and(|name| name == pool)
        });
        row?.number("waited_us_per_call")
    };
    // Without a trace there are no such rows.
    let [Some(lanes), Some(without)] = POOLS.map(waited) else {
        return;
    };
    let source = "Punctual's limit, after [Levine 1999]";
    let text = "time for which the 20 Hz client waited for something less important, per call: with lanes \
                over that in the pool without lanes";
    let measured = lanes / without;
    outcome.claim(Claim::at_most(
        "lanes-against-pool",
        text,
        source,
        measured,
        LANES_AGAINST_POOL,
    ));
}

fn inverted_rows(traced: &[PhaseResult<()>], recorded: &Recorded, places: &Places, outcome: &mut Outcome) {
    let kernel = match &recorded.kernel {
        Ok(kernel) => kernel,
        Err(reason) => {
            let what = "time in which a client was ready while something less important ran";
            return outcome.skip(None, what, reason.as_str());
        }
    };
    if !kernel.lost.is_nothing() {
        let lost = kernel.lost;
        outcome.unfit(format!(
            "kernel events were lost, so waits may be missing: {lost:?}"
        ));
    }
    if recorded.overwritten() > 0 {
        let overwritten = recorded.overwritten();
        outcome.unfit(format!("{overwritten} flight records were overwritten"));
    }
    let analysis: Analysis = recorded.analyse();
    let names = Names::new(recorded.names(), 0);
    let cpu = places.pinned.iter().next().unwrap_or(0);
    for (pool, phase) in POOLS.into_iter().zip(traced) {
        for (hz, client) in RATES.into_iter().zip(&phase.clients) {
            let thread = client.report.thread;
            let inverted = Inverted::of(thread, phase.span, cpu, &analysis, &recorded.requests, &names);
            let calls = client.report.calls.len();
            outcome.row(
                Row::new()
                    .with("kind", "inverted")
                    .with("pool", pool)
                    .with("asked_hz", f64::from(hz))
                    .with("calls", calls)
                    .with("waits", inverted.waits)
                    .with(
                        "waited_us_per_call",
                        inverted.total_ns as f64 / 1e3 / calls as f64,
                    )
                    .with("longest_us", inverted.longest_ns as f64 / 1e3)
                    .with("mostly_for", inverted.mostly_for),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_with_higher_rates_have_higher_priorities() {
        let clients = phases(1.0, "timed").remove(0).workers;
        assert!(clients.is_sorted_by(|a, b| a.priority > b.priority));
        assert_eq!(clients[0].name, "20Hz");
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(PriorityInversion::expected(Length::Quick) <= Duration::from_secs(18));
        assert!(PriorityInversion::expected(Length::Full) <= Duration::from_secs(110));
    }
}
