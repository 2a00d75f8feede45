//! Processor demand: the exact test where the earliest deadline runs first.

use super::{Task, Time, threads, utilization};

/// Returns the greatest share of any interval that work with arrival and deadline inside it needs of a
/// processor: deadlines can be met if it is at most 1. `None` if the test does not apply, which requires
/// tasks of one step that is ordered by deadline, without delay and blocking, lanes with a thread for each
/// request, and a utilisation of at most 1; or if the effort does not suffice.
///
/// Source: \[Baruah 1990\].
///
/// ```
/// use punctual_sched::analysis::{Step, Task, demand_peak};
///
/// let task = |period, deadline, wcet| {
///     Task::new(period, 0).deadline(deadline).step(Step::new(0, wcet).by_deadline())
/// };
/// // In the first 4 units, 2 + 1 are due; in the first 6, 2 + 1 + 2.
/// assert_eq!(demand_peak(&[task(4, 3, 2), task(10, 4, 1)], 0), Some(0.75));
/// assert_eq!(demand_peak(&[task(10, 3, 2), task(10, 3, 2)], 0), Some(4.0 / 3.0));
/// ```
pub fn demand_peak(tasks: &[Task], processor: usize) -> Option<f64> {
    let here = || {
        tasks
            .iter()
            .filter(move |task| task.steps.iter().any(|step| step.processor == processor))
    };
    let is_simple = |task: &Task| {
        let [step] = &task.steps[..] else { return false };
        let has_thread = |hold| threads::suffice(tasks, hold, |task| Some(tasks[task].deadline));
        let is_alone = step.delay == 0 && step.blocking == 0 && step.sections.is_empty();
        step.by_deadline && is_alone && task.holds.iter().all(has_thread)
    };
    if !here().all(is_simple) || utilization(tasks, processor) > 1.0 + 1e-9 {
        return None;
    }
    let longest = busy_period(&here)?;
    let mut peak: f64 = 0.0;
    let mut effort = 0u32;
    for task in here() {
        // A task that is late at its release has less time left.
        let mut due = task.deadline.saturating_sub(task.jitter);
        loop {
            effort += 1;
            if effort > MOST_INTERVALS {
                return None;
            }
            peak = peak.max(demand(&here, due) as f64 / due.max(1) as f64);
            due = due.saturating_add(task.period);
            if due > longest {
                break;
            }
        }
    }
    Some(peak)
}

/// Number of intervals that are examined.
const MOST_INTERVALS: u32 = 20_000;

/// Returns the work with arrival and deadline in an interval of this length.
fn demand<'a, I: Iterator<Item = &'a Task>>(here: &impl Fn() -> I, length: Time) -> Time {
    let of_task = |task: &Task| {
        let first = task.deadline.saturating_sub(task.jitter);
        let due = length.checked_sub(first).map_or(0, |rest| rest / task.period + 1);
        due.saturating_mul(task.steps[0].wcet)
    };
    here().map(of_task).fold(0, Time::saturating_add)
}

/// Returns the length of the longest busy period.
fn busy_period<'a, I: Iterator<Item = &'a Task>>(here: &impl Fn() -> I) -> Option<Time> {
    let mut length: Time = here().map(|task| task.steps[0].wcet).sum();
    for _ in 0..MOST_INTERVALS {
        let of_task = |task: &Task| {
            let releases = length.saturating_add(task.jitter).div_ceil(task.period);
            releases.saturating_mul(task.steps[0].wcet)
        };
        let next = here().map(of_task).fold(0, Time::saturating_add);
        if next <= length {
            return Some(length);
        }
        length = next;
    }
    None
}
