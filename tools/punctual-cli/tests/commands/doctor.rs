//! `punctual doctor` on the machine that runs the tests.

use std::{
    collections::HashSet,
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

#[test]
fn text_json_and_exit_code_agree() {
    let output = doctor(&["--json"]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = object["findings"].as_array().unwrap();
    let states: HashSet<_> = findings
        .iter()
        .map(|finding| finding["state"].as_str().unwrap())
        .collect();
    let expected = if states.contains("failed") {
        1
    } else if states.contains("unknown") {
        2
    } else {
        0
    };
    assert_eq!(output.status.code(), Some(expected), "{object}");

    let output = doctor(&[]);
    assert_eq!(output.status.code(), Some(expected));
    let text = String::from_utf8(output.stdout).unwrap();
    for finding in findings {
        let mark = match finding["state"].as_str().unwrap() {
            "passed" => '✓',
            "failed" => '✗',
            _ => '?',
        };
        let start = format!("{mark} {}: ", finding["title"].as_str().unwrap());
        assert!(
            text.lines().any(|line| line.starts_with(&start)),
            "{start}: {text}"
        );
    }
}

#[test]
fn the_script_is_valid_shell_and_only_printed() {
    let throttling = || std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us").ok();
    let before = throttling();
    let output = doctor(&["--fix"]);
    assert_eq!(throttling(), before);
    assert!(output.stdout.starts_with(b"#!/bin/sh\n"));
    let mut shell = Command::new("sh")
        .arg("-n")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(&output.stdout).unwrap();
    assert!(shell.wait().unwrap().success());
}

fn doctor(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_punctual"))
        .arg("doctor")
        .args(arguments)
        .output()
        .unwrap()
}
