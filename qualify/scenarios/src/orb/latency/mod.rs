//! `orb.latency`: the effect of many less important clients on an important one.
//!
//! A high-priority client calls 20 times per second, with a growing number of low-priority clients that call
//! 10 times per second each, as in the paper, whose metrics are mean and jitter. They depend on the host as
//! much as on the ORB, so median and 99th percentile of a client that calls more often are compared, too,
//! also beside clients that load the server. Source: [Schmidt 2002] 3.3, figures 3 to 6; TAO's MT_Cubit.

mod averages;
mod away;
mod contrast;
mod explained;
mod recency;

use std::time::Duration;

use punctual_harness::{Hole, Outcome, Row};

use super::mt_cubit::{
    WITHOUT_PAUSES, client, columns, errors, jitter_of_groups, keeps_awake, lanes_and_pool, priority, setup,
};
use crate::{
    control::{Control, Restored},
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{Client, Engine, FAULTY, Phase, PhaseResult, PoolSpec, Request, Setup, Worker},
    testbed::Testbed,
};

pub(crate) struct Latency;

const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "a pool without lanes instead of a lane for each client, and low-priority clients that ask for \
            more than the processor can do, in all phases",
    breaks: &["20hz.*-ratio", "p50-ratio", "p99-ratio", "loaded.*"],
};
const REVERSED: Control = Control {
    id: "reversed",
    about: "the client that should be the most important one below all others, which load the server",
    breaks: &["average-inversion*"],
};
const SPARSE: Control = Control {
    id: "sparse",
    about: "a tenth of the calls of the high-priority client",
    breaks: &["samples"],
};
const FEW_SILENT: Control = Control {
    id: "few-silent",
    about: "no calls of low-priority clients where there are nine",
    breaks: &["20hz.jitter-rises"],
};
const SHARED_LANE: Control = Control {
    id: "shared-lane",
    about: "beside 50 low-priority clients another one that shares the lane, the servant and the priority of \
            the high-priority one, and sends 4 MiB at 83 Hz",
    breaks: &["20hz.jitter", "20hz.jitter-constant"],
};
const OUT_OF_STEP: Control = Control {
    id: "out-of-step",
    about: "low-priority clients that call as often as the high-priority one and begin 45 ms after it, so \
            that each of its calls follows theirs by some milliseconds",
    breaks: &[],
};
const LOADED: Control = Control {
    id: "loaded",
    about: "low-priority clients that ask for more than the processor can do, in all phases",
    breaks: &[],
};

/// The largest number of low-priority clients, as in the paper's figure 6.
const MOST_LOW: usize = 50;
/// Calls per second.
const HIGH_HZ: u32 = 20;
const LOW_HZ: u32 = 10;
/// Under the control: most of the period of the high-priority client, whose calls become later by a tenth of
/// a millisecond with each period, as it pauses between them.
const OUT_OF_STEP_BY: Duration = Duration::from_millis(45);
/// The share of the CPU's time that the calls of all low-priority clients take in the loaded variant.
const LOAD: f64 = 0.8;
/// Length of each of the two measurements of the capacity.
const CALIBRATION_SECONDS: f64 = 0.5;
/// Calls of each low-priority client in the paper.
const PAPER_CALLS: f64 = 4000.0;

/// The assignment of clients to lanes and servants.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Configuration {
    /// Each client has its own priority, lane and servant: figure 3 of the paper.
    Own,
    /// All low-priority clients share one priority, lane and servant.
    OneServant,
    /// Each client has its own priority and servant; one pool without lanes serves all requests.
    WithoutLanes,
}

impl Configuration {
    /// All configurations, in the order of the server's pools.
    const ALL: [Self; 3] = [Self::Own, Self::OneServant, Self::WithoutLanes];

