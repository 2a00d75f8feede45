//! Changes that make a schedule feasible.

mod nested;
mod threads;

use punctual::{NativePriority, Priority};
use punctual_sched::analysis;

use crate::{Class, Lane, Model, Refusal, Schedule, Wait};

/// A change that makes an infeasible schedule feasible.
///
/// ```
/// use punctual_scheduling::{Advice, Schedule};
///
/// let text = r#"
///     [[activity]]
///     name = "slow"
///     priority = 20000
///     period = "100 ms"
///     step = [{ host = "localhost", wcet = "30 ms" }]
///     [[activity]]
///     name = "urgent"
///     priority = 10000
///     period = "10 ms"
///     step = [{ host = "localhost", wcet = "1 ms" }]
/// "#;
/// let advice = Advice::for_schedule(&Schedule::parse("urgent.toml", text)?).expect("a change exists");
/// assert!(advice.changes[0].starts_with("lower the priority of `slow` from 20000 to"));
/// assert!(advice.schedule.is_feasible());
/// # Ok::<(), punctual_scheduling::FileError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Advice {
    /// Descriptions of the changes.
    pub changes: Vec<String>,
    /// The changed schedule, which is feasible.
    pub schedule: Schedule,
}

impl Advice {
    /// Finds the smallest change: missing lanes, and threads on hosts by deadline, else lanes for one pool,
    /// else for all, else one priority, else more threads for a lane whose servants wait for calls of their
    /// own, else another lane for one activity, else new priorities.
    ///
    /// Returns `None` if the schedule is feasible already, or if nothing was found. If every activity has one
    /// step, or if there are at most seven activities and no servant makes calls, the analysis can prove no
    /// order of priorities feasible then.
    pub fn for_schedule(schedule: &Schedule) -> Option<Self> {
        if schedule.is_feasible() {
            return None;
        }
        let start = Self {
            changes: Vec::new(),
            schedule: schedule.clone(),
        };
        let complete = start.with_missing_lanes().with_missing_threads();
        if complete.schedule.is_feasible() {
            return Some(complete);
        }
        let without_lanes: Vec<usize> = (0..complete.schedule.pools.len())
            .filter(|index| !complete.schedule.pools[*index].has_lanes())
            .collect();
        let one_pool = without_lanes.iter().map(|index| complete.with_lanes(&[*index]));
        let all_pools = (without_lanes.len() > 1).then(|| complete.with_lanes(&without_lanes));
        let lanes: Vec<Self> = one_pool.chain(all_pools).collect();
        if let Some(found) = lanes.iter().find(|advice| advice.schedule.is_feasible()) {
            return Some(found.clone());
        }
        // Priorities with the pools unchanged, else with lanes in all pools.
        let starts = [Some(&complete), lanes.last()];
        let starts = starts.into_iter().flatten();
        starts
            .clone()
            .find_map(|advice| advice.with_one_change())
            .or_else(|| starts.clone().find_map(|advice| advice.with_more_threads()))
            .or_else(|| starts.clone().find_map(|advice| advice.with_another_lane()))
            .or_else(|| starts.clone().find_map(|advice| advice.with_new_priorities()))
    }

    /// Adds a lane for each priority at which a pool with lanes is called.
    fn with_missing_lanes(&self) -> Self {
        let mut advice = self.clone();
        for refusal in self.schedule.refusals() {
            let Refusal::NoLane { pool, priority, .. } = refusal else {
                continue;
            };
            let pools = advice.schedule.pools.iter_mut();
            let Some(found) = pools.into_iter().find(|other| other.name == pool) else {
                continue;
            };
            if !found.has_lane(priority) {
                // The pool's class has no priorities, which this lane needs.
                let class = (found.class == Some(Class::Ordinary)).then_some(Class::Fifo);
                found.lanes.push(Lane {
                    class,
                    ..Lane::new(priority, 1)
                });
                found.lanes.sort_by_key(|lane| lane.priority);
                let change = format!("add a lane of priority {priority} with 1 thread to pool `{pool}`");
                advice.changes.push(change);
            }
        }
        advice
    }

