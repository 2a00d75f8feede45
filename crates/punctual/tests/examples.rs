//! House rule: whatever the facade re-exports has an example in its documentation.

use std::{fs, path::Path};

#[test]
fn every_re_exported_item_has_an_example() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("it lies in crates/");
    let facade = fs::read_to_string(crates.join("punctual/src/lib.rs")).expect("the facade is there");
    let mut missing = Vec::new();
    let mut seen = 0;
    for (package, names) in re_exports(&facade) {
        let own = sources(&crates.join(package).join("src"));
        for name in names {
            seen += 1;
            let documented = own
                .iter()
                .find_map(|source| documentation(source, name))
                .or_else(|| {
                    // The package re-exports it itself.
                    let mut origins = own.iter().flat_map(|source| re_exports(source));
                    let (origin, _) = origins.find(|(_, names)| names.contains(&name))?;
                    let sources = sources(&crates.join(origin).join("src"));
                    sources.iter().find_map(|source| documentation(source, name))
                });
            if !documented.is_some_and(|text| text.contains("```")) {
                missing.push(format!("{package}: {name}"));
            }
        }
    }
    assert!(
        seen > 30,
        "only {seen} items found: are the re-exports written in another way now?"
    );
    assert!(
        missing.is_empty(),
        "without an example in their documentation: {missing:#?}"
    );
}

/// The items of each `pub use punctual_PACKAGE::{..};` at the start of a line.
fn re_exports(facade: &str) -> Vec<(&str, Vec<&str>)> {
    facade
        .split("\npub use punctual_")
        .skip(1)
        .filter_map(|rest| rest.split_once(';')?.0.split_once("::"))
        .map(|(package, list)| {
            let names = list.trim_matches(['{', '}']).split(',').map(str::trim);
            (package, names.filter(|name| !name.is_empty()).collect())
        })
        .collect()
}

fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("every crate has its sources in src/");
    entries
        .flat_map(|entry| {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                sources(&path)
            } else {
                vec![fs::read_to_string(path).expect("sources are text")]
            }
        })
        .collect()
}

/// The `///` lines above the definition of `name`, if this is where it stands.
fn documentation(source: &str, name: &str) -> Option<String> {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let place = lines.iter().position(|line| defines(line, name))?;
    let above = lines[..place].iter().rev();
    let block: Vec<_> = above
        .take_while(|line| line.starts_with("//") || line.starts_with('#'))
        .copied()
        .collect();
    Some(block.join("\n"))
}

/// Whether the line defines the item, also as the argument of a macro that does: `NAME [GENERICS] ..`.
fn defines(line: &str, name: &str) -> bool {
    let keywords = [
        "pub struct ",
        "pub enum ",
        "pub trait ",
        "pub fn ",
        "pub const fn ",
    ];
    let after = |start: &str| {
        let rest = line.strip_prefix(start)?.strip_prefix(name)?;
        Some(!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    keywords.iter().any(|keyword| after(keyword) == Some(true)) || line.starts_with(&format!("{name} ["))
}