    fn name(self) -> &'static str {
        match self {
            Self::Own => "own lanes",
            Self::OneServant => "one servant for all low-priority clients",
            Self::WithoutLanes => "pool without lanes",
        }
    }

    fn pool(self) -> PoolSpec {
        let [lanes, without_lanes] = lanes_and_pool(MOST_LOW + 1);
        match self {
            Self::Own => lanes,
            Self::OneServant => PoolSpec::Lanes(vec![priority(0), priority(1)]),
            Self::WithoutLanes => without_lanes,
        }
    }

    /// Returns the clients, the high-priority one first.
    fn clients(self, high_hz: u32, low: usize, low_hz: u32) -> Vec<Worker> {
        let place = |number| if self == Self::OneServant { 1 } else { number };
        let low = (1..=low).map(|number| client("low", place(number), low_hz));
        std::iter::once(client("high", 0, high_hz)).chain(low).collect()
    }

    fn phase(self, key: Point, title: String, seconds: f64, workers: Vec<Worker>) -> Phase<Point> {
        Phase {
            key,
            title,
            deployment: 0,
            pool: Self::ALL.iter().position(|other| *other == self).unwrap_or(0),
            seconds,
            workers,
        }
    }
}

/// Subject of a phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Point {
    /// The curves of the paper's figures: a number of low-priority clients; also with a CPU that an ordinary
    /// thread keeps from idling.
    Curve {
        configuration: Configuration,
        low: usize,
        awake: bool,
    },
    /// Alternating slices with and without low-priority clients.
    Contrast(contrast::Subject, contrast::Load),
    /// The high-priority client alone, at two rates.
    Alone(away::Alone),
    /// The throughput of clients that call as often as they can.
    Capacity,
}

/// Time per number of clients.
fn seconds(length: Length) -> f64 {
    length.pick(2.2, 30.0, PAPER_CALLS / f64::from(LOW_HZ))
}

/// Time per number of clients of the curve whose jitter the claims compare: several groups of calls.
fn seconds_of_claims(length: Length) -> f64 {
    length.pick(11.0, seconds(length), seconds(length))
}

/// Returns the phases; in the loaded variant each low-priority client calls at `loaded_hz`.
fn phases(length: Length, loaded_hz: u32) -> Vec<Phase<Point>> {
    const OWN: &[usize] = &[0, 1, 2, 5, 9, 20, 35, 50];
    const ONE_SERVANT: &[usize] = &[0, 5, 9, 20, 50];
    let (own, one_servant) = match length {
        Length::Quick => (&[0, 9, 50][..], &[9, 50][..]),
        Length::Full | Length::Paper => (OWN, ONE_SERVANT),
    };
    let points = own.iter().map(|low| (Configuration::Own, *low, false));
    let points = points.chain([(Configuration::Own, MOST_LOW, true)]);
    let points = points.chain(
        one_servant
            .iter()
            .map(|low| (Configuration::OneServant, *low, false)),
    );
    let curves = points.map(|(configuration, low, awake)| {
        let idle = if awake { ", CPU kept awake" } else { "" };
        let title = format!("{}: {low} low-priority clients{idle}", configuration.name());
        let mut clients = configuration.clients(HIGH_HZ, low, LOW_HZ);
        clients.extend(awake.then(|| keeps_awake(false)));
        let key = Point::Curve {
            configuration,
            low,
            awake,
        };
        let is_claimed = configuration == Configuration::Own && !awake;
        let seconds = if is_claimed {
            seconds_of_claims(length)
        } else {
            seconds(length)
        };
        configuration.phase(key, title, seconds, clients)
    });
    contrast::phases(length, loaded_hz)
        .into_iter()
        .chain(curves)
        .chain(away::phases(seconds(length)))
        .collect()
}

