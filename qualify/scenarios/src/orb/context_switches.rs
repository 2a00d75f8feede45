//! `orb.context-switches`: context switches per call by number of clients, and their share of a call's
//! latency.

use std::time::Duration;

use punctual_harness::{Claim, Row};

use super::mt_cubit::{POOLS, WITHOUT_PAUSES, client, errors, lanes_and_pool, setup};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{Engine, FAULTY, Fault, Phase, PhaseResult},
    os::switch_us,
};

/// The benchmark `orb.context-switches`.
///
/// The clients are those of `orb.latency`, with and without lanes, on one CPU; the kernel counts. Then one
/// client calls continuously, and its latency is compared with the cost of its context switches, from the
/// yield test. Source: [Levine 1999], context switches per request; [Schmidt 2002] 4, their share of a call;
/// MT_Cubit's option `-c`.
pub(crate) struct ContextSwitches;

const MOST_CLIENTS: usize = 50;
/// Calls per second of the first client and of each other one.
const RATES: [u32; 2] = [20, 10];
/// The largest ratio of numbers of switches that is "stable".
const STABLE: f64 = 1.25;
/// "Little" in the paper's conclusion, interpreted as at most a quarter.
const LITTLE_PERCENT: f64 = 25.0;

/// A point of the curve of a pool, or the share of a call's latency.
#[derive(Clone, Copy)]
enum Point {
    Curve { pool: usize, clients: usize },
    Share,
}

fn phases(length: Length) -> Vec<Phase<Point>> {
    const QUICK: &[usize] = &[1, 10, 50];
    const CLIENTS: &[usize] = &[1, 2, 5, 10, 20, 30, 40, 50];
    let phase = |key, title: String, pool, seconds, workers| Phase {
        key,
        title,
        deployment: 0,
        pool,
        seconds,
        workers,
    };
    let mut phases = Vec::new();
    for (pool, name) in POOLS.into_iter().enumerate() {
        for &clients in length.pick(QUICK, CLIENTS, CLIENTS) {
            let workers = (0..clients).map(|number| client("client", number, RATES[number.min(1)]));
            let title = format!("{name}: {clients} clients");
            let key = Point::Curve { pool, clients };
            phases.push(phase(key, title, pool, seconds(length), workers.collect()));
        }
    }
    let one = vec![client("client", 0, WITHOUT_PAUSES)];
    let seconds = length.pick(0.3, 2.0, 2.0);
    phases.push(phase(Point::Share, "share of a call".to_owned(), 0, seconds, one));
    phases
}

/// Time per number of clients and pool.
fn seconds(length: Length) -> f64 {
    length.pick(0.9, 3.0, 3.0)
}

impl Experiment for ContextSwitches {
    const NAME: &'static str = "orb.context-switches";
    const ABOUT: &'static str =
        "context switches per request with 1 to 50 clients, and their share of a call's latency";
    const PAGE: &'static str = include_str!("context_switches.toml");
    const CONTROLS: &'static [Control] = &[SWITCHING, MORE_SWITCHING, FAULTY];

    fn expected(length: Length) -> Duration {
        let phases = phases(length);
        let seconds: f64 = phases.iter().map(|phase| phase.seconds).sum();
        Duration::from_secs_f64(seconds + 1.0)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let length = trial.length();
        trial.outcome.parameter("seconds_per_point", seconds(length));
        trial.shortened("0.9 s instead of 3 s per number of clients, and three numbers of clients");
        let mut setup = setup(lanes_and_pool(MOST_CLIENTS).into(), MOST_CLIENTS);
        setup.server.fault = match trial.testbed.control {
            Some(control) if *control == SWITCHING => Some(Fault::Switches { from: 0 }),
            Some(control) if *control == MORE_SWITCHING => Some(Fault::Switches { from: 1 }),
            _ => None,
        };
        let mut engine = Engine::default();
        let results = engine.run(trial.testbed, &mut trial.outcome, &[setup], phases(length))?;
        for phase in &results {
            let switches = PerRequest::of(phase);
            let row = match phase.key {
                Point::Curve { pool, clients } => switches.row("curve", POOLS[pool], clients),
                Point::Share => {
                    let switch_us = switch_us(trial.testbed)?;
                    let p50 = phase.clients[0].latencies().quantile_us(0.5);
                    let p50_us = p50.ok_or("no call was made")?;
                    let share = 100.0 * switches.total() * switch_us / p50_us;
                    claim(trial, share);
                    let row = switches.row("share", POOLS[0], 1).with("switch_us", switch_us);
                    row.with("p50_us", p50_us).with("share_percent", share)
                }
            };
            trial.outcome.row(row);
        }
        claim_stable(&results, trial);
        trial.holes(&engine.holes, engine.measured)?;
        trial.claim_no_errors("[Levine 1999]", errors(&results));
        Ok(())
    }
}

