//! The measurements of the endsystem, from end to end, as far as what they show does not depend on how fast
//! the machine is.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use punctual_fixtures::{Missing, skip};
use serde_json::Value;

pub fn the_list_has_all_of_them() {
    let output = punctual(&["bench", "list"]);
    let said = String::from_utf8(output.stdout).unwrap();
    for name in [
        "context-switch",
        "tracing-overhead",
        "clock-tick",
        "thread-switch",
        "timer-latency",
        "sustained-timers",
        "semaphore",
        "mutex-inheritance",
        "mutex-contention",
    ] {
        assert!(
            said.contains(&format!("os.{name} ")),
            "os.{name} is missing in\n{said}"
        );
    }
}

/// An inversion is there or is not: neither load nor the host makes one.
pub fn protocols_prevent_every_inversion_and_without_one_there_are_all() {
    let (outcome, page, said) = bench("os.mutex-inheritance");
    if lacks_rights(&outcome, &said) {
        return;
    }
    let claims = outcome["claims"].as_array().unwrap();
    let ids: Vec<_> = claims.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
    let expected = ["none", "inheritance", "ceiling", "own-inheritance", "own-ceiling"];
    assert_eq!(ids, expected);
    assert!(claims.iter().all(|claim| claim["holds"] == true), "{said}");
    let rows = outcome["rows"].as_array().unwrap();
    let rounds = outcome["parameters"]["rounds"].as_u64().unwrap();
    for (row, id) in rows.iter().zip(expected) {
        let inversions = row["inversions"].as_u64().unwrap();
        assert_eq!(inversions, if id == "none" { rounds } else { 0 }, "{row}");
        assert_eq!(row["count"], rounds);
    }
    assert_eq!(page.matches("<svg").count(), 2, "a figure is missing on the page");
}

/// Waiters go on in the order of their priorities; how long that takes is not judged here.
pub fn a_semaphore_wakes_the_most_important_waiter() {
    let (outcome, page, said) = bench("os.semaphore");
    if lacks_rights(&outcome, &said) {
        return;
    }
    let claims = outcome["claims"].as_array().unwrap();
    let order = claims
        .iter()
        .find(|claim| claim["id"] == "highest-first")
        .expect(&said);
    assert_eq!(order["measured"], 0.0, "{said}");
    let ratio = claims
        .iter()
        .find(|claim| claim["id"] == "release-at-90")
        .expect(&said);
    assert!(
        ratio["measured"].as_f64().is_some_and(|ratio| ratio > 0.0),
        "{said}"
    );
    for row in outcome["rows"].as_array().unwrap() {
        assert!(row["count"].as_u64().unwrap() > 0, "{row}");
        assert!(row["p50_us"].as_f64().unwrap() > 0.0, "{row}");
    }
    assert!(page.contains("<svg"), "a figure is missing on the page");
}

/// Without priorities there is nothing to measure: that is said, and no figure is made up.
fn lacks_rights(outcome: &Value, said: &str) -> bool {
    if outcome["machine"]["highest_realtime_priority"].as_i64() >= Some(95) {
        return false;
    }
    assert!(outcome["rows"].as_array().unwrap().is_empty(), "{said}");
    assert!(!outcome["skipped"].as_array().unwrap().is_empty(), "{said}");
    skip(Missing::Right, "no real-time rights");
    true
}

/// Its JSON, page and output. The machine stays unchanged.
fn bench(name: &str) -> (Value, String, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |end: &str| folder.join(format!("{name}.{end}")).display().to_string();
    let (json, html) = (file("json"), file("html"));
    // Of an earlier run.
    for file in [&json, &html] {
        let _ = fs::remove_file(file);
    }
    let start = Instant::now();
    loop {
        let output = punctual(&[
            "bench",
            name,
            "--quick",
            "--leave-system-alone",
            "--json",
            &json,
            "--html",
            &html,
        ]);
        let error = String::from_utf8_lossy(&output.stderr);
        let said = format!("{}{error}", String::from_utf8_lossy(&output.stdout));
        // Two measurements would disturb each other, so that the second one refuses.
        if error.contains("another measurement") && start.elapsed() < TIMEOUT {
            thread::sleep(Duration::from_secs(2));
            continue;
        }
        let outcome = serde_json::from_str(&fs::read_to_string(&json).expect(&said)).unwrap();
        return (outcome, fs::read_to_string(&html).expect(&said), said);
    }
}

const TIMEOUT: Duration = Duration::from_secs(180);

fn punctual(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(arguments)
        .output()
        .unwrap()
}
