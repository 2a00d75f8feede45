//! `punctual demo`: shows the effect of lanes in under a minute.
//!
//! Three clients call at fixed rates, more important ones faster, while the work per call grows until it
//! exceeds the processor's capacity: first with a thread pool that treats all requests alike, then with
//! lanes. Source: [Pyarali 2002] experiments 4 and 5, figures 15 and 17.

mod measure;
mod terminal;

use std::process::ExitCode;

use self::measure::Demo;
use crate::{
    benchmark::Benchmark,
    error::Error,
    experiment::benchmark,
    qualify::not_restored,
    report::{Files, could_not_run, page, with_machine},
    run::Run,
    settings::Settings,
};

pub(crate) const BENCHMARK: Benchmark = benchmark::<Demo>();

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

/// Measures, prints, and writes the requested files. Returns the exit code of the JSON contract.
pub fn run(options: &Options) -> ExitCode {
    let mut files = options.files.clone();
    // The figures are the purpose of the demo, so they are drawn by default.
    files.html.get_or_insert_with(|| PAGE.into());
    let settings = Settings {
        quick: options.quick,
        seconds: options.seconds,
        leave_system_alone: options.leave_system_alone,
        ..Settings::default()
    };
    files
        .check()
        .and_then(|()| measure(&files, &settings))
        .unwrap_or_else(|error| could_not_run("demo", &error))
}

fn measure(files: &Files, settings: &Settings) -> Result<ExitCode, Error> {
    let (mut run, testbed) = Run::measure("demo", &[&BENCHMARK], settings, |_, _| {})?;
    let finished = testbed.finish();
    let mut measured = run.measured.pop().ok_or("nothing was measured")?;
    if let Err(error) = finished {
        measured.outcome.failed(not_restored(&error));
    }
    let outcome = &measured.outcome;
    let Some(chapter) = measured.chapter.take() else {
        let reasons: Vec<String> = outcome.doubts().collect();
        return Err(reasons.join("; ").replace("could not run: ", "").into());
    };
    terminal::print(outcome);
    let chapter = chapter.concluded(terminal::result(outcome));
    Ok(files.finish(outcome, || {
        let page = page("Why lanes matter: the demo", outcome).chapter(&chapter)?;
        with_machine(page, outcome)
    }))
}
