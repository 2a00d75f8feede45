//! The manager of rates: what it narrows, what it refuses, and that it settles.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use punctual_os::{CpuSet, ThreadSpec, affinity, clock::thread_cpu_time};
use punctual_qos::{Need, RateManager, RateManagerError};
use punctual_scheduling::reconfigurable::*;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn source(name: &str, criticality: Criticality, periods: &[u64], wcet: u64) -> Operation {
    let operation = Operation::new(name, criticality);
    periods.iter().fold(operation, |operation, every| {
        operation.tuple(ms(*every), ms(wcet))
    })
}

#[test]
fn ranges_narrow_to_the_rate_that_serves_and_computations_end() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
    let periods = [320, 160, 80, 40, 20, 10];
    let tiles = scheduler
        .add(source("tiles", Criticality::Low, &periods, 5))
        .unwrap();
    let mut manager = RateManager::new(scheduler).unwrap();
    // A deadline that every 80 ms serves, and nothing slower.
    let mut selected = Vec::new();
    for _ in 0..20 {
        let present = manager.period(tiles).unwrap();
        let need = match present.cmp(&ms(80)) {
            std::cmp::Ordering::Less => Need::Less,
            std::cmp::Ordering::Equal => Need::Same,
            std::cmp::Ordering::Greater => Need::More,
        };
        selected.push(manager.adapt(tiles, need).unwrap());
    }
    assert_eq!(manager.period(tiles), Some(ms(80)));
    let computed: Vec<bool> = selected
        .iter()
        .map(|selected| selected.computed.is_some())
        .collect();
    assert_eq!(computed[..3], [true; 3], "10, 20, 40 were too much");
    assert!(computed[3..].iter().all(|computed| !computed));
    let choices: Vec<usize> = selected.iter().map(|selected| selected.choices).collect();
    assert!(
        choices.windows(2).all(|pair| pair[1] <= pair[0]) && choices[19] == 3,
        "{choices:?}"
    );
    assert_eq!(manager.computations(), 4);
    assert_eq!(manager.reopen(tiles).unwrap().period, Some(ms(10)));
    assert_eq!(manager.reopen(tiles).unwrap().computed, None);
}

#[test]
fn a_need_that_has_no_room_is_refused_once_and_not_computed_again() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
    let control = scheduler
        .add(source("control", Criticality::VeryHigh, &[10], 6))
        .unwrap();
    let tiles = scheduler
        .add(source("tiles", Criticality::Low, &[40, 20, 10], 8))
        .unwrap();
    let mut manager = RateManager::new(scheduler).unwrap();
    assert_eq!(manager.period(tiles), Some(ms(20)), "0.6 + 0.4");
    let refused = manager.adapt(tiles, Need::More).unwrap();
    assert!(refused.computed.is_some() && !refused.is_met);
    assert_eq!(refused.period, Some(ms(20)), "as before");
    let again = manager.adapt(tiles, Need::More).unwrap();
    assert_eq!((again.computed, again.is_met), (None, false));
    assert_eq!(manager.period(control), Some(ms(10)));
}

#[test]
fn a_schedule_in_which_critical_work_does_not_run_is_refused() {
    // All rates of the most critical one are admitted before the next one.
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf);
    scheduler
        .add(source("greedy", Criticality::VeryHigh, &[40, 10], 8))
        .unwrap();
    scheduler
        .add(source("other", Criticality::High, &[10], 7))
        .unwrap();
    let refused = RateManager::new(scheduler).unwrap_err();
    assert_eq!(
        refused,
        RateManagerError::Objection(Anomaly::NotAdmitted("other".into()))
    );
}

/// A critical operation that runs every 50 ms, since it can do with less than every 10 ms, and another one
/// that takes 95 % of the processor at the highest of its rates, which has been refused before.
fn narrowed_under_rms() -> (RateManager, OperationId, OperationId) {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let control = scheduler
        .add(source("control", Criticality::VeryHigh, &[50, 10], 5))
        .unwrap();
    let tiles = scheduler
        .add(source("tiles", Criticality::Low, &[40, 20], 19))
        .unwrap();
    let mut manager = RateManager::new(scheduler).unwrap();
    let refused = manager.adapt(tiles, Need::More).unwrap();
    assert!(!refused.is_met, "0.5 + 0.95");
    assert!(manager.adapt(control, Need::Less).unwrap().is_met);
    assert_eq!(
        periods(&manager, [control, tiles]),
        [50, 40].map(|own| Some(ms(own)))
    );
    (manager, control, tiles)
}

fn periods<const N: usize>(manager: &RateManager, ids: [OperationId; N]) -> [Option<Duration>; N] {
    ids.map(|id| manager.period(id))
}

