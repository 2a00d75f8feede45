//! Chains of calls over processors: bounds hold in all simulations, and are exact in cases computed by hand.

use proptest::prelude::*;
use punctual_sched::analysis::*;

use crate::analysis::{
    properties::{is_feasible_with, permutations},
    simulation::{Actual, worst_responses},
};

fn worst(tasks: &[Task]) -> Vec<Option<Time>> {
    let analysis = analyse(tasks).unwrap();
    analysis.responses.iter().map(Response::worst).collect()
}

/// A client on processor 0 calls a servant on processor 1 and continues.
fn call(period: Time, priority: i32) -> Task {
    Task::new(period, priority)
        .step(Step::new(0, 2))
        .step(Step::new(1, 5).delay(3))
        .step(Step::new(0, 1).delay(3))
}

#[test]
fn a_chain_alone_takes_the_sum_of_its_parts() {
    let analysis = analyse(&[call(50, 1)]).unwrap();
    assert_eq!(analysis.responses[0].steps, [Some(2), Some(10), Some(14)]);
    assert_eq!(analysis.utilizations, [0.06, 0.1]);
}

#[test]
fn the_lower_chain_waits_on_both_hosts() {
    // Alone it takes 14; both steps of the other client delay it once, and the other servant does.
    assert_eq!(
        worst(&[call(50, 2), call(50, 1)]),
        [Some(14), Some(14 + 2 + 1 + 5)]
    );
}

#[test]
fn response_times_on_one_host_are_jitter_on_the_next() {
    // The chain's servant may be released up to 40 late, so two of its instances can delay the local task on
    // processor 1.
    let late = Task::new(50, 5).step(Step::new(0, 1)).step(Step::new(1, 10));
    let busy = Task::new(50, 9).step(Step::new(0, 35));
    let local = Task::new(100, 1).step(Step::new(1, 10));
    let found = worst(&[late, busy, local]);
    assert_eq!(found, [Some(46), Some(35), Some(30)]);
}

#[test]
fn tasks_below_an_unbounded_chain_are_unbounded() {
    let chain = Task::new(10, 2).step(Step::new(0, 11)).step(Step::new(1, 1));
    let below = Task::new(100, 1).step(Step::new(1, 1));
    let above = Task::new(100, 3).step(Step::new(1, 1));
    assert_eq!(worst(&[chain, below, above]), [None, None, Some(1)]);
}

#[test]
fn a_pool_at_one_priority_lets_medium_work_delay_high_calls() {
    let high = Task::new(20, 9)
        .deadline(10)
        .step(Step::new(0, 1))
        .step(Step::new(1, 2));
    let medium = Task::new(40, 5).step(Step::new(1, 15));
    let lanes = [high.clone(), medium.clone()];
    assert!(analyse(&lanes).unwrap().is_feasible());
    let mut pool = [high, medium];
    pool[0].steps[1].fixed_priority = Some(1);
    assert_eq!(worst(&pool)[0], Some(18));
    // No priority of the client helps, because the servant has that of the pool; the other task must be below
    // that.
    assert_eq!(one_change(&pool, 1..=99), None);
    assert_eq!(one_change(&pool, 0..=99), Some((1, 0)));
}

#[test]
fn a_step_that_changes_its_priority_waits_at_the_low_and_interferes_at_the_high_one() {
    let medium = Task::new(100, 5).step(Step::new(0, 10));
    let other = |peak: i32| Task::new(100, 9).step(Step::new(0, 20).fixed_priority(1).peak_priority(peak));
    assert_eq!(worst(&[medium.clone(), other(9)]), [Some(30), Some(30)]);
    assert_eq!(worst(&[medium.clone(), other(4)]), [Some(10), Some(30)]);
    // A peak below the initial priority has no effect.
    assert_eq!(worst(&[medium, other(0)]), [Some(10), Some(30)]);
}

/// A utilisation near four processors, chains that pass on their jitter in circles, and a search: bounded
/// effort.
#[test]
fn the_analysis_of_a_large_circular_set_ends() {
    let task = |number: usize| {
        let period = [5_000, 7_000, 11_000, 13_000, 50_000, 1_000_000][number % 6];
        let chain = Task::new(period, i32::try_from(number).unwrap()).deadline(period * 8 / 10);
        (0..3).fold(chain, |chain, step| {
            chain.step(Step::new((number + step * 3) % 4, period / 25).delay(100))
        })
    };
    let set: Vec<_> = (0..30).map(task).collect();
    let analysis = analyse(&set).unwrap();
    assert!(analysis.utilizations.iter().all(|used| (0.8..1.0).contains(used)));
    assert!(!analysis.is_feasible());
    assert_eq!(one_change(&set, 1..=99), None);
    let levels: Vec<i32> = (1..=30).collect();
    assert_eq!(audsley(&set, &levels), None);
}

/// Chains of which no execution and no delay is shorter than a part of the longest one, and whose second
/// processor may serve by deadline.
fn varied_chains() -> impl Strategy<Value = Vec<Task>> {
    (chains(), 0..=4u64, any::<bool>()).prop_map(|(mut tasks, least, by_deadline)| {
        for step in tasks.iter_mut().flat_map(|task| &mut task.steps) {
            step.bcet = step.wcet * least / 4;
            step.least_delay = step.delay * least / 4;
            step.by_deadline = by_deadline && step.processor == 1;
        }
        tasks
    })
}

#[test]
fn best_cases_make_bounds_tighter() {
    // What runs before the chain on the other processor varies by 4 only, not by 34.
    let at_least = |bcet| {
        let chain = Task::new(50, 5)
            .step(Step::new(0, 34).bcet(bcet))
            .step(Step::new(1, 10));
        worst(&[chain, Task::new(100, 1).step(Step::new(1, 30))])[1]
    };
    assert_eq!((at_least(0), at_least(30)), (Some(50), Some(40)));
}

