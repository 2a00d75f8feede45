//! Checks the direction of imports against Cargo's metadata of the workspace.

use std::collections::BTreeSet;

use super::*;
use crate::command;

#[test]
fn imports_go_downwards() {
    let metadata = Metadata::read().unwrap();
    let seen = imports(&metadata).count();
    assert!(seen > 20, "only {seen} imports were seen");
    let wrong = upward_imports(&metadata).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn upward_imports_are_found() {
    use Kind::{Build, Dev, Normal};
    let check = |from: (&str, &str), to: (&str, &str), kind| {
        allowed(
            &Position::of(from.0, from.1).unwrap(),
            &Position::of(to.0, to.1).unwrap(),
            kind,
        )
    };
    let cdr = ("punctual-cdr", "crates/cdr");
    let os = ("punctual-os", "crates/os");
    let stub = ("punctual-stub", "crates/stub");
    let transport = ("punctual-transport", "crates/transport");
    let orb = ("punctual-orb", "crates/orb");
    let facade = ("punctual", "crates/punctual");
    let build = ("punctual-build", "idl/build");
    let idl = ("punctual-idl", "idl/front");
    let system = ("punctual-system", "qualify/system");
    let harness = ("punctual-harness", "qualify/harness");
    let scenarios = ("punctual-scenarios", "qualify/scenarios");
    let link = ("punctual-link", "qualify/link");
    let flight = ("punctual-flight", "crates/flight");
    let trace = ("punctual-trace", "qualify/trace");
    let cli = ("punctual-cli", "tools/punctual-cli");
    let hello = ("hello", "examples/01-hello");
    let scheduling = ("punctual-scheduling", "services/scheduling");
    let fixtures = ("punctual-fixtures", "tests/fixtures");
    let conformance = ("punctual-conformance", "tests/conformance");

    for (from, to, kind) in [
        (orb, cdr, Normal),
        (facade, orb, Normal),
        (orb, build, Build),
        (orb, build, Dev),
        (build, idl, Normal),
        (system, os, Normal),
        (harness, system, Normal),
        (trace, system, Normal),
        (scenarios, system, Normal),
        (cli, system, Normal),
        (harness, os, Normal),
        (orb, flight, Normal),
        (flight, os, Normal),
        (trace, flight, Normal),
        (trace, harness, Normal),
        (scenarios, trace, Normal),
        (scenarios, facade, Normal),
        (scenarios, harness, Normal),
        (link, facade, Normal),
        (scenarios, link, Normal),
        (cli, scenarios, Normal),
        (hello, facade, Normal),
        (hello, scheduling, Normal),
        (cli, scheduling, Normal),
        (scheduling, facade, Normal),
        (os, fixtures, Dev),
        (idl, fixtures, Dev),
        (scenarios, fixtures, Dev),
        (conformance, fixtures, Normal),
        (fixtures, facade, Normal),
        (fixtures, build, Build),
    ] {
        assert_eq!(check(from, to, kind), Ok(()), "{from:?} -> {to:?}");
    }
    for (from, to, kind) in [
        (link, transport, Normal),
        (cdr, orb, Normal),
        (cdr, orb, Dev),
        (cdr, os, Normal),
        (cdr, os, Dev),
        (stub, transport, Normal),
        (orb, facade, Normal),
        (orb, build, Normal),
        (build, orb, Normal),
        (idl, build, Normal),
        (facade, harness, Normal),
        (facade, harness, Dev),
        (os, system, Dev),
        (orb, system, Normal),
        (system, flight, Normal),
        (system, harness, Normal),
        (flight, orb, Normal),
        (harness, orb, Normal),
        (harness, flight, Normal),
        (harness, trace, Normal),
        (trace, orb, Normal),
        (trace, scenarios, Normal),
        (harness, scenarios, Normal),
        (scenarios, cli, Normal),
        (facade, hello, Dev),
        (hello, cli, Normal),
        (orb, scheduling, Normal),
        (facade, scheduling, Dev),
        (scheduling, harness, Normal),
        (scheduling, cli, Normal),
        (os, fixtures, Normal),
        (cli, fixtures, Build),
        (fixtures, harness, Normal),
        (fixtures, conformance, Normal),
    ] {
        assert!(
            check(from, to, kind).is_err(),
            "{from:?} -> {to:?} as {kind:?} was allowed"
        );
    }
    assert!(Position::of("punctual-new", "crates/new").is_err());
    assert!(Position::of("anything", "elsewhere/anything").is_err());
}

#[test]
fn facade_stands_on_few_packages() {
    const LIMIT: usize = 50;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let tree = command::output(
        &cargo,
        &[
            "tree",
            "--edges",
            "normal",
            "--package",
            "punctual",
            "--prefix",
            "none",
            "--locked",
        ],
    )
    .unwrap();
    // A package that is shown again has a mark at the end of its line.
    let packages: BTreeSet<&str> = tree
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    assert!(
        packages
            .iter()
            .any(|package| package.starts_with("punctual-types ")),
        "{tree}"
    );
    assert!(
        packages.len() <= LIMIT,
        "{} packages, at most {LIMIT}:\n{tree}",
        packages.len()
    );
}
