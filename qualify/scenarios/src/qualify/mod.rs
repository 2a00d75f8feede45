//! `punctual qualify`: all benchmarks that the papers have, one report.

pub(crate) mod page;
mod selection;

use std::{cell::RefCell, process::ExitCode};

use punctual_harness::Outcome;
use punctual_report::Table;

use crate::{
    Benchmark, Error,
    judge::{Against, Judge},
    report::{Files, could_not_run, output_file},
    run::Run,
    testbed::{Settings, Testbed},
};

/// What `punctual qualify` can be told.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    against: Against,
    /// Only these benchmarks, or groups of them (`os`, `orb`, `rt`, `dyn`); those that are not part of it otherwise, too
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
}

const NAME: &str = "qualify";

/// Measures, prints, writes the files asked for. Exit code as the contract for machine reading says.
///
/// `all` are the benchmarks there are: [`crate::benchmarks`].
pub fn run(all: &[&Benchmark], options: &Options) -> ExitCode {
    measure(all, options).unwrap_or_else(|error| could_not_run(NAME, &error))
}

fn measure(all: &[&Benchmark], options: &Options) -> Result<ExitCode, Error> {
    // Whatever can be found wrong is found before an hour is measured.
    let benchmarks = selection::selected(all, &options.only)?;
    let judge = Judge::read(&options.against, all)?;
    options.files.check()?;
    let sketch = Sketch::new(options);
    let (run, testbed) = Run::measure(NAME, &benchmarks, &options.settings, |run, testbed| {
        sketch.draw(run, testbed);
        say(run, testbed);
    })?;
    let mut outcome = run.outcome(named(&testbed));
    if let Err(error) = testbed.finish() {
        outcome.failed(not_restored(&error));
    }
    let judgement = judge.judge(&mut outcome);
    println!("{}\n", summary(&run).to_text());
    let text = judgement.to_text();
    if !text.is_empty() {
        println!("{text}\n");
    }
    let junit = judge.write_junit(&outcome);
    let exit_code = options.files.finish(&outcome, || {
        page::of_all(&run, &outcome, &judgement, &options.settings)
    });
    let errors = judgement
        .mistakes
        .iter()
        .cloned()
        .chain(junit.err().map(|error| error.to_string()));
    let errors = errors.inspect(|error| eprintln!("error: {error}")).count();
    Ok(if errors > 0 { ExitCode::from(2) } else { exit_code })
}

/// No reason to lose what was measured.
pub(crate) fn not_restored(error: &Error) -> String {
    format!("the machine is not as it was before, which the next run mends: {error}")
}

fn named(testbed: &Testbed) -> Outcome {
    let mut outcome = testbed.outcome(NAME);
    outcome.parameter("command", std::env::args().skip(1).collect::<Vec<_>>().join(" "));
    outcome
}

/// What is written after each benchmark, so that a run that is killed leaves what it had.
struct Sketch<'o> {
    options: &'o Options,
    /// Complains once.
    failed: RefCell<bool>,
}

impl<'o> Sketch<'o> {
    fn new(options: &'o Options) -> Self {
        let failed = RefCell::new(false);
        Self { options, failed }
    }

    fn draw(&self, run: &Run<'_>, testbed: &Testbed) {
        let Some(file) = &self.options.files.json else {
            return;
        };
        if *self.failed.borrow() || run.outstanding.is_empty() {
            return;
        }
        let text = run.outcome(named(testbed)).to_json();
        if let Err(error) = output_file::write(file, text.as_bytes()) {
            *self.failed.borrow_mut() = true;
            let text = format!(
                "{} cannot be written any more ({error}): make room before the end",
                file.display()
            );
            testbed.progress.note(text);
        }
    }
}

fn say(run: &Run<'_>, testbed: &Testbed) {
    if let Some(last) = run.measured.last() {
        testbed.progress.note(last.outcome.verdict());
    }
}

/// A row for each benchmark: how many claims hold, and what does not.
fn summary(run: &Run<'_>) -> Table {
    let rows: Vec<_> = run.measured.iter().map(page::row_of).collect();
    Table::of(&rows).columns(page::SUMMARY)
}