    /// Replaces the threads of these pools by lanes, one for each priority at which the pool is called.
    fn with_lanes(&self, pools: &[usize]) -> Self {
        let mut advice = self.clone();
        for index in pools {
            let name = advice.schedule.pools[*index].name.clone();
            let mut priorities: Vec<Priority> = Vec::new();
            // Calls to a pool with lanes do not have the pool's own priority.
            let mut with_lanes = self.schedule.clone();
            with_lanes.pools[*index].lanes = vec![Lane::new(Priority::MIN, 1)];
            for activity in &self.schedule.activities {
                let parts = with_lanes.parts_of(activity);
                let calls = parts.holds.iter().filter(|(pool, ..)| pool.name == name);
                priorities.extend(calls.flat_map(|(_, first, _)| parts.parts[*first].priorities.clone()));
            }
            // Declared priorities of adapters and objects need lanes, too, whether called or not.
            for adapter in self
                .schedule
                .adapters
                .iter()
                .filter(|adapter| adapter.pool == name)
            {
                priorities.push(adapter.model.server_priority());
                let objects = self.schedule.objects.iter();
                priorities.extend(
                    objects
                        .filter(|object| object.adapter == adapter.name)
                        .map(|object| object.priority),
                );
            }
            priorities.sort_unstable();
            priorities.dedup();
            if priorities.is_empty() {
                continue;
            }
            let shown: Vec<_> = priorities.iter().map(ToString::to_string).collect();
            let pool = &mut advice.schedule.pools[*index];
            // The lanes take over the settings of the threads.
            let lane = |priority| Lane {
                dynamic_threads: pool.dynamic_threads,
                dynamic_idle_timeout: pool.dynamic_idle_timeout,
                dynamic_run_time: pool.dynamic_run_time,
                wait: pool.wait,
                ..Lane::new(priority, 1)
            };
            pool.lanes = priorities.into_iter().map(lane).collect();
            (pool.threads, pool.priority) = (None, None);
            (pool.dynamic_threads, pool.wait) = (0, Wait::Polled);
            (pool.dynamic_idle_timeout, pool.dynamic_run_time) = (None, None);
            let change = format!(
                "replace the threads of pool `{name}` by lanes of priorities {}",
                shown.join(", ")
            );
            advice.changes.push(change);
        }
        advice
    }

    fn with_one_change(&self) -> Option<Self> {
        let model = Model::of(&self.schedule);
        let (task, native) = analysis::one_change(&model.tasks, 1..=99)?;
        let mut priorities: Vec<Option<i32>> = vec![None; model.tasks.len()];
        priorities[task] = Some(native);
        self.with_priorities(&model, &priorities)
    }

    fn with_new_priorities(&self) -> Option<Self> {
        let model = Model::of(&self.schedule);
        let levels = levels(model.tasks.len())?;
        let priorities = analysis::feasible_priorities(&model.tasks, &levels)?;
        let priorities: Vec<_> = priorities.into_iter().map(Some).collect();
        self.with_priorities(&model, &priorities)
    }

    /// Sets these native priorities of tasks and adds the necessary lanes; `None` if the result is not
    /// feasible.
    fn with_priorities(&self, model: &Model, natives: &[Option<i32>]) -> Option<Self> {
        let mut advice = self.clone();
        let mapping = self.schedule.native_mapping();
        for (native, index) in natives.iter().zip(&model.activities) {
            let activity = &mut advice.schedule.activities[*index];
            let Some(native) = native.and_then(|native| i16::try_from(native).ok()) else {
                continue;
            };
            let native = NativePriority(native);
            if mapping.to_native(activity.priority) == Some(native) {
                continue;
            }
            let (before, after) = (activity.priority, mapping.to_corba(native)?);
            let verb = if after > before { "raise" } else { "lower" };
            let change = format!(
                "{verb} the priority of `{}` from {before} to {after}",
                activity.name
            );
            advice.changes.push(change);
            activity.priority = after;
        }
        let advice = advice.with_missing_lanes().with_missing_threads();
        advice.schedule.is_feasible().then_some(advice)
    }
}

/// Returns `count` native priorities spread evenly over 1 to 99; `None` if there are too few.
fn levels(count: usize) -> Option<Vec<i32>> {
    let count = i32::try_from(count)
        .ok()
        .filter(|count| (1..=99).contains(count))?;
    Some(match count {
        1 => vec![50],
        _ => (0..count).map(|index| 1 + 98 * index / (count - 1)).collect(),
    })
}
