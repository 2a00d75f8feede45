//! `orb.latency`: the effect of many less important clients on an important one.
//!
//! A high-priority client calls 20 times per second, with a growing number of low-priority clients that call
//! 10 times per second each. Mean and jitter are shown as in the paper, but not claimed, because they depend
//! on the host as much as on the ORB. The claims are that median and 99th percentile of a client that calls
//! more often do not increase. Source: [Schmidt 2002] 3.3, figures 3 to 6; TAO's MT_Cubit.

mod averages;
mod contrast;
mod explained;
mod page;

use std::time::Duration;

use punctual_harness::{Claim, Hole, HoleRecorder, Outcome, Row, Span, holes};

use super::mt_cubit::{Calls, ClientSpec, Deployment, MeanAndJitter, Pool, Run, Task, Threads, priority};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    explain,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "orb.latency",
    about: "latency and jitter of a high-priority client with 0 to 50 low-priority ones (MT_Cubit)",
    expected: |length| Extent::of(length).expected(),
    run: measure,
    controls: &[WITHOUT_LANES],
};

const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "a pool without lanes in place of a lane for each client",
    breaks: &["loaded.*"],
};

/// The largest number of low-priority clients, as in the paper's figure 6.
const MOST_LOW: usize = 50;
const HIGH_HZ: f64 = 20.0;
const LOW_HZ: f64 = 10.0;
/// The share of the CPU's time that the calls of all low-priority clients take in the loaded variant.
const LOAD: f64 = 0.8;
/// Calls of each low-priority client in the paper.
const PAPER_CALLS: f64 = 4000.0;

/// The amount of measurements.
struct Extent {
    /// Time per number of clients.
    seconds: f64,
    /// Numbers of low-priority clients, in the two configurations.
    own: &'static [usize],
    one_servant: &'static [usize],
    contrast: contrast::Extent,
}

impl Extent {
    fn of(length: Length) -> Self {
        const OWN: &[usize] = &[0, 1, 2, 5, 9, 20, 35, 50];
        const ONE_SERVANT: &[usize] = &[0, 5, 9, 20, 50];
        Self {
            seconds: length.pick(2.2, 30.0, PAPER_CALLS / LOW_HZ),
            own: length.pick(&[0, 9, 50], OWN, OWN),
            one_servant: length.pick(&[9, 50], ONE_SERVANT, ONE_SERVANT),
            contrast: contrast::Extent::of(length),
        }
    }

    fn curves(&self) -> Duration {
        // And one with the CPU kept awake.
        let points = self.own.len() + self.one_servant.len() + 1;
        Duration::from_secs_f64(self.seconds * points as f64)
    }

    fn expected(&self) -> Duration {
        self.curves() + self.contrast.expected() + Duration::from_secs(3)
    }
}

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

    /// Index of its pool in the server.
    fn pool(self) -> usize {
        Self::ALL.iter().position(|other| *other == self).unwrap_or(0)
    }

    fn as_pool(self) -> Pool {
        let clients = MOST_LOW + 1;
        match self {
            Self::Own => Pool {
                threads: Threads::Lanes((0..clients).map(priority).collect()),
                servants: clients,
            },
            Self::OneServant => Pool {
                threads: Threads::Lanes(vec![priority(0), priority(1)]),
                servants: 2,
            },
            // As many threads as there are lanes, at the priority of the least important client.
            Self::WithoutLanes => Pool {
                threads: Threads::WithoutLanes {
                    threads: clients,
                    priority: priority(MOST_LOW),
                },
                servants: clients,
            },
        }
    }

    fn low(self, number: usize, hz: f64) -> ClientSpec {
        let place = match self {
            Self::OneServant => 1,
            Self::Own | Self::WithoutLanes => number,
        };
        ClientSpec {
            name: format!("low-{number}"),
            priority: priority(place),
            hz,
            servant: place,
        }
    }

    /// Returns the clients, the high-priority one first.
    fn clients(self, high_hz: f64, low: usize, low_hz: f64) -> Vec<ClientSpec> {
        let high = ClientSpec {
            name: "high".into(),
            priority: priority(0),
            hz: high_hz,
            servant: 0,
        };
        let low = (1..=low).map(|number| self.low(number, low_hz));
        std::iter::once(high).chain(low).collect()
    }
}

struct Point {
    configuration: Configuration,
    low: usize,
    /// Whether an ordinary thread kept the CPU from idling.
    awake: bool,
    run: Run,
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let places = testbed.places.clone();
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    let progress = &testbed.progress;
    progress.stage("starting server and clients", Duration::from_secs(2));
    let mut pools = Configuration::ALL.map(Configuration::as_pool);
    if testbed.is_under(&WITHOUT_LANES) {
        pools[Configuration::Own.pool()] = Configuration::WithoutLanes.as_pool();
    }
    let limit = extent.expected() * 2 + Duration::from_secs(60);
    let mut deployment = Deployment::start(&places, &pools, &[], limit)?;
    let recorder = HoleRecorder::start(deployment.processes(), places.pinned, &places.driver)?;

