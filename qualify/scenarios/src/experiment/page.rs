//! Pages: the chapter of an experiment as data.

use punctual_harness::Row;
use punctual_report::{Chapter, Table};
use serde::Deserialize;

use super::{
    figure::{FigureSpec, text_of},
    selection::Selection,
    trial::Trial,
};
use crate::error::Error;

/// The chapter of an experiment.
///
/// A page is a TOML file with a `heading` and a list of `[[part]]`, each of which is one of `text`, `note`,
/// `table`, `figure` and `pictures`. Tables and figures select rows of the outcome by the values of columns.
/// With `each`, a part is repeated for every selected row, and `{column}` stands for the row's value in all
/// its texts:
///
/// ```toml
/// heading = "Context switches of a call"
/// [[part]]
/// table = { title = "By pool", where = { kind = "curve" }, columns = [["pool", "pool"], ["p50_us", "µs"]] }
/// [[part]]
/// [part.figure]
/// title = "Switches per request"
/// lines = [{ each = "pool", where = { kind = "curve" }, x = "clients", y = "switches_per_request" }]
/// [[part]]
/// each = { kind = "pool" }
/// table = { title = "{pool}", where = { kind = "call", pool = "{pool}" }, columns = [["p50_us", "µs"]] }
/// ```
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    pub(super) heading: String,
    part: Vec<Parts>,
}

/// A part, or one for each selected row.
#[derive(Debug, Deserialize)]
struct Parts {
    each: Option<Selection>,
    /// Content of its [`Part`].
    #[serde(flatten)]
    part: toml::Table,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    /// A paragraph, in which `{id}` is replaced by a text of the experiment.
    Text(String),
    Note(String),
    Table(TableSpec),
    Figure(FigureSpec),
    /// Pictures of the experiment, selected by their group.
    Pictures(String),
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
    /// Columns of evaluated samples in `os/`.
    Samples,
    /// Columns of the clients of a phase.
    Clients,
}

impl Page {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let page: Self = toml::from_str(text)?;
        for parts in &page.part {
            parts.with(None)?;
        }
        Ok(page)
    }

    /// Creates the chapter.
    pub(super) fn chapter(&self, trial: &Trial<'_>) -> Result<Chapter, Error> {
        let mut chapter = Chapter::new(self.heading.as_str());
        for parts in &self.part {
            for part in parts.of(trial)? {
                chapter = part.add_to(chapter, trial);
            }
        }
        Ok(chapter)
    }
}

impl Parts {
    fn of(&self, trial: &Trial<'_>) -> Result<Vec<Part>, Error> {
        match &self.each {
            None => Ok(vec![self.with(None)?]),
            Some(each) => each.of(&trial.outcome).map(|row| self.with(Some(row))).collect(),
        }
    }

    fn with(&self, row: Option<&Row>) -> Result<Part, Error> {
        let mut part = toml::Value::Table(self.part.clone());
        if let Some(row) = row {
            fill(&mut part, row);
        }
        Ok(part.try_into()?)
    }
}

/// Replaces `{column}` in all texts.
fn fill(value: &mut toml::Value, row: &Row) {
    match value {
        toml::Value::String(text) => {
            for (column, by) in row.as_map() {
                *text = text.replace(&format!("{{{column}}}"), &text_of(by));
            }
        }
        toml::Value::Array(values) => values.iter_mut().for_each(|value| fill(value, row)),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, value)| fill(value, row)),
        _ => {}
    }
}

impl Part {
    fn add_to(&self, chapter: Chapter, trial: &Trial<'_>) -> Chapter {
        match self {
            Self::Text(text) => {
                let texts = trial.texts.iter();
                let replace =
                    |text: String, (id, by): (&&str, &String)| text.replace(&format!("{{{id}}}"), by);
                chapter.paragraph(texts.fold(text.clone(), replace))
            }
            Self::Note(text) => chapter.note(text.as_str()),
            Self::Table(table) => match table.of(trial) {
                Some(table) => chapter.table(table),
                None => chapter,
            },
            Self::Figure(figure) => match figure.of(trial) {
                // What it shows was not measured.
                figure if figure.is_empty() => chapter,
                figure => chapter.figure(figure),
            },
            Self::Pictures(group) => {
                let pictures = trial.pictures.iter().filter(|(of, _)| of == group);
                pictures.fold(chapter, |chapter, (_, picture)| chapter.picture(picture.clone()))
            }
        }
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

    #[test]
    fn parts_are_repeated_for_rows() {
        let text =
            "heading = \"x\"\n[[part]]\neach = { kind = \"pool\" }\nnote = \"{pool}: {size} of {other}\"";
        let page = Page::parse(text).unwrap();
        let row = Row::new().with("pool", "lanes").with("size", 3);
        let part = page.part[0].with(Some(&row)).unwrap();
        assert!(
            matches!(&part, Part::Note(text) if text == "lanes: 3 of {other}"),
            "{part:?}"
        );
        assert!(Page::parse("heading = \"x\"\n[[part]]\nremark = \"\"").is_err());
    }

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
