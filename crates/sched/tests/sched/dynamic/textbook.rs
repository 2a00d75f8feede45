//! Schedules from the literature.

use std::time::Duration;

use punctual_sched::dynamic::*;
use punctual_types::Priority;

use crate::dynamic::machine::{Job, Outcome, at, ms, periodic, run};

/// Returns the instances of tasks, given by period and work, up to `end`; all in milliseconds.
fn periodic_jobs(scheduler: &dyn Scheduler, end: u64, tasks: &[(u64, u64)]) -> Vec<Job> {
    let jobs = tasks.iter().flat_map(|(period, work)| {
        periodic(end, *period, *work, |deadline| {
            full(deadline, ms(*period), ms(*work), 0, 0).translated(
                scheduler.kind(),
                &TranslationDefaults {
                    now: deadline - ms(*period),
                    ..TranslationDefaults::default()
                },
            )
        })
    });
    jobs.collect()
}

/// Parameters with all attributes.
fn full(
    deadline: Time,
    period: Duration,
    work: Duration,
    criticality: i32,
    importance: i32,
) -> SchedulingParameters {
    SchedulingParameters::RateOrLaxity {
        criticality,
        period,
        deadline,
        execution_time: work,
        importance,
    }
}

fn runs(name: &str, processors: usize, end: u64, tasks: &[(u64, u64)]) -> (Vec<Job>, Outcome) {
    let mut scheduler = standard(name).unwrap();
    let jobs = periodic_jobs(&*scheduler, end, tasks);
    let outcome = run(&mut *scheduler, processors, &jobs);
    (jobs, outcome)
}

fn misses(name: &str, processors: usize, end: u64, tasks: &[(u64, u64)]) -> Vec<usize> {
    let (jobs, outcome) = runs(name, processors, end, tasks);
    outcome.misses(&jobs)
}

/// \[Liu 1973\]: up to a utilisation of n (2^(1/n) − 1), rate-monotonic priorities meet all deadlines. Here
/// 0.753 of 0.779, three tasks.
#[test]
fn rms_meets_deadlines_up_to_its_bound() {
    let tasks = [(100, 20), (150, 40), (350, 100)];
    assert_eq!(misses("RMS", 1, 2_100, &tasks), []);
    assert_eq!(misses("EDF", 1, 2_100, &tasks), []);
}

/// With harmonic periods, rate-monotonic priorities can use the whole processor.
#[test]
fn rms_can_use_the_whole_processor_with_harmonic_periods() {
    assert_eq!(misses("RMS", 1, 80, &[(10, 5), (20, 5), (40, 10)]), []);
}

/// \[Buttazzo 2011\] section 4.4: 2/5 + 4/7 = 0.97. Under RMS the second task ends at 8 instead of 7.
#[test]
fn edf_meets_deadlines_that_rms_misses() {
    let tasks = [(5, 2), (7, 4)];
    let (jobs, outcome) = runs("RMS", 1, 35, &tasks);
    let second = jobs.iter().position(|job| job.work == ms(4)).unwrap();
    assert_eq!(outcome.ends[second], at(8));
    assert!(outcome.misses(&jobs).contains(&second));

    assert_eq!(misses("EDF", 1, 35, &tasks), []);
    assert_eq!(misses("MAU", 1, 35, &tasks), []);
}

#[test]
fn edf_can_use_the_whole_processor() {
    for tasks in [
        &[(2, 1), (3, 1), (6, 1)][..],
        &[(4, 1), (6, 2), (12, 5)],
        &[(5, 5)],
    ] {
        assert_eq!(misses("EDF", 1, 120, tasks), [], "{tasks:?}");
        assert_eq!(misses("MAU", 1, 120, tasks), [], "{tasks:?}");
    }
}

/// Like EDF, except for the quantum.
#[test]
fn mlf_can_use_the_whole_processor_except_for_its_quantum() {
    for tasks in [
        &[(20, 10), (30, 10), (60, 10)][..],
        &[(40, 10), (60, 20), (120, 50)],
    ] {
        for quantum in [ms(1), ms(5)] {
            let mut scheduler = MinimumLaxityFirst::of(Mlf::with_quantum(quantum));
            let jobs = periodic_jobs(&scheduler, 240, tasks);
            let outcome = run(&mut scheduler, 1, &jobs);
            for (job, end) in jobs.iter().zip(&outcome.ends) {
                assert!(
                    end.since(job.deadline) <= quantum,
                    "{tasks:?} {quantum:?} {job:?}"
                );
            }
        }
    }
}

/// \[Dhall 1978\]: on several processors EDF can miss deadlines at little more than the load of one; MLF
/// meets them.
#[test]
fn mlf_meets_deadlines_that_edf_misses_on_two_processors() {
    let tasks = [(100, 20), (100, 20), (110, 100)];
    assert_eq!(misses("EDF", 2, 100, &tasks), [2]);
    assert_eq!(misses("MLF", 2, 100, &tasks), []);
}

