//! `rt.policies`: what the other policies of Real-time CORBA cost beside CLIENT_PROPAGATED, and what they
//! keep: priority bands, SERVER_DECLARED, private connections, buffering, borrowing, and options of a lane's
//! sockets. For each one, latency of an important client alone and beside best-effort clients, and memory.

use std::time::Duration;

use punctual_harness::{Claim, Latencies, Row, statistics::median};

use super::{band_resources, run};
use crate::{
    control::Control,
    error::Error,
    experiment::{Experiment, Trial},
    length::Length,
    load::{
        self, Client, Deployment, Importance, Pace, Phase, PhaseResult, Placement, Policy, PoolSpec,
        REFERENCE_WORK, Request, ServerSpec, Setup, Worker, priority,
    },
    orb::Memory,
    testbed::Places,
};

pub(crate) struct Policies;

const ONE_THREAD: Control = Control {
    id: "one-thread",
    about: "one thread for the important client and the best-effort ones",
    breaks: &["*.inversions"],
};
const MANY_POOLS: Control = Control {
    id: "many-pools",
    about: "40 pools with the policy where memory is measured",
    breaks: &["*.memory"],
};
const MORE_WORK: Control = Control {
    id: "more-work",
    about: "calls with one more unit of work wherever the policy is not CLIENT_PROPAGATED",
    breaks: &["*.cost"],
};

/// Calls per second of the important client.
const HZ: u32 = 500;
const BEST_EFFORT: usize = 5;
/// The longest call of the important client, in microseconds; a best-effort call takes 6,700.
const LONGEST_US: f64 = 1000.0;
/// The largest acceptable ratio of medians of a policy that adds nothing to the path of a call, and of one
/// that hands a request from one thread to another: a wake-up, which takes less time than a call.
const COST: f64 = 1.25;
const COST_OF_HAND_OVER: f64 = 2.0;
/// The largest acceptable ratio of the server's memory to that without the policy.
const MEMORY: f64 = 1.25;
const SOURCE: &str = "Punctual's limit, after [Pyarali 2002] 2.4";

/// One round of one policy, alone or beside best-effort clients.
#[derive(Clone, Copy, PartialEq)]
struct Point {
    policy: Policy,
    loaded: bool,
}

/// Returns the number of rounds, and the seconds of each phase.
fn extent(length: Length) -> (usize, f64) {
    length.pick((2, 0.25), (8, 1.0), (10, 2.0))
}

/// Returns the phases; `extra` is the additional work of all policies but CLIENT_PROPAGATED.
fn phases(length: Length, extra: u32) -> Vec<Phase<Point>> {
    let (rounds, seconds) = extent(length);
    let mut phases = Vec::new();
    for _ in 0..rounds {
        for (pool, policy) in Policy::ALL.into_iter().enumerate() {
            let work = if policy == Policy::Propagated { 0 } else { extra };
            for loaded in [false, true] {
                let mut workers = vec![Worker {
                    private_connection: policy == Policy::PrivateConnection,
                    ..Importance::High.client(HZ, work)
                }];
                workers.extend((0..if loaded { BEST_EFFORT } else { 0 }).map(|_| best_effort()));
                let beside = if loaded {
                    ", beside best-effort clients"
                } else {
                    ""
                };
                phases.push(Phase {
                    key: Point { policy, loaded },
                    title: format!("{}{beside}", policy.name()),
                    deployment: 0,
                    pool,
                    seconds,
                    workers,
                });
            }
        }
    }
    phases
}

fn best_effort() -> Worker {
    Worker {
        name: load::BEST_EFFORT.to_owned(),
        priority: Some(priority::BEST_EFFORT),
        pace: Pace::Continuous,
        request: Request::Work(REFERENCE_WORK),
        servant: 1,
        ..Worker::default()
    }
}

/// Returns a server with a pool for each policy.
fn server(policies: &[Policy]) -> ServerSpec {
    ServerSpec {
        policies: policies.to_vec(),
        ..ServerSpec::new(Vec::new(), true)
    }
}

/// Returns a server in which the best-effort clients delay the important one.
fn server_with_one_thread() -> ServerSpec {
    let one = PoolSpec::SinglePriority {
        threads: 1,
        priority: priority::BEST_EFFORT,
    };
    ServerSpec {
        servants: 2,
        ..ServerSpec::new(vec![one; Policy::ALL.len()], true)
    }
}

impl Experiment for Policies {
    const NAME: &'static str = "rt.policies";
    const ABOUT: &'static str = "bands, SERVER_DECLARED, private connections, buffering, borrowing and \
                                 socket options beside CLIENT_PROPAGATED";
    const PAGE: &'static str = include_str!("policies.toml");
    const CONTROLS: &'static [Control] = &[
        ONE_THREAD,
        MORE_WORK,
        MANY_POOLS,
        band_resources::WITHOUT_BANDS,
        load::STALLED,
    ];

    fn expected(length: Length) -> Duration {
        load::expected(&phases(length, 0))
    }

    fn measure(trial: &mut Trial<'_>) -> Result<(), Error> {
        let extra = u32::from(trial.testbed.is_under(&MORE_WORK));
        let server = if trial.testbed.is_under(&ONE_THREAD) {
            server_with_one_thread()
        } else {
            server(&Policy::ALL)
        };
        let setup = Setup::new(server, Placement::OneCpu);
        let phases = phases(trial.length(), extra);
        let results = run::<Self, _>(trial, &[setup], phases)?;
        let pools = if trial.testbed.is_under(&MANY_POOLS) {
            40
        } else {
            1
        };
        let memory = memory(&trial.testbed.places, pools)?;
        trial.outcome.skip(
            None,
            "busy polling of a lane's sockets (SO_BUSY_POLL)",
            "it needs a network device with NAPI and a blocking lane; the loopback interface has none",
        );
        trial.shortened("2 rounds of 0.25 s for each policy instead of 8 of 1 s");
        trial.outcome.parameter("best_effort_clients", BEST_EFFORT);
        evaluate(trial, &results, &memory);
        band_resources::measure(trial.testbed, &mut trial.outcome)
    }
}

