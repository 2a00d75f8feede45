//! `orb.priority-inversion`: clients at 20, 10, 5 and 1 Hz, where higher rates are more important, on one
//! processor.
//!
//! Measures mean and jitter for each rate, and the time in which a client was ready while something less
//! important ran; the latter in separate passes, because tracing takes time. Lanes are compared with a pool
//! without lanes. Source: [Levine 1999], TAO's MT_Cubit with a thread for each rate.

mod inverted;
mod page;

use std::time::Duration;

use punctual_harness::{Claim, Hole, HoleRecorder, Outcome, Row, Span, holes};
use punctual_trace::{Analysis, Names, Recorded, Session};

use self::inverted::Inverted;
use super::mt_cubit::{ClientSpec, Deployment, MeanAndJitter, Pool, Run, Task, Threads, priority};
use crate::{
    benchmark::{Benchmark, Findings},
    control::Control,
    error::Error,
    inversion::recording,
    length::Length,
    testbed::{Places, Testbed},
};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "orb.priority-inversion",
    about: "latency and jitter of clients at 20, 10, 5 and 1 Hz, and their waits for less important ones; \
            needs root",
    expected: |length| Extent::of(length).expected(),
    run: measure,
    controls: &[WITHOUT_LANES],
};

/// Calls per second of the clients, the most important first.
const RATES: [f64; 4] = [20.0, 10.0, 5.0, 1.0];
const POOLS: [&str; 2] = ["lanes", "pool without lanes"];

/// The largest ratio of two means that a figure of the paper does not show as an inversion.
const INVERSION: f64 = 1.1;
/// The largest acceptable share of the pool's inversions that remains with lanes.
const LANES_AGAINST_POOL: f64 = 0.1;
const WITHOUT_LANES: Control = Control {
    id: "without-lanes",
    about: "a pool without lanes in place of lanes",
    breaks: &["lanes-against-pool"],
};

/// Time per pool, in seconds.
#[derive(Clone, Copy)]
struct Extent {
    timed: f64,
    traced: f64,
}

impl Extent {
    fn of(length: Length) -> Self {
        let (timed, traced) = length.pick((2.2, 2.2), (30.0, 20.0), (200.0, 20.0));
        Self { timed, traced }
    }

    fn expected(self) -> Duration {
        Duration::from_secs_f64((self.timed + self.traced) * POOLS.len() as f64 + 1.5)
    }
}

fn pools() -> [Pool; 2] {
    let priorities = (0..RATES.len()).map(priority).collect();
    let without_lanes = Threads::WithoutLanes {
        threads: RATES.len(),
        priority: priority(RATES.len() - 1),
    };
    [Threads::Lanes(priorities), without_lanes].map(|threads| Pool {
        threads,
        servants: RATES.len(),
    })
}

fn task(pool: usize, seconds: f64) -> Task {
    let client = |(number, hz): (usize, f64)| ClientSpec {
        name: format!("client-{hz}Hz"),
        priority: priority(number),
        hz,
        servant: number,
    };
    Task {
        pool,
        clients: RATES.into_iter().enumerate().map(client).collect(),
        seconds,
        slices: None,
        awake: false,
    }
}

