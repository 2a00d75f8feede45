//! Last step of every command that measures: print the verdict, write files, and return the exit code.

mod machine;

use std::{fs, path::PathBuf, process::ExitCode};

use punctual_harness::{Outcome, outcome::Skipped, output_file};
use punctual_report::{
    Page, Tone,
    terminal::{complain, fitted},
};
use punctual_system::signals::Termination;

use crate::{error::Error, testbed::UNOPTIMISED};

/// Files to write results to, in addition to the terminal.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Everything measured, as JSON; `-` is standard output, and all else goes to standard error then.
    pub json: Option<PathBuf>,
    /// One self-contained HTML page.
    pub html: Option<PathBuf>,
    /// Folder for the figures, an SVG file each.
    pub figures: Option<PathBuf>,
}

/// Prints what was not measured, and why.
pub(crate) fn print_skipped(outcome: &Outcome) {
    for Skipped { what, reason, .. } in outcome.skipped() {
        println!("{}", fitted(&format!("Not measured: {what}: {reason}")));
    }
}

impl Files {
    /// Checks that the files can be written, before anything is measured.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(folder) = &self.figures {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
            output_file::check(&folder.join("figure.svg"))?;
        }
        let files = [&self.json, &self.html].into_iter().flatten();
        Ok(output_file::check_all(&[], files.map(PathBuf::as_path))?)
    }

    /// Writes the requested files, prints the verdict, and returns its exit code.
    pub(crate) fn finish(&self, outcome: &Outcome, page: impl FnOnce() -> Result<Page, Error>) -> ExitCode {
        let written = self.write(outcome, page);
        if let Some(warning) = UNOPTIMISED {
            println!("{}", fitted(warning));
        }
        println!("{}", fitted(&outcome.verdict().to_string()));
        match written {
            Ok(()) => interrupted().unwrap_or_else(|| outcome.verdict().into()),
            Err(error) => {
                complain(&error);
                ExitCode::from(2)
            }
        }
    }

    fn write(&self, outcome: &Outcome, page: impl FnOnce() -> Result<Page, Error>) -> Result<(), Error> {
        // If one file cannot be written, the other still is.
        let json = self.json.as_ref().map(|file| {
            let kept = output_file::write_or_keep(file, outcome.to_json().as_bytes())?;
            println!("JSON: {}", kept.display());
            Ok::<(), Error>(())
        });
        let page = (self.html.is_some() || self.figures.is_some())
            .then(page)
            .transpose();
        let page = page.and_then(|page| page.map_or(Ok(()), |page| self.write_page(&page)));
        json.unwrap_or(Ok(())).and(page)
    }

    fn write_page(&self, page: &Page) -> Result<(), Error> {
        if let Some(file) = &self.html {
            let kept = output_file::write_or_keep(file, page.to_html().as_bytes())?;
            println!("HTML: {}", kept.display());
        }
        if let Some(folder) = &self.figures {
            for (name, content) in page.figure_files() {
                output_file::write_or_keep(&folder.join(name), content)?;
            }
            println!("Figures: {}", folder.display());
        }
        Ok(())
    }
}

/// Creates the head of every page: title and verdict.
pub(crate) fn page(title: &str, outcome: &Outcome) -> Page {
    let tone = match outcome.verdict().exit_code() {
        0 => Tone::Good,
        1 => Tone::Bad,
        _ => Tone::Doubtful,
    };
    let page = Page::new(title).verdict(outcome.verdict().to_string(), tone);
    match UNOPTIMISED {
        Some(warning) => page.paragraph(warning),
        None => page,
    }
}

/// Adds the machine and its preparation, with the JSON as a download.
pub(crate) fn with_machine(page: Page, outcome: &Outcome) -> Result<Page, Error> {
    let data = serde_json::to_value(outcome)?;
    Ok(page
        .section("The machine")
        .facts(machine::facts(outcome))
        .data(&format!("{}.json", outcome.benchmark()), &data))
}

/// Prints why a measurement could not run, and returns exit code 2, or that of an interrupted one.
pub(crate) fn could_not_run(name: &str, error: &Error) -> ExitCode {
    interrupted().unwrap_or_else(|| {
        complain(&format_args!("{name} could not run: {error}"));
        ExitCode::from(2)
    })
}

/// If a signal has ended the measurement: reports it, and returns the exit code by which shells know it. The
/// machine has been restored by then, or an error states that it has not.
pub(crate) fn interrupted() -> Option<ExitCode> {
    let signal = Termination::received()?;
    eprintln!("interrupted by {signal}; machine as before");
    Some(ExitCode::from(128 + signal.number().cast_unsigned() as u8))
}
