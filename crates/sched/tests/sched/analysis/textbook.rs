//! Sets of tasks with known response times; only the numbers are from the books.

use punctual_sched::analysis::*;

/// Creates tasks from period, execution time and priority.
fn tasks(rows: &[(Time, Time, i32)]) -> Vec<Task> {
    rows.iter()
        .map(|&(period, wcet, priority)| Task::new(period, priority).step(Step::new(0, wcet)))
        .collect()
}

fn worst(tasks: &[Task]) -> Vec<Option<Time>> {
    let analysis = analyse(tasks).unwrap();
    analysis.responses.iter().map(Response::worst).collect()
}

fn some(times: &[Time]) -> Vec<Option<Time>> {
    times.iter().copied().map(Some).collect()
}

/// Burns and Wellings, Real-Time Systems and Programming Languages, task sets A to D of the chapter on
/// scheduling.
#[test]
fn burns_and_wellings() {
    let a = tasks(&[(50, 12, 1), (40, 10, 2), (30, 10, 3)]);
    assert_eq!(worst(&a), some(&[52, 20, 10]));
    assert!(
        !analyse(&a).unwrap().is_feasible(),
        "its first task has a period of 50"
    );
    let b = tasks(&[(80, 32, 1), (40, 5, 2), (16, 4, 3)]);
    assert!(analyse(&b).unwrap().is_feasible());
    assert!(utilization(&b, 0) < liu_layland_bound(3));
    // The whole processor: above the bound, and feasible nevertheless.
    let c = tasks(&[(80, 40, 1), (40, 10, 2), (20, 5, 3)]);
    assert_eq!(worst(&c), some(&[80, 15, 5]));
    assert!(analyse(&c).unwrap().is_feasible() && utilization(&c, 0) > liu_layland_bound(3));
    let d = tasks(&[(7, 3, 3), (12, 3, 2), (20, 5, 1)]);
    assert_eq!(worst(&d), some(&[3, 6, 20]));
}

/// Example of the same book: deadlines below the periods, for which rate-monotonic priorities are not
/// feasible.
#[test]
fn deadline_monotonic_priorities_can_be_feasible_if_rate_monotonic_ones_are_not() {
    let rows = [(20, 5, 3), (15, 7, 3), (10, 10, 4), (20, 20, 3)];
    let with = |priorities: [i32; 4]| -> Vec<Task> {
        rows.iter()
            .zip(priorities)
            .map(|(&(period, deadline, wcet), priority)| {
                Task::new(period, priority)
                    .deadline(deadline)
                    .step(Step::new(0, wcet))
            })
            .collect()
    };
    let deadline_monotonic = with([4, 3, 2, 1]);
    assert!(is_deadline_monotonic(&deadline_monotonic));
    assert_eq!(worst(&deadline_monotonic), some(&[3, 6, 10, 20]));
    assert!(analyse(&deadline_monotonic).unwrap().is_feasible());
    let rate_monotonic = with([2, 3, 4, 1]);
    assert!(!analyse(&rate_monotonic).unwrap().is_feasible());
    assert_eq!(audsley(&rate_monotonic, &[1, 2, 3, 4]), Some(vec![4, 3, 2, 1]));
}

/// \[Lehoczky 1990\]: with deadlines beyond the periods, the fifth instance has the longest response.
#[test]
fn the_worst_instance_need_not_be_the_first() {
    let mut set = tasks(&[(70, 26, 2), (100, 62, 1)]);
    set[1].deadline = 118;
    assert_eq!(worst(&set), some(&[26, 118]));
    assert!(analyse(&set).unwrap().is_feasible());
    set[1].deadline = 117;
    assert!(!analyse(&set).unwrap().is_feasible());
}

/// \[Liu 1973\]: the bound falls from 1 to ln 2.
#[test]
fn liu_and_layland() {
    for (tasks, bound) in [
        (0, 1.0),
        (1, 1.0),
        (2, 0.828_427),
        (3, 0.779_763),
        (4, 0.756_828),
        (5, 0.743_492),
        (10, 0.717_735),
        (1_000_000, core::f64::consts::LN_2),
    ] {
        assert!((liu_layland_bound(tasks) - bound).abs() < 1e-6, "{tasks}");
    }
}

#[test]
fn the_hyperbolic_bound_accepts_more_than_the_other_bound() {
    // 1.25 * 1.6 is 2: exactly at the bound.
    let set = tasks(&[(4, 1, 2), (10, 6, 1)]);
    assert!(bounds_apply(&set, 0));
    assert!(utilization(&set, 0) > liu_layland_bound(2));
    assert!(hyperbolic_product(&set, 0) <= 2.0);
    assert!(analyse(&set).unwrap().is_feasible());
}

#[test]
fn bounds_do_not_apply_to_other_sets() {
    let set = || tasks(&[(4, 1, 2), (10, 6, 1)]);
    let changes: [fn(&mut Vec<Task>); 8] = [
        |set| set[0].jitter = 1,
        |set| set[0].deadline = 3,
        |set| set[1].deadline = 20,
        |set| set[0].priority = 0,
        |set| set[0].priority = 1,
        |set| set[1].steps[0].blocking = 1,
        |set| set[1].steps[0].fixed_priority = Some(1),
        |set| set[1].steps.push(Step::new(0, 1)),
    ];
    for change in changes {
        let mut set = set();
        change(&mut set);
        assert!(!bounds_apply(&set, 0), "{set:?}");
    }
    assert!(bounds_apply(&set(), 7), "no task runs there");
}