const SWITCHING: Control = Control {
    id: "switching",
    about: "a servant that switches to another thread and back 100 times",
    breaks: &["little"],
};
const MORE_SWITCHING: Control = Control {
    id: "more-switching",
    about: "servants of all clients but the first that do so",
    breaks: &["stable"],
};

/// Claims that the number of switches of a call does not depend on the number of clients.
fn claim_stable(results: &[PhaseResult<Point>], trial: &mut Trial<'_>) {
    let of_lanes = results
        .iter()
        .filter(|phase| matches!(phase.key, Point::Curve { pool: 0, .. }));
    let switches: Vec<f64> = of_lanes.map(|phase| PerRequest::of(phase).total()).collect();
    let most = switches.iter().copied().fold(f64::NAN, f64::max);
    let least = switches.iter().copied().fold(f64::NAN, f64::min);
    let text = "lanes, over the numbers of clients: largest number of context switches per call over the \
                smallest one, at most";
    let claim = Claim::at_most("stable", text, "[Levine 1999]", most / least, STABLE);
    trial.outcome.claim(claim);
}

/// Claims that switches take little of a call's latency, where both have real-time priorities.
fn claim(trial: &mut Trial<'_>, share_percent: f64) {
    let text = "share of a call's median latency that its context switches take, in percent";
    if trial.outcome.machine().is_realtime() {
        let claim = Claim::at_most("little", text, "[Schmidt 2002] 4", share_percent, LITTLE_PERCENT);
        trial.outcome.claim(claim);
    } else {
        let reason = "switches of the ordinary class were measured";
        trial.outcome.skip(Some("little"), text, reason);
    }
}

/// Context switches per request.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PerRequest {
    calls: u64,
    /// Without one per pause between calls, in which the client sleeps.
    client: f64,
    server: f64,
    pauses: f64,
}

impl PerRequest {
    fn of(phase: &PhaseResult<Point>) -> Self {
        let reports = || phase.clients.iter().map(|client| &client.report);
        let calls = reports().map(|report| report.calls.len() as u64).sum();
        let pauses = reports().map(|report| report.pauses).sum();
        let switches = reports().map(|report| report.context_switches).sum();
        Self::new(calls, pauses, switches, phase.server_context_switches)
    }

    fn new(calls: u64, pauses: u64, of_clients: u64, of_server: u64) -> Self {
        let per_call = |count: u64| count as f64 / calls as f64;
        Self {
            calls,
            client: per_call(of_clients.saturating_sub(pauses)),
            server: per_call(of_server),
            pauses: per_call(pauses),
        }
    }

    fn total(self) -> f64 {
        self.client + self.server
    }

    fn row(self, kind: &str, pool: &str, clients: usize) -> Row {
        Row::new()
            .with("kind", kind)
            .with("pool", pool)
            .with("clients", clients)
            .with("calls", self.calls)
            .with("client_switches_per_request", self.client)
            .with("server_switches_per_request", self.server)
            .with("switches_per_request", self.total())
            .with("switches_per_request_with_pauses", self.total() + self.pauses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_of_pauses_are_not_counted_for_requests() {
        let per_request = PerRequest::new(20, 20, 44, 30);
        assert_eq!((per_request.calls, per_request.client), (20, 1.2));
        assert_eq!((per_request.server, per_request.pauses), (1.5, 1.0));
        assert!((per_request.total() - 2.7).abs() < 1e-12);
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(ContextSwitches::expected(Length::Quick) <= Duration::from_secs(7));
        assert!(ContextSwitches::expected(Length::Full) <= Duration::from_secs(52));
    }
}
