//! The manager of rates: what it narrows, what it refuses, and that it settles.

use std::time::Duration;

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
    let mut manager = RateManager::new(scheduler);
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
    let mut manager = RateManager::new(scheduler);
    assert_eq!(manager.period(tiles), Some(ms(20)), "0.6 + 0.4");
    let refused = manager.adapt(tiles, Need::More).unwrap();
    assert!(refused.computed.is_some() && !refused.is_met);
    assert_eq!(refused.period, Some(ms(20)), "as before");
    let again = manager.adapt(tiles, Need::More).unwrap();
    assert_eq!((again.computed, again.is_met), (None, false));
    assert_eq!(manager.period(control), Some(ms(10)));
}

#[test]
fn critical_operations_are_not_displaced() {
    // All rates of the most critical one are admitted before the next one.
    let mut scheduler = ReconfigurableScheduler::new(Strategy::Muf).thresholds(1.0, 0.5);
    let greedy = scheduler
        .add(source("greedy", Criticality::VeryHigh, &[40], 8))
        .unwrap();
    let other = scheduler
        .add(source("other", Criticality::High, &[10], 7))
        .unwrap();
    let mut tuples = scheduler.operation(greedy).unwrap().tuples.clone();
    let mut manager = RateManager::new(scheduler.clone());
    assert!(manager.period(greedy).is_some() && manager.period(other).is_some());
    // The same with a rate that leaves no room for the other one, after it.
    tuples.push(RateTuple {
        period: ms(10),
        wcet: ms(8),
    });
    scheduler.replace(greedy, tuples).unwrap();
    scheduler.enable(greedy, true).unwrap();
    manager = RateManager::new(scheduler);
    assert_eq!(manager.period(other), None, "so it is described");
    assert!(manager.adapt(greedy, Need::Less).unwrap().is_met);
    assert!(manager.period(other).is_some());
    manager.reopen(greedy).unwrap();
    assert_eq!(manager.period(greedy), Some(ms(10)));
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
    let mut manager = RateManager::new(scheduler);
    let unknown = manager.adapt(OperationId(9), Need::More).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no operation 9");
    assert!(manager.reopen(OperationId(9)).is_err());
    assert_eq!(
        manager.adapt(follower, Need::Less),
        Err(RateManagerError::NoRate("follower".to_owned()))
    );
}
