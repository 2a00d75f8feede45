//! Bounds over several steps of a chain, in which interference counts once.
//!
//! Step by step, one burst of more important work counts at each step that it could meet. Over the whole
//! time from the arrival to the end, it counts once for each processor.

use alloc::vec::Vec;

use super::{Bound, Budget, Given, Interference, Occupations, Time, blocking, earliest_release, lanes};

/// Returns a bound for the end of step `index` of a task if it is smaller than `limit`.
///
/// Instances of the task do not overlap, processors serve by priority, and threads of lanes are free: then
/// the chain waits only while its processors execute other work of its priorities, released since the
/// beginning of the busy period in which the chain arrived.
pub(super) fn end(
    given: &Given<'_>,
    task: usize,
    index: usize,
    limit: Time,
    budget: &mut Budget,
) -> Option<Time> {
    let own = &given.tasks[task];
    if index == 0 || given.overlapping[task] {
        return None;
    }
    let steps = &own.steps[..=index];
    if steps.iter().any(|step| step.by_deadline) {
        return None;
    }
    let is_free = |place: usize| matches!(lanes::occupations(given, task, place), Occupations::Free);
    if !(0..=index).all(is_free) {
        return None;
    }
    let mut processors: Vec<usize> = steps.iter().map(|step| step.processor).collect();
    processors.sort_unstable();
    processors.dedup();
    let backlogs = processors
        .into_iter()
        .map(|processor| Backlog::of(given, task, index, processor));
    let backlogs: Vec<Backlog> = backlogs.collect::<Option<_>>()?;
    let mut least: Time = 0;
    for step in steps {
        let here = backlogs
            .iter()
            .find(|backlog| backlog.processor == step.processor)?;
        let time = step.delay.saturating_add(step.wcet).saturating_add(here.blocking);
        least = least.saturating_add(time);
    }
    let busy: Vec<Time> = backlogs
        .iter()
        .map(|backlog| backlog.longest_busy_period(own.period, budget))
        .collect::<Option<_>>()?;
    // A last step without work is released at the end of the window, together with other work.
    let at_end = Time::from(own.steps[index].wcet == 0);
    let mut window = least;
    loop {
        let released = window.saturating_add(at_end);
        let mut next = least;
        for (backlog, longest) in backlogs.iter().zip(&busy) {
            next = next.saturating_add(backlog.in_window(released, *longest, budget)?);
        }
        let end = own.jitter.saturating_add(next);
        if end >= limit || end > own.period {
            return None;
        }
        if next == window {
            return Some(end);
        }
        window = next;
    }
}

/// Work of one processor that can precede the steps of a chain there.
struct Backlog {
    processor: usize,
    /// Longest blocking of any of the steps.
    blocking: Time,
    /// Work of other tasks at the lowest of the steps' priorities or above.
    others: Vec<Interference>,
    /// Execution time of all steps of the chain on this processor, for earlier instances.
    own: Time,
    period: Time,
    /// Longest response of the task.
    response: Time,
}

impl Backlog {
    fn of(given: &Given<'_>, task: usize, last: usize, processor: usize) -> Option<Self> {
        let own = &given.tasks[task];
        let here = |index: &usize| own.steps[*index].processor == processor;
        let priority = (0..=last)
            .filter(here)
            .map(|index| own.priority_of(&own.steps[index]))
            .min()?;
        let blocking = (0..=last)
            .filter(here)
            .map(|index| blocking(given.tasks, task, index, false).time)
            .max()?;
        let mut others = Vec::new();
        for (other, its) in given.tasks.iter().enumerate().filter(|(other, _)| *other != task) {
            for (step, of) in its.steps.iter().enumerate() {
                let counts = of.processor == processor && its.peak_priority_of(of) >= priority && of.wcet > 0;
                if !counts {
                    continue;
                }
                let begins_below = its.priority_of(of) < priority;
                let latest = if begins_below {
                    // Its beginning may wait for lower work, in gaps between busy periods.
                    given.bounds[other][step].end?
                } else {
                    lanes::latest_start(given, other, step)?
                };
                others.push(Interference {
                    source: super::Source::Work { task: other, step },
                    period: its.period,
                    jitter: latest.saturating_sub(earliest_release(its, step)),
                    wcet: of.wcet,
                    once: false,
                });
            }
        }
        let all = own.steps.iter().filter(|step| step.processor == processor);
        let Bound { end, .. } = *given.bounds[task].last()?;
        Some(Self {
            processor,
            blocking,
            others,
            own: all.fold(0, |sum: Time, step| sum.saturating_add(step.wcet)),
            period: own.period,
            response: end?.min(own.period),
        })
    }

    /// Returns the execution of earlier instances of the chain in a window before its arrival.
    fn of_earlier_instances(&self, window: Time) -> Time {
        let instances = window
            .saturating_add(self.response)
            .div_ceil(self.period)
            .saturating_sub(1);
        instances.saturating_mul(self.own)
    }

    /// Returns the length of the longest busy period at these priorities.
    fn longest_busy_period(&self, period: Time, budget: &mut Budget) -> Option<Time> {
        let horizon = period.saturating_mul(super::HORIZON);
        let start = self.blocking.saturating_add(self.own).max(1);
        let mut length = start;
        while length <= horizon {
            budget.spend(self.others.len())?;
            let instances = length.saturating_add(self.period).div_ceil(self.period);
            let own = self.blocking.saturating_add(instances.saturating_mul(self.own));
            let next = self.work(length).saturating_add(own).max(start);
            if next == length {
                return Some(length);
            }
            length = next;
        }
        None
    }

    fn work(&self, window: Time) -> Time {
        let times = self.others.iter().map(|other| other.in_window(window));
        times.fold(0, Time::saturating_add)
    }

    /// Returns the most work that the processor executes in a window that begins with the arrival of the
    /// chain: what was released since the busy period began, less what was executed before the arrival.
    fn in_window(&self, window: Time, longest: Time, budget: &mut Budget) -> Option<Time> {
        let mut most = self.work(window);
        let mut consider = |before: Time| {
            budget.spend(self.others.len())?;
            let released = self
                .work(window.saturating_add(before))
                .saturating_add(self.of_earlier_instances(before));
            most = most.max(released.saturating_sub(before));
            Some(())
        };
        // The sum grows where another release begins to count.
        for other in &self.others {
            let first = window.max(1).saturating_add(other.jitter);
            let mut at = first.next_multiple_of(other.period) - first + 1;
            while at <= longest {
                consider(at)?;
                at = at.saturating_add(other.period);
            }
        }
        let mut at = self.period - self.response + 1;
        while at <= longest {
            consider(at)?;
            at = at.saturating_add(self.period);
        }
        Some(most)
    }
}
