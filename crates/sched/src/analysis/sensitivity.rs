//! How much execution times may grow.

use alloc::vec::Vec;

use super::{ModelError, Step, Task, Time, busy_window::Budget, holistic::is_feasible, model};

/// Returns the greatest factor, in thousandths, by which the execution times of some steps can be multiplied
/// so that all tasks meet their deadlines: below 1000 if they do not now, `None` if not even without these
/// steps' work, or if the effort did not suffice. At most 100,000, a hundred times. `selects` gets the
/// indices of task and step.
///
/// Critical sections grow with their steps; best cases and delays do not.
///
/// # Errors
/// [`ModelError`].
///
/// ```
/// use punctual_sched::analysis::{Step, Task, growth};
///
/// let task = |period, priority, wcet| Task::new(period, priority).step(Step::new(0, wcet));
/// let tasks = [task(10_000, 2, 4_000), task(20_000, 1, 6_000)];
/// // 2 × 4 + 6 of 20 are used: 6 may double, and everything may be 20/14 of itself.
/// assert_eq!(growth(&tasks, |task, _| task == 1)?, Some(2000));
/// assert_eq!(growth(&tasks, |_, _| true)?, Some(1428));
/// # Ok::<(), punctual_sched::analysis::ModelError>(())
/// ```
pub fn growth(tasks: &[Task], selects: impl Fn(usize, usize) -> bool) -> Result<Option<u32>, ModelError> {
    model::check(tasks)?;
    let steps = tasks.iter().map(|task| task.steps.len() as u64).sum::<u64>();
    let fits = |factor: u32| {
        let scaled: Vec<Task> = tasks
            .iter()
            .enumerate()
            .map(|(number, task)| scaled(task, factor, |index| selects(number, index)))
            .collect();
        is_feasible(&scaled, &mut Budget(100_000 + 20_000 * steps))
    };
    if !fits(0) {
        return Ok(None);
    }
    let (mut fitting, mut beyond) = (0, MOST + 1);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(Some(fitting))
}

/// Greatest factor, in thousandths.
const MOST: u32 = 100_000;

fn scaled(task: &Task, factor: u32, selects: impl Fn(usize) -> bool) -> Task {
    let scale = |time: Time| {
        let scaled = (u128::from(time) * u128::from(factor)).div_ceil(1000);
        Time::try_from(scaled).unwrap_or(Time::MAX)
    };
    let mut task = task.clone();
    for (index, step) in task.steps.iter_mut().enumerate() {
        if selects(index) {
            let Step {
                wcet, sections, bcet, ..
            } = step;
            *wcet = scale(*wcet);
            *bcet = (*bcet).min(*wcet);
            sections
                .iter_mut()
                .for_each(|section| section.length = scale(section.length));
        }
    }
    task
}
