//! House rules that no compiler holds.

use std::{collections::BTreeSet, fs, path::Path};

use serde::Deserialize;

use crate::{
    command::{self, root},
    layers, licences,
    metadata::Metadata,
};

/// Checks every rule and reports everything that breaks one.
pub fn hold(metadata: &Metadata) -> Result<(), String> {
    let mut findings = Vec::new();
    findings.extend(layers::upward_imports(metadata)?);
    lints(metadata, &mut findings)?;
    licences_of(metadata, &mut findings)?;
    explained(metadata, &mut findings)?;
    let files = command::output("git", &["ls-files", "-z"])?;
    let mut seen = 0;
    for name in files.split('\0').filter(|name| !name.is_empty()) {
        // What is deleted and not committed yet is still listed.
        let Ok(bytes) = fs::read(root().join(name)) else {
            continue;
        };
        seen += 1;
        findings.extend(
            tracked_file(name, &bytes)
                .into_iter()
                .map(|finding| format!("{name}: {finding}")),
        );
    }
    if findings.is_empty() {
        println!("{seen} files and {} packages looked at", metadata.packages.len());
        Ok(())
    } else {
        Err(format!("\n  {}", findings.join("\n  ")))
    }
}

/// Where `unsafe` may be written.
const MAY_BE_UNSAFE: &str = "crates/os";

/// Every package is under the lints of the workspace, which forbid `unsafe`; the compiler does the rest.
fn lints(metadata: &Metadata, findings: &mut Vec<String>) -> Result<(), String> {
    for member in metadata.members() {
        let folder = metadata.folder(member).to_string_lossy();
        let text = fs::read_to_string(&member.manifest_path).map_err(|error| format!("{folder}: {error}"))?;
        if folder != MAY_BE_UNSAFE && !takes_workspace_lints(&text)? {
            findings.push(format!(
                "{folder}/Cargo.toml: `[lints] workspace = true` is missing, which keeps `unsafe` in {MAY_BE_UNSAFE}"
            ));
        }
    }
    let text =
        fs::read_to_string(root().join("Cargo.toml")).map_err(|error| format!("Cargo.toml: {error}"))?;
    if !text.lines().any(|line| line == "unsafe_code = \"forbid\"") {
        findings.push("Cargo.toml: the lints of the workspace no longer forbid `unsafe_code`".into());
    }
    Ok(())
}

fn takes_workspace_lints(manifest: &str) -> Result<bool, String> {
    #[derive(Deserialize)]
    struct Manifest {
        lints: Option<Lints>,
    }
    #[derive(Deserialize)]
    struct Lints {
        #[serde(default)]
        workspace: bool,
    }
    let manifest: Manifest = toml::from_str(manifest).map_err(|error| error.to_string())?;
    Ok(manifest.lints.is_some_and(|lints| lints.workspace))
}

fn licences_of(metadata: &Metadata, findings: &mut Vec<String>) -> Result<(), String> {
    let deny = fs::read_to_string(root().join("deny.toml")).map_err(|error| format!("deny.toml: {error}"))?;
    let allowed = licences::allowed(&deny)?;
    for package in metadata.foreign() {
        match &package.license {
            None => findings.push(format!("{}: states no licence", package.name)),
            Some(licence) if !licences::is_met(licence, &allowed)? => findings.push(format!(
                "{}: `{licence}` is not allowed by deny.toml",
                package.name
            )),
            Some(_) => {}
        }
    }
    Ok(())
}