/// Without a quantum, two threads of equal laxity would alternate at every decision.
#[test]
fn threads_of_equal_laxity_alternate_once_per_quantum() {
    for quantum in [ms(1), ms(2), ms(10)] {
        let mut scheduler = MinimumLaxityFirst::of(Mlf::with_quantum(quantum));
        let jobs = periodic_jobs(&scheduler, 1, &[(300, 100), (300, 100)]);
        let outcome = run(&mut scheduler, 1, &jobs);
        assert_eq!(outcome.misses(&jobs), []);
        let turns = outcome.choices.len() as u128;
        let quanta = ms(200).as_nanos() / quantum.as_nanos();
        assert!(turns <= quanta + 3, "{turns} turns in {quanta} quanta");
        // They alternate: after the quantum the other thread is behind.
        assert!(turns >= quanta / 2, "{turns} turns in {quanta} quanta");
    }
}

/// A thread that becomes ready with less laxity does not wait for the quantum of the running thread.
#[test]
fn a_more_urgent_thread_does_not_wait_for_the_quantum() {
    let mut scheduler = MinimumLaxityFirst::of(Mlf::with_quantum(ms(50)));
    let laxity = |deadline, work| SchedulingParameters::Laxity {
        deadline: at(deadline),
        execution_time: ms(work),
        importance: 0,
    };
    let job = |release, deadline, work| Job {
        release: at(release),
        work: ms(work),
        deadline: at(deadline),
        parameters: laxity(deadline, work),
    };
    let jobs = [job(0, 100, 40), job(5, 20, 10)];
    let outcome = run(&mut scheduler, 1, &jobs);
    assert_eq!(
        outcome.choices[..3],
        [(at(0), vec![0]), (at(5), vec![1]), (at(15), vec![0])]
    );
}

/// The latest start of late work is in the past: it precedes work that could still be in time.
#[test]
fn negative_laxities_run_first_under_mlf() {
    let mut scheduler = MinimumLaxityFirst::new();
    let parameters = |deadline, work| SchedulingParameters::Laxity {
        deadline: at(deadline),
        execution_time: ms(work),
        importance: 0,
    };
    // Its latest start is before the beginning of the clock.
    scheduler.ready(Slot(0), &parameters(5, 20), Duration::ZERO, at(0));
    scheduler.ready(Slot(1), &parameters(5, 5), Duration::ZERO, at(0));
    scheduler.ready(Slot(2), &parameters(5, 10), Duration::ZERO, at(0));
    let mut chosen = Vec::new();
    scheduler.choose(3, at(0), &|_| Duration::ZERO, &mut chosen);
    assert_eq!(chosen, [Slot(0), Slot(2), Slot(1)]);
    let hopeless =
        |deadline, work, now| Claim::new(parameters(deadline, work), Duration::ZERO).is_hopeless(at(now));
    assert!(hopeless(5, 20, 0));
    assert!(!hopeless(5, 5, 0));
    assert!(hopeless(5, 5, 1));
}

/// Critical work with long periods, and an overload of other work with shorter deadlines. \[Gill 2004\]
/// section 3.2 runs this live.
fn overload() -> Vec<(u64, u64, i32)> {
    vec![(100, 30, 4), (200, 50, 3), (20, 8, 1), (30, 12, 0)]
}

fn critical_misses(name: &str) -> (usize, usize) {
    let mut scheduler = standard(name).unwrap();
    let mut jobs = Vec::new();
    let mut is_critical = Vec::new();
    for (period, work, criticality) in overload() {
        let more = periodic(600, period, work, |deadline| {
            full(deadline, ms(period), ms(work), criticality, criticality).translated(
                scheduler.kind(),
                &TranslationDefaults {
                    now: deadline - ms(period),
                    ..TranslationDefaults::default()
                },
            )
        });
        is_critical.resize(
            is_critical.len() + more.len(),
            criticality >= SchedulingParameters::CRITICAL,
        );
        jobs.extend(more);
    }
    let outcome = run(&mut *scheduler, 1, &jobs);
    let missed = outcome.misses(&jobs);
    let critical = missed.iter().filter(|job| is_critical[**job]).count();
    (critical, missed.len() - critical)
}

#[test]
fn muf_and_rms_mlf_protect_critical_work_under_overload() {
    for name in ["MUF", "RMS+MLF"] {
        let (critical, others) = critical_misses(name);
        assert_eq!(critical, 0, "{name}");
        assert!(others > 0, "{name}: there is no overload");
    }
    for name in ["RMS", "EDF", "MLF"] {
        let (critical, _) = critical_misses(name);
        assert!(critical > 0, "{name}");
    }
}

fn order(scheduler: &mut dyn Scheduler, threads: &[SchedulingParameters]) -> Vec<u32> {
    for (slot, parameters) in (0..).zip(threads) {
        scheduler.ready(Slot(slot), parameters, Duration::ZERO, at(0));
    }
    let mut chosen = Vec::new();
    scheduler.choose(threads.len(), at(0), &|_| Duration::ZERO, &mut chosen);
    chosen.into_iter().map(|slot| slot.0).collect()
}