/// Returns the calls per second of each low-priority client such that all together take [`LOAD`] of the CPU.
///
/// One client that never pauses shows what calls cost at most often; all of them at that rate show how many
/// remain with their timers and switches.
fn loaded_hz(engine: &mut Engine, trial: &mut Trial<'_>) -> Result<u32, Error> {
    let lanes = setup(vec![Configuration::Own.pool()], MOST_LOW + 1);
    let one = Configuration::Own.clients(WITHOUT_PAUSES, 0, LOW_HZ);
    let most = calls_per_second(engine, trial, &lanes, one)?;
    let mut all = Configuration::Own.clients(HIGH_HZ, MOST_LOW, (most / MOST_LOW as f64) as u32);
    all.remove(0);
    let capacity = calls_per_second(engine, trial, &lanes, all)?;
    trial.outcome.parameter("capacity_of_one_client_hz", most);
    trial.outcome.parameter("capacity_of_all_clients_hz", capacity);
    Ok((LOAD * capacity / MOST_LOW as f64).max(1.0) as u32)
}

/// Returns the calls per second of these clients together.
fn calls_per_second(
    engine: &mut Engine,
    trial: &mut Trial<'_>,
    setup: &Setup<'static>,
    clients: Vec<Worker>,
) -> Result<f64, Error> {
    let title = "measuring the capacity".to_owned();
    let phase = Configuration::Own.phase(Point::Capacity, title, CALIBRATION_SECONDS, clients);
    let results = engine.run(
        trial.testbed,
        &mut trial.outcome,
        std::slice::from_ref(setup),
        vec![phase],
    )?;
    let clients = results.iter().flat_map(|phase| &phase.clients);
    let calls: usize = clients.map(|client| client.report.calls.len()).sum();
    Ok(calls as f64 / CALIBRATION_SECONDS)
}

impl Experiment for Latency {
    const NAME: &'static str = "orb.latency";
    const ABOUT: &'static str =
        "latency and jitter of a high-priority client with 0 to 50 low-priority ones (MT_Cubit)";
    const PAGE: &'static str = include_str!("latency.toml");
    const CONTROLS: &'static [Control] = &[
        WITHOUT_LANES,
        REVERSED,
        LOADED,
        SPARSE,
        FEW_SILENT,
        SHARED_LANE,
        OUT_OF_STEP,
        FAULTY,
    ];
    const RESTORED: &'static [Restored] = &[
        Restored {
            control: &LOADED,
            claims: &["average-inversion", "low.rises"],
        },
        Restored {
            control: &OUT_OF_STEP,
            claims: &["20hz.mean-ratio", "20hz.jitter-ratio"],
        },
    ];

    fn expected(length: Length) -> Duration {
        let seconds: f64 = phases(length, LOW_HZ).iter().map(|phase| phase.seconds).sum();
        Duration::from_secs_f64(seconds + 2.0 * CALIBRATION_SECONDS + 3.0)
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let length = trial.length();
        let mut pools = Configuration::ALL.map(Configuration::pool);
        if trial.testbed.is_under(&WITHOUT_LANES) {
            pools[0] = Configuration::WithoutLanes.pool();
        }
        let mut setup = setup(pools.into(), MOST_LOW + 1);
        setup.server.ping_pong = Some(priority(0));
        let mut engine = Engine::default();
        let loaded_hz = loaded_hz(&mut engine, trial)?;
        let mut phases = phases(length, loaded_hz);
        change(&mut phases, trial.testbed, loaded_hz);
        let results = engine.run(trial.testbed, &mut trial.outcome, &[setup], phases)?;
        trial.outcome.parameter("seconds_per_point", seconds(length));
        trial.shortened(
            "2.2 or 11 s instead of 30 s per number of clients, five numbers of clients, two runs with lanes and \
             one of the pool without lanes",
        );
        trial.holes(&engine.holes, engine.measured)?;
        for phase in &results {
            rows(phase, &engine.holes, &mut trial.outcome);
            away::row(phase, &engine.holes, &mut trial.outcome);
            recency::rows(phase, &engine.holes, &mut trial.outcome);
        }
        averages::claim(&results, &engine.holes, &mut trial.outcome);
        averages::claim_jitter(&results, &engine.holes, &mut trial.outcome);
        contrast::evaluate(&results, &engine.holes, trial);
        trial.claim_no_errors("[Schmidt 2002] 3.3", errors(&results));
        for configuration in [Configuration::Own, Configuration::WithoutLanes] {
            explained::measure(trial, configuration)?;
        }
        Ok(())
    }
}

