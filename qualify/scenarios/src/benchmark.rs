//! What a benchmark is, and all there are.

use std::time::Duration;

use punctual_harness::Outcome;
use punctual_report::Chapter;

use crate::{Error, cubit, dynamic, inversion, orb, os, rt, testbed::Testbed};

/// A measurement that `punctual bench NAME` runs, and `punctual qualify` among others.
pub struct Benchmark {
    /// As it is called on the command line and in claims: `layer.subject`.
    pub name: &'static str,
    /// One sentence for `bench list`.
    pub about: &'static str,
    /// How long it takes, for the progress bar and for what the report says of quick runs.
    pub expected: fn(Length) -> Duration,
    /// Measures on a machine that is prepared. Where it measures less than [`Length::Full`] would, the outcome's parameter
    /// `shortened` says what, in a sentence.
    pub run: fn(&mut Testbed) -> Result<Findings, Error>,
}

/// All, in the order in which they are listed and run.
pub fn benchmarks() -> impl Iterator<Item = &'static Benchmark> {
    const SUITES: &[&[Benchmark]] = &[
        os::BENCHMARKS,
        &[cubit::BENCHMARK, inversion::BENCHMARK],
        orb::BENCHMARKS,
        rt::BENCHMARKS,
        dynamic::BENCHMARKS,
    ];
    SUITES.iter().copied().flatten()
}

/// How much is measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Length {
    /// A first impression.
    Quick,
    /// What the figures are to be trusted with.
    Full,
    /// As long as the papers did, where they say it.
    Paper,
}

impl Length {
    /// As parameters name it.
    pub(crate) fn name(self) -> &'static str {
        self.pick("quick", "full", "paper")
    }

    /// Its value of three; most benchmarks have no longer run than the full one.
    pub(crate) fn pick<T>(self, quick: T, full: T, paper: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
            Self::Paper => paper,
        }
    }
}

/// What came of a benchmark.
#[derive(Clone, Debug)]
pub struct Findings {
    /// For machines: every figure and claim.
    pub outcome: Outcome,
    /// For people: text, tables, and the paper's figures redrawn.
    pub chapter: Chapter,
}
