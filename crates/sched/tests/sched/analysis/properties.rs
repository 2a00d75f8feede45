//! Arbitrary sets of tasks on one processor: the analysis agrees with a simulation.

use proptest::prelude::*;
use punctual_sched::analysis::*;

use crate::analysis::simulation::{Actual, worst_responses};

/// Divisors of 120, so that the schedule repeats after 120 ticks.
const PERIODS: [Time; 9] = [4, 5, 6, 8, 10, 12, 15, 20, 24];
const HYPERPERIOD: Time = 120;

/// One to five tasks with distinct priorities and deadlines up to their periods.
fn independent() -> impl Strategy<Value = Vec<Task>> {
    let task = (prop::sample::select(&PERIODS[..]), 0..=6u64, 0..=100u64);
    prop::collection::vec(task, 1..=5).prop_map(|rows| {
        let tasks = rows.into_iter().enumerate();
        tasks
            .map(|(number, (period, wcet, tightness))| {
                let wcet = wcet.min(period);
                let deadline = wcet + (period - wcet) * tightness / 100;
                Task::new(period, i32::try_from(number).unwrap())
                    .deadline(deadline)
                    .step(Step::new(0, wcet))
            })
            .collect()
    })
}

fn simulated(tasks: &[Task]) -> Vec<Time> {
    // Instances of the first hyperperiod end in the second one.
    Actual::worst(
        |actual| worst_responses(tasks, 2 * HYPERPERIOD, actual),
        tasks.len(),
    )
}

/// Returns all permutations of priorities.
pub fn permutations(items: &[i32]) -> Vec<Vec<i32>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |place: usize| {
        let mut rest = items.to_vec();
        let first = rest.remove(place);
        permutations(&rest).into_iter().map(move |mut order| {
            order.insert(0, first);
            order
        })
    };
    (0..items.len()).flat_map(with_first).collect()
}

pub fn is_feasible_with(tasks: &[Task], priorities: &[i32]) -> bool {
    let tasks: Vec<_> = tasks
        .iter()
        .zip(priorities)
        .map(|(task, priority)| Task {
            priority: *priority,
            ..task.clone()
        })
        .collect();
    analyse(&tasks).unwrap().is_feasible()
}

proptest! {
    #[test]
    fn response_times_are_those_of_a_simulation(tasks in independent()) {
        let analysis = analyse(&tasks).unwrap();
        let simulated = simulated(&tasks);
        for ((task, response), simulated) in tasks.iter().zip(&analysis.responses).zip(simulated) {
            match response.worst() {
                Some(worst) if worst <= task.period => prop_assert_eq!(worst, simulated, "{:?}", tasks),
                _ => prop_assert!(simulated > task.period || utilization(&tasks, 0) > 1.0, "{:?}", tasks),
            }
        }
    }

    #[test]
    fn within_the_bounds_by_utilisation_all_are_in_time(mut tasks in independent()) {
        tasks.sort_by_key(|task| core::cmp::Reverse(task.period));
        for (level, task) in (0..).zip(&mut tasks) {
            task.priority = level;
            task.deadline = task.period;
        }
        prop_assert!(bounds_apply(&tasks, 0));
        let (used, bound) = (utilization(&tasks, 0), liu_layland_bound(tasks.len()));
        let product = hyperbolic_product(&tasks, 0);
        if used <= bound {
            prop_assert!(product <= 2.0 + 1e-9, "the hyperbolic bound is the wider one: {:?}", tasks);
        }
        if product <= 2.0 {
            prop_assert!(analyse(&tasks).unwrap().is_feasible(), "{:?}", tasks);
        }
    }

    #[test]
    fn priorities_are_found_where_there_are_any(tasks in independent()) {
        let levels: Vec<i32> = (0..).take(tasks.len()).collect();
        let found = audsley(&tasks, &levels);
        match &found {
            Some(priorities) => prop_assert!(is_feasible_with(&tasks, priorities), "{:?}", tasks),
            None => {
                let none = !permutations(&levels).iter().any(|order| is_feasible_with(&tasks, order));
                prop_assert!(none, "{:?}", tasks);
            }
        }
        if let Some((task, priority)) = one_change(&tasks, 0..=20) {
            let mut changed: Vec<i32> = tasks.iter().map(|task| task.priority).collect();
            changed[task] = priority;
            prop_assert!(is_feasible_with(&tasks, &changed), "{:?}", tasks);
        }
    }
}
