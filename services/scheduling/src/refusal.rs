//! Calls that the schedule's own pools refuse.

use std::fmt;

use punctual::Priority;

use crate::Schedule;

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
        /// Number of steps that it serves.
        callers: usize,
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
                callers,
            } => write!(
                f,
                "pool `{pool}` serves {callers} steps at different priorities with {threads} threads and no \
                 lanes: a step of low priority can occupy the thread that one of high priority needs"
            ),
        }
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
        for pool in self.pools.iter().filter(|pool| !pool.has_lanes()) {
            let holds = self
                .activities
                .iter()
                .flat_map(|activity| self.parts_of(activity).holds);
            let callers = holds.filter(|(other, ..)| other.name == pool.name).count();
            // At the pool's own priority, requests wait only for equal ones, which the analysis includes.
            let changes = self.adapters.iter().any(|adapter| adapter.pool == pool.name);
            let threads = pool.threads.unwrap_or(1);
            if changes && callers > threads {
                refusals.push(Refusal::FewThreads {
                    pool: pool.name.clone(),
                    threads,
                    callers,
                });
            }
        }
        refusals
    }
}
