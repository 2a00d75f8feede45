//! The table refers to what exists.

use std::{collections::BTreeSet, fs, path::Path};

use super::*;
use crate::{benchmarks, control::meet};

fn claims() -> impl Iterator<Item = (&'static str, &'static str)> {
    let stated = papers().iter().flat_map(|paper| &paper.statements);
    stated.flat_map(|stated| match &stated.judgement {
        Judgement::Claims {
            benchmark, claims, ..
        } => claims
            .iter()
            .map(|claim| (benchmark.as_str(), claim.as_str()))
            .collect(),
        Judgement::Needs(_) => Vec::new(),
    })
}

#[test]
fn statements_are_judged_by_existing_benchmarks_and_claims() {
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
fn every_control_breaks_something() {
    for benchmark in benchmarks() {
        for control in benchmark.controls {
            assert!(!control.breaks.is_empty(), "{}@{}", benchmark.name, control.id);
        }
        let ids: BTreeSet<_> = benchmark.controls.iter().map(|control| control.id).collect();
        assert_eq!(ids.len(), benchmark.controls.len(), "{}", benchmark.name);
    }
}

#[test]
fn claims_of_statements_have_controls() {
    let stated = papers().iter().flat_map(|paper| &paper.statements);
    let mut without = Vec::new();
    for stated in stated {
        // One that does not hold has been seen to fail.
        let Judgement::Claims {
            benchmark,
            claims,
            explained,
            ..
        } = &stated.judgement
        else {
            continue;
        };
        let explained = |claim: &&String| explained.keys().any(|pattern| meet(pattern, claim));
        let of = benchmarks().filter(|one| one.name == benchmark);
        let breaks: Vec<&str> = of
            .flat_map(|one| one.controls)
            .flat_map(|control| control.breaks.iter().copied())
            .collect();
        let has_one = |claim: &&String| breaks.iter().any(|id| meet(id, claim));
        let bare = claims.iter().filter(|claim| !has_one(claim) && !explained(claim));
        without.extend(bare.map(|claim| format!("{}: {benchmark}.{claim}", stated.id)));
    }
    assert!(without.is_empty(), "no control: {without:#?}");
}

#[test]
fn limits_are_those_of_the_methods() {
    for stated in papers().iter().flat_map(|paper| &paper.statements) {
        let Judgement::Claims {
            claims,
            method,
            limits,
            ..
        } = &stated.judgement
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
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md");
    let findings = fs::read_to_string(file).unwrap();
    let stated = papers().iter().flat_map(|paper| &paper.statements);
    for stated in stated {
        if let Judgement::Claims {
            finding: Some(anchor),
            ..
        } = &stated.judgement
        {
            let found = findings.contains(&format!("<a id=\"{anchor}\"></a>"));
            assert!(found, "{}: {anchor} is not in docs/findings.md", stated.id);
        }
    }
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
