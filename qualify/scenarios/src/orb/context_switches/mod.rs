//! `orb.context-switches`: context switches per call by number of clients, and their share of a call's
//! latency.
//!
//! The clients are those of `orb.latency`, with and without lanes, on one CPU; the kernel counts. Then one
//! client calls continuously, and its latency is compared with the cost of its context switches, from the
//! yield test. Source: [Levine 1999], context switches per request; [Schmidt 2002] 4, their share of a call;
//! MT_Cubit's option `-c`.

mod page;

use std::time::Duration;

use punctual_harness::{Claim, Latencies, Outcome, Row};

use super::mt_cubit::{ClientSpec, Deployment, Pool, Run, Task, Threads, priority};
use crate::{
    benchmark::{Benchmark, Findings},
    error::Error,
    length::Length,
    testbed::Testbed,
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "orb.context-switches",
    about: "context switches per request with 1 to 50 clients, and their share of a call's latency",
    expected: |length| Extent::of(length).expected(),
    run: measure,
    controls: &[],
};

const MOST_CLIENTS: usize = 50;
/// Rates of the first client and of each other one.
const RATES: [f64; 2] = [20.0, 10.0];
const POOLS: [&str; 2] = ["lanes", "pool without lanes"];

struct Extent {
    clients: &'static [usize],
    /// Time per number of clients and pool.
    seconds: f64,
    /// Time of continuous calls.
    share_seconds: f64,
}

impl Extent {
    fn of(length: Length) -> Self {
        const CLIENTS: &[usize] = &[1, 2, 5, 10, 20, 30, 40, 50];
        Self {
            clients: length.pick(&[1, 10, 50], CLIENTS, CLIENTS),
            seconds: length.pick(0.9, 3.0, 3.0),
            share_seconds: length.pick(0.3, 2.0, 2.0),
        }
    }

    fn expected(&self) -> Duration {
        let curve = self.seconds * (self.clients.len() * POOLS.len()) as f64;
        Duration::from_secs_f64(curve + self.share_seconds + 1.0)
    }
}

fn pools() -> [Pool; 2] {
    let priorities = (0..MOST_CLIENTS).map(priority).collect();
    let without_lanes = Threads::WithoutLanes {
        threads: MOST_CLIENTS,
        priority: priority(MOST_CLIENTS - 1),
    };
    [Threads::Lanes(priorities), without_lanes].map(|threads| Pool {
        threads,
        servants: MOST_CLIENTS,
    })
}

fn clients(number: usize) -> Vec<ClientSpec> {
    let client = |number: usize| ClientSpec {
        name: format!("client-{number}"),
        priority: priority(number),
        hz: RATES[number.min(1)],
        servant: number,
    };
    (0..number).map(client).collect()
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let places = testbed.places.clone();
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    outcome.parameter("seconds_per_point", extent.seconds);
    if testbed.length == Length::Quick {
        outcome.parameter(
            "shortened",
            "0.9 s instead of 3 s per number of clients, and three numbers of clients",
        );
    }
    let progress = &testbed.progress;
    let limit = extent.expected() * 2 + Duration::from_secs(60);
    let mut deployment = Deployment::start(&places, &pools(), &[], limit)?;
    let mut errors = 0;
    for (pool, name) in POOLS.into_iter().enumerate() {
        for &number in extent.clients {
            progress.stage(
                format!("{name}: {number} clients"),
                Duration::from_secs_f64(extent.seconds),
            );
            let run = deployment.run(&Task {
                pool,
                clients: clients(number),
                seconds: extent.seconds,
                slices: None,
                awake: false,
            })?;
            errors += run.clients.iter().map(|client| client.errors).sum::<u64>();
            outcome.row(PerRequest::of(&run).row("curve", name, number));
        }
    }
    progress.stage("share of a call", Duration::from_secs_f64(extent.share_seconds));
    share(&mut deployment, extent.share_seconds, &mut outcome)?;
    deployment.stop()?;
    let text = "wrong results";
    outcome.claim(Claim::at_most(
        "errors",
        text,
        "[Levine 1999]",
        errors as f64,
        0.0,
    ));
    let chapter = page::chapter(&outcome);
    Ok(Findings { outcome, chapter })
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
    fn of(run: &Run) -> Self {
        let sum = |of: fn(&super::mt_cubit::Calls) -> u64| run.clients.iter().map(of).sum::<u64>();
        let calls = sum(|client| client.calls.len() as u64);
        let pauses = sum(|client| client.pauses);
        let per_call = |count: u64| count as f64 / calls as f64;
        Self {
            calls,
            client: per_call(sum(|client| client.context_switches).saturating_sub(pauses)),
            server: per_call(run.server_context_switches),
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

/// Measures the share of context switches in the latency of a call.
fn share(deployment: &mut Deployment, seconds: f64, outcome: &mut Outcome) -> Result<(), Error> {
    const WITHOUT_PAUSES: f64 = 1e9;
    let mut client = clients(1);
    client[0].hz = WITHOUT_PAUSES;
    let run = deployment.run(&Task {
        pool: 0,
        clients: client,
        seconds,
        slices: None,
        awake: false,
    })?;
    let switch_us = deployment.switch_ns()? / 1e3;
    let mut latencies = Latencies::new();
    let calls = run.clients.iter().flat_map(|client| &client.calls);
    calls.for_each(|call| latencies.record(call.latency_ns));
    let per_request = PerRequest::of(&run);
    let latency_us = latencies.quantile_us(0.5).ok_or("no call was made")?;
    let share = 100.0 * per_request.total() * switch_us / latency_us;
    outcome.row(
        per_request
            .row("share", POOLS[0], 1)
            .with("switch_us", switch_us)
            .with("p50_us", latency_us)
            .with("share_percent", share),
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use punctual_harness::Span;

    use super::*;
    use crate::orb::mt_cubit::{Calls, client::Call};

    #[test]
    fn switches_of_pauses_are_not_counted_for_requests() {
        let call = Call {
            start_ns: 0,
            latency_ns: 20_000,
        };
        let client = |context_switches| Calls {
            calls: vec![call; 10],
            pauses: 10,
            context_switches,
            ..Calls::default()
        };
        let run = Run {
            clients: vec![client(20), client(24)],
            span: Span {
                start_ns: 0,
                end_ns: 1,
            },
            server_context_switches: 30,
        };
        let per_request = PerRequest::of(&run);
        assert_eq!((per_request.calls, per_request.client), (20, 1.2));
        assert_eq!((per_request.server, per_request.pauses), (1.5, 1.0));
        assert!((per_request.total() - 2.7).abs() < 1e-12);
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(Extent::of(Length::Quick).expected() <= Duration::from_secs(7));
        assert!(Extent::of(Length::Full).expected() <= Duration::from_secs(52));
    }
}
