//! What every measurement does with its outcome: say it, write it, and end with the contract's exit code.

mod machine;
pub(crate) mod output_file;

use std::{path::PathBuf, process::ExitCode};

use punctual_harness::Outcome;
use punctual_report::{Page, Tone};

use crate::Error;

/// Where results go besides the screen.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Files {
    /// Also write everything measured, as JSON, to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write one self-contained HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl Files {
    /// Finds out whether they will be writable, before anything is measured.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut asked = [&self.json, &self.html].into_iter().flatten();
        asked.try_for_each(|file| output_file::check(file))
    }

    /// Writes what was asked for, prints the verdict, and returns its exit code.
    pub(crate) fn finish(&self, outcome: &Outcome, html: impl FnOnce() -> Result<String, Error>) -> ExitCode {
        let written = self.write(outcome, html);
        println!("{}", outcome.verdict());
        match written {
            Ok(()) => outcome.verdict().into(),
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        }
    }

    fn write(&self, outcome: &Outcome, html: impl FnOnce() -> Result<String, Error>) -> Result<(), Error> {
        // One that cannot be written does not keep the other from being written.
        let json = self.json.as_ref().map(|file| {
            let kept = output_file::write_or_keep(file, outcome.to_json().as_bytes())?;
            println!("JSON: {}", kept.display());
            Ok::<(), Error>(())
        });
        let html = self.html.as_ref().map(|file| {
            let kept = output_file::write_or_keep(file, html()?.as_bytes())?;
            println!("HTML: {}", kept.display());
            Ok::<(), Error>(())
        });
        json.unwrap_or(Ok(())).and(html.unwrap_or(Ok(())))
    }
}

/// The head of every page: title, verdict, machine and what was done to it. The JSON goes with it as a file to save.
pub(crate) fn page(title: &str, outcome: &Outcome) -> Result<Page, Error> {
    let tone = match outcome.verdict().exit_code() {
        0 => Tone::Good,
        1 => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let data = serde_json::to_value(outcome)?;
    Ok(Page::new(title)
        .verdict(outcome.verdict().to_string(), tone)
        .facts(machine::facts(outcome))
        .data(&format!("{}.json", outcome.benchmark()), &data))
}

/// Says why a measurement could not run, with exit code 2.
pub(crate) fn could_not_run(name: &str, error: &Error) -> ExitCode {
    eprintln!("error: {name} could not run: {error}");
    ExitCode::from(2)
}
