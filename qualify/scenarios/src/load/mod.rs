//! The driver of the experiments with thread pools: a server whose servant takes processor time, and clients that call it at
//! fixed rates or without a pause. Source: [Pyarali 2002] 3.1 and TAO's Thread_Pool test.
//!
//! | What | File |
//! |---|---|
//! | The server process: pools and the servant behind each | `server.rs` |
//! | What clients are to do, and what they tell | `task.rs` |
//! | The client process, and its threads | `client.rs`, `worker.rs` |
//! | Both processes in their places | `stage.rs`, `network.rs` |
//! | Work in a unit that fits the machine | `calibration.rs` |
//! | Phases one after the other, with what the kernel took | `session.rs` |
//! | Shares of deadlines | `deadlines.rs` |

mod calibration;
mod client;
mod deadlines;
pub(crate) mod network;
mod server;
mod session;
mod stage;
mod task;
mod worker;

pub(crate) use calibration::{CAPACITY, REFERENCE_WORK};
pub(crate) use deadlines::{Counting, Share};
pub(crate) use server::{PoolSpec, ServerSpec};
pub(crate) use session::{COLUMNS, Client, Phase, Played, Session, expected};
pub(crate) use stage::{Placement, Setup};
pub(crate) use task::{Pace, Request, Worker};

const SERVER_ROLE: &str = "__load-server";
const CLIENT_ROLE: &str = "__load-client";

/// Its processes.
pub(crate) const ROLES: &[(&str, crate::role::Role)] =
    &[(SERVER_ROLE, server::server), (CLIENT_ROLE, client::client)];

/// The priorities of [Pyarali 2002]'s lanes, the highest a little lower, so that what supervises the run stands above it.
pub(crate) mod priority {
    pub(crate) const HIGH: i16 = 32_000;
    pub(crate) const MEDIUM: i16 = 21_844;
    pub(crate) const LOW: i16 = 10_922;
    pub(crate) const BEST_EFFORT: i16 = 0;
}

/// The clients with a rate, by their importance.
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

    /// Calls per second where the more important call more often, as in most experiments of [Pyarali 2002].
    pub(crate) fn rate(self) -> u32 {
        match self {
            Self::High => 75,
            Self::Medium => 50,
            Self::Low => 25,
        }
    }

    /// Calls per second in its experiment 6, where the less important call more often.
    pub(crate) fn decreasing_rate(self) -> u32 {
        match self {
            Self::High => 25,
            Self::Medium => 50,
            Self::Low => 75,
        }
    }

    /// Its client, doing `work` at `rate`.
    pub(crate) fn client(self, rate: u32, work: u32) -> Worker {
        Worker {
            name: self.name().to_owned(),
            priority: Some(self.priority()),
            pace: Pace::Hertz(rate),
            request: Request::Work(work),
        }
    }
}

/// The three clients with increasing rates, and best-effort threads beside them that call as fast as they can.
pub(crate) fn clients(work: u32, best_effort: usize) -> Vec<Worker> {
    let paced = Importance::ALL.into_iter().map(|of| of.client(of.rate(), work));
    let continuous = (0..best_effort).map(|_| Worker {
        name: BEST_EFFORT.to_owned(),
        priority: Some(priority::BEST_EFFORT),
        pace: Pace::Continuous,
        request: Request::Work(work),
    });
    paced.chain(continuous).collect()
}

/// The two pools of the demo, and of the experiments in pairs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pool {
    /// A thread for each lane of the other, at the lowest client's priority, requests in order of arrival.
    Classic,
    /// A lane of one thread for each priority.
    Lanes,
}

impl Pool {
    pub(crate) const ALL: [Self; 2] = [Self::Classic, Self::Lanes];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Lanes => "lanes",
        }
    }

    /// Name in headings.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Classic => "Pool without lanes",
            Self::Lanes => "Pool with lanes",
        }
    }

    /// Name within sentences.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Classic => "pool without lanes",
            Self::Lanes => "pool with lanes",
        }
    }

    /// The pool for the three clients with rates, and for best effort too where that is wanted.
    pub(crate) fn spec(self, best_effort: bool) -> PoolSpec {
        match self {
            Self::Classic => PoolSpec::Classic {
                threads: Importance::ALL.len() + usize::from(best_effort),
                priority: if best_effort {
                    priority::BEST_EFFORT
                } else {
                    priority::LOW
                },
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

/// A server with both.
pub(crate) fn both_pools(best_effort: bool) -> ServerSpec {
    ServerSpec {
        pools: Pool::ALL.map(|pool| pool.spec(best_effort)).into(),
        realtime: true,
    }
}

/// The name of the clients without a rate.
pub(crate) const BEST_EFFORT: &str = "best effort";
