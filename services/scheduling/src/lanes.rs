//! The lanes of all pools, by number, and the threads that requests occupy there.

use punctual::Priority;
use punctual_sched::analysis::Hold;

use crate::{Parts, Pool, Schedule};

/// The lanes of all pools, by number.
pub(crate) struct Lanes<'s> {
    schedule: &'s Schedule,
    /// Whether the lanes of each pool count as one.
    merged: Vec<bool>,
}

impl<'s> Lanes<'s> {
    pub(crate) fn of(schedule: &'s Schedule) -> Self {
        let mut merged = vec![false; schedule.pools.len()];
        for activity in &schedule.activities {
            let parts = schedule.parts_of(activity);
            for &(pool, first, _) in &parts.holds {
                if parts.parts[first].priorities.len() > 1 {
                    merged[place(schedule, pool)] = true;
                }
            }
        }
        Self { schedule, merged }
    }

    /// Returns the threads that the parts of an activity occupy.
    pub(crate) fn holds(&self, parts: &Parts<'_>) -> Vec<Hold> {
        let mut holds = Vec::new();
        for &(pool, first, last) in &parts.holds {
            let own = parts.parts[first].priorities[0];
            let mut add = |priority| {
                let (lane, threads) = self.lane(pool, priority);
                holds.push(Hold {
                    lane,
                    threads: threads.max(1),
                    first,
                    last,
                    borrows: priority != own,
                });
            };
            add(own);
            if pool.allow_borrowing && !self.merged[place(self.schedule, pool)] {
                let lower = pool.lanes.iter().map(|lane| lane.priority);
                lower.filter(|lower| *lower < own).for_each(add);
            }
        }
        holds
    }

    /// Returns the pool of a lane and the priorities that the lane stands for: none without lanes, several if
    /// the pool's lanes count as one. `None` for a lane that does not exist, so that calls are refused.
    pub(crate) fn named(&self, lane: usize) -> Option<(&'s Pool, Vec<Priority>)> {
        let (pool_place, lane) = (lane / self.numbers(), lane % self.numbers());
        let pool = self.schedule.pools.get(pool_place)?;
        if !pool.has_lanes() || self.merged[pool_place] {
            return Some((pool, pool.lanes.iter().map(|lane| lane.priority).collect()));
        }
        Some((pool, vec![pool.lanes.get(lane)?.priority]))
    }

    /// Returns how many numbers each pool has: as many as the one with most lanes, and one.
    fn numbers(&self) -> usize {
        let lanes = self.schedule.pools.iter().map(|pool| pool.lanes.len());
        lanes.max().unwrap_or(0) + 1
    }

    /// Returns number and threads of the lane of a pool that serves this priority.
    fn lane(&self, pool: &Pool, priority: Priority) -> (usize, usize) {
        let pool_place = place(self.schedule, pool);
        let first = pool_place * self.numbers();
        if !pool.has_lanes() {
            return (first, pool.served_at_a_time());
        }
        if self.merged[pool_place] {
            let threads = pool.lanes.iter().map(crate::Lane::served_at_a_time);
            return (first, threads.min().unwrap_or(1));
        }
        match pool.lanes.iter().position(|lane| lane.priority == priority) {
            Some(lane) => (first + lane, pool.lanes[lane].served_at_a_time()),
            // The call is refused.
            None => (first + pool.lanes.len(), 1),
        }
    }
}

fn place(schedule: &Schedule, pool: &Pool) -> usize {
    let place = schedule.pools.iter().position(|other| other.name == pool.name);
    place.expect("the pool is one of the schedule")
}
