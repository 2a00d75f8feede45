//! Regions, transitions, callbacks, and contracts that cannot be kept.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, OnceLock, mpsc},
    thread,
};

use punctual_qos::{Condition, Contract, ContractBuilder, ContractError, Region, Transition};

/// Regions by latency and bandwidth: good, slow, and everything else.
fn link() -> (Condition, Condition, ContractBuilder) {
    let (latency, bandwidth) = (Condition::new("latency_ms"), Condition::new("bandwidth_kbit_s"));
    let good = Region::new("good")
        .at_most(&latency, 50.0)
        .at_least(&bandwidth, 100.0);
    let slow = Region::new("slow").at_most(&latency, 500.0);
    let contract = Contract::builder("link")
        .region(good)
        .region(slow)
        .region(Region::new("lost"));
    (latency, bandwidth, contract)
}

#[test]
fn the_first_region_that_contains_all_values_counts_and_callbacks_run_in_order() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let (every, entered) = (Arc::clone(&calls), Arc::clone(&calls));
    let (latency, bandwidth, contract) = link();
    let contract = contract
        .on_transition(move |transition| {
            every
                .lock()
                .unwrap()
                .push(format!("{} > {}", transition.from, transition.to))
        })
        .on_enter("good", move || entered.lock().unwrap().push("good".to_owned()))
        .build()
        .unwrap();
    assert_eq!(contract.region(), "lost");
    latency.set(50.0);
    assert_eq!(
        contract.evaluate().unwrap().to,
        "slow",
        "no bandwidth was measured"
    );
    bandwidth.set(100.0);
    assert_eq!(contract.evaluate().unwrap().number, 2);
    assert_eq!(contract.evaluate(), None);
    latency.set(50.1);
    assert_eq!(contract.evaluate().unwrap().to, "slow");
    latency.set(f64::NAN);
    assert_eq!(
        contract.evaluate().unwrap().to,
        "lost",
        "what is no number is no measurement"
    );
    let expected = ["lost > slow", "slow > good", "good", "good > slow", "slow > lost"];
    assert_eq!(*calls.lock().unwrap(), expected);
    let state = contract.state();
    assert_eq!((state.transitions, state.evaluations), (4, 5));
    assert_eq!(state.conditions[1], ("bandwidth_kbit_s".to_owned(), Some(100.0)));
}

#[test]
fn a_contract_that_settles_ignores_values_that_do_not_last() {
    let (latency, _, contract) = link();
    let contract = contract.settling(3).build().unwrap();
    let found: Vec<bool> = [10.0, 10.0, 900.0, 10.0, 10.0, 10.0, 10.0]
        .map(|value| {
            latency.set(value);
            contract.evaluate().is_some()
        })
        .into();
    assert_eq!(found, [false, false, false, false, false, true, false]);
    assert_eq!(contract.region(), "slow");
}

#[test]
fn a_callback_may_read_its_contract_and_evaluate_another() {
    let (latency, _, first) = link();
    let followed = Condition::new("transitions");
    let second = Contract::builder("second")
        .region(Region::new("never").at_most(&followed, 0.0))
        .region(Region::new("once").at_least(&followed, 1.0))
        .region(Region::new("unknown"))
        .build()
        .unwrap();
    let (counted, evaluated) = (followed.clone(), second.clone());
    let first = first
        .on_transition(move |_| {
            counted.add(1.0);
            evaluated.evaluate();
        })
        .build()
        .unwrap();
    latency.set(1.0);
    first.evaluate();
    assert_eq!((first.region(), second.region()), ("slow", "once"));
}

#[test]
fn a_transition_during_callbacks_is_made_after_them() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel();
    let (log, may_go_on) = (Arc::clone(&calls), Mutex::new(may_go_on));
    let (latency, bandwidth, contract) = link();
    let contract = contract
        .on_transition(move |transition| {
            // Only the first one waits.
            if transition.number == 1 {
                entered.send(()).unwrap();
                may_go_on.lock().unwrap().recv().unwrap();
            }
            let Transition { from, to, number, .. } = transition;
            log.lock().unwrap().push(format!("{number}: {from} > {to}"));
        })
        .build()
        .unwrap();
    latency.set(100.0);
    let first = contract.clone();
    let first = thread::spawn(move || first.evaluate());
    has_entered.recv().unwrap();
    bandwidth.set(200.0);
    for measured in [10.0, 900.0, 10.0] {
        latency.set(measured);
        assert_eq!(contract.evaluate(), None);
        assert_eq!(contract.region(), "slow", "until the callbacks have returned");
    }
    go_on.send(()).unwrap();
    let last = first.join().unwrap().unwrap();
    assert_eq!((last.to.as_str(), last.number), ("good", 2));
    assert_eq!(*calls.lock().unwrap(), ["1: lost > slow", "2: slow > good"]);
    assert_eq!((contract.region(), contract.state().evaluations), ("good", 4));
}

