//! Format, exit codes and texts of outcomes.

use serde_json::json;

use super::*;
use crate::machine::{KernelSettings, SchedulingRights};

fn facts(scheduling_rights: SchedulingRights) -> MachineFacts {
    MachineFacts {
        kernel: "6.1".into(),
        kernel_version: "#1".into(),
        settings: KernelSettings {
            preemption: "PREEMPT_RT".into(),
            clock_source: Some("tsc".into()),
            ..KernelSettings::default()
        },
        cpus: 2,
        cpu_model: "model".into(),
        tick_hz: 250,
        scheduling_rights,
        highest_realtime_priority: None,
        memory_lock: false,
        realtime_runtime_us: Some(950_000),
        pinned_cpus: vec![1],
        missing: Vec::new(),
        remedies: vec!["sudo setcap …".into()],
    }
}

fn outcome(rights: SchedulingRights) -> Outcome {
    let mut outcome = Outcome::new("demo", facts(rights));
    outcome.row(Row::new().with("pool", "lanes").with("work", 50));
    outcome
}

#[test]
fn json_has_the_fields_of_the_contract_in_order() {
    let mut outcome = outcome(SchedulingRights::RealTime);
    outcome.parameter("seconds", 4);
    outcome.claim(Claim::at_least(
        "high",
        "at least 97 %",
        "Punctual's limit",
        98.0,
        97.0,
    ));
    outcome.skip(None, "remote rows", "no namespace");
    let json: Value = serde_json::from_str(&outcome.to_json()).unwrap();
    let fields: Vec<_> = json.as_object().unwrap().keys().collect();
    let contract = [
        "schema",
        "benchmark",
        "machine",
        "parameters",
        "rows",
        "claims",
        "skipped",
    ];
    assert_eq!(fields, contract);
    assert_eq!(json["schema"], 1);
    assert_eq!(json["rows"], json!([{"pool": "lanes", "work": 50}]));
    let claim = json!({"id": "high", "text": "at least 97 %", "source": "Punctual's limit", "measured": 98.0,
        "limit": 97.0, "holds": true, "state": "holds", "control": null});
    assert_eq!(json["claims"], json!([claim]));
    assert_eq!(
        json["skipped"],
        json!([{"what": "remote rows", "reason": "no namespace"}])
    );
    assert_eq!(serde_json::from_value::<Outcome>(json).unwrap(), outcome);
}

#[test]
fn the_first_applicable_exit_code_is_used() {
    let broken = || Claim::at_most("late", "at most 1", "Punctual's limit", 1.25, 1.0);
    for (rights, expected) in [
        (SchedulingRights::RealTime, [0, 1]),
        (SchedulingRights::Ordinary, [3, 3]),
    ] {
        let mut outcome = outcome(rights);
        outcome.claim(Claim::at_most("early", "at most 1", "Punctual's limit", 0.5, 1.0));
        assert_eq!(outcome.verdict().exit_code(), expected[0]);
        outcome.claim(broken());
        assert_eq!(outcome.verdict().exit_code(), expected[1]);
        outcome.unfit("holes of 3.1 %");
        assert_eq!(outcome.verdict().exit_code(), 2);
        assert_eq!(outcome.skipped()[0].reason, "machine unfit: holes of 3.1 %");
    }
}

#[test]
fn only_claims_that_hold_make_an_outcome_pass() {
    let mut outcome = outcome(SchedulingRights::RealTime);
    assert_eq!(outcome.verdict().exit_code(), 2);
    assert_eq!(
        outcome.verdict().to_string(),
        "demo: NOT JUDGED: no claim was tested"
    );
    outcome.claim(Claim::at_most("late", "at most 1", "Punctual's limit", 0.5, 1.0));
    for (state, code, said) in [
        (
            State::Holds,
            0,
            "PASS: 1 of 1 claim holds: late (measured 0.5, limit 1)",
        ),
        (
            State::DoesNotHold,
            1,
            "FAIL: 0 of 1 claim holds; not: late (measured 0.5, limit 1)",
        ),
        (
            State::Explained,
            1,
            "FAIL: 0 of 1 claim holds; explained: late (measured 0.5, limit 1)",
        ),
        (
            State::CannotTell,
            2,
            "NOT JUDGED: 0 of 1 claim holds; cannot tell: late (measured 0.5, limit 1)",
        ),
    ] {
        outcome.claims_mut().for_each(|claim| claim.state = state);
        assert_eq!(outcome.verdict().exit_code(), code, "{state}");
        assert_eq!(outcome.verdict().to_string(), format!("demo: {said}"));
    }
}

#[test]
fn claims_of_older_files_have_the_state_that_follows_from_holding() {
    let old = json!({"id": "late", "text": "", "source": "", "measured": 2.0, "limit": 1.0, "holds": false});
    let claim: Claim = serde_json::from_value(old).unwrap();
    assert_eq!((claim.state, claim.control), (State::DoesNotHold, None));
}