#[test]
fn rates_that_would_displace_a_critical_operation_are_not_given_back() {
    let (mut manager, control, tiles) = narrowed_under_rms();
    // `tiles` has the shorter period now, and would be admitted first.
    for _ in 0..2 {
        let refused = manager.reopen(tiles).unwrap();
        assert!(refused.computed.is_some() && !refused.is_met);
        assert_eq!(refused.period, Some(ms(40)), "as before");
        assert_eq!(manager.period(control), Some(ms(50)));
    }
    // With all its rates, the critical operation precedes it again.
    assert!(manager.reopen(control).unwrap().is_met);
    let reopened = manager.reopen(tiles).unwrap();
    assert!(reopened.is_met && reopened.computed.is_some());
    assert_eq!(
        periods(&manager, [control, tiles]),
        [10, 40].map(|own| Some(ms(own)))
    );
    assert_eq!(
        manager.reopen(tiles).unwrap().computed,
        None,
        "it has all of them"
    );
}

#[test]
fn a_refusal_changes_no_period_of_a_critical_operation_that_would_lose_its_place() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let control = scheduler
        .add(source("control", Criticality::VeryHigh, &[50, 10], 8))
        .unwrap();
    let tiles = scheduler
        .add(source("tiles", Criticality::Low, &[40, 20], 10))
        .unwrap();
    let always = scheduler
        .add(source("always", Criticality::VeryHigh, &[5], 2))
        .unwrap();
    let mut manager = RateManager::new(scheduler).unwrap();
    let before = periods(&manager, [control, tiles, always]);
    assert_eq!(before, [50, 40, 5].map(|own| Some(ms(own))), "0.16 + 0.25 + 0.4");
    // Its highest rate has no room. Without it, `control` would be the last one, without room.
    assert!(!manager.adapt(control, Need::More).unwrap().is_met);
    assert_eq!(periods(&manager, [control, tiles, always]), before);
}

#[test]
fn the_time_of_all_computations_is_stated() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
    scheduler
        .add(source("control", Criticality::VeryHigh, &[10], 6))
        .unwrap();
    let tiles = scheduler
        .add(source("tiles", Criticality::Low, &[40, 20, 10], 8))
        .unwrap();
    let mut manager = RateManager::new(scheduler).unwrap();
    let (number, time) = (manager.computations(), manager.computing_time());
    let refused = manager.adapt(tiles, Need::More).unwrap();
    assert_eq!(
        manager.computations() - number,
        2,
        "and one without the refused rate"
    );
    assert_eq!(refused.computed, Some(manager.computing_time() - time));
    let less = manager.adapt(tiles, Need::Less).unwrap();
    assert_eq!(manager.computations() - number, 3);
    let stated = refused.computed.unwrap() + less.computed.unwrap();
    assert_eq!(stated, manager.computing_time() - time);
}

fn preemptions() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let number = status
        .lines()
        .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    number.unwrap().trim().parse().unwrap()
}

#[test]
fn preemption_is_no_part_of_a_computation() {
    let cpu = affinity::current_cpu();
    let on_this_cpu = |name: &str| ThreadSpec::new(name).affinity(CpuSet::single(cpu));
    let is_over = Arc::new(AtomicBool::new(false));
    let load = on_this_cpu("load").spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Relaxed) {
                std::hint::spin_loop();
            }
        }
    });
    let computes = on_this_cpu("computes").spawn(|| {
        let mut scheduler = ReconfigurableScheduler::new(Strategy::MufFair);
        let all: Vec<OperationId> = (0..50)
            .map(|number| {
                source(
                    &format!("operation {number}"),
                    Criticality::Low,
                    &[1_000, 500],
                    10,
                )
            })
            .map(|operation| scheduler.add(operation).unwrap())
            .collect();
        let began = thread_cpu_time();
        let mut manager = RateManager::new(scheduler).unwrap();
        while preemptions() < 10 {
            manager.adapt(all[0], Need::Less).unwrap();
            manager.reopen(all[0]).unwrap();
        }
        (manager.computing_time(), thread_cpu_time() - began)
    });
    let (computing, used) = computes.unwrap().join().unwrap();
    is_over.store(true, Relaxed);
    load.unwrap().join().unwrap();
    assert!(computing <= used, "{computing:?} {used:?}");
}

#[test]
fn unknown_operations_and_those_without_rates_are_refused() {
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Rms);
    let source = scheduler
        .add(source("source", Criticality::Low, &[10], 1))
        .unwrap();
    let follower = Operation::new("follower", Criticality::Low).passive(ms(1));
    let follower = scheduler.add(follower).unwrap();
    scheduler.depend(follower, source, 1).unwrap();
    let mut manager = RateManager::new(scheduler).unwrap();
    let unknown = manager.adapt(OperationId(9), Need::More).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no operation 9");
    assert!(manager.reopen(OperationId(9)).is_err());
    assert_eq!(
        manager.adapt(follower, Need::Less),
        Err(RateManagerError::NoRate("follower".to_owned()))
    );
}
