//! `punctual qualify` from outside, with small benchmarks: runs that continue after failures, are ended by
//! signals, are compared with earlier ones, and are evaluated under controls. The tests start this binary
//! again, which therefore has its own `main`.

mod benchmarks;
mod comparing;
mod environments;
mod failing;
mod judging;
mod process;
mod signals;

use std::process::ExitCode;

use punctual_fixtures::runner::Test;

fn main() -> ExitCode {
    punctual_harness::supervisor::main_if_asked();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(benchmarks::CHILD) => return benchmarks::child(),
        Some(process::RUN) => return process::main(),
        _ => {}
    }
    let tests = [
        failing::TESTS,
        signals::TESTS,
        comparing::TESTS,
        environments::TESTS,
        judging::TESTS,
    ]
    .concat();
    punctual_fixtures::runner::run(&tests)
}
