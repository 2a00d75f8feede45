use punctual::{NativePriority, Priority};
use punctual_sched::analysis;

use crate::{Class, Lane, Model, Place, Refusal, Schedule, Wait};

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
/// let advice = Advice::for_schedule(&Schedule::parse("urgent.toml", text)?).expect("it can be helped");
/// assert!(advice.changes[0].starts_with("lower the priority of `slow` from 20000 to"));
/// assert!(advice.schedule.is_feasible());
/// # Ok::<(), punctual_scheduling::FileError>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Advice {
    /// What to do, a sentence each.
    pub changes: Vec<String>,
    /// The schedule with these changes, which is feasible.
    pub schedule: Schedule,
}

impl Advice {
    /// The smallest change found: missing lanes, else lanes for one pool, else for all, else one priority, else new priorities.
    ///
    /// `None` for a schedule that is feasible already, and where nothing was found. Where every activity has one step, no
    /// priorities help then; for chains of calls there may be some that the analysis cannot vouch for.
    pub fn for_schedule(schedule: &Schedule) -> Option<Self> {
        if schedule.is_feasible() {
            return None;
        }
        let start = Self {
            changes: Vec::new(),
            schedule: schedule.clone(),
        };
        let complete = start.with_missing_lanes();
        if complete.schedule.is_feasible() {
            return Some(complete);
        }
        let without_lanes: Vec<usize> = (0..complete.schedule.pools.len())
            .filter(|place| !complete.schedule.pools[*place].has_lanes())
            .collect();
        let one_pool = without_lanes.iter().map(|place| complete.with_lanes(&[*place]));
        let all_pools = (without_lanes.len() > 1).then(|| complete.with_lanes(&without_lanes));
        let lanes: Vec<Self> = one_pool.chain(all_pools).collect();
        if let Some(found) = lanes.iter().find(|advice| advice.schedule.is_feasible()) {
            return Some(found.clone());
        }
        // Priorities with the pools as they are, else with lanes wherever they are missing.
        let starts = [Some(&complete), lanes.last()];
        let starts = starts.into_iter().flatten();
        starts
            .clone()
            .find_map(|advice| advice.with_one_change())
            .or_else(|| starts.clone().find_map(|advice| advice.with_new_priorities()))
    }

    /// With a lane for each priority at which a pool with lanes is called.
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
                // What nobody has asked for a priority may have none; this lane needs one.
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

    /// With lanes in place of plain threads in these pools, one for each priority at which they are called.
    fn with_lanes(&self, pools: &[usize]) -> Self {
        let mut advice = self.clone();
        for place in pools {
            let name = advice.schedule.pools[*place].name.clone();
            let mut priorities: Vec<Priority> = Vec::new();
            for activity in &self.schedule.activities {
                let calls = activity.steps.iter().filter_map(|step| match step.place()? {
                    Place::Pool(pool) => (pool == name).then_some(activity.priority),
                    Place::Object(object) => {
                        let is_here = self.schedule.pool_of(step)?.name == name;
                        is_here.then_some(self.schedule.object(object)?.priority)
                    }
                    Place::Host(_) => None,
                });
                priorities.extend(calls);
            }
            // What adapters and objects declare needs its lane too, called or not.
            for adapter in self
                .schedule
                .adapters
                .iter()
                .filter(|adapter| adapter.pool == name)
            {
                priorities.push(adapter.priority);
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
            let pool = &mut advice.schedule.pools[*place];
            // What its threads were like, those of each lane are.
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
                "give pool `{name}` lanes of priorities {} in place of its threads",
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
        let priorities = analysis::audsley(&model.tasks, &levels)?;
        let priorities: Vec<_> = priorities.into_iter().map(Some).collect();
        self.with_priorities(&model, &priorities)
    }

    /// With these native priorities for tasks, and the lanes that they need; `None` where that is not feasible after all.
    fn with_priorities(&self, model: &Model, natives: &[Option<i32>]) -> Option<Self> {
        let mut advice = self.clone();
        let mapping = self.schedule.native_mapping();
        for (native, place) in natives.iter().zip(&model.activities) {
            let activity = &mut advice.schedule.activities[*place];
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
        let advice = advice.with_missing_lanes();
        advice.schedule.is_feasible().then_some(advice)
    }
}

/// So many native priorities, spread evenly over 1 to 99; `None` where there are not enough.
fn levels(count: usize) -> Option<Vec<i32>> {
    let count = i32::try_from(count)
        .ok()
        .filter(|count| (1..=99).contains(count))?;
    Some(match count {
        1 => vec![50],
        _ => (0..count).map(|place| 1 + 98 * place / (count - 1)).collect(),
    })
}
