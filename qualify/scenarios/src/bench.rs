//! `punctual bench NAME`: one benchmark, said on the terminal and written where asked.

use std::process::ExitCode;

use crate::{
    Benchmark, Error,
    qualify::{not_restored, page},
    report::{Files, could_not_run},
    run::Run,
    testbed::Settings,
};

/// What `punctual bench` can be told.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    settings: Settings,
}

/// Measures, prints, writes the files asked for. Exit code as the contract for machine reading says.
pub fn run(benchmark: &Benchmark, options: &Options) -> ExitCode {
    measure(benchmark, options)
        .unwrap_or_else(|error| could_not_run(&format!("bench {}", benchmark.name), &error))
}

fn measure(benchmark: &Benchmark, options: &Options) -> Result<ExitCode, Error> {
    options.files.check()?;
    let title = format!("bench {}", benchmark.name);
    let (mut run, testbed) = Run::measure(&title, &[benchmark], &options.settings, |_, _| {})?;
    let finished = testbed.finish();
    let measured = run.measured.first_mut().ok_or("nothing was measured")?;
    if let Err(error) = finished {
        measured.outcome.failed(not_restored(&error));
    }
    if let Some(chapter) = &measured.chapter {
        println!("{}\n", chapter.to_text());
    }
    let html = || page::of_one(&title, measured, &options.settings);
    Ok(options.files.finish(&measured.outcome, html))
}
