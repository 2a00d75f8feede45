//! Rule for the facade: every item that it re-exports has an example in its documentation.

use std::{fs, path::Path};

use crate::command::root;

/// Finds re-exported items without an example.
pub fn findings() -> Result<Vec<String>, String> {
    let crates = root().join("crates");
    let facade = crates.join("punctual/src/lib.rs");
    let facade = fs::read_to_string(&facade).map_err(|error| format!("{}: {error}", facade.display()))?;
    let mut findings = Vec::new();
    let mut seen = 0;
    for (package, names) in re_exports(&facade) {
        let own = sources(&crates.join(package).join("src"))?;
        for name in names {
            seen += 1;
            if !documentation(&crates, &own, name)?.is_some_and(|text| text.contains("```")) {
                findings.push(format!(
                    "crates/{package}: `{name}` has no example in its documentation"
                ));
            }
        }
    }
    match seen {
        0..30 => Err(format!(
            "only {seen} re-exports of the facade found: are they written in another way?"
        )),
        _ => Ok(findings),
    }
}

/// The documentation of an item of a package, which may re-export it itself.
fn documentation(crates: &Path, own: &[String], name: &str) -> Result<Option<String>, String> {
    let find = |sources: &[String]| sources.iter().find_map(|source| comment_above(source, name));
    if let Some(found) = find(own) {
        return Ok(Some(found));
    }
    let mut origins = own.iter().flat_map(|source| re_exports(source));
    match origins.find(|(_, names)| names.contains(&name)) {
        Some((origin, _)) => Ok(find(&sources(&crates.join(origin).join("src"))?)),
        None => Ok(None),
    }
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

fn sources(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        match path.is_dir() {
            true => found.extend(sources(&path)?),
            false => found.push(fs::read_to_string(&path).map_err(failed)?),
        }
    }
    Ok(found)
}

/// The `///` lines above the definition of `name`, if this is where it stands.
fn comment_above(source: &str, name: &str) -> Option<String> {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let place = lines.iter().position(|line| defines(line, name))?;
    let above = lines[..place].iter().rev();
    let length = above
        .take_while(|line| line.starts_with("//") || line.starts_with('#'))
        .count();
    Some(lines[place - length..place].join("\n"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_re_exported_items_are_found() {
        let facade = "//! A.\n\npub use punctual_orb::{Orb, Lane};\npub use punctual_os::Gate;\n";
        assert_eq!(
            re_exports(facade),
            [("orb", vec!["Orb", "Lane"]), ("os", vec!["Gate"])]
        );
        let source =
            "/// Starts.\n/// ```\n/// ```\n#[derive(Debug)]\npub struct Orb;\n\npub struct Orbit;\n";
        assert_eq!(
            comment_above(source, "Orb").as_deref(),
            Some("/// Starts.\n/// ```\n/// ```\n#[derive(Debug)]")
        );
        assert_eq!(comment_above(source, "Orbit").as_deref(), Some(""));
        assert_eq!(comment_above(source, "Lane"), None);
    }
}