fn measure(testbed: &mut Testbed) -> Result<Findings, Error> {
    let places = testbed.places.clone();
    let extent = Extent::of(testbed.length);
    let mut outcome = testbed.outcome(BENCHMARK.name);
    outcome.parameter("seconds_per_pool", extent.timed);
    outcome.parameter("seconds_per_pool_traced", extent.traced);
    if testbed.length == Length::Quick {
        let shortened =
            "2.2 s instead of 30 s for the latencies of each pool, 2.2 s instead of 20 s for its trace";
        outcome.parameter("shortened", shortened);
    }
    let limit = extent.expected() * 2 + Duration::from_secs(60);
    let exchanged = testbed.is_under(&WITHOUT_LANES);
    let pools = if exchanged {
        let [_, without_lanes] = pools();
        [without_lanes.clone(), without_lanes]
    } else {
        pools()
    };
    let run = |deployment: &mut Deployment, seconds: f64, what: &str| -> Result<Vec<Run>, Error> {
        let pools = POOLS.into_iter().enumerate();
        let runs = pools.map(|(pool, name)| {
            let progress = &testbed.progress;
            progress.stage(format!("{name}, {what}"), Duration::from_secs_f64(seconds));
            deployment.run(&task(pool, seconds))
        });
        runs.collect()
    };

    let mut deployment = Deployment::start(&places, &pools, &[], limit)?;
    let recorder = HoleRecorder::start(deployment.processes(), places.pinned.clone(), &places.driver)?;
    let timed = run(&mut deployment, extent.timed, "timed")?;
    let recording_of_holes = recorder.stop();
    deployment.stop()?;

    // The supervisor removes the trace instance if this process is killed.
    let session = Session::start(&recording(&places))?;
    let mut deployment = Deployment::start(&places, &pools, &session.environment(), limit)?;
    let traced = run(&mut deployment, extent.traced, "traced")?;
    testbed
        .progress
        .stage("reading the trace", Duration::from_millis(500));
    let recorded = session.stop()?;
    deployment.stop()?;

    let calls = timed
        .iter()
        .flat_map(|run| &run.clients)
        .flat_map(|client| &client.calls);
    let outstanding: Vec<Span> = calls.map(|call| call.span()).collect();
    let holes = recording_of_holes.holes(&outstanding);
    outcome.parameter("kernel_holes", serde_json::to_value(&holes)?);
    rate_rows(&timed, &holes, &mut outcome);
    inverted_rows(&traced, &recorded, &places, &mut outcome);
    let runs = timed.iter().chain(&traced);
    let errors: u64 = runs
        .flat_map(|run| &run.clients)
        .map(|client| client.errors)
        .sum();
    claim_means(&timed, &holes, &mut outcome);
    claim_waits(&mut outcome);
    let text = "wrong results";
    outcome.claim(Claim::at_most(
        "errors",
        text,
        "[Levine 1999]",
        errors as f64,
        0.0,
    ));
    let measured: u64 = timed.iter().map(|run| run.span.end_ns - run.span.start_ns).sum();
    if let Some(reason) = holes::unfit(&holes, Duration::from_nanos(measured)) {
        outcome.unfit(reason);
    }
    let chapter = page::chapter(&outcome);
    Ok(Findings { outcome, chapter })
}

fn rate_rows(timed: &[Run], holes: &[Hole], outcome: &mut Outcome) {
    for (pool, run) in POOLS.into_iter().zip(timed) {
        for (hz, calls) in RATES.into_iter().zip(&run.clients) {
            let row = Row::new()
                .with("kind", "rate")
                .with("pool", pool)
                .with("asked_hz", hz);
            outcome.row(MeanAndJitter::columns(row, [calls], holes));
        }
    }
}

/// Claims that no client has a larger mean than a less important one.
fn claim_means(timed: &[Run], holes: &[Hole], outcome: &mut Outcome) {
    let of_lanes = timed.iter().take(1).flat_map(|run| &run.clients);
    let means: Vec<f64> = of_lanes
        .filter_map(|calls| MeanAndJitter::of([calls], holes).mean_us)
        .collect();
    let pairs = (0..means.len()).flat_map(|more| (more + 1..means.len()).map(move |less| (more, less)));
    let largest = pairs
        .map(|(more, less)| means[more] / means[less])
        .fold(f64::NAN, f64::max);
    let text = "lanes: mean latency of a client over that of a less important one, largest: no average \
                priority inversion";
    let source = "Punctual's limit, after [Levine 1999]";
    outcome.claim(Claim::at_most(
        "average-inversion",
        text,
        source,
        largest,
        INVERSION,
    ));
}

/// Judges lanes against the pool without lanes: by the time per call for which the most important client
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

fn inverted_rows(traced: &[Run], recorded: &Recorded, places: &Places, outcome: &mut Outcome) {
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
    for (pool, run) in POOLS.into_iter().zip(traced) {
        for (hz, calls) in RATES.into_iter().zip(&run.clients) {
            let inverted = Inverted::of(calls.thread, run.span, cpu, &analysis, &recorded.requests, &names);
            let calls = calls.calls.len();
            outcome.row(
                Row::new()
                    .with("kind", "inverted")
                    .with("pool", pool)
                    .with("asked_hz", hz)
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
        let clients = task(0, 1.0).clients;
        assert!(
            clients
                .iter()
                .is_sorted_by(|a, b| a.priority > b.priority && a.hz > b.hz)
        );
        assert_eq!(clients[0].name, "client-20Hz");
        let [lanes, _] = pools();
        let Threads::Lanes(lanes) = lanes.threads else {
            panic!("the first pool has lanes");
        };
        assert!(clients.iter().map(|client| client.priority).eq(lanes));
    }

    #[test]
    fn expected_durations_are_within_budget() {
        assert!(Extent::of(Length::Quick).expected() <= Duration::from_secs(11));
        assert!(Extent::of(Length::Full).expected() <= Duration::from_secs(110));
    }
}
