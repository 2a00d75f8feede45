//! Maximum accrued utility: equal to EDF without overload, more utility than EDF under overload.

use std::time::Duration;

use proptest::prelude::*;
use punctual_sched::dynamic::*;

use crate::dynamic::machine::{Job, Outcome, at, ms, run};

fn job(release: u64, work: u64, deadline: u64, value: u32, decay: u64) -> Job {
    Job {
        release: at(release),
        work: ms(work),
        deadline: at(deadline),
        parameters: SchedulingParameters::Utility {
            deadline: at(deadline),
            execution_time: ms(work),
            utility: Utility {
                value,
                decay: ms(decay),
            },
        },
    }
}

fn accrued(outcome: &Outcome, jobs: &[Job]) -> u64 {
    outcome.utility(jobs, |job| match jobs[job].parameters {
        SchedulingParameters::Utility { utility, .. } => utility,
        other => panic!("{other:?}"),
    })
}

fn both(processors: usize, jobs: &[Job]) -> (Outcome, Outcome) {
    let by_utility = run(&mut MaximumAccruedUtility::new(), processors, jobs);
    let by_deadline = run(&mut EarliestDeadlineFirst::new(), processors, jobs);
    (by_utility, by_deadline)
}

/// EDF runs the earlier deadline first, and misses both.
#[test]
fn work_of_lower_density_is_shed() {
    let jobs = [job(0, 8, 10, 1, 0), job(0, 8, 11, 10, 0)];
    let (by_utility, by_deadline) = both(1, &jobs);
    assert_eq!(by_utility.misses(&jobs), [0]);
    assert_eq!(accrued(&by_utility, &jobs), 10);
    assert_eq!(accrued(&by_deadline, &jobs), 1);
}

/// No more is shed than necessary, and the densest of that runs first when time remains.
#[test]
fn several_jobs_are_shed_for_a_more_valuable_one() {
    let small = |value| job(0, 4, 12, value, 0);
    let jobs = [small(1), small(2), small(3), job(0, 12, 13, 100, 0)];
    let (by_utility, by_deadline) = both(1, &jobs);
    assert_eq!(accrued(&by_utility, &jobs), 100);
    assert_eq!(accrued(&by_deadline, &jobs), 6);
}

/// Work that cannot be in time runs when nothing else does.
#[test]
fn worthless_work_runs_last() {
    let jobs = [job(0, 10, 5, 100, 0), job(0, 4, 50, 1, 0)];
    let (by_utility, _) = both(1, &jobs);
    assert_eq!(by_utility.ends, [at(14), at(4)]);
}

/// A dense job that arrives during an overload preempts a running job of lower density.
#[test]
fn an_arrival_of_greater_density_preempts() {
    let jobs = [job(0, 10, 10, 1, 0), job(5, 5, 11, 50, 0)];
    let (by_utility, by_deadline) = both(1, &jobs);
    assert_eq!(by_utility.misses(&jobs), [0]);
    assert_eq!(accrued(&by_utility, &jobs), 50);
    assert!(accrued(&by_deadline, &jobs) < 50);
}

/// Late work that keeps most of its utility is not abandoned for little.
#[test]
fn late_work_with_slow_decay_is_kept() {
    let jobs = [job(0, 10, 5, 100, 100), job(0, 4, 8, 1, 0)];
    let (by_utility, by_deadline) = both(1, &jobs);
    assert!(accrued(&by_utility, &jobs) >= accrued(&by_deadline, &jobs));
    assert!(accrued(&by_utility, &jobs) >= 91);
}

/// A decision does not abandon the plan of the previous one for less utility.
#[test]
fn the_previous_order_is_kept_if_it_accrues_more() {
    let jobs = [
        job(0, 4, 17, 1, 0),
        job(0, 5, 5, 5, 0),
        job(0, 3, 21, 3, 0),
        job(0, 5, 26, 5, 0),
        job(0, 8, 34, 8, 0),
        job(0, 10, 39, 19, 14),
        job(0, 9, 20, 8, 27),
    ];
    let (by_utility, by_deadline) = both(1, &jobs);
    assert!(accrued(&by_utility, &jobs) >= accrued(&by_deadline, &jobs));
}

