//! More threads for lanes and pools.

use super::Advice;
use crate::{Pool, Refusal, Wait, threads::MAX_THREADS};

impl Advice {
    /// Adds the threads that lanes and pools on hosts by deadline need.
    pub(super) fn with_missing_threads(&self) -> Self {
        let mut advice = self.clone();
        for refusal in self.schedule.refusals() {
            let Refusal::FewThreadsByDeadline {
                pool: name,
                lanes,
                requests,
                ..
            } = refusal
            else {
                continue;
            };
            if requests > MAX_THREADS {
                continue;
            }
            let pools = &advice.schedule.pools;
            let Some(place) = pools.iter().position(|pool| pool.name == name) else {
                continue;
            };
            let pool = &pools[place];
            let of_lanes = 0..pool.lanes.len();
            let short: Vec<Option<usize>> = if lanes.is_empty() {
                vec![None]
            } else {
                let is_short = |lane: &usize| {
                    let lane = &pool.lanes[*lane];
                    lanes.contains(&lane.priority) && lane.served_at_a_time() < requests
                };
                of_lanes.filter(is_short).map(Some).collect()
            };
            for lane in short {
                let threads = requests.saturating_sub(dynamic_threads(&advice.schedule.pools[place], lane));
                advice = advice.with_threads(place, lane, threads);
            }
        }
        advice
    }

    /// Gives one lane, or one pool without lanes, at least this many threads, which poll: those that block
    /// serve the requests of one connection one after the other.
    pub(super) fn with_threads(&self, pool: usize, lane: Option<usize>, at_least: usize) -> Self {
        let mut advice = self.clone();
        let pool = &mut advice.schedule.pools[pool];
        let (threads, wait, place) = match lane {
            None => (
                pool.threads.get_or_insert(1),
                &mut pool.wait,
                format!("pool `{}`", pool.name),
            ),
            Some(lane) => {
                let lane = &mut pool.lanes[lane];
                let place = format!("the lane of priority {} of pool `{}`", lane.priority, pool.name);
                (&mut lane.threads, &mut lane.wait, place)
            }
        };
        let before = *threads;
        *threads = before.max(at_least);
        advice.changes.push(match *wait {
            Wait::Polled => format!("{threads} threads instead of {before} in {place}"),
            Wait::Blocking => format!("{threads} polled threads instead of {before} that block in {place}"),
        });
        *wait = Wait::Polled;
        advice
    }
}

fn dynamic_threads(pool: &Pool, lane: Option<usize>) -> usize {
    lane.map_or(pool.dynamic_threads, |lane| pool.lanes[lane].dynamic_threads)
}
