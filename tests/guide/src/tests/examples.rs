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

#[test]
fn naming() {
    Readme::of("14-naming").answers();
}

/// Every example has a test here, and one row in `examples/README.md` with a command of its own README.
#[test]
fn there_is_no_other() {
    let folders = fs::read_dir(format!("{ROOT}/examples")).unwrap();
    let names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut examples: Vec<String> = names.filter(|name| name != "README.md").collect();
    examples.sort();
    assert_eq!(examples.len(), 14);
    let index = fs::read_to_string(format!("{ROOT}/examples/README.md")).unwrap();
    let mut listed = Vec::new();
    for row in index.lines().filter(|line| line.starts_with("| [")) {
        let (example, rest) = row[3..].split_once("](").unwrap();
        assert!(rest.starts_with(&format!("{example}) | ")), "{row}");
        let command = row.trim_end_matches("` |").rsplit('`').next().unwrap();
        let page = source(example, "README.md");
        assert!(page.lines().any(|line| line == command), "{row}");
        listed.push(example.to_owned());
    }
    listed.sort();
    assert_eq!(listed, examples);
}

/// A file of an example.
fn source(example: &str, file: &str) -> String {
    let path = format!("{ROOT}/examples/{example}/{file}");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
