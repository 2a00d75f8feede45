//! `punctual doctor`: checks whether this machine is ready for real time, and prints fixes.
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
    report::Appearance,
    system::System,
};

/// Settings of `doctor`.
#[derive(Args, Debug)]
pub struct Options {
    /// Print one JSON object
    #[arg(long, conflicts_with = "fix")]
    pub json: bool,
    /// Print a shell script with the fixes, without running it; read it, then run it as root
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
        print!("{}", report::text(&system, &findings, Appearance::of_stdout()));
    }
    ExitCode::from(verdict(&findings))
}

/// Exit code: 1 if a check failed, else 2 if a check could not be performed, else 0.
fn verdict(findings: &[Finding]) -> u8 {
    let any = |state: fn(&State) -> bool| findings.iter().any(|finding| state(&finding.state));
    if any(|state| *state == State::Failed) {
        1
    } else if any(|state| *state == State::Unknown) {
        2
    } else {
        0
    }
}

#[cfg(test)]
mod tests;
