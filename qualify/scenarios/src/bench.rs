//! `punctual bench NAME`: runs one benchmark, prints its results and writes the requested files.

use std::process::ExitCode;

use punctual_harness::output_file;
use punctual_report::{Chapter, terminal::fitted};

use crate::{
    benchmark::Benchmark,
    error::Error,
    qualify::{
        controls::{self, Chosen},
        not_restored, page,
    },
    report::{Files, could_not_run, print_skipped},
    run::Run,
    settings::Settings,
    statements::{self, tables},
    testbed::Testbed,
};

/// Options of `punctual bench`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files to write.
    pub files: Files,
    /// Settings of the run.
    pub settings: Settings,
    /// Run it under these of its controls instead, or under all if the list is empty, and check that its
    /// claims do not hold then.
    pub controls: Option<Vec<String>>,
}

/// Measures, prints, and writes the requested files. Returns the exit code of the JSON contract.
pub fn run(benchmark: &Benchmark, options: &Options) -> ExitCode {
    measure(benchmark, options)
        .unwrap_or_else(|error| could_not_run(&format!("bench {}", benchmark.name), &error))
}

fn measure(benchmark: &Benchmark, options: &Options) -> Result<ExitCode, Error> {
    options.files.check()?;
    if let Some(file) = &options.settings.perfetto {
        output_file::check(file)?;
    }
    if let Some(ids) = &options.controls {
        let chosen = Chosen::named(ids, benchmark)?;
        let checked = controls::check(&[benchmark], chosen, &options.settings, show_tables)?;
        return Ok(checked.finish(&options.files));
    }
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
    statements::evaluate(&mut measured.outcome, &[benchmark.name]);
    if let Some(table) = tables::of_benchmark(measured.outcome.statements(), benchmark.name) {
        println!("{}\n", table.to_text());
    }
    let conclusion = measured.chapter.as_ref().and_then(Chapter::conclusion);
    if let Some(text) = conclusion {
        println!("{}\n", fitted(text));
    }
    print_skipped(&measured.outcome);
    let html = || page::of_one(&title, measured, &options.settings);
    Ok(options.files.finish(&measured.outcome, html))
}

/// Prints what the last control run measured.
fn show_tables(run: &Run<'_>, _: &Testbed) {
    if let Some(last) = run.measured.last() {
        println!(
            "{}",
            fitted(&format!("{}: {}", last.part, last.outcome.verdict()))
        );
        if let Some(chapter) = &last.chapter {
            println!("{}\n", chapter.to_text());
        }
    }
}