    let contrasts = contrast::measure(&mut deployment, extent.contrast, progress)?;
    let mut points = Vec::new();
    for (configuration, numbers, awake) in [
        (Configuration::Own, extent.own, false),
        (Configuration::Own, &[MOST_LOW], true),
        (Configuration::OneServant, extent.one_servant, false),
    ] {
        for &low in numbers {
            let idle = if awake { ", CPU kept awake" } else { "" };
            progress.stage(
                format!("{}: {low} low-priority clients{idle}", configuration.name()),
                Duration::from_secs_f64(extent.seconds),
            );
            let task = Task {
                pool: configuration.pool(),
                clients: configuration.clients(HIGH_HZ, low, LOW_HZ),
                seconds: extent.seconds,
                slices: None,
                awake,
            };
            let run = deployment.run(&task)?;
            points.push(Point {
                configuration,
                low,
                awake,
                run,
            });
        }
    }
    let recording = recorder.stop();
    deployment.stop()?;

    let runs = || points.iter().map(|point| &point.run).chain(contrasts.runs());
    let outstanding: Vec<Span> = runs()
        .flat_map(|run| &run.clients)
        .flat_map(|client| client.calls.iter().map(|call| call.span()))
        .collect();
    let holes = recording.holes(&outstanding);
    outcome.parameter("seconds_per_point", extent.seconds);
    if testbed.length == Length::Quick {
        let shortened = "2.2 s instead of 30 s per number of clients, five numbers of clients, and one run \
                         of the pool without lanes";
        outcome.parameter("shortened", shortened);
    }
    outcome.parameter("kernel_holes", serde_json::to_value(&holes)?);
    points.iter().for_each(|point| point.rows(&holes, &mut outcome));
    averages::claim(&points, &holes, &mut outcome);
    contrasts.evaluate(&mut outcome);
    let errors: u64 = runs()
        .flat_map(|run| &run.clients)
        .map(|client| client.errors)
        .sum();
    outcome.claim(Claim::at_most(
        "errors",
        "wrong results",
        "[Schmidt 2002] 3.3",
        errors as f64,
        0.0,
    ));
    let measured: u64 = runs().map(|run| run.span.end_ns - run.span.start_ns).sum();
    if let Some(reason) = holes::unfit(&holes, Duration::from_nanos(measured)) {
        outcome.unfit(reason);
    }
    for configuration in [Configuration::Own, Configuration::WithoutLanes] {
        explained::measure(testbed, configuration, &mut outcome)?;
    }
    let chapter = explain::add_to(page::chapter(&outcome, &contrasts, &holes), &outcome);
    Ok(Findings { outcome, chapter })
}

impl Point {
    fn high(&self, holes: &[Hole]) -> MeanAndJitter {
        MeanAndJitter::of(self.run.clients.iter().take(1), holes)
    }

    fn low(&self, holes: &[Hole]) -> MeanAndJitter {
        MeanAndJitter::of(self.run.clients.iter().skip(1), holes)
    }

    /// Adds a row for the high-priority client and one for all low-priority ones together.
    fn rows(&self, holes: &[Hole], outcome: &mut Outcome) {
        let Some((high, low)) = self.run.clients.split_first() else {
            return;
        };
        let mut row = |client: &str, calls: &[&Calls], hz: f64| {
            if calls.is_empty() {
                return;
            }
            let row = Row::new()
                .with("kind", if self.awake { "awake" } else { "point" })
                .with("configuration", self.configuration.name())
                .with("low_clients", self.low)
                .with("client", client)
                .with("asked_hz", hz);
            outcome.row(MeanAndJitter::columns(row, calls.iter().copied(), holes));
        };
        row("high", &[high], HIGH_HZ);
        row("low", &low.iter().collect::<Vec<_>>(), LOW_HZ);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_lane_of_its_priority() {
        for configuration in [Configuration::Own, Configuration::OneServant] {
            let Pool {
                threads: Threads::Lanes(lanes),
                servants,
            } = configuration.as_pool()
            else {
                panic!("lanes were requested");
            };
            for client in configuration.clients(HIGH_HZ, MOST_LOW, LOW_HZ) {
                assert!(lanes.contains(&client.priority), "{client:?}");
                assert!(client.servant < servants, "{client:?}");
                assert!(client.name.len() <= 15);
            }
        }
    }

    #[test]
    fn low_clients_have_distinct_priorities_or_one_in_common() {
        let distinct = |configuration: Configuration| {
            let priorities = configuration.clients(HIGH_HZ, MOST_LOW, LOW_HZ).into_iter();
            priorities
                .map(|client| client.priority)
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        };
        let distinct = Configuration::ALL.map(distinct);
        assert_eq!(distinct, [MOST_LOW + 1, 2, MOST_LOW + 1]);
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(Extent::of(Length::Quick).expected() <= Duration::from_secs(78));
        assert!(Extent::of(Length::Full).expected() <= Duration::from_secs(11 * 60));
    }
}
