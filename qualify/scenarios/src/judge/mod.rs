//! Results against something from outside: an older run, and limits that somebody set.

mod baseline;
mod bounds;
mod junit;
pub(crate) mod near;

use std::path::PathBuf;

use punctual_harness::Outcome;
use punctual_report::Chapter;

use self::{baseline::Baseline, bounds::Bounds};
use crate::{Benchmark, Error, report::output_file};

/// What results are compared with.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Against {
    /// Show what changed since an older run, whose JSON this is
    #[arg(long, value_name = "OLD.json")]
    baseline: Option<PathBuf>,
    /// Hold the results against the limits in this file
    #[arg(long, value_name = "BOUNDS.toml")]
    bounds: Option<PathBuf>,
    /// Also write every claim and limit as a test case, in JUnit's XML, to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// What was read before anything is measured.
pub(crate) struct Judge {
    baseline: Option<Baseline>,
    bounds: Option<Bounds>,
    junit: Option<PathBuf>,
    benchmarks: Vec<&'static str>,
}

impl Judge {
    /// Reads the files; `all` are the benchmarks there are.
    pub(crate) fn read(against: &Against, all: &[&Benchmark]) -> Result<Self, Error> {
        let benchmarks: Vec<_> = all.iter().map(|benchmark| benchmark.name).collect();
        let baseline = against.baseline.as_deref().map(Baseline::read).transpose()?;
        let bounds = against.bounds.as_deref();
        let bounds = bounds.map(|file| Bounds::read(file, &benchmarks)).transpose()?;
        if let Some(file) = &against.junit {
            output_file::check(file)?;
        }
        Ok(Self {
            baseline,
            bounds,
            junit: against.junit.clone(),
            benchmarks,
        })
    }

    /// Adds the limits to the claims, and says what changed.
    pub(crate) fn judge(&self, outcome: &mut Outcome) -> Judgement {
        let mut judgement = Judgement::default();
        // First, so that limits are no news.
        if let Some(baseline) = &self.baseline {
            outcome.parameter("baseline", baseline.file());
            judgement.chapters.push(baseline.compare(outcome));
        }
        if let Some(bounds) = &self.bounds {
            outcome.parameter("bounds", bounds.file());
            judgement.mistakes = bounds.hold_against(outcome);
        }
        judgement
    }

    pub(crate) fn write_junit(&self, outcome: &Outcome) -> Result<(), Error> {
        if let Some(file) = &self.junit {
            let text = junit::xml(outcome, &self.benchmarks);
            println!(
                "JUnit: {}",
                output_file::write_or_keep(file, text.as_bytes())?.display()
            );
        }
        Ok(())
    }
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) chapters: Vec<Chapter>,
    /// Limits that no result belongs to, each with its place in the file.
    pub(crate) mistakes: Vec<String>,
}

impl Judgement {
    /// For the terminal.
    pub(crate) fn to_text(&self) -> String {
        let chapters = self.chapters.iter();
        let texts = chapters.map(|chapter| format!("{}\n\n{}", chapter.heading(), chapter.to_text()));
        texts.collect::<Vec<_>>().join("\n\n")
    }
}
