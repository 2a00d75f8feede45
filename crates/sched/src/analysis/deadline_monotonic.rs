//! Deadline-monotonic order.

use alloc::vec::Vec;

use super::Task;

/// Returns whether shorter deadlines have higher priorities, which is optimal for independent tasks with
/// deadlines up to their periods on one processor. With deadlines equal to periods this is rate-monotonic.
/// Tasks of equal deadlines may have any order, or one priority.
///
/// Source: \[Leung 1982\].
///
/// ```
/// use punctual_sched::analysis::{Task, is_deadline_monotonic};
///
/// let (short, long) = (Task::new(10, 2).deadline(5), Task::new(8, 1));
/// assert!(is_deadline_monotonic([&short, &long]));
/// assert!(!is_deadline_monotonic([&short, &Task { priority: 2, ..long.clone() }]), "equal priorities");
/// assert!(!is_deadline_monotonic([&short, &Task { priority: 3, ..long }]));
/// ```
pub fn is_deadline_monotonic<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> bool {
    let tasks: Vec<_> = tasks.into_iter().collect();
    let in_order = |one: &Task, other: &Task| one.deadline >= other.deadline || one.priority > other.priority;
    tasks
        .iter()
        .all(|one| tasks.iter().all(|other| in_order(one, other)))
}
