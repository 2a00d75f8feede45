//! `rt.9-large-request`: the effect of a large low-priority request on a medium-priority request in progress.
//! In a pool without lanes whose threads wait at high priority, a thread reads the large request first; with
//! lanes, this does not happen. Source: [Pyarali 2002], "Notes on using Real-time CORBA without lanes".

use std::time::Duration;

use punctual_harness::{Claim, Latencies, Outcome, Row};

use super::{increasing_work::realtime, run};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{
        self, Client, Importance, Pace, Phase, PhaseResult, Placement, PoolSpec, Request, STALLED, Setup,
        Worker, priority,
    },
};

pub(crate) struct LargeRequests;

const EXCHANGED: Control = Control {
    id: "exchanged",
    about: "lanes instead of the pool without lanes, and the other way round",
    breaks: &["no-lanes.interrupted", "lanes.undisturbed"],
};

/// 10 ms of the servant's time, 40 times per second.
const MEDIUM_WORK: u32 = 45;
const MEDIUM_RATE: u32 = 40;
/// Almost the largest request that the server's default limits permit.
const OCTETS: usize = 8_000_000;
/// Two, so that one of the three threads remains for the medium client.
const LOW_CLIENTS: usize = 2;
const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] notes on experiment 9";
/// The largest acceptable ratio with lanes: large requests may only cost cache misses. It is that of the
/// longest calls outside holes, because an inversion shows there first.
const UNDISTURBED: f64 = 1.05;

/// The two pools, by index.
const POOLS: [&str; 2] = ["pool without lanes", "lanes"];

#[derive(Clone, Copy)]
struct Point {
    pool: usize,
    large: bool,
}

fn phases(length: Length) -> Vec<Phase<Point>> {
    let mut phases = Vec::new();
    for (pool, name) in POOLS.iter().enumerate() {
        for large in [false, true] {
            let beside = if large { "with large requests" } else { "alone" };
            phases.push(Phase {
                key: Point { pool, large },
                title: format!("{name}, medium client, {beside}"),
                deployment: 0,
                pool,
                seconds: length.pick(1.5, 5.0, 10.0),
                workers: workers(large),
            });
        }
    }
    phases
}

fn workers(large: bool) -> Vec<Worker> {
    let medium = Importance::Medium.client(MEDIUM_RATE, MEDIUM_WORK);
    let low = Worker {
        name: "large".to_owned(),
        priority: Some(priority::LOW),
        pace: Pace::Continuous,
        request: Request::Octets(OCTETS),
        ..Worker::default()
    };
    let low = std::iter::repeat_n(low, if large { LOW_CLIENTS } else { 0 });
    std::iter::once(medium).chain(low).collect()
}

impl Experiment for LargeRequests {
    const NAME: &'static str = "rt.9-large-request";
    const ABOUT: &'static str = "[Pyarali 2002] experiment 9, note: large low-priority requests, pools with \
                                 and without lanes";
    const PAGE: &'static str = include_str!("large_request.toml");
    const CONTROLS: &'static [Control] = &[EXCHANGED, STALLED];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let mut pools = vec![
            PoolSpec::Propagated {
                threads: LOW_CLIENTS + 1,
                priority: priority::HIGH,
            },
            PoolSpec::Lanes(vec![priority::HIGH, priority::MEDIUM, priority::LOW]),
        ];
        if trial.testbed.is_under(&EXCHANGED) {
            pools.reverse();
        }
        // The clients run on another CPU: on the same one, a low-priority client could not send while the
        // server works.
        let setup = Setup::new(realtime(pools), Placement::Apart);
        let claims = ["no-lanes.interrupted", "lanes.undisturbed"];
        let setup = setup.or_skip("large requests from another CPU", &claims);
        let phases = phases(trial.length());
        let results = run::<Self, _>(trial, &[setup], phases)?;
        trial.shortened("1.5 s for each of the four, not 5 s");
        let outcome = &mut trial.outcome;
        outcome.parameter("large_request_octets", OCTETS);
        outcome.parameter("large_request_clients", LOW_CLIENTS);
        add_rows(outcome, &results);
        claim(outcome, &results);
        Ok(())
    }
}

fn medium_client(phase: &PhaseResult<Point>) -> &Client {
    phase.client(Importance::Medium.name())
}

fn medium(phase: &PhaseResult<Point>) -> Latencies {
    medium_client(phase).latencies()
}

fn add_rows(outcome: &mut Outcome, results: &[PhaseResult<Point>]) {
    for phase in results {
        let row = Row::new()
            .with("pool", POOLS[phase.key.pool])
            .with("large_requests", phase.key.large)
            .with("large_requests_hz", phase.collective_hz())
            .with(
                "max_outside_holes_us",
                medium_client(phase).max_outside_holes_us(),
            )
            .with_fields(&medium(phase).summary());
        outcome.row(row);
    }
}

/// Returns a statistic of the medium client with large requests, over that without.
fn stretched(
    results: &[PhaseResult<Point>],
    pool: usize,
    statistic: impl Fn(&PhaseResult<Point>) -> Option<f64>,
) -> Option<f64> {
    let of = |large: bool| {
        let phase = results
            .iter()
            .find(|phase| (phase.key.pool, phase.key.large) == (pool, large))?;
        statistic(phase)
    };
    Some(of(true)? / of(false)?)
}

fn claim(outcome: &mut Outcome, results: &[PhaseResult<Point>]) {
    let median = |phase: &PhaseResult<Point>| medium(phase).quantile_us(0.5);
    let longest = |phase: &PhaseResult<Point>| medium_client(phase).max_outside_holes_us();
    let Some((no_lanes, lanes)) = stretched(results, 0, median).zip(stretched(results, 1, longest)) else {
        return;
    };
    let text = "pool without lanes: median latency of the medium client with large low-priority requests \
                over that without, above the limit for lanes: large requests interrupt it";
    outcome.claim(Claim::new(
        "no-lanes.interrupted",
        text,
        SOURCE,
        no_lanes,
        UNDISTURBED,
        no_lanes > UNDISTURBED,
    ));
    let text = "lanes: longest call of the medium client outside holes, with large low-priority \
                requests over that without: the inversion is bounded";
    let claim = Claim::at_most("lanes.undisturbed", text, SOURCE, lanes, UNDISTURBED);
    outcome.claim(claim);
}
