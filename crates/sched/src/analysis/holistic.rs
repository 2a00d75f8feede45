//! Response-time analysis over all processors.

use alloc::{vec, vec::Vec};

use super::{
    ModelError, Task, Time,
    busy_window::{Bound, Budget, Given, response},
    model, utilization,
};

/// Worst-case response times and utilisations.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Responses of the tasks, in the given order.
    pub responses: Vec<Response>,
    /// Utilisation of each processor up to the highest number used.
    pub utilizations: Vec<f64>,
}

impl Analysis {
    /// Returns whether every task meets its deadline.
    pub fn is_feasible(&self) -> bool {
        self.responses.iter().all(Response::is_in_time)
    }
}

/// Worst-case response times of a task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Response {
    /// Deadline of the task.
    pub deadline: Time,
    /// Longest time from an arrival to the end of each step. `None`: no bound below 100 periods or deadlines
    /// was found.
    pub steps: Vec<Option<Time>>,
}

impl Response {
    /// Returns the longest time from an arrival to the end of the last step; `None` as in [`Self::steps`].
    pub fn worst(&self) -> Option<Time> {
        self.steps.last().copied().flatten()
    }

    /// Returns whether the task always meets its deadline.
    pub fn is_in_time(&self) -> bool {
        self.worst().is_some_and(|worst| worst <= self.deadline)
    }

    /// Returns the time between the worst response and the deadline, negative if it is missed; `None` without
    /// a bound.
    pub fn margin(&self) -> Option<i64> {
        let (deadline, worst) = (i128::from(self.deadline), i128::from(self.worst()?));
        i64::try_from(deadline - worst).ok()
    }
}

/// Computes bounds of all response times, over all processors.
///
/// On one processor this is response-time analysis (\[Joseph 1986\], \[Audsley 1993\]), which is exact for
/// deadlines up to the periods without blocking and jitter. A chain over processors is holistic analysis
/// (\[Tindell 1994b\]): the latest end of a step is the latest release of the next one, iterated until
/// nothing changes. It is safe, not exact. A step also waits for work that has accumulated behind steps of
/// its own task with a higher priority, and behind all of them if an instance may outlive the task's period.
/// A call waits for a thread of its lane while servants of all threads wait for calls of their own
/// ([`super::Hold`]); where the earliest deadline runs first, responses are bounded only if lanes have a
/// thread for each request. Two things make bounds of chains tighter: the earliest release of a step is
/// subtracted from its jitter, and over several steps of a chain that does not overlap itself, one burst of
/// interference on a processor counts once.
///
/// The effort is bounded, to some hundred thousand sums per step; responses that have not converged by then
/// are unbounded.
///
/// # Errors
/// [`ModelError`].
///
/// ```
/// use punctual_sched::analysis::{Step, Task, analyse};
///
/// // A. Burns, A. Wellings, Real-Time Systems and Programming Languages: three tasks, utilisation 1.
/// let task = |period, wcet, priority| Task::new(period, priority).step(Step::new(0, wcet));
/// let analysis = analyse(&[task(80, 40, 1), task(40, 10, 2), task(20, 5, 3)])?;
/// let worst: Vec<_> = analysis.responses.iter().map(|response| response.worst()).collect();
/// assert_eq!(worst, [Some(80), Some(15), Some(5)]);
/// assert!(analysis.is_feasible());
/// # Ok::<(), punctual_sched::analysis::ModelError>(())
/// ```
pub fn analyse(tasks: &[Task]) -> Result<Analysis, ModelError> {
    let Solution { bounds, .. } = solve(tasks)?;
    let processors = tasks.iter().flat_map(|task| &task.steps);
    let processors = processors.map(|step| step.processor + 1).max().unwrap_or(0);
    Ok(Analysis {
        responses: tasks
            .iter()
            .zip(bounds)
            .map(|(task, bounds)| Response {
                deadline: task.deadline,
                steps: bounds.into_iter().map(|bound| bound.end).collect(),
            })
            .collect(),
        utilizations: (0..processors)
            .map(|processor| utilization(tasks, processor))
            .collect(),
    })
}

