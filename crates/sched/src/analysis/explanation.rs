//! Composition of a worst-case response time.

use alloc::vec::Vec;

use super::{
    ModelError, Task, Time,
    blocking::blocking,
    busy_window::{Budget, Given, Source, worst},
    holistic::solve,
};

/// Terms of the bound of one step: `late + blocking + work + interference - arrived - counted_before = end`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StepBudget {
    /// Longest time from the arrival of the task to the release of the step: jitter, earlier steps, delays.
    /// On a processor that serves the earliest deadline first, only the part of it that the worst case has.
    pub late: Time,
    /// Delay by lower priorities.
    pub blocking: Time,
    /// Task and step of each critical section that counts: of those of one resource, of which only one delays
    /// the step, the longest.
    pub blockers: Vec<(usize, usize)>,
    /// Execution of the step, also for earlier instances of the task that still run.
    pub work: Time,
    /// Delays by other work, each source once.
    pub interference: Vec<(Source, Time)>,
    /// Time between the beginning of the busy period and the arrival of the latest instance.
    pub arrived: Time,
    /// Time that is subtracted because it has counted for an earlier step of the same instance.
    pub counted_before: Time,
    /// Longest time from an arrival to the end of the step.
    pub end: Time,
}

/// Returns the composition of the bounds of all steps of all tasks; `None` for unbounded steps.
///
/// # Errors
/// [`ModelError`].
///
/// ```
/// use punctual_sched::analysis::{Source, Step, Task, explain};
///
/// let often = Task::new(10, 9).step(Step::new(0, 3));
/// let late = Task::new(100, 1).deadline(20).jitter(2).step(Step::new(0, 14).blocking(1));
/// let budgets = explain(&[often, late])?;
/// let budget = budgets[1][0].as_ref().expect("the bound exists");
/// assert_eq!((budget.late, budget.blocking, budget.work, budget.end), (2, 1, 14, 26));
/// assert_eq!(budget.interference, [(Source::Work { task: 0, step: 0 }, 9)]);
/// # Ok::<(), punctual_sched::analysis::ModelError>(())
/// ```
pub fn explain(tasks: &[Task]) -> Result<Vec<Vec<Option<StepBudget>>>, ModelError> {
    let solution = solve(tasks)?;
    let given = Given {
        tasks,
        jitters: &solution.jitters,
        bounds: &solution.bounds,
        overlapping: &solution.overlapping,
    };
    let of_step = |task: usize, index: usize| {
        let worst = worst(&given, task, index, &mut Budget(EFFORT))?;
        // An exhausted budget leaves a bound unknown that others depend on.
        solution.bounds[task][index].end?;
        Some(StepBudget {
            late: worst.late,
            blocking: worst.blocking,
            blockers: blocking(tasks, task, index, solution.overlapping[task]).by,
            work: worst.work,
            interference: worst
                .interference
                .into_iter()
                .filter(|(_, time)| *time > 0)
                .collect(),
            arrived: worst.arrived,
            counted_before: worst.counted_before,
            end: worst.bound.end?,
        })
    };
    let of_task = |task: usize| {
        (0..tasks[task].steps.len())
            .map(|index| of_step(task, index))
            .collect()
    };
    Ok((0..tasks.len()).map(of_task).collect())
}

/// Number of sums for one step.
const EFFORT: u64 = 1_000_000;
