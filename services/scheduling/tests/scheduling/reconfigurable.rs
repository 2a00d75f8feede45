//! The reconfigurable scheduler: rates, admission and order.

use std::time::Duration;

use punctual_scheduling::{
    reconfigurable::*,
    rtec::{SchedulerLimits, SchedulerServant},
};

use Criticality::{High, Low, VeryHigh};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn source(name: &str, criticality: Criticality, periods: &[u64], wcet: u64) -> Operation {
    let operation = Operation::new(name, criticality);
    periods.iter().fold(operation, |operation, period| {
        operation.tuple(ms(*period), ms(wcet))
    })
}

fn passive(name: &str, wcet: u64) -> Operation {
    Operation::new(name, Criticality::VeryLow).passive(ms(wcet))
}

fn period(scheduler: &ReconfigurableScheduler, id: OperationId) -> Option<Duration> {
    scheduler.assignment(id).unwrap().period
}

#[test]
fn rates_follow_dependencies() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let fast = scheduler.add(source("fast", VeryHigh, &[20], 1)).unwrap();
    let slow = scheduler.add(source("slow", Low, &[60], 1)).unwrap();
    let any = scheduler.add(passive("any", 1)).unwrap();
    let all = scheduler.add(passive("all", 1).firing(Firing::All)).unwrap();
    let twice = scheduler.add(passive("twice", 1)).unwrap();
    for on in [fast, slow] {
        scheduler.depend(any, on, 1).unwrap();
        scheduler.depend(all, on, 1).unwrap();
    }
    scheduler.depend(twice, all, 2).unwrap();
    assert_eq!(scheduler.compute(), []);
    assert_eq!(period(&scheduler, any), Some(ms(15)), "50 + 16.7 per second");
    assert_eq!(period(&scheduler, all), Some(ms(60)), "the lowest rate");
    assert_eq!(period(&scheduler, twice), Some(ms(30)));
    // Criticality is handed on.
    assert_eq!(scheduler.assignment(twice).unwrap().criticality, VeryHigh);
    let levels: Vec<_> = [any, fast, twice, slow]
        .map(|id| scheduler.assignment(id).unwrap().level)
        .into();
    assert_eq!(levels, [Some(0), Some(1), Some(2), Some(3)], "a level per period");
    assert_eq!(scheduler.levels().len(), 4);
    assert!(
        scheduler
            .levels()
            .iter()
            .all(|level| level.queue == Queue::Static)
    );
}

#[test]
fn tuples_that_a_caller_fills_in_any_order_ascend() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let mut filled = source("filled", Low, &[20, 60], 1);
    filled.tuples.sort_by_key(|tuple| tuple.period);
    let filled = scheduler.add(filled).unwrap();
    assert_eq!(scheduler.compute(), []);
    assert_eq!(period(&scheduler, filled), Some(ms(20)), "the highest rate");
}

#[test]
fn cycles_and_operations_that_nothing_runs_are_named() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
    let one = scheduler.add(passive("one", 1)).unwrap();
    let two = scheduler.add(passive("two", 1)).unwrap();
    let behind = scheduler.add(passive("behind", 1)).unwrap();
    scheduler.add(passive("lonely", 1)).unwrap();
    let sound = scheduler.add(source("sound", High, &[10], 1)).unwrap();
    scheduler.depend(one, two, 1).unwrap();
    scheduler.depend(two, one, 1).unwrap();
    scheduler.depend(behind, two, 1).unwrap();
    let anomalies = scheduler.compute();
    let names = ["one", "two", "behind"].map(Into::into).to_vec();
    assert_eq!(anomalies[0], Anomaly::Cycle(names));
    assert_eq!(anomalies[1].severity(), Severity::Error);
    assert!(
        anomalies[1].to_string().starts_with("`lonely` has no rate"),
        "{}",
        anomalies[1]
    );
    assert_eq!(anomalies.len(), 2);
    // The others run.
    assert_eq!(period(&scheduler, sound), Some(ms(10)));
    assert_eq!(period(&scheduler, behind), None);
    assert_eq!(scheduler.remove_dependency(one, two), 1);
    scheduler.depend(one, sound, 1).unwrap();
    assert_eq!(scheduler.compute().len(), 1);
    assert_eq!(period(&scheduler, behind), Some(ms(10)));
}

#[test]
fn contradictory_tuples_and_wrong_names_are_refused() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Edf);
    scheduler.add(source("long", Low, &[5], 6)).unwrap();
    scheduler
        .add(source("both", Low, &[5], 1).passive(ms(1)))
        .unwrap();
    scheduler.add(source("same", Low, &[5, 5], 1)).unwrap();
    assert_eq!(
        scheduler.add(passive("same", 1)),
        Err(Anomaly::DuplicateName("same".into()))
    );
    assert!(scheduler.depend(OperationId(7), OperationId(0), 1).is_err());
    let found: Vec<_> = scheduler.compute().iter().map(Anomaly::severity).collect();
    assert_eq!(
        found,
        [Severity::Fatal; 3],
        "that none of them has room says nothing more"
    );
    assert_eq!(scheduler.utilization(), 0.0);
}