#[test]
fn a_statement_is_as_weak_as_its_weakest_part() {
    use State::{CannotTell, DoesNotHold, Explained, Holds};
    assert_eq!(State::of_all([]), CannotTell);
    assert_eq!(State::of_all([Holds, Holds]), Holds);
    assert_eq!(State::of_all([Holds, CannotTell]), CannotTell);
    assert_eq!(State::of_all([CannotTell, Explained]), Explained);
    assert_eq!(State::of_all([DoesNotHold, Explained]), DoesNotHold);
}

#[test]
fn an_empty_outcome_does_not_pass() {
    let outcome = Outcome::new("demo", facts(SchedulingRights::RealTime));
    assert_eq!(outcome.verdict().exit_code(), 2);
    assert_eq!(
        outcome.verdict().to_string(),
        "demo: COULD NOT RUN: nothing was measured"
    );
}

#[test]
fn the_verdict_is_one_line_with_the_failed_claims() {
    let mut outcome = outcome(SchedulingRights::Ordinary);
    outcome.claim(Claim::at_most(
        "p50",
        "at most 1.15",
        "Punctual's limit",
        1.2504,
        1.15,
    ));
    outcome.claim(Claim::at_most("wait", "at most 5 µs", "Punctual's limit", 6.5, 5.0).in_unit("µs"));
    outcome.claim(Claim::new(
        "order",
        "high first",
        "[Pyarali 2002]",
        "low",
        "high",
        false,
    ));
    outcome.claim(Claim::below("jitter", "below 3", "[Pyarali 2002]", 2.0, 3.0));
    assert_eq!(
        outcome.verdict().to_string(),
        "demo: NOT REAL-TIME: 1 of 4 claims hold; not: p50 (measured 1.25, limit 1.15), \
         wait (measured 6.5 µs, limit 5 µs), \
         order (measured low, limit high); to run it in real time: sudo setcap …"
    );
}

#[test]
fn a_claim_without_a_number_does_not_hold() {
    assert!(!Claim::at_most("a", "", "", f64::NAN, 1.0).holds());
    assert!(!Claim::at_least("a", "", "", f64::NAN, 1.0).holds());
    assert!(!Claim::below("a", "", "", 1.0, 1.0).holds());
    assert_eq!(Claim::at_most("a", "", "", f64::NAN, 1.0).measured, Value::Null);
}

#[test]
fn outcomes_of_several_benchmarks_are_merged() {
    let mut all = Outcome::new("qualify", facts(SchedulingRights::RealTime));
    let mut demo = outcome(SchedulingRights::RealTime);
    demo.claim(Claim::at_least("high", "", "", 98.0, 97.0));
    demo.skip(Some("low"), "low", "too short");
    demo.parameter("seconds", 4);
    demo.unfit("holes");
    all.absorb(demo);
    let json: Value = serde_json::from_str(&all.to_json()).unwrap();
    assert_eq!(json["claims"][0]["id"], "demo.high");
    assert_eq!(json["skipped"][0]["id"], "demo.low");
    assert_eq!(json["parameters"], json!({"demo": {"seconds": 4}}));
    let columns: Vec<_> = json["rows"][0].as_object().unwrap().keys().collect();
    assert_eq!(columns, ["benchmark", "pool", "work"]);
    assert_eq!(all.verdict().exit_code(), 2);
    assert!(all.verdict().to_string().contains("demo: holes"));
}

#[test]
fn interruption_comes_first_in_the_verdict() {
    let mut all = Outcome::new("qualify", facts(SchedulingRights::RealTime));
    all.absorb(outcome(SchedulingRights::RealTime));
    all.unfit("holes");
    assert!(
        all.verdict()
            .to_string()
            .starts_with("qualify: MACHINE UNFIT: holes; ")
    );
    all.failed("os.x: its server died");
    assert!(
        all.verdict()
            .to_string()
            .starts_with("qualify: COULD NOT RUN: holes; os.x: its")
    );
    all.interrupted("by SIGINT");
    assert!(all.verdict().to_string().starts_with("qualify: INTERRUPTED: "));
    assert_eq!(all.verdict().exit_code(), 2);
    assert_eq!(all.skipped()[2].reason, "interrupted: by SIGINT");
}

#[test]
#[should_panic(expected = "duplicate claim")]
fn duplicate_claims_panic() {
    let mut outcome = outcome(SchedulingRights::RealTime);
    outcome.claim(Claim::at_least("high", "", "", 98.0, 97.0));
    outcome.claim(Claim::at_least("high", "", "", 98.0, 97.0));
}

#[test]
#[should_panic(expected = "flat row")]
fn a_row_is_flat() {
    let _ = Row::new().with("nested", json!([1]));
}
