//! Schedulability tests by utilisation.

use super::{Task, is_deadline_monotonic};

/// Returns the utilisation of a processor by the tasks: 1 is all of it.
///
/// ```
/// use punctual_sched::analysis::{Step, Task, utilization};
///
/// let urgent = Task::new(10, 2).step(Step::new(0, 4));
/// let slow = Task::new(20, 1).step(Step::new(0, 5)).step(Step::new(1, 2));
/// assert_eq!(utilization(&[urgent, slow], 0), 0.65);
/// ```
pub fn utilization(tasks: &[Task], processor: usize) -> f64 {
    tasks.iter().map(|task| share(task, processor)).sum()
}

fn share(task: &Task, processor: usize) -> f64 {
    let steps = task.steps.iter().filter(|step| step.processor == processor);
    steps.map(|step| step.wcet as f64).sum::<f64>() / task.period as f64
}

/// Returns the utilisation up to which any `tasks` rate-monotonic tasks meet their deadlines: n (2^(1/n) -
/// 1); 1 for no task.
///
/// Source: \[Liu 1973\] theorem 5. Valid if [`bounds_apply`].
///
/// ```
/// use punctual_sched::analysis::liu_layland_bound;
///
/// assert_eq!(liu_layland_bound(1), 1.0);
/// assert!((liu_layland_bound(3) - 0.7798).abs() < 0.0001);
/// ```
pub fn liu_layland_bound(tasks: usize) -> f64 {
    if tasks <= 1 {
        return 1.0;
    }
    let n = tasks as f64;
    // The series of e^x - 1 avoids a power, which requires the standard library, and the difference of nearly
    // equal numbers.
    let x = core::f64::consts::LN_2 / n;
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 1..=30u32 {
        term *= x / f64::from(k);
        sum += term;
    }
    n * sum
}

/// Returns the product of U + 1 over the tasks of a processor: rate-monotonic tasks meet their deadlines if
/// it is at most 2.
///
/// Less pessimistic than [`liu_layland_bound`]. Source: \[Bini 2003\]. Valid if [`bounds_apply`].
///
/// ```
/// use punctual_sched::analysis::{Step, Task, hyperbolic_product};
///
/// let tasks = [Task::new(4, 2).step(Step::new(0, 1)), Task::new(10, 1).step(Step::new(0, 6))];
/// assert_eq!(hyperbolic_product(&tasks, 0), 1.25 * 1.6);
/// ```
pub fn hyperbolic_product(tasks: &[Task], processor: usize) -> f64 {
    tasks.iter().map(|task| share(task, processor) + 1.0).product()
}

/// Returns whether the bounds by utilisation apply to a processor: its tasks have one step without jitter,
/// delay, blocking or fixed priority, their deadlines are their periods, and shorter periods have higher
/// priorities, not equal ones.
///
/// ```
/// use punctual_sched::analysis::{Step, Task, bounds_apply};
///
/// let urgent = Task::new(10, 2).step(Step::new(0, 4));
/// let slow = Task::new(20, 1).step(Step::new(0, 5));
/// assert!(bounds_apply(&[urgent.clone(), slow.clone()], 0));
/// assert!(!bounds_apply(&[urgent, slow.deadline(15)], 0));
/// ```
pub fn bounds_apply(tasks: &[Task], processor: usize) -> bool {
    let here = || {
        tasks
            .iter()
            .filter(|task| task.steps.iter().any(|step| step.processor == processor))
    };
    let is_simple = |task: &Task| {
        let [step] = &task.steps[..] else { return false };
        task.deadline == task.period
            && task.jitter == 0
            && step.blocking == 0
            && step.sections.is_empty()
            && !step.by_deadline
            && step.delay == 0
            && step.fixed_priority.is_none()
            && step.peak_priority.is_none()
    };
    // With deadlines equal to periods, deadline-monotonic is rate-monotonic.
    here().all(is_simple) && is_deadline_monotonic(here())
}
