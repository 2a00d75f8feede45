//! What changed since an older run.

mod rows;

use std::{fs, path::Path};

use punctual_harness::{Claim, MachineFacts, Outcome};
use punctual_report::{Chapter, Table};
use serde_json::{Map, Value, json};

use crate::Error;

/// An older run.
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
            .map_err(|error| format!("{file} is nothing that `punctual qualify --json` wrote: {error}"))?;
        if outcome.schema() != Outcome::SCHEMA {
            return Err(format!(
                "{file} is of version {} of the format, and this program reads version {}: measure it again",
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

    /// What is different in the run of now.
    pub(super) fn compare(&self, now: &Outcome) -> Chapter {
        let before = like(now, &self.outcome);
        let mut chapter = Chapter::new(format!("What changed since {}", self.file));
        let differences = differences(&before, now);
        if differences.is_empty() {
            chapter = chapter.paragraph("Both runs say the same of machine, kernel and settings.");
        } else {
            let rows = differences.iter().filter_map(Value::as_object);
            chapter = chapter
                .paragraph(
                    "The runs were not made under the same conditions: what follows may be due to that.",
                )
                .table(Table::of(rows).title("The machine and the settings are not the same"));
        }
        chapter = told(
            chapter,
            "Claims that changed",
            &claims(&before, now),
            "No claim changed.",
        );
        let compared = rows::compare(&before, now);
        let title = format!("Figures that moved, of {} that both runs have", compared.figures);
        chapter = told(
            chapter,
            &title,
            &compared.moved,
            "No median and no 99th percentile moved.",
        );
        chapter = chapter.paragraph(format!(
            "A figure counts as moved when the 95 % confidence intervals do not overlap; where rows have none, when a \
             median differs by more than {:.0} %, or a 99th percentile by more than {:.0} %: so much two runs on one \
             machine differ by themselves. Maxima are not compared.",
            rows::MEDIAN_NOISE * 100.0,
            rows::P99_NOISE * 100.0
        ));
        match compared.unpaired {
            0 => chapter,
            rows => chapter.paragraph(format!("{rows} rows have no counterpart in the other run.")),
        }
    }
}

fn told(chapter: Chapter, title: &str, rows: &[Value], none: &str) -> Chapter {
    // The terminal gets tables only, and wants to know as well.
    let nothing = [json!({ "result": none })];
    let rows = if rows.is_empty() { &nothing[..] } else { rows };
    chapter.table(Table::of(rows.iter().filter_map(Value::as_object)).title(title))
}

/// An outcome of one benchmark as one of several, if the other is one.
fn like(now: &Outcome, before: &Outcome) -> Outcome {
    if now.benchmark() == before.benchmark() {
        return before.clone();
    }
    let mut all = Outcome::new(now.benchmark(), before.machine().clone());
    all.absorb(before.clone());
    all
}

/// Facts of the machine and settings that are not the same.
fn differences(before: &Outcome, now: &Outcome) -> Vec<Value> {
    let facts = |facts: &MachineFacts| match serde_json::to_value(facts) {
        Ok(Value::Object(facts)) => facts,
        _ => Map::new(),
    };
    let (old, new) = (facts(before.machine()), facts(now.machine()));
    // What is missing follows from the rights, and the remedies from that.
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
        None | Some(Value::Null) => "not known".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    differ
        .map(|(name, old, new)| json!({ "what": name.replace('_', " "), "before": text(old), "now": text(new) }))
        .collect()
}

/// Claims that changed their mind, came or went. Limits of a file are no news.
fn claims(before: &Outcome, now: &Outcome) -> Vec<Value> {
    let real = |outcome: &'_ Outcome| -> Vec<Claim> {
        let claims = outcome.claims().iter();
        claims
            .filter(|claim| !claim.id.starts_with("bounds."))
            .cloned()
            .collect()
    };
    let (old, new) = (real(before), real(now));
    let find = |claims: &[Claim], id: &str| claims.iter().find(|claim| claim.id == id).cloned();
    let state = |claim: &Option<Claim>| match claim {
        Some(claim) if claim.holds => "✓",
        Some(_) => "✗",
        None => "not tested",
    };
    let measured = |claim: &Option<Claim>| claim.as_ref().map_or(Value::Null, |claim| claim.measured.clone());
    let gone = old.iter().filter(|claim| find(&new, &claim.id).is_none());
    let mut changed = Vec::new();
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

#[cfg(test)]
mod tests;
