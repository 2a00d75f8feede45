//! The engine of all experiments with servers and clients: a server process with thread pools and servants,
//! a client process whose threads call at fixed rates, continuously or with pauses, the phases of a
//! benchmark, and the time that the kernel took from them. Source: [Pyarali 2002] 3.1 and TAO's Thread_Pool
//! test; [Schmidt 2002] 3.3 and TAO's MT_Cubit.
//!
//! | What | File |
//! |---|---|
//! | The server process: pools, each with servants | `server.rs`, `policies.rs` |
//! | Tasks of the client process, and its reports | `task.rs` |
//! | The client process and its threads | `client.rs`, `worker.rs`, `pacing.rs`, `slices.rs` |
//! | Both processes on their CPUs and networks | `deployment.rs`, `network.rs` |
//! | Programs of their own, driven line by line | `other_program.rs` |
//! | Calibration of the unit of work | `calibration.rs` |
//! | A benchmark's phases, with the time taken by the kernel | `session.rs` |
//! | Shares of deadlines met | `deadlines.rs` |

mod calibration;
mod client;
mod deadlines;
mod deployment;
pub(crate) mod network;
mod other_program;
mod pacing;
mod policies;
mod server;
mod session;
mod slices;
mod task;
mod worker;

pub(crate) use calibration::{CAPACITY, REFERENCE_WORK};
pub(crate) use deadlines::{Counting, Share};
pub(crate) use deployment::{Deployment, Placement, Setup};
pub(crate) use other_program::OtherProgram;
pub(crate) use policies::Policy;
pub(crate) use server::{Exposure, Fault, PoolSpec, SMALL_STACK_BYTES, Server, ServerSetup, ServerSpec};
pub(crate) use session::{Client, Engine, Phase, PhaseResult, Session, expected};
pub(crate) use slices::Slices;
pub(crate) use task::{Pace, Report, Request, Tolerance, Worker};

use crate::{
    control::Control,
    role::{Role, entry},
};

/// The control of experiments that run through this driver: the servant stops for a moment now and then, so
/// that the CPU is idle while calls wait, as after a lost wake-up.
pub(crate) const STALLED: Control = Control {
    id: "stalled-lane",
    about: "a servant that stops for 25 ms at every 25th call",
    breaks: &["no-idle-hole"],
};
/// The same for experiments that check results.
pub(crate) const FAULTY: Control = Control {
    id: "faulty-servant",
    about: "a servant that stops for 25 ms at every 25th call, and adds 1 to each result",
    breaks: &["no-idle-hole", "errors"],
};

/// The roles of the child processes.
pub(crate) const ROLES: &[(&str, Role)] = &[entry::<Server>(), entry::<client::Client>()];

/// The priorities of clients and lanes in [Pyarali 2002]; the highest is slightly lower, to leave room for
/// the supervisor above it. Best-effort clients have that of TAO's Thread_Pool test without lanes.
pub(crate) mod priority {
    pub(crate) const HIGH: i16 = 32_000;
    pub(crate) const MEDIUM: i16 = 21_844;
    pub(crate) const LOW: i16 = 10_922;
    pub(crate) const BEST_EFFORT: i16 = 1_000;
    /// Priority of a pool without lanes: below all clients, as in TAO's Thread_Pool test. A client of the
    /// pool's own native priority would queue behind the pool's threads before it can send its next request.
    pub(crate) const BELOW_ALL: i16 = 0;
}

/// The clients with a fixed rate, by importance.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Importance {
    High,
    Medium,
    Low,
}

impl Importance {
    pub(crate) const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    pub(crate) fn priority(self) -> i16 {
        match self {
            Self::High => priority::HIGH,
            Self::Medium => priority::MEDIUM,
            Self::Low => priority::LOW,
        }
    }

    /// Returns calls per second where more important clients call more often, as in most experiments of
    /// [Pyarali 2002].
    pub(crate) fn rate(self) -> u32 {
        match self {
            Self::High => 75,
            Self::Medium => 50,
            Self::Low => 25,
        }
    }

    /// Returns calls per second in experiment 6, where less important clients call more often.
    pub(crate) fn decreasing_rate(self) -> u32 {
        match self {
            Self::High => 25,
            Self::Medium => 50,
            Self::Low => 75,
        }
    }

    /// Returns the client with this importance, which requests `work` at `rate`.
    pub(crate) fn client(self, rate: u32, work: u32) -> Worker {
        Worker {
            name: self.name().to_owned(),
            priority: Some(self.priority()),
            pace: Pace::Hertz(rate),
            request: Request::Work(work),
            ..Worker::default()
        }
    }
}

/// Returns the three clients with increasing rates, and best-effort threads that call continuously.
pub(crate) fn clients(work: u32, best_effort: usize) -> Vec<Worker> {
    let paced = Importance::ALL.into_iter().map(|of| of.client(of.rate(), work));
    let continuous = (0..best_effort).map(|_| Worker {
        name: BEST_EFFORT.to_owned(),
        priority: Some(priority::BEST_EFFORT),
        pace: Pace::Continuous,
        request: Request::Work(work),
        ..Worker::default()
    });
    paced.chain(continuous).collect()
}

/// The two pools of the demo and of most experiments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pool {
    /// As many threads as the other pool has lanes, below all clients; requests in order of arrival.
    WithoutLanes,
    /// A lane of one thread for each priority.
    Lanes,
}

impl Pool {
    pub(crate) const ALL: [Self; 2] = [Self::WithoutLanes, Self::Lanes];

    /// Name in rows and claims.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::WithoutLanes => "pool without lanes",
            Self::Lanes => "lanes",
        }
    }

    /// Name in headings.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::WithoutLanes => "Pool without lanes",
            Self::Lanes => "Pool with lanes",
        }
    }

    /// Name within sentences.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::WithoutLanes => "pool without lanes",
            Self::Lanes => "pool with lanes",
        }
    }

    /// Returns the pool for the three clients with rates, optionally also for best-effort threads.
    pub(crate) fn spec(self, best_effort: bool) -> PoolSpec {
        match self {
            Self::WithoutLanes => PoolSpec::SinglePriority {
                threads: Importance::ALL.len() + usize::from(best_effort),
                priority: priority::BELOW_ALL,
            },
            Self::Lanes => {
                let lanes = Importance::ALL.map(Importance::priority).into_iter();
                PoolSpec::Lanes(
                    lanes
                        .chain(best_effort.then_some(priority::BEST_EFFORT))
                        .collect(),
                )
            }
        }
    }
}

/// Returns a server with both pools.
pub(crate) fn both_pools(best_effort: bool) -> ServerSpec {
    ServerSpec::new(Pool::ALL.map(|pool| pool.spec(best_effort)).into(), true)
}

/// Name of the clients without a rate.
pub(crate) const BEST_EFFORT: &str = "best effort";
