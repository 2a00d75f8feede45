//! Runs the command of the README and compares its output with the README's.

#[path = "../../01-hello/tests/terminal/mod.rs"]
#[allow(dead_code, reason = "there is no server to start")]
mod terminal;

use terminal::{blocks_of, command};

const README: &str = include_str!("../README.md");

#[test]
fn the_command_of_the_readme_prints_its_output() {
    let ([run], [shown]) = (&blocks_of(README, "sh")[..], &blocks_of(README, "text")[..]) else {
        panic!("expected one command and one output");
    };
    let output = command(run).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), *shown);
}
