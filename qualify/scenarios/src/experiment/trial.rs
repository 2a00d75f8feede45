//! An experiment in progress.

use std::{collections::BTreeMap, fmt, time::Duration};

use punctual_harness::{Claim, Hole, Outcome, Row, withheld_cpu};
use punctual_report::{Picture, Table};

use crate::{error::Error, length::Length, testbed::Testbed};

/// A curve of a figure that no row contains.
pub(super) struct Curve {
    pub(super) group: &'static str,
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// Compared with those measured here.
    pub(super) published: bool,
}

/// The prepared machine, and the results so far.
pub(crate) struct Trial<'t> {
    pub(crate) testbed: &'t mut Testbed,
    pub(crate) outcome: Outcome,
    pub(super) curves: Vec<Curve>,
    pub(super) rows: Vec<(&'static str, Row)>,
    pub(super) pictures: Vec<(&'static str, Picture)>,
    pub(super) texts: BTreeMap<&'static str, String>,
    /// Answer in some sentences.
    pub(super) conclusion: Option<String>,
    /// Tables of the analysis of a trace, which follow the page.
    pub(crate) tables: Vec<Table>,
}

impl<'t> Trial<'t> {
    pub(crate) fn new(testbed: &'t mut Testbed, name: &str) -> Self {
        let outcome = testbed.outcome(name);
        Self {
            testbed,
            outcome,
            curves: Vec::new(),
            rows: Vec::new(),
            pictures: Vec::new(),
            texts: BTreeMap::new(),
            conclusion: None,
            tables: Vec::new(),
        }
    }

    /// Returns how much is to be measured.
    pub(crate) fn length(&self) -> Length {
        self.testbed.length
    }

    /// Shows what happens for this time.
    pub(crate) fn stage(&self, what: impl fmt::Display, expected: Duration) {
        self.testbed.progress.stage(what, expected);
    }

    /// States in the outcome what a quick run leaves out.
    pub(crate) fn shortened(&mut self, what: impl Into<String>) {
        if self.length() == Length::Quick {
            self.outcome.parameter("shortened", what.into());
        }
    }

    /// Adds a curve that a figure of the page selects by its group.
    pub(crate) fn curve(
        &mut self,
        group: &'static str,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        self.curves.push(Curve {
            group,
            name: name.into(),
            points: points.into_iter().collect(),
            published: false,
        });
    }

    /// Adds a curve with which the others of its group are compared: published, or expected.
    pub(crate) fn published(
        &mut self,
        group: &'static str,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) {
        self.curve(group, name, points);
        if let Some(curve) = self.curves.last_mut() {
            curve.published = true;
        }
    }

    /// Adds a row that only a table of the page shows, which selects it by its group.
    pub(crate) fn shown_row(&mut self, group: &'static str, row: Row) {
        self.rows.push((group, row));
    }

    /// Adds a picture that the page selects by its group.
    pub(crate) fn picture(&mut self, group: &'static str, picture: Picture) {
        self.pictures.push((group, picture));
    }

    /// Sets the text that replaces `{id}` in the page's paragraphs.
    pub(crate) fn text(&mut self, id: &'static str, text: impl Into<String>) {
        self.texts.insert(id, text.into());
    }

    /// Sets the answer in some sentences, from this run's numbers.
    pub(crate) fn conclude(&mut self, text: impl Into<String>) {
        self.conclusion = Some(text.into());
    }

    /// Claims that there were no wrong results.
    pub(crate) fn claim_no_errors(&mut self, source: &str, errors: u64) {
        let claim = Claim::at_most("errors", "wrong results", source, errors as f64, 0.0);
        self.outcome.claim(claim);
    }

    /// Reports recorded holes as [`report_holes`] does.
    pub(crate) fn holes(&mut self, holes: &[Hole], measured: Duration) -> Result<(), Error> {
        report_holes(&mut self.outcome, holes, measured)
    }
}

/// Reports the holes of servers and clients, claims that the CPU was never idle while a call was outstanding,
/// and reports that the machine is unfit if holes took too much of the measured time.
pub(crate) fn report_holes(outcome: &mut Outcome, holes: &[Hole], measured: Duration) -> Result<(), Error> {
    outcome.parameter("kernel_holes", serde_json::to_value(holes)?);
    let idle = holes.iter().filter(|hole| !hole.is_withheld()).count() as f64;
    let text = "intervals of 20 ms or more in which the CPU was idle although a call was outstanding, as \
                after a lost wake-up: none";
    outcome.claim(Claim::at_most(NO_IDLE_HOLE, text, "Punctual's limit", idle, 0.0));
    withheld_cpu::evaluate(holes, measured, outcome);
    Ok(())
}

/// The id of the claim that the CPU was never idle while a call was outstanding.
const NO_IDLE_HOLE: &str = "no-idle-hole";
