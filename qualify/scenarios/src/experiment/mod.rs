//! The structure that all experiments share: an [`Experiment`] is a name, a page as data, and a function that
//! measures.
//!
//! - **Data.** The TOML file beside the experiment (`page.rs` documents its format) has the text of the
//!   chapter, its tables and figures as selections of rows, the figures that the papers published. What
//!   the papers state is in `qualify/scenarios/claims`.
//! - **Parameters** are a small `Extent` by [`Length`] in the code that uses them.
//! - **Measuring.** [`Experiment::measure`] gets a [`Trial`]: the prepared machine and the outcome. It runs
//!   its phases with an engine (`load` for servers with clients, `os::Subject` for threads without an ORB),
//!   and adds rows and claims. What no row contains, such as every single sample of a figure, it adds as
//!   curves.
//! - **Accounting.** Holes of the kernel, other programs, missing rights, wrong results and what a quick run
//!   leaves out are treated here and in the engines, in the same way for all.
//!
//! CONTRIBUTING.md shows how to add one.

mod figure;
mod page;
mod selection;
mod trial;

use std::time::Duration;

use serde_json::json;

pub(crate) use self::trial::{Trial, report_holes};
use crate::{
    benchmark::{Benchmark, Findings},
    control::{Control, Restored},
    error::Error,
    explain,
    length::Length,
    rights::no_rights,
    testbed::Testbed,
};
use page::Page;
use punctual_report::{Chapter, Table};

/// An experiment.
pub(crate) trait Experiment {
    /// Name on the command line and in claims: `layer.subject`.
    const NAME: &'static str;
    /// One sentence for `bench list`.
    const ABOUT: &'static str;
    /// The chapter of the report, in TOML.
    const PAGE: &'static str;
    /// Controls under which claims must not hold.
    const CONTROLS: &'static [Control] = &[];
    /// Claims that do not hold, and the controls under which they must.
    const RESTORED: &'static [Restored] = &[];
    /// The claims that are skipped if this process may not use the real-time priorities of `os.*`; `None` if
    /// the experiment is meaningful without them.
    const NEEDS_RIGHTS: Option<&'static [&'static str]> = None;

    /// Returns the expected duration.
    fn expected(length: Length) -> Duration;

    /// Measures, and adds rows, claims and curves.
    fn measure(trial: &mut Trial<'_>) -> Result<(), Error>;
}

/// Returns an experiment as a benchmark.
pub(crate) const fn benchmark<E: Experiment>() -> Benchmark {
    Benchmark {
        name: E::NAME,
        about: E::ABOUT,
        expected: E::expected,
        run: run::<E>,
        controls: E::CONTROLS,
        restored: E::RESTORED,
    }
}

fn run<E: Experiment>(testbed: &mut Testbed) -> Result<Findings, Error> {
    let page = Page::parse(E::PAGE).map_err(|error| format!("the page of {}: {error}", E::NAME))?;
    let mut trial = Trial::new(testbed, E::NAME);
    if let Some((claims, reason)) = E::NEEDS_RIGHTS.zip(no_rights(&trial.outcome)) {
        for claim in claims {
            let what = format!("claim {claim} of {}", E::NAME);
            trial.outcome.skip(Some(claim), what, reason.as_str());
        }
        let what = format!("all of {}", E::NAME);
        trial.outcome.skip(None, what, reason.as_str());
        let row = json!({"what": E::NAME, "why": reason});
        let table = Table::of(row.as_object()).columns(&[("what", "not measured"), ("why", "why")]);
        let chapter = Chapter::new(page.heading).table(table);
        return Ok(Findings {
            outcome: trial.outcome,
            chapter,
        });
    }
    E::measure(&mut trial)?;
    let chapter = explain::add_to(page.chapter(&trial)?, &trial.outcome);
    let mut chapter = trial.tables.into_iter().fold(chapter, Chapter::table);
    if let Some(text) = trial.conclusion {
        chapter = chapter.concluded(text);
    }
    Ok(Findings {
        outcome: trial.outcome,
        chapter,
    })
}