/// Every direct dependency has its row in docs/dependencies.md, and every row its dependency.
fn explained(metadata: &Metadata, findings: &mut Vec<String>) -> Result<(), String> {
    const PAGE: &str = "docs/dependencies.md";
    let page = fs::read_to_string(root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let rows: BTreeSet<&str> = rows(&page).collect();
    let direct = metadata.direct_dependencies();
    for (name, users) in &direct {
        if !rows.contains(name) {
            let users: Vec<&str> = users.iter().copied().collect();
            findings.push(format!(
                "{PAGE}: no row says why {} needs `{name}`",
                users.join(", ")
            ));
        }
    }
    for name in rows.into_iter().filter(|name| !direct.contains_key(name)) {
        findings.push(format!("{PAGE}: `{name}` has a row, and nobody uses it"));
    }
    Ok(())
}

/// What the first column of the tables has in backquotes.
fn rows(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
}

/// The longest file that may be written by hand, in lines.
const MOST_LINES: usize = 900;
/// The largest file, in octets.
const MOST_OCTETS: usize = 1 << 20;

fn tracked_file(name: &str, bytes: &[u8]) -> Vec<String> {
    let mut findings = Vec::new();
    if bytes.contains(&0) {
        findings.push("is binary; generate it, or store it as text".to_owned());
        return findings;
    }
    if bytes.len() > MOST_OCTETS {
        findings.push(format!("has {} octets, at most {MOST_OCTETS}", bytes.len()));
    }
    let text = String::from_utf8_lossy(bytes);
    for (number, line) in text.lines().enumerate() {
        if let Some(path) = machine_path(line) {
            findings.push(format!("line {}: `{path}` is a path of one machine", number + 1));
        }
    }
    if name.ends_with(".rs") && !name.contains("/golden/") && text.lines().count() > MOST_LINES {
        findings.push(format!(
            "is longer than {MOST_LINES} lines; look for the second concept in it"
        ));
    }
    if let Some(used) = impurity(name, &text) {
        findings.push(format!(
            "`{used}` has no place in a crate without input and output"
        ));
    }
    findings
}

/// A folder of some user or of this checkout.
fn machine_path(line: &str) -> Option<&str> {
    // Put together here, so that this file does not break its own rule.
    let users = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/Us", "ers/"),
    ];
    let own = root();
    let own = own.to_str().filter(|path| path.len() > 8);
    users
        .into_iter()
        .chain(own)
        .find_map(|path| line.find(path).map(|at| &line[at..at + path.len()]))
}

/// The first thing of the operating system that the code of a pure crate names, tests aside.
///
/// The wasm target has `std::net` and the like too; they only fail when they are called.
fn impurity(name: &str, text: &str) -> Option<&'static str> {
    const OUTSIDE: &[&str] = &[
        "std::env",
        "std::fs",
        "std::io",
        "std::net",
        "std::os",
        "std::process",
        "std::thread",
        "Instant::now",
        "SystemTime",
    ];
    let (folder, file) = name.strip_prefix("crates/")?.split_once("/src/")?;
    let is_pure = layers::PURE
        .iter()
        .any(|package| package.strip_prefix("punctual-") == Some(folder));
    let is_test = Path::new(file)
        .components()
        .any(|part| ["tests", "tests.rs"].iter().any(|test| part.as_os_str() == *test));
    if !is_pure || is_test || !file.ends_with(".rs") {
        return None;
    }
    text.lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
        .find_map(|line| OUTSIDE.iter().copied().find(|outside| line.contains(outside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_and_endless_files_are_found() {
        assert_eq!(tracked_file("a.rs", b"fn main() {}\n"), Vec::<String>::new());
        assert_eq!(tracked_file("a", b"\x7fELF\0\0").len(), 1);
        let long = "//\n".repeat(MOST_LINES + 1);
        assert_eq!(tracked_file("a.rs", long.as_bytes()).len(), 1);
        assert_eq!(tracked_file("a.md", long.as_bytes()).len(), 0);
    }

    #[test]
    fn machine_paths_are_found() {
        let user = ["see /ho", "me/somebody/notes"].concat();
        assert_eq!(tracked_file("a.md", user.as_bytes()).len(), 1);
        let own = root().join("README.md").display().to_string();
        assert!(!tracked_file("a.md", own.as_bytes()).is_empty());
        assert_eq!(tracked_file("a.md", b"target/release/punctual").len(), 0);
    }

    #[test]
    fn pure_crates_name_no_operating_system() {
        let code = "use std::net::TcpStream;\n";
        assert_eq!(impurity("crates/giop/src/a.rs", code), Some("std::net"));
        assert_eq!(impurity("crates/orb/src/a.rs", code), None);
        assert_eq!(impurity("crates/giop/src/a/tests.rs", code), None);
        let tested = "fn a() {}\n#[cfg(test)]\nmod tests { use std::net::TcpStream; }\n";
        assert_eq!(impurity("crates/giop/src/a.rs", tested), None);
    }

    #[test]
    fn lints_of_the_workspace_are_recognised() {
        assert_eq!(takes_workspace_lints("[lints]\nworkspace = true\n"), Ok(true));
        assert_eq!(
            takes_workspace_lints("[lints.rust]\nunsafe_code = \"allow\"\n"),
            Ok(false)
        );
        assert_eq!(takes_workspace_lints("[package]\nname = \"a\"\n"), Ok(false));
    }

    #[test]
    fn rows_are_read() {
        let page = "| crate | why |\n|---|---|\n| `slab` | tables |\n| `clap` | `a` |\n";
        assert_eq!(rows(page).collect::<Vec<_>>(), ["slab", "clap"]);
    }
}
