//! The commands in the READMEs of the examples print what the READMEs show.

mod distributable_threads;
mod flight_program;
mod hello;
mod lanes;
mod readme;
mod scheduler_of_your_own;

use std::fs;

use readme::{ROOT, Readme, assert_fails_without_server};

#[test]
fn transport_of_your_own() {
    let readme = Readme::of("03-transport-of-your-own");
    assert_fails_without_server(readme.blocks("sh")[1]);
    readme.serves_and_answers();
}

#[test]
fn all_together() {
    Readme::of("06-all-together").answers();
    let sources = ["idl/plant.idl", "src/main.rs"].map(|file| source("06-all-together", file));
    let lines: usize = sources.iter().map(|source| source.lines().count()).sum();
    assert!(lines <= 120, "{lines} lines");
}

#[test]
fn events() {
    Readme::of("07-events").answers();
}

#[test]
fn callbacks() {
    Readme::of("09-callbacks").serves_and_answers();
}

#[test]
fn dynamic_calls() {
    Readme::of("10-dynamic-calls").serves_and_answers();
}

#[test]
fn objects_and_adapters() {
    Readme::of("11-objects-and-adapters").serves_and_answers();
}

#[test]
fn values_and_any() {
    Readme::of("12-values-and-any").serves_and_answers();
}

#[test]
fn asynchronous_calls() {
    Readme::of("13-asynchronous-calls").serves_and_answers();
}

/// Every example has a test here.
#[test]
fn there_is_no_other() {
    let folders = fs::read_dir(format!("{ROOT}/examples")).unwrap();
    assert_eq!(folders.count(), 13);
}

/// A file of an example.
fn source(example: &str, file: &str) -> String {
    let path = format!("{ROOT}/examples/{example}/{file}");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
