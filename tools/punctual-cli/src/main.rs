//! Punctual: the command line tool.

mod arguments;
mod call;
mod cli;
mod columns;
mod completions;
mod default_priority;
mod diagnostics;
mod doctor;
mod events;
mod explain;
mod idl;
mod live;
mod measuring;
mod naming;
mod new;
mod plan;
mod printing;
mod scheduler;
mod system_file;
mod tls;
mod top;

use std::{env, process::ExitCode};

use clap::{CommandFactory, Parser};
use punctual_report::terminal;
use punctual_scenarios::{bench, benchmarks, demo, qualify, trace};

use cli::{Cli, Command};

/// Counts heap allocations: measurements report those of calls, on both sides.
#[global_allocator]
static ALLOCATOR: punctual_os::CountingAllocator = punctual_os::CountingAllocator;

fn main() -> ExitCode {
    // Measurements run this program again as supervisor, server and clients.
    punctual_harness::supervisor::main_if_asked();
    punctual_scenarios::main_if_asked();
    printing::end_quietly_without_reader();
    match Cli::parse_from(arguments::with_negative_numbers(env::args_os())).command {
        Command::New(options) => new::run(&options),
        Command::Demo(arguments) => demo::run(&arguments.into()),
        Command::Bench { name, arguments } => match benchmarks().find(|benchmark| benchmark.name == name) {
            Some(benchmark) => bench::run(benchmark, &arguments.into()),
            None => list_benchmarks(),
        },
        Command::Qualify(arguments) => qualify::run(&benchmarks().collect::<Vec<_>>(), &arguments.into()),
        Command::Trace(arguments) => trace::run(&arguments.into()),
        Command::Idl(command) => idl::run(&command),
        Command::Plan(options) => plan::run(&options),
        Command::Scheduler(command) => scheduler::run(&command),
        Command::Doctor(options) => doctor::run(&options),
        Command::Top(options) => top::run(&options),
        Command::Call(options) => call::run(&options),
        Command::Events(command) => events::run(&command),
        Command::Naming(command) => naming::run(&command),
        Command::Explain(options) => explain::run(&options),
        Command::Completions(options) => completions::complete(Cli::command(), &options),
        Command::Man(options) => completions::manual(Cli::command(), &options),
    }
}

fn list_benchmarks() -> ExitCode {
    let width = terminal::width().unwrap_or(usize::MAX);
    for benchmark in benchmarks() {
        let name = format!("{:<24} ", benchmark.name);
        let text = format!("{} ({})", benchmark.about, benchmark.durations());
        println!("{}", terminal::hanging(&name, &text, width));
    }
    let hint = "Run one with `punctual bench NAME`; `punctual bench --help` lists the settings.";
    println!("\n{}", terminal::fitted(hint));
    ExitCode::SUCCESS
}
