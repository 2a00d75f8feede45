//! `punctual demo`: shows the effect of lanes in under a minute.
//!
//! Three clients call at fixed rates, more important ones faster, while the work per call grows until it
//! exceeds the processor's capacity: first with a thread pool that treats all requests alike, then with
//! lanes. Source: [Pyarali 2002] experiments 4 and 5, figures 15 and 17.

mod measure;
mod terminal;

use std::process::ExitCode;

use crate::{
    benchmark::Findings,
    report::{Files, could_not_run, page, with_machine},
};

/// The default file for the page with the figures.
const PAGE: &str = "punctual-demo.html";

/// Options of `punctual demo`. The page with the figures is written to `punctual-demo.html` by default.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files to write.
    pub files: Files,
    /// Total measuring time in seconds, spread evenly over pools and works.
    pub seconds: Option<u32>,
    /// Measure only works 30, 50 and 55.
    pub quick: bool,
    /// Change nothing on the system: real-time throttling stays on, other programs stay where they are.
    pub leave_system_alone: bool,
}

impl Options {
    fn works(&self) -> &'static [u32] {
        if self.quick {
            &[30, 50, 55]
        } else {
            &[30, 40, 50, 55, 65, 80]
        }
    }

    /// Returns how long one work is measured with one pool.
    fn seconds_per_phase(&self) -> f64 {
        let total = self.seconds.unwrap_or(if self.quick { 12 } else { 36 });
        f64::from(total) / (2 * self.works().len()) as f64
    }
}

/// Measures, prints, and writes the requested files. Returns the exit code of the JSON contract.
pub fn run(options: &Options) -> ExitCode {
    let mut files = options.files.clone();
    // The figures are the purpose of the demo, so they are drawn by default.
    files.html.get_or_insert_with(|| PAGE.into());
    match files.check().and_then(|()| measure::measure(options)) {
        Ok(Findings { outcome, chapter }) => {
            terminal::print(&outcome);
            files.finish(&outcome, || {
                let page = page("Why lanes matter: the demo", &outcome).chapter(&chapter)?;
                with_machine(page, &outcome)
            })
        }
        Err(error) => could_not_run("demo", &error),
    }
}
