//! Changes since an earlier run.

mod rows;

use std::{fs, path::Path};

use punctual_harness::{Claim, MachineFacts, Outcome, State};
use punctual_report::{Chapter, Table};
use serde_json::{Map, Value, json};

use crate::error::Error;

/// An earlier run.
pub(super) struct Baseline {
    file: String,
    outcome: Outcome,
}

impl Baseline {
    pub(super) fn read(file: &Path) -> Result<Self, Error> {
        let name = file.display().to_string();
        let text = fs::read_to_string(file).map_err(|error| format!("{name} cannot be read: {error}"))?;
        Ok(Self::parse(&name, &text)?)
    }

    fn parse(file: &str, text: &str) -> Result<Self, String> {
        let parsed = serde_json::from_str::<Outcome>(text);
        let outcome = parsed
            .map_err(|error| format!("{file} was not written by `punctual qualify --json`: {error}"))?;
        if outcome.schema() != Outcome::SCHEMA {
            return Err(format!(
                "{file} has version {} of the format, but this program reads version {}: measure again",
                outcome.schema(),
                Outcome::SCHEMA
            ));
        }
        Ok(Self {
            file: file.to_owned(),
            outcome,
        })
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Returns a chapter with what is different in the current run.
    pub(super) fn compare(&self, now: &Outcome) -> Chapter {
        let before = as_part_of(now, &self.outcome);
        let mut chapter = Chapter::new(format!("What changed since {}", self.file));
        let differences = differences(&before, now);
        if differences.is_empty() {
            chapter = chapter.paragraph("Both runs have the same machine, kernel and settings.");
        } else {
            let rows = differences.iter().filter_map(Value::as_object);
            chapter = chapter
                .paragraph(
                    "The runs were made under different conditions, which may explain the changes below.",
                )
                .table(Table::of(rows).title("Differences of machine and settings"));
        }
        chapter = table_or_note(
            chapter,
            "Claims that changed",
            &claims(&before, now),
            "No claim changed.",
        );
        let compared = rows::compare(&before, now);
        let title = format!("Changed figures, of {} that both runs have", compared.figures);
        chapter = table_or_note(
            chapter,
            &title,
            &compared.changed,
            "No median and no 99th percentile changed.",
        );
        chapter = chapter.paragraph(format!(
            "A figure counts as changed if the 95 % confidence intervals do not overlap. For rows without \
             intervals, a \
             median counts as changed above {:.0} %, and a 99th percentile above {:.0} %: unchanged runs on \
             one machine \
             differ by as much. Maxima are not compared.",
            rows::MEDIAN_NOISE * 100.0,
            rows::P99_NOISE * 100.0
        ));
        match compared.unpaired {
            0 => chapter,
            rows => chapter.paragraph(format!("{rows} rows have no counterpart in the other run.")),
        }
    }
}

/// Adds a table of the rows, or of this note if there are none.
fn table_or_note(chapter: Chapter, title: &str, rows: &[Value], none: &str) -> Chapter {
    // A table even for the note, because the terminal shows tables only.
    let nothing = [json!({ "result": none })];
    let rows = if rows.is_empty() { &nothing[..] } else { rows };
    chapter.table(Table::of(rows.iter().filter_map(Value::as_object)).title(title))
}

/// Returns the earlier outcome; if the current one is of several benchmarks, as a part of such an outcome.
fn as_part_of(now: &Outcome, before: &Outcome) -> Outcome {
    if now.benchmark() == before.benchmark() {
        return before.clone();
    }
    let mut all = Outcome::new(now.benchmark(), before.machine().clone());
    all.absorb(before.clone());
    all
}

/// Returns the facts of the machine and the settings that differ.
fn differences(before: &Outcome, now: &Outcome) -> Vec<Value> {
    let facts = |facts: &MachineFacts| match serde_json::to_value(facts) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    };
    let (old, new) = (facts(before.machine()), facts(now.machine()));
    // These two follow from the rights.
    let compared = new
        .keys()
        .filter(|name| !["missing", "remedies"].contains(&name.as_str()));
    let facts = compared.map(|name| (name.as_str(), old.get(name), new.get(name)));
    let length = (
        "length",
        before.parameters().get("length"),
        now.parameters().get("length"),
    );
    let differ = facts.chain([length]).filter(|(_, old, new)| old != new);
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "unknown".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    differ
        .map(|(name, old, new)| {
            let what = name.replace('_', " ");
            json!({ "what": what, "before": text(old), "now": text(new) })
        })
        .collect()
}

/// Returns the claims whose result changed, new ones, and missing ones, without limits of a file.
fn claims(before: &Outcome, now: &Outcome) -> Vec<Value> {
    let without_limits = |outcome: &'_ Outcome| -> Vec<Claim> {
        let claims = outcome.claims().iter();
        claims
            .filter(|claim| !claim.id.starts_with("bounds."))
            .cloned()
            .collect()
    };
    let (old, new) = (without_limits(before), without_limits(now));
    let find = |claims: &[Claim], id: &str| claims.iter().find(|claim| claim.id == id).cloned();
    let state = |claim: &Option<Claim>| match claim {
        Some(claim) => format!("{} {}", claim.state.sign(), claim.state),
        None => "not tested".to_owned(),
    };
    let measured = |claim: &Option<Claim>| claim.as_ref().map_or(Value::Null, |claim| claim.measured.clone());
    let mut changed: Vec<Value> = statements(before, now).collect();
    let gone = old.iter().filter(|claim| find(&new, &claim.id).is_none());
    for id in new.iter().chain(gone).map(|claim| claim.id.as_str()) {
        let (old, new) = (find(&old, id), find(&new, id));
        if state(&old) != state(&new) {
            changed.push(json!({
                "claim": id, "before": state(&old), "measured before": measured(&old),
                "now": state(&new), "measured now": measured(&new),
            }));
        }
    }
    changed
}

/// Returns the statements of papers whose state changed, of those that both runs evaluated.
fn statements(before: &Outcome, now: &Outcome) -> impl Iterator<Item = Value> {
    now.statements().iter().filter_map(|new| {
        let old = before.statements().iter().find(|old| old.id == new.id)?;
        let shown = |state: State| format!("{} {state}", state.sign());
        (old.state != new.state).then(|| {
            json!({
                "claim": new.id, "before": shown(old.state), "measured before": "",
                "now": shown(new.state), "measured now": "",
            })
        })
    })
}

#[cfg(test)]
mod tests;