/// Makes the changes of a control to the clients.
fn change(phases: &mut [Phase<Point>], testbed: &Testbed, loaded_hz: u32) {
    let low_hz = if testbed.is_under(&WITHOUT_LANES) || testbed.is_under(&LOADED) {
        // 1.6 times what the processor can do.
        Some(2 * loaded_hz)
    } else {
        testbed.is_under(&REVERSED).then_some(loaded_hz)
    };
    for phase in phases {
        if testbed.is_under(&REVERSED) {
            // That of the least important client, with its lane.
            phase.workers[0].priority = phase.workers.iter().filter_map(|worker| worker.priority).min();
        }
        if testbed.is_under(&SPARSE) {
            phase.workers[0].change_rate(|hz| hz / 10);
        }
        let low_clients = match phase.key {
            Point::Curve { low, .. } => Some(low),
            _ => None,
        };
        if low_clients == Some(averages::FEW_LOW) && testbed.is_under(&FEW_SILENT) {
            phase.workers.truncate(1);
        }
        if low_clients == Some(MOST_LOW) && testbed.is_under(&SHARED_LANE) {
            phase.workers.insert(1, sharer());
        }
        if low_clients.is_some() && testbed.is_under(&OUT_OF_STEP) {
            let others = phase.workers.iter_mut().skip(1);
            others.for_each(|low| {
                low.begins_after = OUT_OF_STEP_BY;
                low.change_rate(|_| HIGH_HZ);
            });
        }
        if let Some(low_hz) = low_hz {
            let others = phase.workers.iter_mut().skip(1);
            others.for_each(|low| low.change_rate(|_| low_hz));
        }
    }
}

/// Returns a client in the lane of the high-priority one, whose requests take milliseconds.
fn sharer() -> Worker {
    Worker {
        request: Request::Octets(4 << 20),
        ..client("low", 0, 83)
    }
}

/// Adds a row for the high-priority client and one for all low-priority ones together.
fn rows(phase: &PhaseResult<Point>, holes: &[Hole], outcome: &mut Outcome) {
    let Point::Curve {
        configuration,
        low: low_clients,
        awake,
    } = phase.key
    else {
        return;
    };
    let mut row = |client: &str, clients: &[Client], hz: u32| {
        if clients.is_empty() {
            return;
        }
        let row = Row::new()
            .with("kind", if awake { "awake" } else { "point" })
            .with("configuration", configuration.name())
            .with("low_clients", low_clients)
            .with("client", client)
            .with("asked_hz", f64::from(hz));
        let groups = (clients.len() == 1)
            .then(|| jitter_of_groups(&clients[0], holes))
            .flatten();
        outcome.row(columns(row, clients, holes).with("jitter_of_groups_us", groups));
    };
    row("high", high(phase), HIGH_HZ);
    row("low", low(phase), LOW_HZ);
}

fn high(phase: &PhaseResult<Point>) -> &[Client] {
    &phase.clients[..1]
}

/// Returns the low-priority clients, without the thread that keeps the CPU awake.
fn low(phase: &PhaseResult<Point>) -> &[Client] {
    let awake = matches!(phase.key, Point::Curve { awake: true, .. });
    &phase.clients[1..phase.clients.len() - usize::from(awake)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_clients_have_distinct_priorities_or_one_in_common() {
        let distinct = |configuration: Configuration| {
            let clients = configuration.clients(HIGH_HZ, MOST_LOW, LOW_HZ).into_iter();
            let priorities = clients.map(|client| client.priority);
            priorities.collect::<std::collections::BTreeSet<_>>().len()
        };
        let distinct = Configuration::ALL.map(distinct);
        assert_eq!(distinct, [MOST_LOW + 1, 2, MOST_LOW + 1]);
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(Latency::expected(Length::Quick) <= Duration::from_secs(112));
        assert!(Latency::expected(Length::Full) <= Duration::from_secs(11 * 60));
    }
}
