//! `punctual qualify` from outside, with small benchmarks: runs that continue after failures, are ended by signals,
//! and are compared with earlier ones. The tests start this binary again, which therefore has its own `main`; it
//! handles the arguments of test runners (`--list`, names as filters).

mod benchmarks;
mod comparing;
mod environments;
mod failing;
mod process;
mod signals;

use std::{panic::catch_unwind, process::ExitCode};

/// Name and body.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    punctual_harness::supervisor::main_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(benchmarks::CHILD) => return benchmarks::child(),
        Some(process::RUN) => return process::main(),
        _ => {}
    }
    let flag = |name| arguments.iter().any(|argument| argument == name);
    let filters: Vec<_> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |name: &str| {
        let matches = |filter: &&String| {
            if flag("--exact") {
                *filter == name
            } else {
                name.contains(filter.as_str())
            }
        };
        (filters.is_empty() || filters.iter().any(matches)) && !flag("--ignored")
    };
    let tests = [
        failing::TESTS,
        signals::TESTS,
        comparing::TESTS,
        environments::TESTS,
    ]
    .concat();
    let mut failed = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| wanted(name)) {
        if flag("--list") {
            println!("{name}: test");
            continue;
        }
        let passed = catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += u8::from(!passed);
    }
    failed.min(1).into()
}
