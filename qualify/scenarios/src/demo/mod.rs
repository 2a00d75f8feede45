//! `demo`: what lanes are for, in under a minute.
//!
//! Three clients call at fixed rates, the more important the faster, while the work per call grows until the processor cannot
//! do it all: once through a thread pool that treats all requests alike, once through lanes.
//! Source: \[S2\] experiments 4 and 5, figures 15 and 17.

mod measure;
mod page;

use std::process::ExitCode;

use crate::report::{Files, could_not_run};

/// The page with the figures, where nobody says otherwise.
const PAGE: &str = "punctual-demo.html";

/// What `punctual demo` can be told. The page with the figures is written to `punctual-demo.html` unless `--html` names
/// another file.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    files: Files,
    /// How long to measure in all, spread evenly over pools and works [default: 36, with --quick 12]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(3..=3600))]
    seconds: Option<u32>,
    /// Only works 30, 50 and 55
    #[arg(long)]
    quick: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are
    #[arg(long)]
    leave_system_alone: bool,
}

impl Options {
    fn works(&self) -> &'static [u32] {
        if self.quick {
            &[30, 50, 55]
        } else {
            &[30, 40, 50, 55, 65, 80]
        }
    }

    /// How long one work is measured with one pool.
    fn seconds_per_phase(&self) -> f64 {
        let total = self.seconds.unwrap_or(if self.quick { 12 } else { 36 });
        f64::from(total) / (2 * self.works().len()) as f64
    }
}

/// Measures, prints, writes the files asked for. Exit code as the contract for machine reading says.
pub fn run(options: &Options) -> ExitCode {
    match measure::measure(options) {
        Ok(outcome) => {
            page::print(&outcome);
            let mut files = options.files.clone();
            // Figures are what the demo is for: they are drawn unasked.
            files.html.get_or_insert_with(|| PAGE.into());
            files.finish(&outcome, || page::html(&outcome))
        }
        Err(error) => could_not_run("demo", &error),
    }
}
