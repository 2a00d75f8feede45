//! Search for feasible priorities.

use alloc::{vec, vec::Vec};
use core::ops::RangeInclusive;

use super::{
    Task, Time,
    busy_window::{Bound, Budget, Given, response},
    holistic::is_feasible,
    model,
};

/// Finds one task whose change of priority makes all tasks feasible: its index and its new priority, nearest
/// to the present one. Returns `None` if no such task exists or was found with bounded effort, or if the
/// tasks are invalid.
///
/// ```
/// use punctual_sched::analysis::{Step, Task, one_change};
///
/// let slow = Task::new(100, 3).step(Step::new(0, 40));
/// let urgent = Task::new(10, 2).step(Step::new(0, 2));
/// // At equal priorities the urgent task would wait for the slow one.
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

/// Budget of one search: about a second on a slow machine.
const SEARCH: u64 = 20_000_000;

/// Finds a distinct priority out of `levels` for each task, in the given order, with which all tasks are
/// feasible.
///
/// Audsley's algorithm: a task that meets its deadline below all others gets the lowest priority, and so on.
/// Source: \[Audsley 1991\]. It is optimal if every task has one step. For chains over processors it assumes
/// that each other step is released as late as its task's deadline allows: its results are feasible, but it
/// may miss some. Steps with fixed priorities keep them.
///
/// Returns `None` if it finds none with bounded effort, if there are fewer levels than tasks, or if the tasks
/// are invalid.
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
        // Above every level until one is assigned.
        task.priority = i32::MAX;
    }
    let mut unassigned: Vec<usize> = (0..tasks.len()).collect();
    // The longest deadline first, which is the expected order of otherwise equal tasks.
    unassigned.sort_by_key(|number| core::cmp::Reverse(tasks[*number].deadline));
    let mut budget = Budget(SEARCH);
    let spare = levels.len().checked_sub(tasks.len())?;
    for level in levels.into_iter().skip(spare) {
        let fits = |number: &usize| is_in_time_at(&tasks, *number, level, &mut budget);
        let Some(index) = unassigned.iter().position(fits) else {
            // All tasks have a level, since their numbers are equal.
            return unassigned.is_empty().then(|| priorities(&tasks));
        };
        tasks[unassigned.remove(index)].priority = level;
    }
    is_feasible(&tasks, &mut budget).then(|| priorities(&tasks))
}

/// Finds a distinct priority out of `levels` for each task, in the given order, with which all tasks are
/// feasible: with more effort than [`audsley`], whose result it returns first.
///
/// Then it tries shorter deadlines first, less slack first, and for up to seven tasks every order. For these
/// `None` means that no order of distinct priorities is feasible, unless the effort, about two seconds, did
/// not suffice.
///
/// ```
/// use punctual_sched::analysis::{Step, Task, audsley, feasible_priorities};
///
/// let chain = |period, deadline, first, second| {
///     Task::new(period, 0).deadline(deadline).step(Step::new(0, first)).step(Step::new(1, second))
/// };
/// let tasks = [chain(10, 8, 1, 2), chain(20, 9, 3, 3)];
/// assert_eq!(audsley(&tasks, &[1, 2]), None, "it assumes that the other task is as late as allowed");
/// assert_eq!(feasible_priorities(&tasks, &[1, 2]), Some(vec![2, 1]));
/// ```
pub fn feasible_priorities(tasks: &[Task], levels: &[i32]) -> Option<Vec<i32>> {
    if let Some(found) = audsley(tasks, levels) {
        return Some(found);
    }
    model::check(tasks).ok()?;
    let mut levels = levels.to_vec();
    levels.sort_unstable_by(|one, other| other.cmp(one));
    levels.dedup();
    // The highest levels, for the first of an order.
    let levels = levels.get(..tasks.len())?;
    let mut budget = Budget(SEARCH);
    let mut try_order = |order: &[usize]| {
        let mut assigned = tasks.to_vec();
        order
            .iter()
            .zip(levels)
            .for_each(|(task, level)| assigned[*task].priority = *level);
        is_feasible(&assigned, &mut budget).then(|| priorities(&assigned))
    };
    let work = |task: &Task| {
        let steps = task.steps.iter();
        steps.fold(0, |sum: Time, step| {
            sum.saturating_add(step.delay).saturating_add(step.wcet)
        })
    };
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|task| tasks[*task].deadline);
    if let Some(found) = try_order(&order) {
        return Some(found);
    }
    order.sort_by_key(|task| tasks[*task].deadline.saturating_sub(work(&tasks[*task])));
    if order.len() > MOST_ORDERED {
        return try_order(&order);
    }
    first_of_all_orders(&mut order, 0, &mut try_order)
}

/// Number of tasks of which all orders are tried: 5,040 orders.
const MOST_ORDERED: usize = 7;

/// Tries all orders of the elements behind the first `fixed` ones, the present order first.
fn first_of_all_orders<T>(
    order: &mut [usize],
    fixed: usize,
    try_order: &mut impl FnMut(&[usize]) -> Option<T>,
) -> Option<T> {
    if fixed == order.len() {
        return try_order(order);
    }
    for next in fixed..order.len() {
        order[fixed..=next].rotate_right(1);
        let found = first_of_all_orders(order, fixed + 1, try_order);
        order[fixed..=next].rotate_left(1);
        if found.is_some() {
            return found;
        }
    }
    None
}

fn priorities(tasks: &[Task]) -> Vec<i32> {
    tasks.iter().map(|task| task.priority).collect()
}

/// Returns whether the task meets its deadline at this level if every other task is as late as allowed.
fn is_in_time_at(tasks: &[Task], number: usize, level: i32, budget: &mut Budget) -> bool {
    let mut tasks = tasks.to_vec();
    tasks[number].priority = level;
    let mut jitters: Vec<Vec<Option<Time>>> = tasks.iter().map(latest_releases).collect();
    let mut bounds: Vec<Vec<Bound>> = tasks.iter().map(latest_ends).collect();
    let mut overlapping = vec![false; tasks.len()];
    let task = &tasks[number];
    overlapping[number] = task.deadline > task.period;
    let mut end = Some(task.jitter);
    for (index, step) in task.steps.iter().enumerate() {
        jitters[number][index] = end.map(|end| end.saturating_add(step.delay));
        let given = Given {
            tasks: &tasks,
            jitters: &jitters,
            bounds: &bounds,
            overlapping: &overlapping,
        };
        let found = response(&given, number, index, budget);
        bounds[number][index] = found;
        end = found.end;
    }
    end.is_some_and(|end| end <= task.deadline)
}

/// Returns the latest release of each step with which its task meets the deadline; of the first step, its
/// jitter.
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

/// Returns the latest end of each step with which its task meets the deadline.
fn latest_ends(task: &Task) -> Vec<Bound> {
    let releases = latest_releases(task);
    let delays = task.steps.iter().skip(1).map(|step| step.delay);
    let ends = releases.into_iter().skip(1).zip(delays);
    let ends = ends.map(|(release, delay)| release.map(|release| release.saturating_sub(delay)));
    let ends: Vec<_> = ends.chain([Some(task.deadline)]).collect();
    let bound = |end| Bound { end, window: end };
    ends.into_iter().map(bound).collect()
}
