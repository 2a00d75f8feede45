//! Comparison of results with an earlier run and with limits from a file, and their export as JUnit XML.

mod baseline;
mod bounds;
mod junit;
pub(crate) mod suggestions;

use std::path::PathBuf;

use punctual_harness::{Outcome, output_file};
use punctual_report::Chapter;

use self::{baseline::Baseline, bounds::Bounds};
use crate::{benchmark::Benchmark, error::Error};

/// References for the comparison of results, and the file for test cases.
#[derive(Clone, Debug, Default)]
pub struct Against {
    /// JSON file of an earlier run.
    pub baseline: Option<PathBuf>,
    /// TOML file with limits.
    pub bounds: Option<PathBuf>,
    /// File for every claim and limit as a JUnit test case.
    pub junit: Option<PathBuf>,
}

/// The contents of the files, read before anything is measured.
pub(crate) struct References {
    baseline: Option<Baseline>,
    bounds: Option<Bounds>,
    junit: Option<PathBuf>,
    benchmarks: Vec<&'static str>,
}

impl References {
    /// Reads the files; `all` is the list of known benchmarks.
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

    /// Adds the limits to the claims, and returns what changed.
    pub(crate) fn compare(&self, outcome: &mut Outcome) -> Comparison {
        let mut comparison = Comparison::default();
        // Before limits are added, so that they are not listed as new claims.
        if let Some(baseline) = &self.baseline {
            outcome.parameter("baseline", baseline.file());
            comparison.chapters.push(baseline.compare(outcome));
        }
        if let Some(bounds) = &self.bounds {
            outcome.parameter("bounds", bounds.file());
            comparison.mistakes = bounds.check(outcome);
        }
        comparison
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

/// The result of the comparisons.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comparison {
    /// Chapters for the report.
    pub(crate) chapters: Vec<Chapter>,
    /// Limits that apply to no result, each with its line in the file.
    pub(crate) mistakes: Vec<String>,
}

impl Comparison {
    /// Formats the chapters for the terminal.
    pub(crate) fn to_text(&self) -> String {
        let chapters = self.chapters.iter();
        let texts = chapters.map(|chapter| format!("{}\n\n{}", chapter.heading(), chapter.to_text()));
        texts.collect::<Vec<_>>().join("\n\n")
    }
}
