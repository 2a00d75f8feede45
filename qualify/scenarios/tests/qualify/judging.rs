//! Claims that are evaluated: under controls, in which they must not hold, and on machines that become unfit.

use crate::{
    Test,
    process::{Ended, file, json, own, qualify, qualify_by},
};

pub const TESTS: &[Test] = &[
    (
        "judging::a_claim_that_fails_under_its_control_passes",
        a_claim_that_fails_under_its_control_passes,
    ),
    (
        "judging::claims_that_hold_under_their_control_or_have_none_are_reported",
        claims_that_hold_under_their_control_or_have_none_are_reported,
    ),
    (
        "judging::a_control_that_shows_nothing_is_reported",
        a_control_that_shows_nothing_is_reported,
    ),
    (
        "judging::a_claim_that_a_control_must_restore_has_to_hold_under_it",
        a_claim_that_a_control_must_restore_has_to_hold_under_it,
    ),
    (
        "judging::a_benchmark_is_repeated_twice_if_the_machine_is_unfit",
        a_benchmark_is_repeated_twice_if_the_machine_is_unfit,
    ),
];

fn states(ended: &Ended, outcome: &serde_json::Value) -> Vec<(String, String)> {
    let text = |claim: &serde_json::Value, field: &str| claim[field].as_str().expect(field).to_owned();
    let claims = outcome["claims"].as_array();
    let claims = claims.unwrap_or_else(|| panic!("{}", ended.output()));
    let state = |claim| (text(claim, "id"), text(claim, "state"));
    claims.iter().map(state).collect()
}

fn controls(arguments: &[&str]) -> (Ended, Vec<(String, String)>) {
    let (ended, outcome) = controls_outcome(arguments);
    let states = states(&ended, &outcome);
    (ended, states)
}

fn controls_outcome(arguments: &[&str]) -> (Ended, serde_json::Value) {
    let out = file("controls.json");
    let common = [
        "--leave-system-alone",
        "--controls",
        "--json",
        out.to_str().unwrap(),
    ];
    let ended = qualify(&[&common[..], arguments].concat());
    let outcome = json(&out, &ended.output());
    (ended, outcome)
}

fn pairs<'t>(states: &'t [(String, String)]) -> Vec<(&'t str, &'t str)> {
    let pair = |(id, state): &'t (String, String)| (id.as_str(), state.as_str());
    states.iter().map(pair).collect()
}

fn a_claim_that_fails_under_its_control_passes() {
    let (ended, states) = controls(&["--only", "t.honest", "--quick"]);
    let expected = [
        ("t.honest.count@none", "does not hold"),
        ("t.honest.p50@slow", "holds"),
        ("t.honest.p99@slow", "holds"),
    ];
    assert_eq!(pairs(&states), expected, "{}", ended.output());
    let said = "2 of 3 claims hold; not: t.honest.count@none (measured no control, limit a control)";
    assert!(ended.stdout.contains(said), "{}", ended.output());
}

fn claims_that_hold_under_their_control_or_have_none_are_reported() {
    let (ended, states) = controls(&["--only", "t.flattering,t.good"]);
    let expected = [
        ("t.good.p50@none", "does not hold"),
        ("t.flattering.p99@none", "does not hold"),
        ("t.flattering.count@none", "does not hold"),
        ("t.flattering.p50@stuck", "does not hold"),
        ("t.flattering.p100@stuck", "does not hold"),
    ];
    assert_eq!(pairs(&states), expected, "{}", ended.output());
    assert!([1, 3].contains(&ended.code), "{}", ended.output());
    let said = "t.flattering.p50@stuck (measured 1, limit 4)";
    assert!(ended.stdout.contains(said), "{}", ended.output());
    let absent = "t.flattering.p100@stuck (measured no such claim, limit a claim)";
    assert!(ended.stdout.contains(absent), "{}", ended.output());
}

fn a_control_that_shows_nothing_is_reported() {
    let (ended, outcome) = controls_outcome(&["--only", "t.hollow"]);
    let states = states(&ended, &outcome);
    let expected = [
        ("t.hollow.nothing@empty", "does not hold"),
        ("t.hollow.infinite@empty", "holds"),
    ];
    assert_eq!(pairs(&states), expected, "{}", ended.output());
    assert_eq!(outcome["claims"][1]["measured"], "infinite");
    let skipped = outcome["skipped"].as_array().unwrap().iter();
    let reasons = skipped.filter_map(|skipped| Some((skipped["id"].as_str()?, skipped["reason"].as_str()?)));
    let expected = [
        ("t.hollow.never@empty", "does not hold without the control either"),
        ("t.hollow.infinite@unfit", "cannot tell: the machine was unfit"),
    ];
    assert_eq!(reasons.collect::<Vec<_>>(), expected, "{}", ended.output());
    assert_eq!(ended.code, 2, "{}", ended.output());
}

fn a_claim_that_a_control_must_restore_has_to_hold_under_it() {
    let (ended, outcome) = controls_outcome(&["--only", "t.excused"]);
    let states = states(&ended, &outcome);
    let expected = [
        ("t.excused.helped@helping", "holds"),
        ("t.excused.hopeless@helping", "does not hold"),
        ("t.excused.strict@helping", "holds"),
    ];
    assert_eq!(pairs(&states), expected, "{}", ended.output());
    let text = outcome["claims"][0]["text"].as_str();
    assert_eq!(text, Some("must hold with help: at most"));
    let skipped = outcome["skipped"].as_array().unwrap().iter();
    let reasons = skipped.filter_map(|skipped| Some((skipped["id"].as_str()?, skipped["reason"].as_str()?)));
    let expected = [("t.excused.usual@helping", "holds without the control, too")];
    assert_eq!(reasons.collect::<Vec<_>>(), expected, "{}", ended.output());
}

fn a_benchmark_is_repeated_twice_if_the_machine_is_unfit() {
    let out = file("restless.json");
    let run = |fit_from: &str| {
        let mut program = own();
        program.env("FIT_FROM", fit_from);
        let common = ["--leave-system-alone", "--only", "t.restless,t.good", "--json"];
        let ended = qualify_by(program, &[&common[..], &[out.to_str().unwrap()]].concat());
        let outcome = json(&out, &ended.output());
        (ended, outcome)
    };
    let (ended, outcome) = run("3");
    assert!([0, 3].contains(&ended.code), "{}", ended.output());
    assert_eq!(outcome["parameters"]["t.restless"]["repetitions"], 2);
    let said = "t.restless: repeated, because: machine unfit: run 2 was disturbed";
    assert!(ended.stderr.contains(said), "{}", ended.output());

    let (ended, outcome) = run("4");
    assert_eq!(ended.code, 2, "{}", ended.output());
    let said = "MACHINE UNFIT: t.restless: run 3 was disturbed";
    assert!(ended.stdout.contains(said), "{}", ended.output());
    let states = states(&ended, &outcome);
    let expected = [("t.good.p50", "holds"), ("t.restless.p50", "cannot tell here")];
    assert_eq!(pairs(&states), expected, "{}", ended.output());
}
