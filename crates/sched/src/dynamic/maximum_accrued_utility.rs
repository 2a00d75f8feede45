//! Maximum accrued utility.

use alloc::{collections::BinaryHeap, vec::Vec};
use core::{
    cmp::{Ordering, Reverse},
    time::Duration,
};

use super::{
    Claim, ParameterKind, Scheduler, SchedulingParameters, Slot, Time, TranslationDefaults, Utility,
};

/// MAU: maximises the accrued utility. RTCORBA 1.2, `MAU_Scheduling`.
///
/// While all deadlines can be met, it is EDF (among equal deadlines the greatest value runs first). Otherwise
/// it considers ready threads in the order of deadlines and, wherever the work up to a deadline does not fit,
/// sheds the work of the least utility density (utility per remaining execution time). The remaining work
/// runs first, in the order of deadlines; shed work follows by density, worthless work last. If EDF's order
/// or that of the last decision accrues more (possible if late work keeps some utility), that order is used.
/// All of this is with respect to the threads known at the decision: considering later arrivals, no scheduler
/// is optimal. On several processors, completion times are estimated as if work were divisible between them.
/// A thread that exceeds its declared execution time counts as about to end, until it is late.
///
/// A decision takes O(n log n) for n ready threads: suitable for tens or hundreds, not for tens of thousands.
///
/// Source: \[Locke 1986\] (LBESA).
///
/// ```
/// # mod punctual { pub use punctual_sched::dynamic as rtscheduling; }
/// use core::time::Duration;
/// use punctual::rtscheduling::{MaximumAccruedUtility, Scheduler, SchedulingParameters, Slot, Time, Utility};
///
/// let mut scheduler = MaximumAccruedUtility::new();
/// let milliseconds = Duration::from_millis;
/// let work = |deadline, value| SchedulingParameters::Utility {
///     deadline: Time(0) + milliseconds(deadline),
///     execution_time: milliseconds(5),
///     utility: Utility { value, decay: Duration::ZERO },
/// };
/// // Only one of them can be in time: the earlier deadline would win under EDF.
/// scheduler.ready(Slot(0), &work(5, 1), Duration::ZERO, Time(0));
/// scheduler.ready(Slot(1), &work(6, 100), Duration::ZERO, Time(0));
///
/// let mut chosen = Vec::new();
/// scheduler.choose(1, Time(0), &|_| Duration::ZERO, &mut chosen);
/// assert_eq!(chosen, [Slot(1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MaximumAccruedUtility {
    /// Index of each slot in `ready`.
    indices: Vec<Option<usize>>,
    ready: Vec<Ready>,
    arrivals: u64,
    reconsider: Option<Time>,
    /// Candidates of the present decision; kept to reuse the memory.
    plan: Vec<Candidate>,
    /// Candidates of the present decision that are not shed, by density, with their indices in the plan.
    least_dense: BinaryHeap<Reverse<(Density, Reverse<u64>, usize)>>,
}

#[derive(Clone, Copy, Debug)]
struct Ready {
    thread: Slot,
    claim: Claim,
    utility: Utility,
    arrival: u64,
    runs: bool,
    /// Index in the order of the last decision.
    planned: usize,
}

impl MaximumAccruedUtility {
    /// Creates a scheduler without threads.
    pub fn new() -> Self {
        Self::default()
    }

    fn translated(parameters: &SchedulingParameters, received: Duration, now: Time) -> (Claim, Utility) {
        let defaults = TranslationDefaults {
            now,
            ..TranslationDefaults::default()
        };
        let parameters = parameters.translated(ParameterKind::Utility, &defaults);
        let utility = match parameters {
            SchedulingParameters::Utility { utility, .. } => utility,
            _ => NOTHING,
        };
        (Claim::new(parameters, received), utility)
    }
}

const NOTHING: Utility = Utility {
    value: 0,
    decay: Duration::ZERO,
};

impl Scheduler for MaximumAccruedUtility {
    fn name(&self) -> &str {
        "MAU"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Utility
    }

    fn reserve(&mut self, threads: usize) {
        if self.indices.len() < threads {
            self.indices.resize(threads, None);
        }
        self.ready.reserve(threads.saturating_sub(self.ready.len()));
        self.plan.clear();
        self.plan.reserve(threads);
        self.least_dense.clear();
        self.least_dense.reserve(threads);
    }

