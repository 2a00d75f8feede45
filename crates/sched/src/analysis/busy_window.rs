//! The response time of one step on its processor, given how late everything may be released.

use alloc::vec::Vec;

use super::{Step, Task, Time};

/// What the analysis of one step takes as given.
pub(crate) struct Given<'a> {
    pub(crate) tasks: &'a [Task],
    /// Of each step of each task: the longest time from the task's arrival to the step's release. `None`: no
    /// bound.
    pub(crate) jitters: &'a [Vec<Option<Time>>],
    /// For each task: whether an instance may still run when the next arrives, so that its own steps meet
    /// each other.
    pub(crate) overlapping: &'a [bool],
}

/// Sums of interference left, each over one other step; what has not come to rest by then counts as
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

/// The longest time from an arrival of `task` to the end of its step `index`; `None` where there is no bound.
///
/// Every instance in the longest time that the processor is busy at this priority or above is looked at, so
/// deadlines may be longer than periods. Work of equal priority counts as if it all came first: under
/// SCHED_FIFO it is served in order of arrival. Source: Tindell, Burns and Wellings, An extendible approach
/// for analysing fixed priority hard real-time tasks, 1994.
pub(crate) fn response(given: &Given<'_>, task: usize, index: usize, budget: &mut Budget) -> Option<Time> {
    let (own, step) = (&given.tasks[task], &given.tasks[task].steps[index]);
    let jitter = given.jitters[task][index]?;
    let others: Vec<Interference> = interference(given, task, index).collect::<Option<_>>()?;
    let share = |wcet: Time, period: Time| wcet as f64 / period as f64;
    let asked: f64 = others
        .iter()
        .map(|other| share(other.wcet, other.period))
        .sum::<f64>();
    if asked + share(step.wcet, own.period) > 1.0 + ROUNDING {
        return None;
    }
    let horizon = own.period.max(own.deadline).saturating_mul(HORIZON);
    let mut worst = 0;
    let mut window = step.blocking;
    for instance in 0u64.. {
        let own_work = (instance + 1)
            .saturating_mul(step.wcet)
            .saturating_add(step.blocking);
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
        worst = worst.max(response);
        if worst > horizon {
            return None;
        }
        // It is done before the next one arrives: that one starts a busy time of its own.
        if response <= own.period {
            return Some(worst);
        }
    }
    None
}

/// Rounding errors of sums of shares are smaller.
const ROUNDING: f64 = 1e-9;

/// A response longer than so many periods or deadlines counts as none.
const HORIZON: Time = 100;

/// A step that can keep another one from running.
struct Interference {
    period: Time,
    jitter: Time,
    wcet: Time,
}

impl Interference {
    /// The most work of it that is released in a time that begins when it is released as late as can be. In
    /// no time at all it is released once: who has nothing to do still waits for the processor.
    fn in_window(&self, window: Time) -> Time {
        let releases = window.max(1).saturating_add(self.jitter).div_ceil(self.period);
        releases.saturating_mul(self.wcet)
    }
}

/// All that runs on the step's processor at its priority or above; an item is `None` where its release has no
/// bound.
fn interference<'a>(
    given: &'a Given<'_>,
    task: usize,
    index: usize,
) -> impl Iterator<Item = Option<Interference>> + 'a {
    let own = &given.tasks[task].steps[index];
    let priority = given.tasks[task].priority_of(own);
    let counts = move |other: usize, place: usize, step: &Step| {
        let is_itself = (other, place) == (task, index);
        // The other steps of an instance come before or after this one, never beside it.
        let may_meet = other != task || given.overlapping[task];
        step.processor == own.processor
            && given.tasks[other].peak_priority_of(step) >= priority
            && may_meet
            && !is_itself
            && step.wcet > 0
    };
    given.tasks.iter().enumerate().flat_map(move |(other, its)| {
        let steps = its.steps.iter().enumerate();
        let here = steps.filter(move |(place, step)| counts(other, *place, step));
        here.map(move |(place, step)| {
            Some(Interference {
                period: its.period,
                jitter: given.jitters[other][place]?,
                wcet: step.wcet,
            })
        })
    })
}
