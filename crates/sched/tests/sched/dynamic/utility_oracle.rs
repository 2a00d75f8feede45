//! Maximum accrued utility, compared with a reference implementation.

use std::{cmp::Reverse, time::Duration};

use proptest::prelude::*;
use punctual_sched::dynamic::*;

use crate::dynamic::machine::{at, ms};

#[derive(Clone, Debug)]
struct Thread {
    slot: Slot,
    deadline: Time,
    work: Duration,
    utility: Utility,
    received: Duration,
    arrival: usize,
    runs: bool,
    /// Index in the last plan.
    planned: usize,
}

impl Thread {
    fn parameters(&self) -> SchedulingParameters {
        SchedulingParameters::Utility {
            deadline: self.deadline,
            execution_time: self.work,
            utility: self.utility,
        }
    }

    fn remaining(&self) -> Duration {
        self.work.saturating_sub(self.received)
    }

    fn end(&self, now: Time) -> Time {
        match now + self.remaining() <= self.deadline {
            true => self.deadline,
            false => self.deadline + self.utility.decay,
        }
    }

    /// Density times a multiple of every remaining time in these tests, so that it is exact.
    fn density(&self, now: Time) -> u128 {
        let worth = self.utility.worth((now + self.remaining()).since(self.deadline));
        let remaining = self.remaining().as_nanos().max(1);
        u128::from(worth) * SCALE / remaining
    }

    fn among_equals(&self) -> impl Ord + use<> {
        (Reverse(self.utility.value), !self.runs, self.arrival)
    }
}

/// Common multiple of all remaining times, which are at most 10 half milliseconds.
const SCALE: u128 = 2_520 * 500_000;

/// Returns whether all deadlines are met if the plan is followed, and its utility.
fn outcome(plan: &[Thread], processors: usize, now: Time) -> (bool, u64) {
    let mut work = Duration::ZERO;
    let mut fits = true;
    let mut worth = 0;
    for thread in plan {
        work += thread.remaining();
        let end = (now + work / processors as u32).max(now + thread.remaining());
        fits &= end <= thread.deadline;
        worth += u64::from(thread.utility.worth(end.since(thread.deadline)));
    }
    (fits, worth)
}

/// Sheds the least dense work up to each deadline that does not fit.
fn shed(threads: &[Thread], processors: usize, now: Time) -> Vec<Thread> {
    let mut kept = threads.to_vec();
    kept.sort_by_key(|thread| (thread.end(now), thread.among_equals()));
    let mut shed = Vec::new();
    loop {
        let late = (0..kept.len()).find(|place| {
            let work: Duration = kept[..=*place].iter().map(Thread::remaining).sum();
            now + work / processors as u32 > kept[*place].end(now)
        });
        let Some(late) = late else { break };
        let least = (0..=late)
            .min_by_key(|place| (kept[*place].density(now), Reverse(kept[*place].arrival)))
            .unwrap();
        shed.push(kept.remove(least));
    }
    shed.sort_by_key(|thread| {
        (
            Reverse(thread.density(now)),
            thread.end(now),
            thread.among_equals(),
        )
    });
    kept.extend(shed);
    kept
}

fn choose(threads: &mut [Thread], processors: usize, now: Time) -> Vec<Slot> {
    let capacity = processors.max(1);
    let mut by_deadline = threads.to_vec();
    by_deadline.sort_by_key(|thread| (thread.deadline, thread.among_equals()));
    let mut as_planned = threads.to_vec();
    as_planned.sort_by_key(|thread| (thread.planned, thread.arrival));
    let shed = shed(threads, capacity, now);
    let brings = |plan: &[Thread]| outcome(plan, capacity, now).1;
    let plan = if outcome(&by_deadline, capacity, now).0 {
        by_deadline
    } else if brings(&shed) >= brings(&by_deadline).max(brings(&as_planned)) {
        shed
    } else if brings(&by_deadline) > brings(&as_planned) {
        by_deadline
    } else {
        as_planned
    };
    for thread in threads {
        thread.planned = plan.iter().position(|other| other.slot == thread.slot).unwrap();
        thread.runs = thread.planned < processors;
    }
    plan.iter().take(processors).map(|thread| thread.slot).collect()
}

#[derive(Clone, Debug)]
enum Step {
    /// Slot; work, slack and decay in half milliseconds; value.
    Ready(u32, u64, u64, u64, u32),
    Remove(u32),
    Choose(usize),
    /// Time step in half milliseconds.
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let decay = prop_oneof![Just(0), 0..=20u64];
    let step = prop_oneof![
        4 => (0..10u32, 0..=10u64, 0..=40u64, decay, 0..=9u32)
            .prop_map(|(slot, work, slack, decay, value)| Step::Ready(slot, work, slack, decay, value)),
        1 => (0..10u32).prop_map(Step::Remove),
        4 => (0..=3usize).prop_map(Step::Choose),
        4 => (0..=6u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #[test]
    fn choices_equal_those_of_the_reference(steps in steps()) {
        let half = |halves: u64| ms(halves) / 2;
        let mut scheduler = Checked::new(MaximumAccruedUtility::new());
        let mut threads: Vec<Thread> = Vec::new();
        let mut now = at(100);
        for (arrival, step) in steps.into_iter().enumerate() {
            match step {
                Step::Ready(slot, work, slack, decay, value) => {
                    let known = threads.iter_mut().find(|thread| thread.slot.0 == slot);
                    let fresh = Thread {
                        slot: Slot(slot),
                        deadline: now + half(slack) - half(4),
                        work: half(work),
                        utility: Utility { value, decay: half(decay) },
                        received: Duration::ZERO,
                        arrival,
                        runs: false,
                        planned: usize::MAX,
                    };
                    match known {
                        Some(known) => {
                            let Thread { arrival, runs, planned, .. } = *known;
                            *known = Thread { arrival, runs, planned, ..fresh };
                            scheduler.update(known.slot, &known.parameters(), Duration::ZERO, now);
                        }
                        None => {
                            scheduler.ready(fresh.slot, &fresh.parameters(), Duration::ZERO, now);
                            threads.push(fresh);
                        }
                    }
                }
                Step::Remove(slot) => {
                    threads.retain(|thread| thread.slot.0 != slot);
                    scheduler.remove(Slot(slot), now);
                }
                Step::Pass(halves) => {
                    now = now + half(halves);
                    for thread in threads.iter_mut().filter(|thread| thread.runs) {
                        thread.received += half(halves);
                    }
                }
                Step::Choose(processors) => {
                    let mut chosen = Vec::new();
                    let received = |slot: Slot| {
                        threads.iter().find(|thread| thread.slot == slot).unwrap().received
                    };
                    scheduler.choose(processors, now, &received, &mut chosen);
                    prop_assert!(scheduler.reconsider_at(now).is_none_or(|at| at > now));
                    prop_assert_eq!(chosen, choose(&mut threads, processors, now));
                    prop_assert_eq!(scheduler.faults(), 0);
                }
            }
        }
    }
}
