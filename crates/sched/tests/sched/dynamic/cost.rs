//! Cost of a decision in comparisons of ranks, which do not depend on the machine.

use std::{
    cell::Cell,
    cmp::{Ordering, Reverse},
    time::Duration,
};

use punctual_sched::dynamic::*;

thread_local! {
    static COMPARISONS: Cell<u64> = const { Cell::new(0) };
}

#[derive(Clone, Copy, Eq, PartialEq)]
struct Counted(i32);

impl Ord for Counted {
    fn cmp(&self, other: &Self) -> Ordering {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Counted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn important(importance: i32) -> SchedulingParameters {
    SchedulingParameters::Importance { importance }
}

/// Importance that decreases while a thread runs, as laxities do.
struct Tiring;

impl Discipline for Tiring {
    type Rank = Counted;

    fn name(&self) -> &str {
        "tiring"
    }

    fn kind(&self) -> ParameterKind {
        ParameterKind::Importance
    }

    fn rank(&self, claim: &Claim) -> Counted {
        let received = claim.received.as_micros() as i32;
        Counted(claim.parameters.importance().unwrap() - received)
    }

    fn quantum(&self) -> Option<Duration> {
        Some(Duration::from_micros(2))
    }
}

fn by_importance() -> Box<dyn Scheduler> {
    Box::new(Ranked::by("counted", ParameterKind::Importance, |claim| {
        Counted(claim.parameters.importance().unwrap())
    }))
}

/// Returns the maximum number of comparisons of an event of one of `threads` threads and the following
/// decision.
fn worst(mut scheduler: Box<dyn Scheduler>, threads: u32) -> u64 {
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 8
    };
    let mut received = vec![Duration::ZERO; threads as usize];
    for slot in 0..threads {
        scheduler.ready(Slot(slot), &important(next() as i32), Duration::ZERO, Time(0));
    }
    let mut chosen = Vec::new();
    let mut worst = 0;
    for round in 0..3_000u32 {
        let slot = match round % 3 {
            0 => Slot(next() % threads),
            // A running thread is the most expensive to replace.
            _ => *chosen.first().unwrap_or(&Slot(0)),
        };
        for running in &chosen {
            received[running.0 as usize] += Duration::from_micros(u64::from(next() % 100_000));
        }
        let had = received[slot.0 as usize];
        let importance = next() as i32;
        COMPARISONS.set(0);
        match round % 4 {
            0 => scheduler.update(slot, &important(importance), had, Time(0)),
            1 => {}
            _ => {
                scheduler.remove(slot, Time(0));
                scheduler.ready(slot, &important(importance), had, Time(0));
            }
        }
        chosen.clear();
        let received = |slot: Slot| received[slot.0 as usize];
        scheduler.choose(1, Time(0), &received, &mut chosen);
        worst = worst.max(COMPARISONS.get());
    }
    worst
}

#[test]
fn the_cost_of_a_decision_is_logarithmic_in_the_ready_threads() {
    for threads in [10u32, 100, 1_000, 10_000] {
        // An arrival rises, a departure lets another thread sink, and the decision swaps: each passes the
        // heap once, and sinking takes two comparisons per level.
        let limit = u64::from(5 * (threads.ilog2() + 1) + 8);
        for scheduler in [by_importance(), Box::new(Ranked::of(Tiring))] {
            let name = scheduler.name().to_owned();
            let comparisons = worst(scheduler, threads);
            assert!(
                comparisons <= limit,
                "{name}: {comparisons} comparisons with {threads} threads; not more than {limit} expected"
            );
        }
    }
}

#[test]
fn a_decision_without_changes_is_cheap() {
    let mut scheduler = Ranked::by("counted", ParameterKind::Importance, |claim| {
        Reverse(Counted(claim.parameters.importance().unwrap()))
    });
    for slot in 0..10_000 {
        let parameters = important(i32::try_from(slot * 7_919 % 10_007).unwrap());
        scheduler.ready(Slot(slot), &parameters, Duration::ZERO, Time(0));
    }
    let mut chosen = Vec::new();
    for _ in 0..2 {
        COMPARISONS.set(0);
        chosen.clear();
        scheduler.choose(2, Time(0), &|_| Duration::ZERO, &mut chosen);
    }
    assert_eq!(chosen.len(), 2);
    assert!(COMPARISONS.get() <= 2, "{}", COMPARISONS.get());
}
