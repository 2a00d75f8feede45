//! The table refers to what exists.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::*;
use crate::{benchmark::Effect, benchmarks, control::meet};

fn claims() -> impl Iterator<Item = (&'static str, &'static str)> {
    let stated = papers().iter().flat_map(|paper| &paper.statements);
    stated.flat_map(|stated| match &stated.evaluation {
        Evaluation::Claims {
            benchmark, claims, ..
        } => claims
            .iter()
            .map(|claim| (benchmark.as_str(), claim.as_str()))
            .collect(),
        Evaluation::Needs(_) => Vec::new(),
    })
}

#[test]
fn statements_are_evaluated_by_existing_benchmarks_and_claims() {
    let names: BTreeSet<_> = benchmarks().map(|benchmark| benchmark.name).collect();
    let literals = literals(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
    let mut wrong = Vec::new();
    for (benchmark, claim) in claims() {
        let is_literal = literals.iter().any(|literal| makes(literal, claim));
        if !names.contains(benchmark) || !is_literal {
            wrong.push(format!("{benchmark}: {claim}"));
        }
    }
    assert!(wrong.is_empty(), "no such benchmark or claim: {wrong:#?}");
}

#[test]
fn literals_make_claims() {
    for (literal, claim, expected) in [
        ("high", "high", true),
        ("high", "higher", false),
        ("{place}.muf.made", "*.muf.made", true),
        ("{place}.muf.made", "*.rms.made", false),
        ("above.calls", "*.above.calls", true),
        ("{id}", "high", false),
        ("p50-over-raw.{place}", "p50-over-raw.*", true),
    ] {
        assert_eq!(makes(literal, claim), expected, "{literal} {claim}");
    }
}

#[test]
fn every_control_changes_something() {
    for benchmark in benchmarks() {
        let name = benchmark.name;
        for control in benchmark.controls {
            let mut patterns = control
                .breaks
                .iter()
                .copied()
                .chain(benchmark.restored_by(control));
            assert!(patterns.next().is_some(), "{name}@{}", control.id);
            let both = benchmark.restored_by(control).find(|claim| control.breaks(claim));
            assert_eq!(both, None, "{name}@{} breaks and restores it", control.id);
        }
        let ids: BTreeSet<_> = benchmark.controls.iter().map(|control| control.id).collect();
        assert_eq!(ids.len(), benchmark.controls.len(), "{name}");
        let mut restoring = benchmark.restored.iter().map(|restored| restored.control.id);
        assert!(
            restoring.all(|id| ids.contains(id)),
            "{name} restores by controls of its own"
        );
    }
}

/// Explained claims that no control restores, with the reason.
const NOT_RESTORED: &[(&str, &str, &str)] = &[(
    "case.flight-program",
    "muf.additional",
    "its reason is the mix of execution times, which is one and the same for both strategies: under another \
     load RMS gains as well, and exchanging the strategies would invert any ratio",
)];

#[test]
fn claims_of_statements_have_controls() {
    let mut without = Vec::new();
    for stated in papers().iter().flat_map(|paper| &paper.statements) {
        let Evaluation::Claims {
            benchmark: name,
            claims,
            explained,
            ..
        } = &stated.evaluation
        else {
            continue;
        };
        let benchmark = benchmarks().find(|one| one.name == name).expect("another test");
        let has = |claim: &str, effect: Effect| {
            let mut controls = benchmark.controls.iter();
            controls.any(|control| benchmark.effect(control, claim) == Some(effect))
        };
        let is_exempt = |claim: &str| NOT_RESTORED.iter().any(|(of, id, _)| of == name && *id == claim);
        for claim in claims {
            let is_explained = explained.keys().any(|pattern| meet(pattern, claim));
            // An explained claim has been seen to fail; what has to be seen is that it can hold.
            let is_tried = match is_explained {
                true => has(claim, Effect::Restores) || is_exempt(claim),
                false => has(claim, Effect::Breaks),
            };
            if !is_tried {
                without.push(format!("{}: {name}.{claim}", stated.id));
            }
        }
    }
    assert!(without.is_empty(), "no control: {without:#?}");
}

/// Benchmarks that report holes claim that the processor was never idle while a call waited.
#[test]
fn benchmarks_that_report_holes_have_a_control_with_an_idle_processor() {
    let others = [
        "attacks",
        "orb.latency",
        "orb.priority-inversion",
        "orb.context-switches",
    ];
    let report = benchmarks().filter(|one| one.name.starts_with("rt.") || others.contains(&one.name));
    let report: Vec<_> = report.collect();
    assert!(report.len() > others.len());
    for benchmark in report {
        let control = benchmark.control_of("no-idle-hole");
        assert!(control.is_some(), "{}", benchmark.name);
    }
}

#[test]
fn limits_are_those_of_the_methods() {
    for stated in papers().iter().flat_map(|paper| &paper.statements) {
        let Evaluation::Claims {
            claims,
            method,
            limits,
            ..
        } = &stated.evaluation
        else {
            continue;
        };
        let id = &stated.id;
        let states_none = limits.is_empty() && method.contains(|one: char| one.is_ascii_digit());
        assert!(!states_none, "{id}: its method has a number, and no `limits`");
        for (pattern, limit) in limits {
            let known = claims.iter().any(|claim| meet(pattern, claim));
            assert!(known, "{id}: `{pattern}` is none of its claims");
            let numbers = method.split(|one: char| !one.is_ascii_digit() && one != '.');
            let mut numbers = numbers.map(|number| number.trim_matches('.').parse::<f64>());
            assert!(
                numbers.any(|number| number == Ok(*limit)),
                "{id}: {limit} is not in its method"
            );
        }
    }
}

#[test]
fn findings_are_described() {
    let index = fs::read_to_string(findings().join("README.md")).unwrap();
    let stated = papers().iter().flat_map(|paper| &paper.statements);
    let mut wrong = Vec::new();
    for stated in stated {
        if let Evaluation::Claims {
            finding: Some(page), ..
        } = &stated.evaluation
        {
            wrong.extend(undescribed(page, &index).map(|what| format!("{}: {what}", stated.id)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(undescribed("jitter", "](jitter.md)"), None);
    let absent = Some("docs/findings/chance.md is not there".to_owned());
    assert_eq!(undescribed("chance", "](chance.md)"), absent);
    let unlisted = Some("docs/findings/README.md does not list jitter.md".to_owned());
    assert_eq!(undescribed("jitter", ""), unlisted);
}

/// The parts of a page on a finding; the last one has either title.
const PARTS: [&[&str]; 4] = [
    &["## What the paper saw"],
    &["## What we see"],
    &["## Why"],
    &["## What would change it", "## What would decide it"],
];

#[test]
fn pages_of_findings_have_four_parts_and_a_picture() {
    for entry in fs::read_dir(findings()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if ["README.md", "limits.md"].contains(&name) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let parts = text.lines().filter(|line| line.starts_with("## "));
        let parts: Vec<_> = parts.collect();
        let mut titles = PARTS.iter().zip(&parts);
        let are_those = parts.len() == PARTS.len() && titles.all(|(titles, part)| titles.contains(part));
        assert!(are_those, "{name}: {parts:?}");
        assert!(text.contains("](../gallery/"), "{name} has no picture");
    }
}

/// Returns what is wrong with the page of a finding; `index` lists all pages.
fn undescribed(page: &str, index: &str) -> Option<String> {
    if !findings().join(format!("{page}.md")).is_file() {
        return Some(format!("docs/findings/{page}.md is not there"));
    }
    let is_listed = index.contains(&format!("]({page}.md)"));
    (!is_listed).then(|| format!("docs/findings/README.md does not list {page}.md"))
}

fn findings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings")
}

/// Returns whether a literal of the source, in which `{…}` stands for any characters, makes this claim.
fn makes(literal: &str, claim: &str) -> bool {
    let mut pattern = String::new();
    let mut rest = literal;
    while let Some((before, after)) = rest.split_once('{') {
        pattern += before;
        pattern.push('*');
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    pattern += rest;
    let letters = pattern.chars().filter(char::is_ascii_alphabetic).count();
    // Few letters, as in `{id}`, would make every claim.
    let own = claim.trim_start_matches("*.");
    (literal == pattern || letters >= 3) && [claim, own].iter().any(|id| meet(&pattern, id))
}

/// Returns the string literals that may be ids, without those of tests.
fn literals(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(literals(&path));
        } else if !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
            let id = |part: &&str| {
                let allowed = |one: char| one.is_ascii_alphanumeric() || "-_.{}".contains(one);
                !part.is_empty() && part.chars().all(allowed)
            };
            found.extend(code.split('"').skip(1).filter(id).map(str::to_owned));
        }
    }
    found
}
