//! What every measurement does with its outcome: say it, write it, and end with the contract's exit code.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

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
        if let Some(file) = &self.json {
            outcome.write(file).map_err(|error| cannot_write(file, &error))?;
            println!("JSON: {}", file.display());
        }
        if let Some(file) = &self.html {
            std::fs::write(file, html()?).map_err(|error| cannot_write(file, &error))?;
            println!("HTML: {}", file.display());
        }
        Ok(())
    }
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Error {
    format!("cannot write {}: {error}; does its folder exist?", file.display()).into()
}

/// The head of every page: title, verdict, machine. The JSON goes with it as a file to save.
pub(crate) fn page(title: &str, outcome: &Outcome) -> Result<Page, Error> {
    let tone = match outcome.verdict().exit_code() {
        0 => Tone::Good,
        1 => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let data = serde_json::to_value(outcome)?;
    Ok(Page::new(title)
        .verdict(outcome.verdict().to_string(), tone)
        .facts_of(&data["machine"])
        .data(&format!("{}.json", outcome.benchmark()), &data))
}

/// Says why a measurement could not run, with exit code 2.
pub(crate) fn could_not_run(name: &str, error: &Error) -> ExitCode {
    eprintln!("error: {name} could not run: {error}");
    ExitCode::from(2)
}
