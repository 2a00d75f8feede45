//! Pages: the chapter of an experiment as data.
//!
//! A page is a TOML file with a `heading` and a list of `[[part]]`, each of which is one of `text`, `note`,
//! `table` and `figure`. Tables and figures select rows of the outcome by the values of columns:
//!
//! ```toml
//! heading = "Context switches of a call"
//! [[part]]
//! table = { title = "By pool", where = { kind = "curve" }, columns = [["pool", "pool"], ["p50_us", "µs"]] }
//! [[part]]
//! [part.figure]
//! title = "Switches per request"
//! lines = [{ each = "pool", where = { kind = "curve" }, x = "clients", y = "switches_per_request" }]
//! ```

use punctual_harness::Row;
use punctual_report::{Chapter, Table};
use serde::Deserialize;

use super::{figure::FigureSpec, selection::Selection, trial::Trial};
use crate::error::Error;

/// The chapter of an experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    pub(super) heading: String,
    part: Vec<Part>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    /// A paragraph, in which `{id}` is replaced by a text of the experiment.
    Text(String),
    Note(String),
    Table(TableSpec),
    Figure(FigureSpec),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableSpec {
    #[serde(default)]
    title: String,
    #[serde(default)]
    r#where: Selection,
    /// Group of rows of the experiment that come first and are not part of the outcome.
    first: Option<String>,
    /// Published rows, which come last.
    #[serde(default)]
    published: Vec<Row>,
    /// Names and headings.
    columns: Vec<(String, String)>,
    /// The columns that follow these.
    standard: Option<Standard>,
    /// The columns after those.
    #[serde(default)]
    last: Vec<(String, String)>,
}

/// Columns of rows that engines make.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Standard {
    /// Of evaluated samples in `os/`.
    Samples,
    /// Of the clients of a phase.
    Clients,
}

impl Page {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        Ok(toml::from_str(text)?)
    }

    /// Creates the chapter.
    pub(super) fn chapter(&self, trial: &Trial<'_>) -> Chapter {
        let chapter = Chapter::new(self.heading.as_str());
        self.part.iter().fold(chapter, |chapter, part| match part {
            Part::Text(text) => {
                let texts = trial.texts.iter();
                let replace =
                    |text: String, (id, by): (&&str, &String)| text.replace(&format!("{{{id}}}"), by);
                chapter.paragraph(texts.fold(text.clone(), replace))
            }
            Part::Note(text) => chapter.note(text.as_str()),
            Part::Table(table) => match table.of(trial) {
                Some(table) => chapter.table(table),
                None => chapter,
            },
            Part::Figure(figure) => chapter.figure(figure.of(trial)),
        })
    }
}

impl TableSpec {
    /// Returns the table; `None` without rows.
    fn of(&self, trial: &Trial<'_>) -> Option<Table> {
        let first = trial
            .rows
            .iter()
            .filter(|(group, _)| Some(*group) == self.first.as_deref());
        let first = first.map(|(_, row)| row);
        let selected = self.r#where.of(&trial.outcome).filter(|_| self.first.is_none());
        let rows: Vec<_> = first
            .chain(selected)
            .chain(&self.published)
            .map(Row::as_map)
            .collect();
        let columns = self
            .columns
            .iter()
            .map(|(name, heading)| (name.as_str(), heading.as_str()));
        let last = self
            .last
            .iter()
            .map(|(name, heading)| (name.as_str(), heading.as_str()));
        let standard = match self.standard {
            None => &[],
            Some(Standard::Samples) => SAMPLE_COLUMNS,
            Some(Standard::Clients) => CLIENT_COLUMNS,
        };
        let columns: Vec<_> = columns.chain(standard.iter().copied()).chain(last).collect();
        let table = (!rows.is_empty()).then(|| Table::of(rows).columns(&columns))?;
        Some(if self.title.is_empty() {
            table
        } else {
            table.title(self.title.as_str())
        })
    }
}

/// The columns of evaluated samples in `os/`, after those that describe the measurement.
const SAMPLE_COLUMNS: &[(&str, &str)] = &[
    ("count", "samples"),
    ("mean_us", "mean (µs)"),
    ("p50_us", "p50 (µs)"),
    ("p99_us", "p99 (µs)"),
    ("max_us", "max (µs)"),
    ("max_cause", "cause of maximum"),
    ("disturbed", "interrupted"),
    ("undisturbed_max_us", "max of others (µs)"),
    ("raw_p50_us", "raw p50 (µs)"),
];

/// The columns of clients' rows in `load/`, after those that describe the phase.
const CLIENT_COLUMNS: &[(&str, &str)] = &[
    ("priority", "priority"),
    ("asked_hz", "requested (Hz)"),
    ("achieved_hz", "achieved (Hz)"),
    ("deadlines_made_percent", "started in time (%)"),
    ("deadlines_lost_to_kernel_percent", "lost to the kernel (%)"),
    ("ends_made_percent", "ended in time (%)"),
    ("ends_lost_to_kernel_percent", "lost to the kernel (%)"),
    ("mean_us", "mean (µs)"),
    ("max_us", "max (µs)"),
    ("max_cause", "cause of max"),
];

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn pages(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pages(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                found.push(path);
            }
        }
    }

    #[test]
    fn all_pages_are_valid() {
        let mut found = Vec::new();
        pages(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
        assert!(found.len() > 10, "{found:?}");
        for path in found {
            let text = fs::read_to_string(&path).unwrap();
            if let Err(error) = Page::parse(&text) {
                panic!("{}: {error}", path.display());
            }
        }
    }
}
