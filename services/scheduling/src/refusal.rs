//! Calls that the schedule's own pools refuse.

mod by_deadline;

use std::fmt;

use punctual::Priority;

use crate::{HostOrder, Pool, Schedule, Wait};

/// Calls that the schedule's own pools would refuse, or delay for an unbounded time.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// No lane has the priority of the call.
    NoLane {
        /// Name of the calling activity.
        activity: String,
        /// Name of the called pool.
        pool: String,
        /// Priority of the call.
        priority: Priority,
    },
    /// Requests of different priorities share fewer threads than there are callers: one of low priority can
    /// occupy the thread that one of high priority needs, and be delayed by everything in between.
    FewThreads {
        /// Name of the pool.
        pool: String,
        /// Number of its threads.
        threads: usize,
        /// How they wait. If they block, they count as one.
        wait: Wait,
        /// Number of steps that it serves.
        callers: usize,
    },
    /// A host serves by deadline, and a lane has fewer threads than requests: one with a late deadline can
    /// occupy the thread that one with an earlier deadline needs, and be delayed by everything in between.
    FewThreadsByDeadline {
        /// Name of the host.
        host: String,
        /// Name of the pool.
        pool: String,
        /// Priority of the lane; none if the pool has no lanes, all of them if a call may go to several.
        lanes: Vec<Priority>,
        /// Number of its threads, with dynamic ones; the fewest of any of the lanes.
        threads: usize,
        /// How they wait. If they block, they count as one.
        wait: Wait,
        /// Number of requests that it may have at a time.
        requests: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLane {
                activity,
                pool,
                priority,
            } => write!(
                f,
                "`{activity}` calls pool `{pool}` at priority {priority}, and no lane of that pool has this \
                 priority: the calls would be refused"
            ),
            Self::FewThreads {
                pool,
                threads,
                wait,
                callers,
            } => write!(
                f,
                "pool `{pool}` serves {callers} steps at different priorities with {} and without lanes: a \
                 step of low priority can occupy the thread that one of high priority needs; give it lanes, \
                 or {callers} threads{}",
                counted(*threads, *wait),
                polled(*wait)
            ),
            Self::FewThreadsByDeadline {
                host,
                pool,
                lanes,
                threads,
                wait,
                requests,
            } => {
                let (of_lane, place) = match &lanes[..] {
                    [] => (String::new(), "the pool"),
                    [priority] => (format!("the lane of priority {priority} of "), "the lane"),
                    several => {
                        let shown: Vec<_> = several.iter().map(ToString::to_string).collect();
                        let shown = shown.join(", ");
                        (format!("one of the lanes of priorities {shown} of "), "each lane")
                    }
                };
                write!(
                    f,
                    "{of_lane}pool `{pool}` has {} for up to {requests} requests at a time, and \
                     host `{host}` serves by deadline: one with a late deadline can occupy the thread that \
                     one with an earlier deadline needs; give {place} {requests} threads{}",
                    counted(*threads, *wait),
                    polled(*wait)
                )
            }
        }
    }
}

/// Returns the description of threads.
fn counted(threads: usize, wait: Wait) -> String {
    let number = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
    if wait == Wait::Polled {
        return number;
    }
    let verbs = if threads == 1 {
        ["blocks", "serves"]
    } else {
        ["block", "serve"]
    };
    let [block, serve] = verbs;
    format!("{number} that {block}, which {serve} the requests of one connection one after the other,")
}

/// Returns the part of an advice that states how threads should wait.
fn polled(wait: Wait) -> &'static str {
    match wait {
        Wait::Polled => "",
        Wait::Blocking => " with `wait` = \"polled\"",
    }
}

impl Schedule {
    /// Finds everything that prevents calls from being served in bounded time, regardless of their deadlines.
    ///
    /// ```
    /// use punctual::Priority;
    /// use punctual_scheduling::Schedule;
    ///
    /// let mut schedule = Schedule::parse("radar.toml", include_str!("../radar.toml"))?;
    /// assert_eq!(schedule.refusals(), []);
    /// schedule.activities[0].priority = Priority::new(20_000)?;
    /// assert!(schedule.refusals()[0].to_string().contains("no lane of that pool has this priority"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refusals(&self) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for activity in &self.activities {
            let parts = self.parts_of(activity);
            for &(pool, first, _) in parts.holds.iter().filter(|(pool, ..)| pool.has_lanes()) {
                for &priority in &parts.parts[first].priorities {
                    let refusal = Refusal::NoLane {
                        activity: activity.name.clone(),
                        pool: pool.name.clone(),
                        priority,
                    };
                    if !pool.has_lane(priority) && !refusals.contains(&refusal) {
                        refusals.push(refusal);
                    }
                }
            }
        }
        refusals.extend(self.pools.iter().filter_map(|pool| self.few_threads(pool)));
        refusals.extend(self.few_threads_by_deadline());
        refusals
    }

    /// Returns the refusal of a pool without lanes on a host by priority.
    fn few_threads(&self, pool: &Pool) -> Option<Refusal> {
        if pool.has_lanes() || self.serves_by_deadline(pool) {
            return None;
        }
        let activities = self.activities.iter();
        let holds = activities.flat_map(|activity| self.parts_of(activity).holds);
        let callers = holds.filter(|(other, ..)| other.name == pool.name).count();
        // At the pool's own priority, requests wait only for equal ones, which the analysis includes.
        let changes = self.adapters.iter().any(|adapter| adapter.pool == pool.name);
        let threads = pool.threads.unwrap_or(1);
        let at_a_time = match pool.wait {
            Wait::Polled => threads,
            Wait::Blocking => 1,
        };
        (changes && callers > at_a_time).then(|| Refusal::FewThreads {
            pool: pool.name.clone(),
            threads,
            wait: pool.wait,
            callers,
        })
    }

    /// Returns whether the host of a pool serves by deadline.
    fn serves_by_deadline(&self, pool: &Pool) -> bool {
        let host = self.host_of_pool(pool).and_then(|name| self.host(name));
        host.is_some_and(|host| host.order == HostOrder::Deadline)
    }
}
