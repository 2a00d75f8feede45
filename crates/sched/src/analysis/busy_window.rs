//! Worst-case response time of one step on its processor, given the bounds of all others.

mod deadline_order;
mod end_to_end;
mod lanes;

use alloc::vec::Vec;

use self::lanes::Occupations;
use super::{Step, Task, Time, blocking::blocking};

/// Input of the analysis of one step.
pub(crate) struct Given<'a> {
    pub(crate) tasks: &'a [Task],
    /// Longest time from each task's arrival to the release of each of its steps. `None`: unbounded.
    pub(crate) jitters: &'a [Vec<Option<Time>>],
    /// Bounds of each step.
    pub(crate) bounds: &'a [Vec<Bound>],
    /// Whether, by task, an instance may still run when the next one arrives.
    pub(crate) overlapping: &'a [bool],
}

/// Bounds of one step; `None`: unbounded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Bound {
    /// Longest time from the arrival of its task to its end.
    pub(crate) end: Option<Time>,
    /// Longest time from its release to its end.
    pub(crate) window: Option<Time>,
}

/// Remaining number of interference terms to compute; a response that has not converged by then counts as
/// unbounded.
pub(crate) struct Budget(pub(crate) u64);

impl Budget {
    fn spend(&mut self, others: usize) -> Option<()> {
        let cost = others as u64 + 1;
        match self.0.checked_sub(cost) {
            Some(left) => self.0 = left,
            None => {
                self.0 = 0;
                return None;
            }
        }
        Some(())
    }
}

/// Longest response of one step, with everything that adds to it: it ends `work` and all interference after
/// the beginning of a busy period, and its task arrived `arrived` after that, or `late` before.
pub(crate) struct Worst {
    pub(crate) bound: Bound,
    pub(crate) late: Time,
    pub(crate) arrived: Time,
    pub(crate) blocking: Time,
    /// Execution of the step itself, in all instances of the busy period up to this one.
    pub(crate) work: Time,
    pub(crate) interference: Vec<(Source, Time)>,
    /// Amount by which a bound over several steps is smaller than this sum.
    pub(crate) counted_before: Time,
}

/// Computes the bounds of step `index` of `task`.
pub(crate) fn response(given: &Given<'_>, task: usize, index: usize, budget: &mut Budget) -> Bound {
    worst(given, task, index, budget).map_or(Bound::default(), |worst| worst.bound)
}

/// Computes the longest response of step `index` of `task`; `None`: unbounded.
pub(crate) fn worst(given: &Given<'_>, task: usize, index: usize, budget: &mut Budget) -> Option<Worst> {
    if given.tasks[task].steps[index].by_deadline {
        return deadline_order::worst(given, task, index, budget);
    }
    let mut worst = by_priority(given, task, index, budget)?;
    let end = worst.bound.end?;
    if let Some(end_to_end) = end_to_end::end(given, task, index, end, budget) {
        worst.counted_before = end - end_to_end;
        worst.bound.end = Some(end_to_end);
    }
    Some(worst)
}

/// Considers every instance in the longest busy period of the processor at this priority or above, so
/// deadlines may be longer than periods. All work of equal priority counts as preceding: SCHED_FIFO serves it
/// in the order of arrival. Source: \[Tindell 1994a\].
///
/// The busy period may have begun before the step's release, during another step of its task. If that step
/// waits at this priority or below, its own response includes all work that the processor owes at its end, so
/// nothing is counted twice. If it waits at a higher priority, work in between has accumulated behind it:
/// then it counts, once if instances do not overlap (an earlier step of this instance, or a later one of the
/// previous instance).
///
/// The earliest possible release of other work is subtracted from its jitter: best cases make bounds tighter.
///
/// If all threads of the step's lane can wait for calls of their servants, the busy period includes these
/// waits: then the lane is busy although the processor is not.
fn by_priority(given: &Given<'_>, task: usize, index: usize, budget: &mut Budget) -> Option<Worst> {
    let own = &given.tasks[task];
    let wcet = own.steps[index].wcet;
    let jitter = given.jitters[task][index]?;
    let others = everything_before(given, task, index)?;
    let blocking = blocking(given.tasks, task, index, given.overlapping[task]).time;
    let horizon = own.period.max(own.deadline).saturating_mul(HORIZON);
    let mut longest: Option<Worst> = None;
    let mut window = blocking;
    for instance in 0u64.. {
        let work = (instance + 1).saturating_mul(wcet);
        let own_work = work.saturating_add(blocking);
        window = window.max(own_work);
        loop {
            budget.spend(others.len())?;
            let next = others
                .iter()
                .fold(own_work, |sum, other| sum.saturating_add(other.in_window(window)));
            if next == window {
                break;
            }
            window = next;
            if window > horizon {
                return None;
            }
        }
        let arrived = instance.saturating_mul(own.period);
        let response = window.saturating_add(jitter).saturating_sub(arrived);
        if longest
            .as_ref()
            .is_none_or(|longest| longest.bound.end < Some(response))
        {
            longest = Some(Worst {
                bound: Bound {
                    end: Some(response),
                    window: None,
                },
                late: jitter,
                arrived,
                blocking,
                work,
                interference: others
                    .iter()
                    .map(|other| (other.source, other.in_window(window)))
                    .collect(),
                counted_before: 0,
            });
        }
        if response > horizon {
            return None;
        }
        // The instance ends before the next one arrives, which starts another busy period.
        if response <= own.period {
            let mut longest = longest?;
            longest.bound.window = Some(window);
            return Some(longest);
        }
    }
    None
}

