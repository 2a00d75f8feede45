//! Rows of two runs, paired, and their figures compared.

use std::collections::{BTreeMap, BTreeSet};

use punctual_harness::{Outcome, Row};
use serde_json::{Value, json};

/// The share by which medians of two unchanged runs on one machine differ.
pub(super) const MEDIAN_NOISE: f64 = 0.10;
/// The share by which 99th percentiles of two unchanged runs on one machine differ.
pub(super) const P99_NOISE: f64 = 0.25;

/// The result of a comparison of rows.
pub(super) struct Compared {
    /// Changed figures, as rows for a table.
    pub(super) changed: Vec<Value>,
    /// The number of figures that both runs have.
    pub(super) figures: usize,
    /// The number of rows that only one run has.
    pub(super) unpaired: usize,
}

pub(super) fn compare(before: &Outcome, now: &Outcome) -> Compared {
    let mut compared = Compared {
        changed: Vec::new(),
        figures: 0,
        unpaired: 0,
    };
    let (old, new) = (by_benchmark(before), by_benchmark(now));
    for (benchmark, new) in &new {
        // The comparison of claims covers benchmarks that only one run has.
        let Some(old) = old.get(benchmark) else { continue };
        let pairs = pairs(old, new);
        compared.unpaired += old.len() + new.len() - 2 * pairs.len();
        for (old, new, name) in pairs {
            for figure in Figure::shared(old, new) {
                compared.figures += 1;
                if figure.changed() {
                    compared.changed.push(json!({
                        "benchmark": benchmark, "row": name, "figure": figure.column, "before": figure.old,
                        "now": figure.new, "change (%)": (figure.new / figure.old - 1.0) * 100.0,
                    }));
                }
            }
        }
    }
    compared
}

fn by_benchmark(outcome: &Outcome) -> BTreeMap<String, Vec<&Row>> {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in outcome.rows() {
        let name = row
            .get("benchmark")
            .and_then(Value::as_str)
            .unwrap_or(outcome.benchmark());
        groups.entry(name.to_owned()).or_default().push(row);
    }
    groups
}

/// A duration that both rows have.
struct Figure<'r> {
    column: &'r str,
    old: f64,
    new: f64,
    /// The confidence intervals, if both rows have them.
    intervals: Option<[(f64, f64); 2]>,
}

impl<'r> Figure<'r> {
    fn shared(old: &'r Row, new: &'r Row) -> impl Iterator<Item = Self> {
        new.as_map()
            .keys()
            .filter(|column| noise(column).is_some())
            .filter_map(move |column| {
                let interval = |row: &Row| {
                    let end = |end: &str| row.number(&format!("{column}_{end}"));
                    Some((end("low")?, end("high")?))
                };
                Some(Self {
                    column,
                    old: old.number(column)?,
                    new: new.number(column)?,
                    intervals: interval(old).zip(interval(new)).map(|(old, new)| [old, new]),
                })
            })
    }

    fn changed(&self) -> bool {
        match self.intervals {
            Some([old, new]) => old.1 < new.0 || new.1 < old.0,
            None => {
                let smaller = self.old.abs().min(self.new.abs());
                (self.new - self.old).abs() > smaller * noise(self.column).unwrap_or(0.0)
            }
        }
    }
}

/// Returns the share by which an unchanged figure differs, or `None` if the column is not compared.
fn noise(column: &str) -> Option<f64> {
    let ends_an_interval = column.ends_with("_low") || column.ends_with("_high");
    let has = |part: &str| column.split('_').any(|word| word == part);
    if ends_an_interval {
        None
    } else if has("p50") || has("median") {
        Some(MEDIAN_NOISE)
    } else if has("p99") {
        Some(P99_NOISE)
    } else {
        None
    }
}

/// Pairs rows with equal settings, and names each pair by its settings.
///
/// A column is a setting if the values of one run are a subset of the other's. So "threads" is a setting even
/// if one run has fewer points, and a measured count is not. Causes and notes are results.
fn pairs<'r>(old: &[&'r Row], new: &[&'r Row]) -> Vec<(&'r Row, &'r Row, String)> {
    let settings = settings(old, new);
    let full = |row: &Row| name(row, |column, _| settings.contains(column));
    let texts = |row: &Row| name(row, |column, value| is_text(value) && settings.contains(column));
    let (mut old, mut new): (Vec<&Row>, Vec<&Row>) = (old.to_vec(), new.to_vec());
    let mut found = Vec::new();
    new.retain(
        |row| match old.iter().position(|other| full(other) == full(row)) {
            Some(place) => {
                found.push((old.remove(place), *row, full(row)));
                false
            }
            None => true,
        },
    );
    // A count may look like a setting by chance: pair rows with equal texts, in order, if both runs have
    // equally many.
    let count = |rows: &[&Row], kind: &str| rows.iter().filter(|row| texts(row) == kind).count();
    for row in new.clone() {
        let kind = texts(row);
        if count(&new, &kind) == count(&old, &kind)
            && let Some(place) = old.iter().position(|other| texts(other) == kind)
        {
            found.push((old.remove(place), row, kind));
            new.retain(|other| !std::ptr::eq(*other, row));
        }
    }
    found
}

fn settings(old: &[&Row], new: &[&Row]) -> BTreeSet<String> {
    let columns: BTreeSet<&String> = old
        .iter()
        .chain(new)
        .flat_map(|row| row.as_map().keys())
        .collect();
    let values = |rows: &[&Row], column: &str| -> BTreeSet<String> {
        let values = rows.iter().filter_map(|row| row.get(column));
        values
            .filter(|value| !value.is_null())
            .map(Value::to_string)
            .collect()
    };
    let is_setting = |column: &&&String| {
        let (old, new) = (values(old, column), values(new, column));
        let of_results = noise(column).is_some() || column.ends_with("cause") || column.ends_with("note");
        !of_results && !old.is_empty() && !new.is_empty() && (old.is_subset(&new) || new.is_subset(&old))
    };
    columns
        .iter()
        .filter(is_setting)
        .map(|column| (*column).clone())
        .collect()
}

fn is_text(value: &Value) -> bool {
    value.is_string() || value.is_boolean()
}

fn name(row: &Row, wanted: impl Fn(&str, &Value) -> bool) -> String {
    let parts = row
        .as_map()
        .iter()
        .filter(|(column, value)| *column != "benchmark" && wanted(column, value));
    let part = |(column, value): (&String, &Value)| match value {
        Value::String(text) => text.clone(),
        other => format!("{}={other}", column.replace('_', " ")),
    };
    parts.map(part).collect::<Vec<_>>().join(", ")
}