#[test]
fn rms_mlf_runs_critical_work_by_rate_before_all_laxities() {
    let critical = SchedulingParameters::CRITICAL;
    let threads = [
        full(at(10), ms(10), ms(9), critical - 1, 9),
        full(at(500), ms(500), ms(1), critical, 0),
        full(at(100), ms(100), ms(1), critical + 1, 0),
        full(at(10), ms(10), ms(1), 0, 0),
        full(at(100), ms(100), ms(1), critical, 1),
    ];
    assert_eq!(
        order(&mut RateMonotonicOrLaxity::new(), &threads),
        [4, 2, 1, 0, 3]
    );
}

#[test]
fn muf_compares_criticality_then_laxity_then_importance() {
    let urgency = |criticality, deadline, importance| SchedulingParameters::Urgency {
        criticality,
        deadline: at(deadline),
        execution_time: ms(1),
        importance,
    };
    let threads = [
        urgency(0, 2, 9),
        urgency(1, 90, 0),
        urgency(1, 20, 0),
        urgency(1, 20, 1),
        urgency(-1, 1, 9),
    ];
    assert_eq!(order(&mut MaximumUrgencyFirst::new(), &threads), [3, 2, 1, 0, 4]);
}

#[test]
fn muf_runs_late_work_after_equally_critical_work_in_time() {
    let urgency = |criticality, deadline, execution_time| SchedulingParameters::Urgency {
        criticality,
        deadline: at(deadline),
        execution_time: ms(execution_time),
        importance: 0,
    };
    let threads = [
        urgency(1, 10, 11),
        urgency(1, 10, 10),
        urgency(1, 90, 1),
        urgency(0, 10, 1),
        urgency(2, 10, 20),
    ];
    let mut scheduler = MaximumUrgencyFirst::new();
    assert_eq!(order(&mut scheduler, &threads[..]), [4, 1, 2, 0, 3]);
    // Late by waiting: at 5 ms the second thread lacks 5 ms.
    let mut scheduler = MaximumUrgencyFirst::new();
    for (slot, parameters) in (0..).zip(&threads[1..3]) {
        scheduler.ready(Slot(slot), parameters, Duration::ZERO, at(0));
    }
    let mut chosen = Vec::new();
    scheduler.choose(1, at(5), &|_| Duration::ZERO, &mut chosen);
    assert_eq!(chosen, [Slot(1)]);
}

#[test]
fn fp_tp_and_mif_run_the_greatest_first_and_equals_in_the_order_of_arrival() {
    let priority = |value| SchedulingParameters::FixedPriority {
        priority: Priority::new(value).unwrap(),
    };
    let importance = |importance| SchedulingParameters::Importance { importance };
    let numbers = [3, 7, 3, 0, 7];
    let expected = [1, 4, 0, 2, 3];
    assert_eq!(order(&mut FixedPriority::new(), &numbers.map(priority)), expected);
    let importances = numbers.map(|number| importance(number.into()));
    assert_eq!(order(&mut ThreadPriority::new(), &importances), expected);
    assert_eq!(order(&mut MostImportantFirst::new(), &importances), expected);
}

/// A running thread is preempted by a greater one only, not by an equal, and then returns to its position.
#[test]
fn a_running_thread_is_preempted_by_a_greater_one_only() {
    let mut scheduler = MostImportantFirst::new();
    let importance = |importance| SchedulingParameters::Importance { importance };
    let choose = |scheduler: &mut MostImportantFirst| {
        let mut chosen = Vec::new();
        scheduler.choose(1, at(0), &|_| Duration::ZERO, &mut chosen);
        chosen[0].0
    };
    for slot in 0..3 {
        scheduler.ready(Slot(slot), &importance(5), Duration::ZERO, at(0));
    }
    assert_eq!(choose(&mut scheduler), 0);
    scheduler.update(Slot(1), &importance(6), Duration::ZERO, at(0));
    assert_eq!(choose(&mut scheduler), 1);
    // It is now equal to both, younger than the first, and runs.
    scheduler.update(Slot(1), &importance(5), Duration::ZERO, at(0));
    assert_eq!(choose(&mut scheduler), 1);
    scheduler.remove(Slot(1), at(0));
    assert_eq!(choose(&mut scheduler), 0);
    scheduler.remove(Slot(0), at(0));
    scheduler.ready(Slot(0), &importance(5), Duration::ZERO, at(0));
    assert_eq!(choose(&mut scheduler), 2);
}

/// Periods and importances beyond the range of the number never reverse the order.
#[test]
fn rates_beyond_the_scale_keep_their_order() {
    let scheduler = RateMonotonic::new();
    let periods = [
        Duration::ZERO,
        ms(1),
        Duration::from_secs(1_099),
        Duration::from_secs(1_100),
        Duration::MAX,
    ];
    let mut last = i64::MAX;
    for period in periods {
        for importance in [i32::MAX, 5_000_000, 1, 0, -5_000_000, i32::MIN] {
            let eligibility = scheduler
                .fixed_eligibility(&SchedulingParameters::Rate { period, importance })
                .unwrap();
            assert!(eligibility <= last, "{period:?} {importance}");
            last = eligibility;
        }
    }
}
