//! What a benchmark is, and what it returns.

use std::time::Duration;

use punctual_harness::Outcome;
use punctual_report::Chapter;

use crate::{control::Control, error::Error, length::Length, testbed::Testbed};

/// A measurement that `punctual bench NAME` runs, and `punctual qualify` among others.
pub struct Benchmark {
    /// Name on the command line and in claims: `layer.subject`.
    pub name: &'static str,
    /// One sentence for `bench list`.
    pub about: &'static str,
    /// Expected duration, for the progress bar and for the report's comparison of quick and full runs.
    pub expected: fn(Length) -> Duration,
    /// Measures on a prepared machine. If it measures less than [`Length::Full`] would, the outcome's
    /// parameter `shortened` states what was left out, in a sentence.
    pub run: fn(&mut Testbed) -> Result<Findings, Error>,
    /// Under which its claims must not hold, the most telling one first: a quick run measures only that one.
    pub controls: &'static [Control],
}

impl Benchmark {
    /// Returns the control under which a claim must not hold, the first one if there are several.
    pub(crate) fn control_of(&self, claim: &str) -> Option<&'static Control> {
        self.controls.iter().find(|control| control.breaks(claim))
    }
}

/// The result of a benchmark.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Every figure and claim, for machines.
    pub outcome: Outcome,
    /// Text, tables, and the paper's figures with our data, for people.
    pub chapter: Chapter,
}
