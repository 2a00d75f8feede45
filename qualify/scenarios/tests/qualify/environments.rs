//! Runs without real-time rights, and on one CPU.

use std::process::Command;

use punctual_fixtures::{Missing, skip};
use punctual_os::{CpuSet, affinity};

use crate::{
    Test,
    process::{file, json, own_path, qualify, qualify_by},
};

pub const TESTS: &[Test] = &[
    (
        "environments::a_run_without_rights_is_marked_not_real_time",
        a_run_without_rights_is_marked_not_real_time,
    ),
    ("environments::one_cpu_is_enough", one_cpu_is_enough),
];

fn a_run_without_rights_is_marked_not_real_time() {
    let out = file("rights.json");
    let mut without = Command::new("setpriv");
    without
        .args(["--bounding-set", "-sys_nice,-ipc_lock"])
        .arg(own_path());
    // Dropping capabilities needs root.
    match Command::new("setpriv")
        .args(["--bounding-set", "-sys_nice", "true"])
        .status()
    {
        Ok(status) if status.success() => {}
        _ => return skip(Missing::Right, "dropping capabilities needs root and `setpriv`"),
    }
    let ended = qualify_by(without, &["--only", "t.good", "--json", out.to_str().unwrap()]);
    let outcome = json(&out, &ended.output());
    if outcome["machine"]["scheduling_rights"] == "real-time" {
        return skip(
            Missing::Machine,
            "the resource limit permits real-time priorities to every user",
        );
    }
    assert_eq!(ended.code, 3, "{}", ended.output());
    assert!(
        ended
            .stdout
            .contains("qualify: NOT REAL-TIME: 1 of 1 claim holds: ")
    );
}

fn one_cpu_is_enough() {
    let out = file("one-cpu.json");
    let before = affinity::current();
    let first = before.iter().next().expect("a CPU");
    affinity::set_current(&CpuSet::single(first)).unwrap();
    let ended = qualify(&[
        "--leave-system-alone",
        "--only",
        "t.good",
        "--json",
        out.to_str().unwrap(),
    ]);
    affinity::set_current(&before).unwrap();
    assert!([0, 3].contains(&ended.code), "{}", ended.output());
    let outcome = json(&out, &ended.output());
    assert_eq!(outcome["machine"]["pinned_cpus"], serde_json::json!([first]));
}