    fn ready(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        let needed = thread.index() + 1;
        if self.indices.len() < needed {
            self.indices.resize(needed, None);
        }
        if self.indices[thread.index()].is_some() {
            return self.update(thread, parameters, received, now);
        }
        let (claim, utility) = Self::translated(parameters, received, now);
        self.arrivals += 1;
        self.indices[thread.index()] = Some(self.ready.len());
        self.ready.push(Ready {
            thread,
            claim,
            utility,
            arrival: self.arrivals,
            runs: false,
            planned: usize::MAX,
        });
    }

    fn update(&mut self, thread: Slot, parameters: &SchedulingParameters, received: Duration, now: Time) {
        if let Some(Some(index)) = self.indices.get(thread.index()) {
            let ready = &mut self.ready[*index];
            (ready.claim, ready.utility) = Self::translated(parameters, received, now);
        }
    }

    fn remove(&mut self, thread: Slot, _: Time) {
        let Some(index) = self.indices.get_mut(thread.index()).and_then(Option::take) else {
            return;
        };
        self.ready.swap_remove(index);
        if let Some(moved) = self.ready.get(index) {
            self.indices[moved.thread.index()] = Some(index);
        }
    }

    fn choose(
        &mut self,
        processors: usize,
        now: Time,
        received: &dyn Fn(Slot) -> Duration,
        chosen: &mut Vec<Slot>,
    ) {
        self.plan.clear();
        for ready in &mut self.ready {
            ready.claim.received = received(ready.thread);
            self.plan.push(Candidate::of(ready, now));
        }
        let capacity = Capacity {
            now,
            processors: processors.max(1),
        };
        self.plan(capacity);
        self.reconsider = None;
        for (planned, candidate) in self.plan.iter().enumerate() {
            if let Some(Some(index)) = self.indices.get(candidate.thread.index()) {
                self.ready[*index].planned = planned;
                self.ready[*index].runs = planned < processors;
            }
        }
        for candidate in self.plan.iter().take(processors) {
            chosen.push(candidate.thread);
            let at = candidate.reconsider_at();
            self.reconsider = [self.reconsider, at].into_iter().flatten().min();
        }
    }

    fn reconsider_at(&self, _: Time) -> Option<Time> {
        self.reconsider
    }

    /// Compares by utility density, then by deadline.
    fn compare(&self, one: &Claim, other: &Claim, now: Time) -> Ordering {
        let rank = |claim: &Claim| {
            let (claim, utility) = Self::translated(&claim.parameters, claim.received, now);
            let candidate = Candidate::of(
                &Ready {
                    thread: Slot(0),
                    claim,
                    utility,
                    arrival: 0,
                    runs: false,
                    planned: 0,
                },
                now,
            );
            (candidate.density(), Reverse(candidate.deadline))
        };
        rank(one).cmp(&rank(other))
    }
}

impl MaximumAccruedUtility {
    /// Orders the candidates.
    fn plan(&mut self, capacity: Capacity) {
        self.plan.sort_unstable_by_key(Candidate::by_deadline);
        let (fits, by_deadlines) = capacity.outcome(&self.plan);
        if !fits {
            // Late work competes until it is worthless: its end is later than its deadline.
            self.plan.sort_unstable_by_key(Candidate::by_end);
            self.shed(capacity);
            self.plan.sort_unstable_by(Candidate::shed_last);
            let (_, shedding) = capacity.outcome(&self.plan);
            self.plan.sort_unstable_by_key(Candidate::as_planned);
            let (_, as_planned) = capacity.outcome(&self.plan);
            if shedding >= by_deadlines.max(as_planned) {
                self.plan.sort_unstable_by(Candidate::shed_last);
            } else if by_deadlines > as_planned {
                self.plan.sort_unstable_by_key(Candidate::by_deadline);
            }
        }
    }