/// Three sources that do not fit together: 0.2 or 0.8, 0.3 or 0.6, 0.2 or 0.5.
fn contended(strategy: Strategy) -> [Option<Duration>; 3] {
    let mut scheduler = ReconfigurableScheduler::new(strategy);
    let sources = [
        ("a", VeryHigh, [40, 10], 8),
        ("b", Low, [20, 10], 6),
        ("c", Low, [5, 2], 1),
    ];
    let ids = sources.map(|(name, criticality, periods, wcet)| {
        scheduler.add(source(name, criticality, &periods, wcet)).unwrap()
    });
    let anomalies = scheduler.compute();
    assert!(scheduler.utilization() <= 1.0 + 1e-9, "{strategy:?}");
    assert!(!anomalies.is_empty());
    ids.map(|id| period(&scheduler, id))
}

#[test]
fn strategies_admit_in_their_order() {
    let all = |a: Option<u64>, b: Option<u64>, c: Option<u64>| [a, b, c].map(|period| period.map(ms));
    // The shortest periods with all rates first: c 0.5, a 0.2, b 0.3.
    assert_eq!(contended(Strategy::Rms), all(Some(40), Some(20), Some(2)));
    // The lowest rates first: 0.2 + 0.3 + 0.2; then c 0.5.
    assert_eq!(contended(Strategy::RmsFair), all(Some(40), Some(20), Some(2)));
    // The most critical with all its rates: 0.8; then c 0.2; b does not fit.
    assert_eq!(contended(Strategy::Muf), all(Some(10), None, Some(5)));
    // The lowest rates: 0.7; a does not fit at 0.8; then c 0.5.
    assert_eq!(contended(Strategy::MufFair), all(Some(40), Some(20), Some(2)));
    assert_eq!(contended(Strategy::RmsMlf), all(Some(40), Some(20), Some(2)));
}

#[test]
fn critical_work_has_a_threshold_of_its_own() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair)
        .thresholds(0.9, 0.6)
        .unwrap();
    let critical = scheduler.add(source("critical", High, &[10], 5)).unwrap();
    let also = scheduler.add(source("also", High, &[10], 4)).unwrap();
    let other = scheduler.add(source("other", Low, &[100], 1)).unwrap();
    let anomalies = scheduler.compute();
    assert_eq!(
        [critical, also, other].map(|id| period(&scheduler, id)),
        [Some(ms(10)), Some(ms(10)), None]
    );
    assert_eq!(anomalies, [Anomaly::NotAdmitted("other".into())]);
    assert!((scheduler.utilization() - 0.9).abs() < 1e-9);
}

#[test]
fn thresholds_that_are_no_utilisations_are_refused() {
    let scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    for (critical, other, invalid) in [
        (5.0, 1.0, 5.0),
        (1.0, 1.1, 1.1),
        (-0.1, 1.0, -0.1),
        (1.0, f64::INFINITY, f64::INFINITY),
    ] {
        let refused = scheduler.clone().thresholds(critical, other);
        assert_eq!(refused.err(), Some(InvalidThreshold(invalid)));
        let limits = SchedulerLimits::default();
        let refused = SchedulerServant::with(Strategy::Muf, (critical, other), limits);
        assert_eq!(refused.err(), Some(InvalidThreshold(invalid)));
    }
    assert!(scheduler.clone().thresholds(f64::NAN, 1.0).is_err());
    assert!(scheduler.thresholds(0.0, 1.0).is_ok());
}

#[test]
fn overload_is_admitted_only_on_request() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    for name in ["a", "b"] {
        scheduler.add(source(name, High, &[10], 9)).unwrap();
    }
    let anomalies = scheduler.compute();
    assert_eq!(anomalies, [Anomaly::NotAdmitted("b".into())]);
    let mut scheduler = scheduler.admitting_everything();
    assert_eq!(scheduler.compute(), []);
    assert!((scheduler.utilization() - 1.8).abs() < 1e-9);
}

