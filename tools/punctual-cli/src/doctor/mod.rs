//! `punctual doctor`: what this endsystem lacks for real time, why it matters, and what mends it.
//!
//! It reads `/proc`, `/sys` and its own rights, and changes nothing.

mod checks;
mod finding;
mod report;
mod script;
mod system;

use std::process::ExitCode;

use clap::Args;

use self::{
    finding::{Finding, State},
    system::System,
};

/// What is printed.
#[derive(Args, Debug)]
pub struct Options {
    /// Print one JSON object
    #[arg(long, conflicts_with = "fix")]
    pub json: bool,
    /// Print a shell script that mends what can be mended; read it, then run it as root. Nothing is run by this
    #[arg(long)]
    pub fix: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> ExitCode {
    let system = System::this();
    let findings = checks::examine(&system);
    if options.fix {
        print!("{}", script::of(&system, &findings));
    } else if options.json {
        println!("{}", report::json(&system, &findings));
    } else {
        print!("{}", report::text(&system, &findings));
    }
    ExitCode::from(verdict(&findings))
}

/// The exit code: something lacks (1), else something could not be looked at (2), else all is fine (0).
fn verdict(findings: &[Finding]) -> u8 {
    let any = |state: fn(&State) -> bool| findings.iter().any(|finding| state(&finding.state));
    if any(|state| *state == State::Lacks) {
        1
    } else if any(|state| *state == State::Unknown) {
        2
    } else {
        0
    }
}

#[cfg(test)]
mod tests;