    /// Sheds the least dense candidates wherever the work does not fit.
    fn shed(&mut self, capacity: Capacity) {
        self.least_dense.clear();
        let mut work = Duration::ZERO;
        for index in 0..self.plan.len() {
            let candidate = self.plan[index];
            work = work.saturating_add(candidate.remaining);
            let entry = (candidate.density(), Reverse(candidate.arrival), index);
            self.least_dense.push(Reverse(entry));
            while capacity.end_of(work) > candidate.end {
                let Some(Reverse((_, _, least))) = self.least_dense.pop() else {
                    break;
                };
                self.plan[least].is_shed = true;
                work = work.saturating_sub(self.plan[least].remaining);
            }
        }
    }
}

/// Processor time from now on.
#[derive(Clone, Copy)]
struct Capacity {
    now: Time,
    processors: usize,
}

impl Capacity {
    /// Returns the time at which this work is done.
    fn end_of(self, work: Duration) -> Time {
        let processors = u32::try_from(self.processors).unwrap_or(u32::MAX);
        self.now + work / processors
    }

    /// Returns whether all deadlines are met in this order, and the accrued utility.
    fn outcome(self, plan: &[Candidate]) -> (bool, u64) {
        let mut work = Duration::ZERO;
        let mut fits = true;
        let mut worth = 0u64;
        for candidate in plan {
            work = work.saturating_add(candidate.remaining);
            let end = self.end_of(work).max(self.now + candidate.remaining);
            fits &= end <= candidate.deadline;
            worth = worth.saturating_add(candidate.utility.worth(end.since(candidate.deadline)).into());
        }
        (fits, worth)
    }
}

/// A ready thread in one decision.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    thread: Slot,
    arrival: u64,
    runs: bool,
    planned: usize,
    deadline: Time,
    utility: Utility,
    remaining: Duration,
    /// Time by which it should end: its deadline or, if that cannot be met, the end of its utility.
    end: Time,
    /// Utility if it runs alone from now on.
    worth: u32,
    is_shed: bool,
}

impl Candidate {
    fn of(ready: &Ready, now: Time) -> Self {
        let utility = ready.utility;
        let deadline = ready.claim.parameters.deadline().unwrap_or(Time::NEVER);
        let remaining = ready.claim.remaining();
        let earliest_end = now + remaining;
        Self {
            thread: ready.thread,
            arrival: ready.arrival,
            runs: ready.runs,
            planned: ready.planned,
            deadline,
            utility,
            remaining,
            end: match earliest_end <= deadline {
                true => deadline,
                false => deadline + utility.decay,
            },
            worth: utility.worth(earliest_end.since(deadline)),
            is_shed: false,
        }
    }

    fn by_deadline(&self) -> impl Ord + use<> {
        (self.deadline, self.among_equals())
    }

    fn by_end(&self) -> impl Ord + use<> {
        (self.end, self.among_equals())
    }

    fn as_planned(&self) -> impl Ord + use<> {
        (self.planned, self.arrival)
    }

    /// Breaks ties as EDF does, with the value as importance.
    fn among_equals(&self) -> impl Ord + use<> {
        (Reverse(self.utility.value), !self.runs, self.arrival)
    }

    fn shed_last(&self, other: &Self) -> Ordering {
        let is_shed = self.is_shed.cmp(&other.is_shed);
        let by_density = || match self.is_shed {
            true => other.density().cmp(&self.density()),
            false => Ordering::Equal,
        };
        is_shed
            .then_with(by_density)
            .then_with(|| self.by_end().cmp(&other.by_end()))
    }

    fn density(&self) -> Density {
        Density {
            worth: self.worth,
            remaining: u64::try_from(self.remaining.as_nanos())
                .unwrap_or(u64::MAX)
                .max(1),
        }
    }

    /// Returns the time at which it should have ended, and another thread may be preferable.
    fn reconsider_at(&self) -> Option<Time> {
        let is_late_at = self.end + Duration::from_nanos(1);
        (self.worth > 0 && is_late_at != Time::NEVER).then_some(is_late_at)
    }
}

/// Utility per nanosecond of execution.
#[derive(Clone, Copy, Debug)]
struct Density {
    worth: u32,
    /// Remaining time; at least 1.
    remaining: u64,
}

impl Ord for Density {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |worth: u32, remaining: u64| u128::from(worth) * u128::from(remaining);
        cross(self.worth, other.remaining).cmp(&cross(other.worth, self.remaining))
    }
}

impl PartialOrd for Density {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Density {}

impl PartialEq for Density {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