#[test]
fn a_callback_may_evaluate_its_own_contract() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let own: Arc<OnceLock<Contract>> = Arc::default();
    let (log, itself) = (Arc::clone(&calls), Arc::clone(&own));
    let (latency, bandwidth, contract) = link();
    let measured = bandwidth.clone();
    let contract = contract
        .on_transition(move |transition| {
            // The slow region buys bandwidth.
            measured.set(200.0);
            assert_eq!(itself.get().unwrap().evaluate(), None);
            log.lock().unwrap().push(transition.to.clone());
        })
        .build()
        .unwrap();
    own.set(contract.clone()).ok().unwrap();
    latency.set(1.0);
    assert_eq!(contract.evaluate().unwrap().to, "good");
    assert_eq!(*calls.lock().unwrap(), ["slow", "good"]);
}

#[test]
fn a_callback_that_panics_does_not_end_the_contract() {
    let (latency, _, contract) = link();
    let contract = contract
        .on_transition(|transition| assert_ne!(transition.number, 1, "as the test wants it"))
        .build()
        .unwrap();
    latency.set(1.0);
    assert!(catch_unwind(AssertUnwindSafe(|| contract.evaluate())).is_err());
    latency.set(900.0);
    assert_eq!(contract.evaluate().unwrap().number, 2);
}

#[test]
fn transitions_of_several_threads_follow_each_other_and_the_last_value_counts() {
    let calls = Arc::new(Mutex::new(Vec::<Transition>::new()));
    let log = Arc::clone(&calls);
    let (latency, _, contract) = link();
    let contract = contract
        .on_transition(move |transition| log.lock().unwrap().push(transition.clone()))
        .build()
        .unwrap();
    thread::scope(|scope| {
        for start in 0..2 {
            let (latency, contract) = (latency.clone(), contract.clone());
            scope.spawn(move || {
                for number in start..10_000 {
                    latency.set(if number % 2 == 0 { 100.0 } else { 900.0 });
                    contract.evaluate();
                }
            });
        }
    });
    let calls = calls.lock().unwrap();
    assert!((1..).zip(&*calls).all(|(number, call)| call.number == number));
    assert!(calls.windows(2).all(|pair| pair[0].to == pair[1].from));
    let state = contract.state();
    assert_eq!(
        (state.transitions, state.evaluations),
        (calls.len() as u64, 19_999)
    );
    assert_eq!(contract.region(), "lost", "9,999 is odd");
}

#[test]
fn contracts_that_leave_values_out_or_cannot_be_met_are_refused() {
    let latency = Condition::new("latency_ms");
    let bounded = || Region::new("bounded").at_most(&latency, 1.0);
    let build = |regions: Vec<Region>| {
        let contract = regions
            .into_iter()
            .fold(Contract::builder("c"), ContractBuilder::region);
        contract.build().err()
    };
    let not_exhaustive = Some(ContractError::NotExhaustive("c".into()));
    assert_eq!(build(vec![]), not_exhaustive);
    assert_eq!(build(vec![bounded()]), not_exhaustive);
    let unreachable = build(vec![Region::new("all"), bounded(), Region::new("rest")]);
    assert!(
        matches!(&unreachable, Some(ContractError::Unreachable { region, .. }) if region == "bounded"),
        "{unreachable:?}"
    );
    let twice = build(vec![bounded(), bounded(), Region::new("rest")]);
    assert!(matches!(twice, Some(ContractError::DuplicateName { .. })));
    let other = Condition::new("latency_ms");
    let confused = build(vec![
        bounded(),
        Region::new("other").at_most(&other, 1.0),
        Region::new("rest"),
    ]);
    assert!(
        matches!(confused, Some(ContractError::DuplicateName { .. })),
        "two conditions of one name"
    );
    for (low, high) in [(2.0, 1.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
        let impossible = build(vec![
            Region::new("never").within(&latency, low..=high),
            Region::new("rest"),
        ]);
        let error = impossible.unwrap().to_string();
        assert_eq!(
            error,
            "contract `c`: no value of `latency_ms` meets its bound in region `never`"
        );
    }
}

#[test]
fn conditions_are_set_smoothed_and_counted() {
    let condition = Condition::new("any");
    assert_eq!(condition.value(), None);
    condition.smooth(8.0, 0.25);
    assert_eq!(condition.value(), Some(8.0), "the first value counts wholly");
    condition.smooth(0.0, 0.25);
    assert_eq!(condition.value(), Some(6.0));
    condition.add(1.5);
    assert_eq!(condition.value(), Some(7.5));
}
