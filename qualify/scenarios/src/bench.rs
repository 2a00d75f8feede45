//! `punctual bench NAME`: one benchmark, said on the terminal and written where asked.

use std::process::ExitCode;

use crate::{
    Benchmark, Error, Findings,
    benchmark::Length,
    report::{Files, could_not_run, page},
    testbed::{Settings, Testbed},
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
    match measure(benchmark, &options.settings) {
        Ok(findings) => {
            println!("{}\n", findings.chapter.to_text());
            let html = || {
                let title = format!("bench {}", benchmark.name);
                Ok(page(&title, &findings.outcome)?
                    .chapter(&findings.chapter)?
                    .to_html())
            };
            options.files.finish(&findings.outcome, html)
        }
        Err(error) => could_not_run(&format!("bench {}", benchmark.name), &error),
    }
}

fn measure(benchmark: &Benchmark, settings: &Settings) -> Result<Findings, Error> {
    let length = if settings.quick {
        Length::Quick
    } else {
        Length::Full
    };
    let title = format!("bench {}", benchmark.name);
    let mut testbed = Testbed::prepare(&title, length, settings, (benchmark.expected)(length))?;
    let findings = (benchmark.run)(&mut testbed)?;
    testbed.finish()?;
    Ok(findings)
}
