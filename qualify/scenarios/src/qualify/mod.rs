//! `punctual qualify`: runs all benchmarks from the papers and writes one report.

pub(crate) mod controls;
pub(crate) mod page;
mod selection;

pub use self::selection::is_of_papers;

use std::process::ExitCode;

use punctual_harness::{Outcome, State, output_file};
use punctual_report::{Table, terminal::complain};

use crate::{
    benchmark::Benchmark,
    compare::{Against, References},
    error::Error,
    report::{Files, could_not_run},
    run::Run,
    settings::Settings,
    statements::{self, tables},
    testbed::Testbed,
};

/// Options of `punctual qualify`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files to write.
    pub files: Files,
    /// Settings of the run.
    pub settings: Settings,
    /// References for the comparison of results.
    pub against: Against,
    /// Names of benchmarks or groups (`os`, `orb`, `rt`, `dyn`) to run; all of the papers' if empty.
    pub only: Vec<String>,
    /// Run each benchmark under its controls instead, and check that its claims do not hold then.
    pub controls: bool,
    /// Print the table of the papers' statements and how they are evaluated, without measuring.
    pub claims: bool,
}

const NAME: &str = "qualify";

/// The states of statements that are listed with a reason.
pub(crate) const BROKEN: &[State] = &[State::DoesNotHold, State::Explained];

/// Measures, prints, and writes the requested files. Returns the exit code of the JSON contract.
///
/// `all` is the list of benchmarks to select from, usually [`crate::benchmarks`].
pub fn run(all: &[&Benchmark], options: &Options) -> ExitCode {
    measure(all, options).unwrap_or_else(|error| could_not_run(NAME, &error))
}

fn measure(all: &[&Benchmark], options: &Options) -> Result<ExitCode, Error> {
    if options.claims {
        return statements::print(all, options.files.json.as_deref());
    }
    // Errors in the options are reported before anything is measured.
    let benchmarks = selection::selected(all, &options.only)?;
    let references = References::read(&options.against, all)?;
    options.files.check()?;
    if options.controls {
        let chosen = match options.settings.quick {
            true => controls::Chosen::First,
            false => controls::Chosen::All,
        };
        let checked = controls::check(&benchmarks, chosen, &options.settings, show_verdict)?;
        references.write_junit(&checked.outcome)?;
        return Ok(checked.finish(&options.files));
    }
    let mut partial = PartialResults::new(options);
    let (run, testbed) = Run::measure(NAME, &benchmarks, &options.settings, |run, testbed| {
        partial.write(run, testbed);
        show_verdict(run, testbed);
    })?;
    let mut outcome = run.outcome(empty_outcome(&testbed));
    if let Err(error) = testbed.finish() {
        outcome.failed(not_restored(&error));
    }
    let names: Vec<_> = benchmarks.iter().map(|benchmark| benchmark.name).collect();
    statements::evaluate(&mut outcome, &names);
    let comparison = references.compare(&mut outcome);
    println!("{}\n", summary(&run).to_text());
    println!("{}\n", tables::by_paper(&outcome).to_text());
    if let Some(broken) = tables::with_reasons(&outcome, "Findings that do not hold here", BROKEN) {
        println!("{}\n", broken.to_text());
    }
    let text = comparison.to_text();
    if !text.is_empty() {
        println!("{text}\n");
    }
    let junit = references.write_junit(&outcome);
    let exit_code = options.files.finish(&outcome, || {
        page::of_all(&run, &outcome, &comparison, &options.settings)
    });
    let errors = comparison
        .mistakes
        .iter()
        .cloned()
        .chain(junit.err().map(|error| error.to_string()));
    let errors = errors.inspect(complain).count();
    Ok(if errors > 0 { ExitCode::from(2) } else { exit_code })
}

/// Describes a failure to restore the machine, which must not lose the results.
pub(crate) fn not_restored(error: &Error) -> String {
    format!("the machine could not be restored; the next run will try again: {error}")
}

/// Creates the outcome of the whole run, without results.
fn empty_outcome(testbed: &Testbed) -> Outcome {
    let mut outcome = testbed.outcome(NAME);
    outcome.parameter("command", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
    outcome
}

/// Writes the JSON file after each benchmark, so that a run that is killed leaves its results.
struct PartialResults<'o> {
    options: &'o Options,
    /// The file could not be written; this was reported.
    failed: bool,
}

impl<'o> PartialResults<'o> {
    fn new(options: &'o Options) -> Self {
        let failed = false;
        Self { options, failed }
    }

    fn write(&mut self, run: &Run<'_>, testbed: &Testbed) {
        let Some(file) = &self.options.files.json else {
            return;
        };
        if self.failed || run.outstanding.is_empty() {
            return;
        }
        let text = run.outcome(empty_outcome(testbed)).to_json();
        if let Err(error) = output_file::write(file, text.as_bytes()) {
            self.failed = true;
            testbed.progress.note(format!("{error}, before the run ends"));
        }
    }
}

fn show_verdict(run: &Run<'_>, testbed: &Testbed) {
    if let Some(last) = run.measured.last() {
        testbed.progress.note(last.outcome.verdict());
    }
}

/// Returns a table with a row for each benchmark: the number of claims that hold, and those that do not.
fn summary(run: &Run<'_>) -> Table {
    let rows: Vec<_> = run.measured.iter().map(page::row_of).collect();
    Table::of(&rows).columns(page::SUMMARY)
}
