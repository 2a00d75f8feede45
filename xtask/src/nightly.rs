//! `cargo xtask nightly`: the checks that take hours or a machine of their own.

use crate::command::cargo;

/// The checks, with what each shows.
const CHECKS: [(&str, &[&str]); 7] = [
    (
        "the gateway over Zenoh compiles",
        &[
            "build",
            "--manifest-path",
            "services/zenoh/Cargo.toml",
            "--example",
            "gateway",
        ],
    ),
    (
        "the fuzz targets compile",
        &["check", "--locked", "--manifest-path", "fuzz/Cargo.toml"],
    ),
    (
        "the documented commands connect two channels over Zenoh",
        &["test", "-p", "punctual-cli", "--test", "commands", "zenoh"],
    ),
    (
        "a call, and the generation of code, take no more instructions than stated",
        &[
            "test",
            "--release",
            "-p",
            "punctual-conformance",
            "-p",
            "punctual-build",
            "--test",
            "release",
            "--test",
            "build",
            "--",
            "--include-ignored",
            "instructions",
        ],
    ),
    (
        "a call takes the same instructions with one operation and with 1,000",
        &[
            "test",
            "--release",
            "-p",
            "punctual-scenarios",
            "--lib",
            "demultiplexing",
        ],
    ),
    (
        "no simulated response of 10,000 task sets exceeds the bound of `punctual plan`",
        &[
            "test",
            "--release",
            "-p",
            "punctual-simulation",
            "--",
            "--ignored",
            "bounds",
        ],
    ),
    (
        "every claim of `punctual qualify` fails under its controls",
        &[
            "run",
            "--release",
            "-p",
            "punctual-cli",
            "--",
            "qualify",
            "--controls",
            "--json",
            "target/nightly-controls.json",
            "--html",
            "target/nightly-controls.html",
        ],
    ),
];

/// Runs all checks, also after one that fails.
pub fn run() -> Result<(), String> {
    let failed = CHECKS.iter().filter_map(|(what, arguments)| {
        println!("\n==== {what}");
        let error = cargo(arguments).run().err()?;
        Some(format!("{what}: {error}"))
    });
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(failed.join("\n"))
    }
}