#[test]
fn blocking_and_jitter_add_up() {
    let mut set = tasks(&[(20, 5, 2), (50, 10, 1)]);
    set[0].steps[0].blocking = 4;
    set[0].jitter = 3;
    // The urgent task: 3 late, 4 blocked, 5 of its own. The other one is delayed by two of its instances: one
    // late, one not.
    assert_eq!(worst(&set), some(&[12, 15]));
    set[1].steps[0].wcet = 13;
    assert_eq!(
        worst(&set)[1],
        Some(23),
        "18 is past the second arrival, 17 after a late first one"
    );
}

#[test]
fn tasks_of_equal_priority_delay_each_other() {
    let set = tasks(&[(100, 10, 1), (100, 20, 1), (100, 30, 1)]);
    assert_eq!(worst(&set), some(&[60, 60, 60]));
}

#[test]
fn a_step_without_work_waits_for_the_processor() {
    let set = tasks(&[(10, 4, 2), (20, 0, 1), (20, 0, 3)]);
    assert_eq!(worst(&set), some(&[4, 4, 0]));
    assert_eq!(worst(&tasks(&[(10, 0, 1)])), some(&[0]));
}

#[test]
fn an_overloaded_processor_has_no_bound() {
    let set = tasks(&[(10, 6, 3), (10, 5, 2), (100, 1, 1)]);
    assert_eq!(worst(&set), [Some(6), None, None]);
    let analysis = analyse(&set).unwrap();
    assert_eq!(analysis.responses[1].margin(), None);
    assert!(analysis.utilizations[0] > 1.0);
    assert_eq!(audsley(&set, &[1, 2, 3]), None);
    assert_eq!(one_change(&set, 1..=99), None);
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let set = [
        Task::new(u64::MAX, 1).step(Step::new(0, u64::MAX).blocking(u64::MAX)),
        Task::new(1, 2).step(Step::new(0, u64::MAX)).jitter(u64::MAX),
        Task::new(3, i32::MAX).step(Step::new(0, 1).delay(u64::MAX)),
        Task::new(1, i32::MIN).step(Step::new(0, 0)),
    ];
    let analysis = analyse(&set).unwrap();
    assert!(!analysis.is_feasible());
    assert_eq!(audsley(&set, &[1, 2, 3, 4]), None);
    // The whole processor, with coprime numbers: bounded effort.
    let set = tasks(&[
        (1_000_003, 500_001, 3),
        (1_000_033, 500_015, 2),
        (1_000_000_007, 1, 1),
    ]);
    analyse(&set).unwrap();
}

#[test]
fn invalid_tasks_are_refused() {
    assert_eq!(
        analyse(&[Task::new(0, 1).step(Step::new(0, 1))]),
        Err(ModelError::NoPeriod(0))
    );
    assert_eq!(analyse(&[Task::new(1, 1)]), Err(ModelError::NoSteps(0)));
    assert_eq!(audsley(&[Task::new(1, 1)], &[1]), None);
    let nothing = analyse(&[]).unwrap();
    assert!(nothing.is_feasible() && nothing.utilizations.is_empty());
}

#[test]
fn one_change_finds_the_smallest_change() {
    // The long task is above the urgent one.
    let set = tasks(&[(100, 40, 50), (10, 2, 10), (1000, 1, 1)]);
    assert_eq!(one_change(&set, 1..=99), Some((0, 9)));
}

#[test]
fn fewer_levels_than_tasks_give_no_assignment() {
    let set = tasks(&[(100, 1, 0), (100, 1, 0)]);
    assert_eq!(audsley(&set, &[5]), None);
    assert_eq!(audsley(&set, &[5, 5]), None);
    // The highest levels are used.
    assert_eq!(audsley(&set, &[9, 1, 5]), Some(vec![5, 9]));
}

/// A utilisation of 0.7 is within both bounds, and the urgent task is late nevertheless: it waits for the
/// slow one.
#[test]
fn equal_priorities_are_not_rate_monotonic() {
    let set = tasks(&[(10, 2, 1), (100, 50, 1)]);
    assert!(utilization(&set, 0) < liu_layland_bound(2) && hyperbolic_product(&set, 0) <= 2.0);
    assert!(!analyse(&set).unwrap().is_feasible());
    assert!(!bounds_apply(&set, 0));
    let equal_periods = tasks(&[(10, 2, 1), (10, 5, 1)]);
    assert!(bounds_apply(&equal_periods, 0) && analyse(&equal_periods).unwrap().is_feasible());
}

/// Only the longer of two sections of one resource delays a step; sections of two resources both do.
#[test]
fn blockers_are_those_whose_sections_count() {
    let using = |priority: i32, resource: usize, length: u64, ceiling: bool| {
        let section = Section {
            resource,
            length,
            ceiling,
        };
        Task::new(1_000, priority).step(Step::new(0, 20).section(section))
    };
    for ceiling in [false, true] {
        let high = using(9, 0, 1, ceiling);
        let low = [using(1, 0, 12, ceiling), using(2, 0, 1, ceiling)];
        let budgets = explain(&[high, low[0].clone(), low[1].clone()]).unwrap();
        let budget = budgets[0][0].as_ref().unwrap();
        assert_eq!((budget.blocking, &budget.blockers[..]), (12, &[(1, 0)][..]));
    }
    let mut high = using(9, 0, 1, false);
    high.steps[0].sections.push(Section {
        resource: 1,
        length: 1,
        ceiling: false,
    });
    let budgets = explain(&[high, using(1, 0, 12, false), using(2, 1, 5, false)]).unwrap();
    let budget = budgets[0][0].as_ref().unwrap();
    assert_eq!(
        (budget.blocking, &budget.blockers[..]),
        (17, &[(1, 0), (2, 0)][..])
    );
}