/// All bounds, and the data on which they depend.
pub(crate) struct Solution {
    pub(crate) bounds: Vec<Vec<Bound>>,
    pub(crate) jitters: Vec<Vec<Option<Time>>>,
    pub(crate) overlapping: Vec<bool>,
}

/// Checks the tasks and computes all bounds.
pub(crate) fn solve(tasks: &[Task]) -> Result<Solution, ModelError> {
    model::check(tasks)?;
    let steps = tasks.iter().map(|task| task.steps.len() as u64).sum::<u64>();
    let mut budget = Budget(1_000_000 + 200_000 * steps);
    let mut solution = Solution::at_best(tasks);
    iterate(tasks, &mut solution, &mut budget, |_, _| true);
    Ok(solution)
}

/// Returns whether all tasks are feasible, with the least effort. Also returns `false` if the budget does not
/// suffice.
pub(crate) fn is_feasible(tasks: &[Task], budget: &mut Budget) -> bool {
    let in_time = |task: &Task, end: Option<Time>| end.is_some_and(|end| end <= task.deadline);
    // Responses only grow during the iteration, so the first late one decides.
    iterate(tasks, &mut Solution::at_best(tasks), budget, in_time)
}

/// Iterates until nothing changes, or until `is_acceptable` rejects the response of a task; returns whether
/// none was rejected.
fn iterate(
    tasks: &[Task],
    solution: &mut Solution,
    budget: &mut Budget,
    is_acceptable: impl Fn(&Task, Option<Time>) -> bool,
) -> bool {
    let Solution {
        bounds,
        jitters,
        overlapping,
    } = solution;
    loop {
        let mut changed = false;
        for (number, task) in tasks.iter().enumerate() {
            for index in 0..task.steps.len() {
                let given = Given {
                    tasks,
                    jitters,
                    bounds,
                    overlapping,
                };
                let found = response(&given, number, index, budget);
                changed |= found != bounds[number][index];
                bounds[number][index] = found;
                if let Some(later) = task.steps.get(index + 1) {
                    jitters[number][index + 1] = found.end.map(|end| end.saturating_add(later.delay));
                }
            }
            let end = bounds[number].last().and_then(|bound| bound.end);
            // A last step without work may be released just as the next instance arrives, and wait for it.
            let at_end = Time::from(task.steps.last().is_some_and(|step| step.wcet == 0));
            if !is_acceptable(task, end) {
                return false;
            }
            if !overlapping[number] && end.is_none_or(|end| end.saturating_add(at_end) > task.period) {
                overlapping[number] = true;
                changed = true;
            }
        }
        if !changed {
            return true;
        }
    }
}

impl Solution {
    fn at_best(tasks: &[Task]) -> Self {
        let bounds = bounds_at_best(tasks);
        Self {
            jitters: jitters_after(tasks, &bounds),
            bounds,
            overlapping: vec![false; tasks.len()],
        }
    }
}

/// Returns the bounds without interference. Iterating from below finds the least fixed point.
fn bounds_at_best(tasks: &[Task]) -> Vec<Vec<Bound>> {
    let of_task = |task: &Task| {
        let mut end = task.jitter;
        let steps = task.steps.iter();
        steps
            .map(|step| {
                end = end.saturating_add(step.delay).saturating_add(step.wcet);
                Bound {
                    end: Some(end),
                    window: Some(step.wcet),
                }
            })
            .collect()
    };
    tasks.iter().map(of_task).collect()
}

/// Returns the jitters of all steps, given their bounds.
fn jitters_after(tasks: &[Task], bounds: &[Vec<Bound>]) -> Vec<Vec<Option<Time>>> {
    let of_task = |(task, bounds): (&Task, &Vec<Bound>)| {
        let before = core::iter::once(Some(task.jitter)).chain(bounds.iter().map(|bound| bound.end));
        let steps = task.steps.iter().zip(before);
        steps
            .map(|(step, before)| before.map(|before| before.saturating_add(step.delay)))
            .collect()
    };
    tasks.iter().zip(bounds).map(of_task).collect()
}