/// A job that exceeds its declared time does not delay others indefinitely.
#[test]
fn a_job_that_exceeds_its_declared_time_is_preempted() {
    let mut jobs = [job(0, 100, 20, 5, 0), job(0, 5, 30, 5, 0)];
    // It declared 10.
    jobs[0].parameters = job(0, 10, 20, 5, 0).parameters;
    let (by_utility, _) = both(1, &jobs);
    assert_eq!(by_utility.misses(&jobs), [0]);
}

fn jobs(decays: impl Strategy<Value = u64> + Clone) -> impl Strategy<Value = Vec<Job>> {
    let one = (1..=10u64, 0..=30u64, 1..=20u32, decays)
        .prop_map(|(work, slack, value, decay)| job(0, work, work + slack, value, decay));
    prop::collection::vec(one, 1..=8)
}

proptest! {
    /// With all jobs known at the beginning, and accurate execution times: never less than EDF.
    #[test]
    fn never_accrues_less_than_edf_of_what_is_known(jobs in jobs(Just(0))) {
        let (by_utility, by_deadline) = both(1, &jobs);
        prop_assert!(accrued(&by_utility, &jobs) >= accrued(&by_deadline, &jobs));
        if by_deadline.misses(&jobs).is_empty() {
            prop_assert_eq!(by_utility.choices, by_deadline.choices);
        }
    }

    /// The same with decaying utility.
    #[test]
    fn never_accrues_less_than_edf_with_decay(jobs in jobs(0..=30u64)) {
        let (by_utility, by_deadline) = both(1, &jobs);
        prop_assert!(accrued(&by_utility, &jobs) >= accrued(&by_deadline, &jobs));
    }

    /// If EDF meets all deadlines, so does MAU, without knowledge of arrivals.
    #[test]
    fn equals_edf_without_overload(
        rows in prop::collection::vec((0..=60u64, 1..=6u64, 0..=20u64, 1..=20u32), 1..=10),
    ) {
        let jobs: Vec<Job> = rows
            .iter()
            .map(|(release, work, slack, value)| job(*release, *work, release + work + slack, *value, 0))
            .collect();
        let (by_utility, by_deadline) = both(1, &jobs);
        if by_deadline.misses(&jobs).is_empty() {
            prop_assert_eq!(by_utility.choices, by_deadline.choices);
        }
    }
}

/// Loads from half a processor to three, with unknown arrivals.
#[test]
fn accrues_more_than_edf_under_overload() {
    let mut random = 7u64;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for between in [16, 8, 5, 4, 3] {
        let mut release = 0;
        let jobs: Vec<Job> = (0..400)
            .map(|_| {
                release += next(2 * between);
                let work = 1 + next(15);
                let deadline = release + work + next(60);
                job(release, work, deadline, 1 + next(100) as u32, 0)
            })
            .collect();
        let (by_utility, by_deadline) = both(1, &jobs);
        let all: u64 = jobs.len() as u64;
        let [utility, deadline] = [&by_utility, &by_deadline].map(|outcome| accrued(outcome, &jobs));
        assert!(
            utility >= deadline,
            "{utility} {deadline} of {all}, one each {between} ms"
        );
        if between <= 5 {
            assert!(
                utility > 2 * deadline,
                "{utility} {deadline}, one each {between} ms"
            );
        }
    }
}

#[test]
fn translates_parameters_of_other_kinds() {
    let mut scheduler = MaximumAccruedUtility::new();
    let importance = |importance| SchedulingParameters::Importance { importance };
    scheduler.ready(Slot(0), &importance(1), Duration::ZERO, at(0));
    scheduler.ready(Slot(1), &importance(9), Duration::ZERO, at(0));
    let mut chosen = Vec::new();
    scheduler.choose(2, at(0), &|_| Duration::ZERO, &mut chosen);
    assert_eq!(chosen, [Slot(1), Slot(0)]);
    scheduler.remove(Slot(0), at(0));
    scheduler.remove(Slot(0), at(0));
    chosen.clear();
    scheduler.choose(2, at(0), &|_| Duration::ZERO, &mut chosen);
    assert_eq!(chosen, [Slot(1)]);
}
