//! Description and result of a benchmark.

use std::time::Duration;

use punctual_harness::{Outcome, in_words};
use punctual_report::Chapter;

use crate::{
    control::{Control, Restored, meet},
    error::Error,
    length::Length,
    testbed::Testbed,
};

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
    /// Controls under which its claims must not hold, the strongest first: a quick run measures only that
    /// one.
    pub controls: &'static [Control],
    /// Claims that do not hold, and the controls under which they must.
    pub restored: &'static [Restored],
}

/// Required effect of a control on a claim.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effect {
    /// It must not hold.
    Breaks,
    /// It must hold.
    Restores,
}

/// Durations up to here are not stated more precisely.
const SHORT: Duration = Duration::from_secs(10);

impl Benchmark {
    /// Returns the usual durations of the quick and the full form, in words.
    ///
    /// ```
    /// let mut benchmarks = punctual_scenarios::benchmarks();
    /// let cubit = benchmarks.find(|benchmark| benchmark.name == "cubit").unwrap();
    /// assert_eq!(cubit.durations(), "35 s with --quick, 5.1 min in full");
    /// ```
    pub fn durations(&self) -> String {
        let [quick, full] = [Length::Quick, Length::Full].map(|length| match (self.expected)(length) {
            short if short < SHORT => format!("less than {}", in_words(SHORT)),
            long => in_words(long),
        });
        format!("{quick} with --quick, {full} in full")
    }

    /// Returns the control under which the verdict on a claim must change, the first one if there are
    /// several.
    pub(crate) fn control_of(&self, claim: &str) -> Option<&'static Control> {
        let mut controls = self.controls.iter();
        controls.find(|control| self.effect(control, claim).is_some())
    }

    /// Returns what a control must do to a claim, or to one of those of a pattern.
    pub(crate) fn effect(&self, control: &Control, claim: &str) -> Option<Effect> {
        if control.breaks(claim) {
            return Some(Effect::Breaks);
        }
        let mut restored = self.restored_by(control);
        let meets = restored.any(|pattern| meet(pattern, claim));
        meets.then_some(Effect::Restores)
    }

    /// Returns the patterns of the claims that must hold under a control.
    pub(crate) fn restored_by(&self, control: &Control) -> impl Iterator<Item = &'static str> {
        let of_control = self
            .restored
            .iter()
            .filter(move |restored| restored.control == control);
        of_control.flat_map(|restored| restored.claims.iter().copied())
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
