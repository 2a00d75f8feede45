//! Lanes with fewer threads than requests on hosts by deadline.

use std::collections::BTreeMap;

use punctual_sched::analysis::Hold;

use super::Refusal;
use crate::{Activity, Schedule, lanes::Lanes};

/// Requests that a lane may have at a time, and those that it can serve.
#[derive(Default)]
struct Load {
    requests: usize,
    served: usize,
}

impl Schedule {
    /// Returns the refusals of lanes and pools on hosts by deadline.
    pub(super) fn few_threads_by_deadline(&self) -> Vec<Refusal> {
        let lanes = Lanes::of(self);
        let refusal = |(lane, load): (usize, Load)| {
            let (pool, priorities) = lanes.named(lane)?;
            if load.requests <= load.served || !self.serves_by_deadline(pool) {
                return None;
            }
            let (threads, wait) = pool.fewest_threads(&priorities);
            Some(Refusal::FewThreadsByDeadline {
                host: self.host_of_pool(pool)?.to_owned(),
                pool: pool.name.clone(),
                lanes: priorities,
                threads,
                wait,
                requests: load.requests,
            })
        };
        self.loads(&lanes).into_iter().filter_map(refusal).collect()
    }

    /// Returns the loads of all lanes that are called, by their numbers.
    fn loads(&self, lanes: &Lanes<'_>) -> BTreeMap<usize, Load> {
        let mut loads: BTreeMap<usize, Load> = BTreeMap::new();
        for activity in &self.activities {
            let holds = lanes.holds(&self.parts_of(activity));
            let mut own: Vec<_> = holds.iter().filter(|hold| !hold.borrows).collect();
            own.sort_by_key(|hold| hold.lane);
            own.dedup_by_key(|hold| hold.lane);
            for hold in own {
                let load = loads.entry(hold.lane).or_default();
                let more = Hold::at_a_time(&holds, hold.lane).saturating_mul(instances(activity));
                load.requests = load.requests.saturating_add(more);
                load.served = hold.threads;
            }
        }
        loads
    }
}

/// Returns how many instances of an activity are under way at a time, if it meets its deadlines.
fn instances(activity: &Activity) -> usize {
    let Some(period) = activity.period.filter(|period| !period.is_zero()) else {
        return 1;
    };
    let deadline = activity.deadline.unwrap_or(period);
    let instances = deadline.nanoseconds().div_ceil(period.nanoseconds());
    usize::try_from(instances).unwrap_or(usize::MAX).max(1)
}