#[test]
fn a_higher_rate_that_uses_less_is_admitted_where_a_lower_one_has_no_room() {
    for strategy in [Strategy::Rms, Strategy::MufFair, Strategy::RmsMlf, Strategy::Edf] {
        let scheduler = ReconfigurableScheduler::new(strategy);
        let mut scheduler = scheduler.thresholds(0.5, 0.5).unwrap();
        // 0.6, 0.2 and 0.8.
        let image = Operation::new("image", High)
            .tuple(ms(100), ms(60))
            .tuple(ms(50), ms(10))
            .tuple(ms(20), ms(16));
        let image = scheduler.add(image).unwrap();
        let anomalies = scheduler.compute();
        assert_eq!(period(&scheduler, image), Some(ms(50)), "{strategy:?}");
        assert!(
            matches!(anomalies[..], [Anomaly::LowerRate { .. }]),
            "{anomalies:?}"
        );
        assert_eq!(scheduler.objection(), None);
        assert!((scheduler.utilization() - 0.2).abs() < 1e-9);
    }
}

#[test]
fn levels_and_queues_are_those_of_the_strategy() {
    let queues = |strategy| {
        let mut scheduler = ReconfigurableScheduler::new(strategy);
        let sources = [
            ("a", VeryHigh, 10),
            ("b", High, 40),
            ("c", Low, 20),
            ("d", Low, 5),
        ];
        for (name, criticality, period) in sources {
            scheduler.add(source(name, criticality, &[period], 1)).unwrap();
        }
        assert_eq!(scheduler.compute(), []);
        let levels = (0..4).map(|id| scheduler.assignment(OperationId(id)).unwrap().level.unwrap());
        let levels: Vec<u32> = levels.collect();
        (
            levels,
            scheduler
                .levels()
                .iter()
                .map(|level| level.queue)
                .collect::<Vec<_>>(),
        )
    };
    use Queue::{Deadline, Laxity, Static};
    assert_eq!(queues(Strategy::Rms), (vec![1, 3, 2, 0], vec![Static; 4]));
    assert_eq!(queues(Strategy::Muf), (vec![0, 1, 2, 2], vec![Laxity; 3]));
    assert_eq!(
        queues(Strategy::RmsMlf),
        (vec![0, 1, 2, 2], vec![Static, Static, Laxity])
    );
    assert_eq!(queues(Strategy::Edf), (vec![0; 4], vec![Deadline]));
    assert_eq!(queues(Strategy::Mlf), (vec![0; 4], vec![Laxity]));
}

/// A random system: a tenth of the operations are sources of five rates, the others follow up to six earlier
/// ones.
fn system(operations: u32, dependencies: u32, seed: u64, strategy: Strategy) -> ReconfigurableScheduler {
    let mut state = seed;
    let mut up_to = move |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % (most + 1)
    };
    let mut scheduler = ReconfigurableScheduler::new(strategy);
    let sources = operations / 10 + 1;
    for number in 0..operations {
        let criticality = [Criticality::VeryLow, Low, Criticality::Medium, High, VeryHigh][up_to(4) as usize];
        let mut operation = Operation::new(format!("operation {number}"), criticality);
        operation.importance = up_to(3) as i32;
        if up_to(4) == 0 {
            operation.firing = Firing::All;
        }
        let wcet = Duration::from_nanos(1_000 + up_to(30_000 * 60 / u64::from(operations)));
        if number < sources {
            for rate in 0..5 {
                operation = operation.tuple(Duration::from_micros((1_000 + up_to(500)) << (5 - rate)), wcet);
            }
        } else {
            operation = operation.passive(wcet);
        }
        scheduler.add(operation).unwrap();
    }
    for number in 0..dependencies {
        let follower = sources + number % (operations - sources);
        let earlier = if up_to(1) == 0 { sources } else { follower };
        let on = up_to(u64::from(earlier) - 1) as u32;
        scheduler
            .depend(OperationId(follower), OperationId(on), 1)
            .unwrap();
    }
    scheduler
}

/// Prints how long computations take; run it in a release build, with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn how_long_computations_take() {
    for operations in [1_000, 3_000, 10_000, 30_000] {
        let scheduler = system(operations, 3 * operations, 1, Strategy::MufFair);
        let mut full: Vec<Duration> = Vec::new();
        let mut partial: Vec<Duration> = Vec::new();
        for round in 0..20 {
            let mut scheduler = scheduler.clone();
            let start = std::time::Instant::now();
            std::hint::black_box(scheduler.compute());
            full.push(start.elapsed());
            let id = OperationId(round * 37 % operations);
            let mut tuples = scheduler.operation(id).unwrap().tuples.clone();
            tuples.iter_mut().for_each(|tuple| tuple.wcet *= 2);
            scheduler.replace(id, tuples).unwrap();
            let start = std::time::Instant::now();
            std::hint::black_box(scheduler.compute());
            partial.push(start.elapsed());
        }
        full.sort_unstable();
        partial.sort_unstable();
        println!(
            "{operations} operations: full {:?}, one changed {:?}",
            full[10], partial[10]
        );
    }
}