/// Returns all work and all waits that can precede a step; `None` if they are unbounded, or more than the
/// processor can do.
fn everything_before(given: &Given<'_>, task: usize, index: usize) -> Option<Vec<Interference>> {
    let (own, step) = (&given.tasks[task], &given.tasks[task].steps[index]);
    let mut others: Vec<Interference> = interference(given, task, index).collect::<Option<_>>()?;
    let share = |wcet: Time, period: Time| wcet as f64 / period as f64;
    let asked: f64 = others
        .iter()
        .map(|other| share(other.wcet, other.period))
        .sum::<f64>();
    if asked + share(step.wcet, own.period) > 1.0 + ROUNDING {
        return None;
    }
    match lanes::occupations(given, task, index) {
        Occupations::Free => {}
        Occupations::Bounded(waits) => others.extend(waits),
        Occupations::Unbounded => return None,
    }
    Some(others)
}

/// Upper bound of the rounding errors of sums of utilisations.
const ROUNDING: f64 = 1e-9;

/// Number of periods or deadlines above which a response counts as unbounded.
const HORIZON: Time = 100;

/// Origin of the work or wait that delays a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Source {
    /// Work of a step of a task, on the same processor.
    Work {
        /// Index of the task.
        task: usize,
        /// Index of its step.
        step: usize,
    },
    /// A thread of the lane that waits for calls of its servant for this task.
    Thread {
        /// Index of the task.
        task: usize,
    },
}

/// Causes that can delay a step: work at its priority or above, or a thread of its lane that waits.
#[derive(Clone, Copy)]
pub(crate) struct Interference {
    pub(crate) source: Source,
    pub(crate) period: Time,
    /// Difference between its latest and its earliest release, relative to the arrival of its task.
    pub(crate) jitter: Time,
    pub(crate) wcet: Time,
    /// A step of the same task whose instances do not overlap.
    pub(crate) once: bool,
}

impl Interference {
    /// Returns its maximum work released in a window that begins with its latest release. An empty window
    /// contains one release, because a step without work waits for the processor, too. Releases at the
    /// window's end are outside: work that ends at an instant precedes work released at it.
    fn in_window(&self, window: Time) -> Time {
        if self.once {
            return self.wcet;
        }
        let releases = window.max(1).saturating_add(self.jitter).div_ceil(self.period);
        releases.saturating_mul(self.wcet)
    }
}

/// Returns all steps that run on the step's processor at its priority or above; `None` for unbounded
/// releases.
fn interference<'a>(
    given: &'a Given<'_>,
    task: usize,
    index: usize,
) -> impl Iterator<Item = Option<Interference>> + 'a {
    let own = &given.tasks[task].steps[index];
    let priority = given.tasks[task].priority_of(own);
    let counts = move |other: usize, other_index: usize, step: &Step| {
        let is_itself = (other, other_index) == (task, index);
        let may_meet =
            other != task || given.overlapping[task] || given.tasks[task].priority_of(step) > priority;
        step.processor == own.processor
            && (own.by_deadline || given.tasks[other].peak_priority_of(step) >= priority)
            && (own.by_deadline || may_meet)
            && !is_itself
            && step.wcet > 0
    };
    given.tasks.iter().enumerate().flat_map(move |(other, its)| {
        let steps = its.steps.iter().enumerate();
        let here = steps.filter(move |(other_index, step)| counts(other, *other_index, step));
        here.map(move |(other_index, step)| {
            let latest = lanes::latest_start(given, other, other_index)?;
            Some(Interference {
                source: Source::Work {
                    task: other,
                    step: other_index,
                },
                period: its.period,
                jitter: latest.saturating_sub(earliest_release(its, other_index)),
                wcet: step.wcet,
                once: other == task && !given.overlapping[task] && !own.by_deadline,
            })
        })
    })
}

/// Returns the shortest time from an arrival of a task to the release of one of its steps.
fn earliest_release(task: &Task, index: usize) -> Time {
    let earlier = task.steps[..index]
        .iter()
        .map(|step| step.least_delay.saturating_add(step.bcet));
    earlier.fold(task.steps[index].least_delay, Time::saturating_add)
}
