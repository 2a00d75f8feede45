//! Punctual: the command line tool.

mod cli;
mod idl;
mod plan;

use std::process::ExitCode;

use clap::Parser;
use punctual_scenarios::{cubit, demo};

use cli::{Bench, Cli, Command};

/// Measurements count the allocations of calls, on both sides.
#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

fn main() -> ExitCode {
    // Measurements start this program again as their supervisor, server and clients.
    punctual_harness::supervisor::main_if_asked();
    punctual_scenarios::main_if_asked();
    match Cli::parse().command {
        Command::Demo(options) => demo::run(&options),
        Command::Bench(Bench::List) => list_benchmarks(),
        Command::Bench(Bench::Cubit(options)) => cubit::run(&options),
        Command::Idl(command) => idl::run(&command),
        Command::Plan(options) => plan::run(&options),
    }
}

fn list_benchmarks() -> ExitCode {
    for (name, description) in punctual_scenarios::BENCHMARKS {
        println!("{name:<12} {description}");
    }
    println!("\nRun one with `punctual bench NAME`; `punctual bench NAME --help` lists its settings.");
    ExitCode::SUCCESS
}
