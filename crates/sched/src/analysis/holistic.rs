use alloc::{vec, vec::Vec};

use super::{
    ModelError, Task, Time,
    busy_window::{Budget, Given, response},
    model, utilization,
};

/// How late everything can be.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// For each task, in the order given.
    pub responses: Vec<Response>,
    /// For each processor up to the highest number used: the share of it that is asked for.
    pub utilizations: Vec<f64>,
}

impl Analysis {
    /// Whether every task is done by its deadline.
    pub fn is_feasible(&self) -> bool {
        self.responses.iter().all(Response::is_in_time)
    }
}

/// How late a task can be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Response {
    /// The task's deadline.
    pub deadline: Time,
    /// For each step: the longest time from an arrival to its end. `None`: no bound below a hundred periods
    /// or deadlines was found.
    pub steps: Vec<Option<Time>>,
}

impl Response {
    /// The longest time from an arrival to the end of the last step; `None` as in [`Self::steps`].
    pub fn worst(&self) -> Option<Time> {
        self.steps.last().copied().flatten()
    }

    /// Whether the task is always done by its deadline.
    pub fn is_in_time(&self) -> bool {
        self.worst().is_some_and(|worst| worst <= self.deadline)
    }

    /// What is left between the worst response and the deadline, negative where it is missed; `None` without
    /// a bound.
    pub fn margin(&self) -> Option<i64> {
        let (deadline, worst) = (i128::from(self.deadline), i128::from(self.worst()?));
        i64::try_from(deadline - worst).ok()
    }
}

/// Bounds the response of every task, over all processors.
///
/// On one processor this is response-time analysis (Joseph and Pandya; Audsley and others), which is exact
/// for deadlines up to the periods without blocking and jitter. A chain over processors is holistic analysis
/// (Tindell and Clark, Holistic schedulability analysis for distributed hard real-time systems, 1994): how
/// late a step can end is how late the next one can be released, and that is repeated until nothing changes.
/// It is safe, not exact. Steps of one instance do not meet each other; they are counted against each other
/// only where an instance may outlive the task's period.
///
/// The work is bounded, to some hundred thousand sums for each step; what has not come to rest then has no
/// bound.
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
    model::check(tasks)?;
    let steps = tasks.iter().map(|task| task.steps.len() as u64).sum::<u64>();
    let mut budget = Budget(1_000_000 + 200_000 * steps);
    let mut responses = responses_at_best(tasks);
    iterate(tasks, &mut responses, &mut budget, |_, _| true);
    let processors = tasks.iter().flat_map(|task| &task.steps);
    let processors = processors.map(|step| step.processor + 1).max().unwrap_or(0);
    Ok(Analysis {
        responses: tasks
            .iter()
            .zip(responses)
            .map(|(task, steps)| Response {
                deadline: task.deadline,
                steps,
            })
            .collect(),
        utilizations: (0..processors)
            .map(|processor| utilization(tasks, processor))
            .collect(),
    })
}

/// Whether all tasks are in time, found out with as little work as will do. `false` also where the budget
/// does not suffice.
pub(crate) fn is_feasible(tasks: &[Task], budget: &mut Budget) -> bool {
    let in_time = |task: &Task, end: Option<Time>| end.is_some_and(|end| end <= task.deadline);
    // Responses only grow while they are iterated, so the first late one decides.
    iterate(tasks, &mut responses_at_best(tasks), budget, in_time)
}

/// Iterates until nothing changes, or until `go_on` says no to a task's response.
fn iterate(
    tasks: &[Task],
    responses: &mut [Vec<Option<Time>>],
    budget: &mut Budget,
    go_on: impl Fn(&Task, Option<Time>) -> bool,
) -> bool {
    let mut overlapping = vec![false; tasks.len()];
    let mut jitters = jitters_after(tasks, responses);
    loop {
        let mut changed = false;
        for (number, task) in tasks.iter().enumerate() {
            for index in 0..task.steps.len() {
                let given = Given {
                    tasks,
                    jitters: &jitters,
                    overlapping: &overlapping,
                };
                let found = response(&given, number, index, budget);
                changed |= found != responses[number][index];
                responses[number][index] = found;
                if let Some(later) = task.steps.get(index + 1) {
                    jitters[number][index + 1] = found.map(|found| found.saturating_add(later.delay));
                }
            }
            let end = responses[number].last().copied().flatten();
            if !go_on(task, end) {
                return false;
            }
            if !overlapping[number] && end.is_none_or(|end| end > task.period) {
                overlapping[number] = true;
                changed = true;
            }
        }
        if !changed {
            return true;
        }
    }
}

/// The least that each response can be: nothing else runs. Iterating from below finds the least fixed point.
fn responses_at_best(tasks: &[Task]) -> Vec<Vec<Option<Time>>> {
    let of_task = |task: &Task| {
        let mut end = task.jitter;
        let steps = task.steps.iter();
        steps
            .map(|step| {
                end = end.saturating_add(step.delay).saturating_add(step.wcet);
                Some(end)
            })
            .collect()
    };
    tasks.iter().map(of_task).collect()
}

fn jitters_after(tasks: &[Task], responses: &[Vec<Option<Time>>]) -> Vec<Vec<Option<Time>>> {
    let of_task = |(task, responses): (&Task, &Vec<Option<Time>>)| {
        let before = core::iter::once(Some(task.jitter)).chain(responses.iter().copied());
        let steps = task.steps.iter().zip(before);
        steps
            .map(|(step, before)| before.map(|before| before.saturating_add(step.delay)))
            .collect()
    };
    tasks.iter().zip(responses).map(of_task).collect()
}