/// Returns the resident memory of a server with this number of pools, in KiB, for each policy; of
/// CLIENT_PROPAGATED, that with one.
fn memory(places: &Places, pools: usize) -> Result<Vec<u64>, Error> {
    let resident = |policy| -> Result<u64, Error> {
        let pools = if policy == Policy::Propagated { 1 } else { pools };
        let setup = Setup::new(server(&vec![policy; pools]), Placement::OneCpu);
        let limit = Duration::from_secs(60);
        let mut deployment = Deployment::start(places, &setup, 1, limit)?;
        deployment.run(0, 0.05, &[Importance::High.client(HZ, 0)])?;
        let memory = Memory::of(deployment.processes()[0])?;
        deployment.stop()?;
        Ok(memory.resident_kib)
    };
    Policy::ALL.into_iter().map(resident).collect()
}

fn evaluate(trial: &mut Trial<'_>, results: &[PhaseResult<Point>], memory: &[u64]) {
    let outcome = &mut trial.outcome;
    let reference = medians(results, Policy::Propagated);
    let resident_reference = memory[0] as f64;
    for (policy, resident) in Policy::ALL.into_iter().zip(memory) {
        let medians = medians(results, policy);
        let ratios = medians
            .iter()
            .zip(&reference)
            .map(|(of, reference)| of / reference);
        let ratio = median(&ratios.collect::<Vec<_>>());
        for loaded in [false, true] {
            let clients = important(results, Point { policy, loaded });
            let mut latencies = Latencies::new();
            let mut longest = 0_f64;
            for client in clients {
                latencies.merge(&client.latencies());
                longest = longest.max(client.max_outside_holes_us().unwrap_or(0.0));
            }
            if loaded {
                let text = format!(
                    "{}: longest call of the important client beside best-effort clients, outside holes (µs): \
                     it never waits for a best-effort call, which takes 6.7 ms",
                    policy.name()
                );
                let id = format!("{}.inversions", id(policy));
                outcome.claim(Claim::at_most(id, text, SOURCE, longest, LONGEST_US));
            }
            let row = Row::new()
                .with("kind", "policy")
                .with("policy", policy.name())
                .with("best_effort", if loaded { BEST_EFFORT } else { 0 })
                .with_fields(&latencies.summary())
                .with("max_outside_holes_us", longest)
                .with("over_propagated", ratio.filter(|_| !loaded))
                .with("resident_kib", *resident);
            outcome.row(row);
        }
        if policy == Policy::Propagated {
            continue;
        }
        let (limit, why) = if hands_over(policy) {
            (COST_OF_HAND_OVER, "a request may be handed to another thread")
        } else {
            (COST, "it adds nothing to the path of a call")
        };
        let name = policy.name();
        let text =
            format!("{name}: median latency over that of CLIENT_PROPAGATED, median of the rounds: {why}");
        let (cost, ratio) = (format!("{}.cost", id(policy)), ratio.unwrap_or(f64::NAN));
        outcome.claim(Claim::at_most(cost, text, SOURCE, ratio, limit));
        let text = format!("{name}: resident memory of the server over that with CLIENT_PROPAGATED");
        let (memory, ratio) = (
            format!("{}.memory", id(policy)),
            *resident as f64 / resident_reference,
        );
        outcome.claim(Claim::at_most(memory, text, SOURCE, ratio, MEMORY));
    }
}

/// Returns the important client of each round.
fn important(results: &[PhaseResult<Point>], point: Point) -> impl Iterator<Item = &Client> {
    let rounds = results.iter().filter(move |phase| phase.key == point);
    rounds.filter_map(|phase| phase.clients.first())
}

/// Returns the median latency of each round alone.
fn medians(results: &[PhaseResult<Point>], policy: Policy) -> Vec<f64> {
    let alone = Point {
        policy,
        loaded: false,
    };
    important(results, alone)
        .filter_map(|client| client.latencies().quantile_us(0.5))
        .collect()
}

/// The first part of the ids of a policy's claims.
fn id(policy: Policy) -> &'static str {
    match policy {
        Policy::Propagated => "propagated",
        Policy::Bands => "bands",
        Policy::Declared => "declared",
        Policy::PrivateConnection => "private-connection",
        Policy::Buffering => "buffering",
        Policy::Borrowing => "borrowing",
        Policy::Sockets => "sockets",
    }
}

/// Whether a request goes from one thread to another.
fn hands_over(policy: Policy) -> bool {
    matches!(policy, Policy::Buffering | Policy::Borrowing)
}