#[test]
fn what_ends_at_an_instant_precedes_what_is_released_at_it() {
    // The second request is released when the first ones end: at 4, 6 before its period, for it may be 6
    // late.
    let often = Task::new(10, 2).jitter(6).step(Step::new(0, 2));
    let other = Task::new(100, 2).step(Step::new(0, 2));
    let nothing = Task::new(100, 1).step(Step::new(0, 0));
    assert_eq!(worst(&[often.clone(), other, nothing])[2], Some(4));
    // A second step without work is released at that instant itself, and waits.
    let chain = Task::new(100, 1).step(Step::new(0, 2)).step(Step::new(0, 0));
    let at_end = Task::new(100, 2).jitter(2).step(Step::new(0, 3));
    let set = [chain, at_end];
    assert_eq!(worst(&set)[0], Some(5));
    let mut late = 2;
    let mut choose = |most: u64| {
        if most == 2 {
            core::mem::take(&mut late)
        } else {
            most
        }
    };
    let actual = Actual {
        phases: &[0, 0],
        choose: &mut choose,
    };
    assert_eq!(worst_responses(&set, 50, actual)[0], 5);
    // And so it does for the next instance of its own task.
    let alone = Task::new(10, 3)
        .step(Step::new(0, 1))
        .step(Step::new(0, 0).delay(9).fixed_priority(1));
    assert_eq!(worst(core::slice::from_ref(&alone)), [Some(11)]);
    assert_eq!(
        Actual::worst(|actual| worst_responses(&[alone], 50, actual), 1),
        [11]
    );
}

#[test]
fn a_burst_counts_once_over_the_steps_of_a_chain() {
    let chain = (0..4).fold(Task::new(1000, 1), |task, step| task.step(Step::new(step % 2, 5)));
    let burst = Task::new(1000, 9).step(Step::new(0, 100));
    assert_eq!(worst(&[chain.clone(), burst.clone()])[0], Some(120));
    // The second chance of a burst is another one.
    let again = Task {
        period: 110,
        deadline: 110,
        ..burst
    };
    assert_eq!(worst(&[chain, again])[0], Some(220));
}

#[test]
fn the_earliest_deadline_first_meets_what_no_priorities_can() {
    let set = |by_deadline: bool| {
        [(10, 5), (14, 7)].map(|(period, wcet)| {
            let mut step = Step::new(0, wcet);
            step.by_deadline = by_deadline;
            Task::new(period, 100 - i32::try_from(period).unwrap()).step(step)
        })
    };
    assert!(!analyse(&set(false)).unwrap().is_feasible());
    assert!(analyse(&set(true)).unwrap().is_feasible());
    assert_eq!(demand_peak(&set(true), 0), Some(1.0));
}

/// One to four tasks of one to three steps on two processors, deadlines up to twice the periods, priorities
/// that may be equal.
fn chains() -> impl Strategy<Value = Vec<Task>> {
    let step = (
        0..2usize,
        0..=4u64,
        0..=3u64,
        prop::option::weighted(0.2, 0..4i32),
        prop::option::weighted(0.2, 0..4i32),
    );
    let steps = prop::collection::vec(step, 1..=3);
    let task = (8..=40u64, 1..=200u64, 0..=5u64, 0..4i32, steps);
    prop::collection::vec(task, 1..=4).prop_map(|rows| {
        rows.into_iter()
            .map(|(period, deadline, jitter, priority, steps)| {
                let task = Task::new(period, priority)
                    .deadline(period * deadline / 100)
                    .jitter(jitter);
                steps
                    .into_iter()
                    .fold(task, |task, (processor, wcet, delay, fixed, peak)| {
                        let mut step = Step::new(processor, wcet).delay(delay);
                        step.fixed_priority = fixed;
                        step.peak_priority = peak;
                        task.step(step)
                    })
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn nothing_takes_longer_than_its_bound(
        tasks in varied_chains(),
        phases in prop::collection::vec(0..20u64, 4),
        seed in any::<u64>(),
    ) {
        let analysis = analyse(&tasks).unwrap();
        // The maximum, less, or nothing.
        let mut state = seed | 1;
        let mut choose = |most: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state % 3 == 0 { state % (most + 1) } else { most }
        };
        let actual = Actual { phases: &phases, choose: &mut choose };
        let simulated = worst_responses(&tasks, 1_500, actual);
        for (response, simulated) in analysis.responses.iter().zip(simulated) {
            if let Some(bound) = response.worst() {
                prop_assert!(simulated <= bound, "{} > {}: {:?}", simulated, bound, tasks);
            }
        }
    }

    #[test]
    fn an_order_is_found_where_there_is_one(tasks in chains()) {
        let levels: Vec<i32> = (10..).take(tasks.len()).collect();
        let found = feasible_priorities(&tasks, &levels);
        match &found {
            Some(priorities) => prop_assert!(is_feasible_with(&tasks, priorities), "{:?}", tasks),
            None => {
                let any = permutations(&levels).iter().any(|order| is_feasible_with(&tasks, order));
                prop_assert!(!any, "{:?}", tasks);
            }
        }
    }

    #[test]
    fn priorities_that_are_found_do(tasks in chains()) {
        let levels: Vec<i32> = (10..).take(tasks.len()).collect();
        if let Some(priorities) = audsley(&tasks, &levels) {
            let assigned: Vec<_> = tasks
                .iter()
                .zip(&priorities)
                .map(|(task, priority)| Task { priority: *priority, ..task.clone() })
                .collect();
            prop_assert!(analyse(&assigned).unwrap().is_feasible(), "{:?}", tasks);
        }
    }
}
