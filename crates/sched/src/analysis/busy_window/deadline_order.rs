//! Worst-case response of one step where the earliest deadline runs first.

use alloc::vec::Vec;

use super::{
    Bound, Budget, Given, HORIZON, Interference, Source, Time, Worst, blocking, earliest_release,
    everything_before,
};

/// Considers every arrival in the longest busy period of the processor at which another step's deadline
/// coincides with this one's. All work with the same deadline counts as preceding. All steps of a task have
/// its deadline, so those of the same task count as those of another one. No request waits for a thread of
/// its lane; otherwise there is no bound.
///
/// Source: \[Spuri 1996\].
pub(super) fn worst(given: &Given<'_>, task: usize, index: usize, budget: &mut Budget) -> Option<Worst> {
    let own = &given.tasks[task];
    let step = &own.steps[index];
    let latest = given.jitters[task][index]?;
    let earliest = earliest_release(own, index);
    let jitter = latest - earliest.min(latest);
    let others = everything_before(given, task, index)?;
    let blocking = blocking(given.tasks, task, index, given.overlapping[task]).time;
    let horizon = own.period.max(own.deadline).saturating_mul(HORIZON);
    let longest = busy_period(&others, step.wcet, own.period, jitter, blocking, horizon, budget)?;
    let mut worst = alone(latest, blocking, step.wcet);
    let deadline = |task: usize| i128::from(given.tasks[task].deadline);
    let own_deadline = deadline(task) - i128::from(earliest);
    // Deadlines relative to the earliest release, and times since the beginning of the busy period.
    let of_other = |other: &Interference| match other.source {
        Source::Work { task, step } => {
            deadline(task) - i128::from(earliest_release(&given.tasks[task], step))
        }
        // None occurs: lanes have a thread for each request.
        Source::Thread { .. } => i128::MIN / 4,
    };
    let others: Vec<(Interference, i128)> = others.iter().map(|other| (*other, of_other(other))).collect();
    for first in candidates(&others, own.period, jitter, own_deadline, longest, budget)? {
        let instances = u64::try_from((first + i128::from(jitter)) / i128::from(own.period)).ok()? + 1;
        let work = instances.saturating_mul(step.wcet);
        let before = |other: &(Interference, i128), window: Time| -> Time {
            let (other, relative) = other;
            let after_first = first + own_deadline - relative + i128::from(other.jitter);
            if after_first < 0 {
                return 0;
            }
            let mut due = u64::try_from(after_first / i128::from(other.period)).unwrap_or(u64::MAX - 1) + 1;
            if !given.overlapping[task]
                && matches!(other.source, Source::Work { task: its, .. } if its == task)
            {
                // Steps of the same task are executed in turn.
                due = due.min(instances);
            }
            other.in_window(window).min(due.saturating_mul(other.wcet))
        };
        let mut window = work.saturating_add(blocking);
        loop {
            budget.spend(others.len())?;
            let all = others.iter().map(|other| before(other, window));
            let next = all.fold(work.saturating_add(blocking), Time::saturating_add);
            if next == window {
                break;
            }
            window = next;
            if window > horizon {
                return None;
            }
        }
        // The nominal arrival of the task.
        let arrived = first - i128::from(earliest);
        let response = Time::try_from(i128::from(window) - arrived).unwrap_or(0);
        if worst.bound.end < Some(response) {
            worst.bound.end = Some(response);
            worst.late = Time::try_from(-arrived).unwrap_or(0);
            worst.arrived = Time::try_from(arrived).unwrap_or(0);
            worst.work = work;
            worst.interference = others
                .iter()
                .map(|other| (other.0.source, before(other, window)))
                .collect();
        }
    }
    // Released at the earliest.
    worst.bound.window = worst.bound.end.map(|end| end.saturating_sub(earliest));
    Some(worst)
}

/// Returns the response without other work.
fn alone(latest: Time, blocking: Time, wcet: Time) -> Worst {
    Worst {
        bound: Bound {
            end: Some(latest.saturating_add(blocking).saturating_add(wcet)),
            window: None,
        },
        late: latest,
        arrived: 0,
        blocking,
        work: wcet,
        interference: Vec::new(),
        counted_before: 0,
    }
}

/// Returns the earliest releases, in a busy period of this length, of instances that can be the latest.
fn candidates(
    others: &[(Interference, i128)],
    period: Time,
    jitter: Time,
    own_deadline: i128,
    longest: Time,
    budget: &mut Budget,
) -> Option<Vec<i128>> {
    let first = -i128::from(jitter);
    let last = first + i128::from(longest);
    let mut candidates = Vec::new();
    let mut add = |start: i128, period: Time| {
        let period = i128::from(period);
        let skipped = (first - start).max(0).div_euclid(period);
        let mut at = start + skipped * period;
        while at < last {
            if at >= first {
                budget.spend(0)?;
                candidates.push(at);
            }
            at += period;
        }
        Some(())
    };
    add(first, period)?;
    for (other, relative) in others {
        if matches!(other.source, Source::Work { .. }) {
            add(relative - i128::from(other.jitter) - own_deadline, other.period)?;
        }
    }
    candidates.sort_unstable();
    candidates.dedup();
    Some(candidates)
}

fn busy_period(
    others: &[Interference],
    wcet: Time,
    period: Time,
    jitter: Time,
    blocking: Time,
    horizon: Time,
    budget: &mut Budget,
) -> Option<Time> {
    let own = |length: Time| {
        let releases = length.max(1).saturating_add(jitter).div_ceil(period);
        releases.saturating_mul(wcet)
    };
    let mut length = blocking.saturating_add(wcet).max(1);
    while length <= horizon {
        budget.spend(others.len())?;
        let all = others.iter().map(|other| other.in_window(length));
        let next = all
            .fold(blocking.saturating_add(own(length)), Time::saturating_add)
            .max(1);
        if next <= length {
            return Some(length);
        }
        length = next;
    }
    None
}
