//! Stands where the crate of this name will: the same interface, and it says that there is nothing yet.

use std::process::ExitCode;

pub const BENCHMARKS: &[(&str, &str)] = &[];

pub fn main_if_asked() {}

pub mod demo {
    use super::*;

    #[derive(Debug, clap::Args)]
    pub struct Options {}

    pub fn run(_: &Options) -> ExitCode {
        super::nothing_yet()
    }
}

pub mod cubit {
    use super::*;

    #[derive(Debug, clap::Args)]
    pub struct Options {}

    pub fn run(_: &Options) -> ExitCode {
        super::nothing_yet()
    }
}

fn nothing_yet() -> ExitCode {
    eprintln!("error: this build has no measurements");
    ExitCode::from(2)
}
