//! `cargo xtask limit`.

use std::{
    fs,
    process::{Command, Output},
};

fn limit(seconds: &str, script: &str) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["limit", seconds, "sh", "-c", script])
        .output()
        .unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    (output, said)
}

/// It may be a zombie until the system collects it.
fn has_ended(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", process.trim())).unwrap_or_default();
    state.is_empty() || state.contains(") Z ")
}

#[test]
fn a_program_that_hangs_ends_with_all_that_it_started() {
    let (output, said) = limit("1", "sleep 600 > /dev/null & echo $!; wait");
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("sh has run for 1 s"), "{said}");
    assert!(has_ended(said.lines().next().unwrap()), "{said}");
}

/// They would keep open the output whose end the caller waits for.
#[test]
fn what_a_program_leaves_behind_ends() {
    let (output, said) = limit("60", "(setsid sleep 600 & echo $!)");
    assert_eq!(output.status.code(), Some(0));
    assert!(said.contains("sh has left 1 process"), "{said}");
    assert!(has_ended(said.lines().next().unwrap()), "{said}");
}

/// A process that has ended by itself does not remain in the list of processes.
#[test]
fn what_has_ended_by_itself_is_no_process_any_more() {
    let script = "pid=$( (sleep 0.1 > /dev/null & echo $!) ); sleep 2; test ! -e /proc/$pid";
    let (output, said) = limit("60", script);
    assert!(output.status.success(), "{said}");
}

#[test]
fn exit_codes_are_passed_on() {
    let (output, said) = limit("60", "exit 3");
    assert_eq!((output.status.code(), said.as_str()), (Some(3), ""));
    let (output, said) = limit("60", "kill -ABRT $$");
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("signal: 6"), "{said}");
    let (output, said) = limit("soon", "true");
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("`soon` is not a number of seconds"), "{said}");
}
