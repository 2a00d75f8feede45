//! Priorities that make a set of tasks feasible.

use alloc::{vec, vec::Vec};
use core::ops::RangeInclusive;

use super::{
    Task, Time,
    busy_window::{Budget, Given, response},
    holistic::is_feasible,
    model,
};

/// One task whose priority alone has to change for all to be in time: its place and its new priority, the
/// nearest to the one it has. `None` where there is no such task, none was found with a bounded amount of
/// work, or the tasks are no model.
///
/// ```
/// use punctual_sched::analysis::{Step, Task, one_change};
///
/// let slow = Task::new(100, 3).step(Step::new(0, 40));
/// let urgent = Task::new(10, 2).step(Step::new(0, 2));
/// // At equal priorities the urgent one would wait for the slow one.
/// assert_eq!(one_change(&[slow, urgent], 1..=99), Some((0, 1)));
/// ```
pub fn one_change(tasks: &[Task], levels: RangeInclusive<i32>) -> Option<(usize, i32)> {
    model::check(tasks).ok()?;
    let mut budget = Budget(SEARCH);
    let mut candidates: Vec<(usize, i32)> = Vec::new();
    let of_steps = |task: &Task| -> Vec<i32> {
        task.steps
            .iter()
            .flat_map(|step| [task.priority_of(step), task.peak_priority_of(step)])
            .collect()
    };
    let taken: Vec<i32> = tasks.iter().flat_map(of_steps).collect();
    let around = |value: &i32| [value.saturating_sub(1), *value, value.saturating_add(1)];
    for (number, task) in tasks.iter().enumerate() {
        let values = taken.iter().flat_map(around);
        let others = values.filter(|value| levels.contains(value) && *value != task.priority);
        candidates.extend(others.map(|value| (number, value)));
    }
    candidates.sort_by_key(|&(number, value)| (value.abs_diff(tasks[number].priority), number, value));
    candidates.dedup();
    candidates.into_iter().find(|&(number, value)| {
        let mut changed = tasks.to_vec();
        changed[number].priority = value;
        is_feasible(&changed, &mut budget)
    })
}

/// For one search: about a second on a slow machine.
const SEARCH: u64 = 20_000_000;

/// Priorities, one of `levels` for each task in the order given, with which all are in time; no two tasks
/// share one.
///
/// Audsley's algorithm: a task that is in time below all others gets the lowest priority, and so on with the
/// rest. Source: Audsley, Optimal priority assignment and feasibility of static priority tasks with arbitrary
/// start times, 1991. Where every task has one step, no other priorities do when these do not exist. For
/// chains over processors it takes each other step to be released as late as its task's deadline allows: what
/// it finds holds, and it may miss some. Steps with a priority of their own keep it.
///
/// `None` where it finds none with a bounded amount of work, there are fewer levels than tasks, or the tasks
/// are no model.
///
/// ```
/// use punctual_sched::analysis::{Step, Task, audsley};
///
/// let slow = Task::new(100, 3).step(Step::new(0, 40));
/// let urgent = Task::new(10, 2).step(Step::new(0, 2));
/// assert_eq!(audsley(&[slow, urgent], &[20, 60]), Some(vec![20, 60]));
/// ```
pub fn audsley(tasks: &[Task], levels: &[i32]) -> Option<Vec<i32>> {
    model::check(tasks).ok()?;
    let mut levels = levels.to_vec();
    levels.sort_unstable();
    levels.dedup();
    let mut tasks = tasks.to_vec();
    for task in &mut tasks {
        // Above every level, until it has one.
        task.priority = i32::MAX;
    }
    let mut unassigned: Vec<usize> = (0..tasks.len()).collect();
    // The longest deadline first: for equals in everything else the order of a reader.
    unassigned.sort_by_key(|number| core::cmp::Reverse(tasks[*number].deadline));
    let mut budget = Budget(SEARCH);
    let spare = levels.len().checked_sub(tasks.len())?;
    for level in levels.into_iter().skip(spare) {
        let fits = |number: &usize| is_in_time_at(&tasks, *number, level, &mut budget);
        let Some(place) = unassigned.iter().position(fits) else {
            // All have one: levels and tasks are equally many.
            return unassigned.is_empty().then(|| priorities(&tasks));
        };
        tasks[unassigned.remove(place)].priority = level;
    }
    is_feasible(&tasks, &mut budget).then(|| priorities(&tasks))
}

fn priorities(tasks: &[Task]) -> Vec<i32> {
    tasks.iter().map(|task| task.priority).collect()
}

/// Whether the task is in time at this level when every other one is as late as it may be.
fn is_in_time_at(tasks: &[Task], number: usize, level: i32, budget: &mut Budget) -> bool {
    let mut tasks = tasks.to_vec();
    tasks[number].priority = level;
    let mut jitters: Vec<Vec<Option<Time>>> = tasks.iter().map(latest_releases).collect();
    let mut overlapping = vec![false; tasks.len()];
    let task = &tasks[number];
    overlapping[number] = task.deadline > task.period;
    let mut end = Some(task.jitter);
    for (index, step) in task.steps.iter().enumerate() {
        jitters[number][index] = end.map(|end| end.saturating_add(step.delay));
        let given = Given {
            tasks: &tasks,
            jitters: &jitters,
            overlapping: &overlapping,
        };
        end = response(&given, number, index, budget);
    }
    end.is_some_and(|end| end <= task.deadline)
}

/// For each step how late it may be released if its task is to be in time; for the first how late it can be.
fn latest_releases(task: &Task) -> Vec<Option<Time>> {
    let mut latest = task.deadline;
    let mut releases: Vec<_> = task
        .steps
        .iter()
        .rev()
        .map(|step| {
            let release = latest.saturating_sub(step.wcet);
            latest = release.saturating_sub(step.delay);
            Some(release)
        })
        .collect();
    releases.reverse();
    if let (Some(first), Some(step)) = (releases.first_mut(), task.steps.first()) {
        *first = Some(task.jitter.saturating_add(step.delay));
    }
    releases
}
