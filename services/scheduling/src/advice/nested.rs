//! Changes for schedules whose servants make calls: more threads for the lanes that wait, or lanes apart.

use punctual_sched::analysis::Task;

use super::Advice;
use crate::{Model, Schedule};

/// Number of schedules that are analysed in search of one changed priority.
const MOST_TRIED: usize = 300;

impl Advice {
    /// Adds threads to one lane, or to one pool without lanes, whose servants wait for calls of their own: as
    /// few as make the schedule feasible. One thread for each activity is enough for all to wait at a time.
    pub(super) fn with_more_threads(&self) -> Option<Self> {
        let most = self.schedule.activities.len();
        let waiting = waiting_lanes(&self.schedule);
        // Those that block may be enough if they poll.
        let candidates =
            (0..=most).flat_map(|more| waiting.iter().map(move |(pool, lane)| (*pool, *lane, more)));
        candidates
            .map(|(pool, lane, more)| {
                let of = &self.schedule.pools[pool];
                let before = lane.map_or(of.threads.unwrap_or(1), |lane| of.lanes[lane].threads);
                self.with_threads(pool, lane, before + more)
            })
            .find(|advice| advice.schedule.is_feasible())
    }

    /// Changes the priority of one activity so that its calls have a lane apart from those that wait. The
    /// analysis alone does not find this: it changes priorities, and leaves every call in its lane.
    pub(super) fn with_another_lane(&self) -> Option<Self> {
        if waiting_lanes(&self.schedule).is_empty() {
            return None;
        }
        let model = Model::of(&self.schedule);
        let mut candidates: Vec<(usize, i32)> = Vec::new();
        for (number, task) in model.tasks.iter().enumerate() {
            let around = model.tasks.iter().flat_map(levels_around);
            let others = around.filter(|level| (1..=99).contains(level) && *level != task.priority);
            candidates.extend(others.map(|level| (number, level)));
        }
        candidates.sort_by_key(|&(task, level)| (level.abs_diff(model.tasks[task].priority), task, level));
        candidates.dedup();
        candidates.into_iter().take(MOST_TRIED).find_map(|(task, level)| {
            let mut natives = vec![None; model.tasks.len()];
            natives[task] = Some(level);
            self.with_priorities(&model, &natives)
        })
    }
}

/// Returns the levels of a task, and the free ones beside them.
fn levels_around(task: &Task) -> [i32; 3] {
    [task.priority - 1, task.priority, task.priority + 1]
}

/// Returns pools and lanes in which servants wait for calls of their own; without a lane, the pool has none.
fn waiting_lanes(schedule: &Schedule) -> Vec<(usize, Option<usize>)> {
    let mut found = Vec::new();
    for activity in &schedule.activities {
        let parts = schedule.parts_of(activity);
        for (pool, first, _) in parts.holds.iter().filter(|(_, first, last)| last > first) {
            let Some(place) = schedule.pools.iter().position(|other| other.name == pool.name) else {
                continue;
            };
            if !pool.has_lanes() {
                found.push((place, None));
            }
            for priority in &parts.parts[*first].priorities {
                let lane = pool.lanes.iter().position(|lane| lane.priority == *priority);
                found.extend(lane.map(|lane| (place, Some(lane))));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
