//! House rules that no compiler checks.

mod documented;
mod errors;
mod fields;
mod files;
mod named_files;
mod prose;
mod published;
mod size;
mod style;
mod targets;

use std::{collections::BTreeSet, fs};

use serde::Deserialize;

use crate::{
    command::{self, root},
    cycles, layers, licences,
    metadata::Metadata,
};

/// Checks every rule and reports everything that breaks one.
pub fn check(metadata: &Metadata) -> Result<(), String> {
    let mut findings = layers::upward_imports(metadata)?;
    findings.extend(cycles::findings(metadata)?);
    findings.extend(targets::findings(metadata)?);
    findings.extend(documented::findings()?);
    findings.extend(published::findings(metadata)?);
    lints(metadata, &mut findings)?;
    licences_of(metadata, &mut findings)?;
    explained(metadata, &mut findings)?;
    let files = command::output("git", &["ls-files", "-z"])?;
    let tracked: Vec<&str> = files.split('\0').filter(|name| !name.is_empty()).collect();
    findings.extend(named_files::findings(&tracked)?);
    let mut seen = 0;
    for name in tracked {
        // A file that is deleted and not committed yet is still listed.
        let Ok(bytes) = fs::read(root().join(name)) else {
            continue;
        };
        seen += 1;
        let text = String::from_utf8_lossy(&bytes);
        let found = style::findings(name, &text).chain(files::tracked_file(name, &bytes));
        findings.extend(found.map(|finding| format!("{name}: {finding}")));
    }
    if findings.is_empty() {
        println!("{seen} files and {} packages checked", metadata.packages.len());
        Ok(())
    } else {
        Err(format!("\n  {}", findings.join("\n  ")))
    }
}

/// Folders in which `unsafe` may be written.
const MAY_BE_UNSAFE: &[&str] = &["crates/os", "qualify/system"];

/// Every package is under the lints of the workspace, which forbid `unsafe`, or under such a lint of its own;
/// the compiler does the rest.
fn lints(metadata: &Metadata, findings: &mut Vec<String>) -> Result<(), String> {
    for member in metadata.members() {
        let folder = metadata.folder(member).to_string_lossy();
        let text = fs::read_to_string(&member.manifest_path).map_err(|error| format!("{folder}: {error}"))?;
        if !MAY_BE_UNSAFE.contains(&&*folder) && !has_lints(&text)? {
            findings.push(format!(
                "{folder}/Cargo.toml: `[lints] workspace = true` is missing, or outside the workspace \
                 `unsafe_code = \"forbid\"` of `[lints.rust]`, which keeps `unsafe` in {}",
                MAY_BE_UNSAFE.join(" and ")
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

fn has_lints(manifest: &str) -> Result<bool, String> {
    #[derive(Deserialize)]
    struct Manifest {
        lints: Option<Lints>,
    }
    #[derive(Deserialize)]
    struct Lints {
        #[serde(default)]
        workspace: bool,
        #[serde(default)]
        rust: toml::Table,
    }
    let manifest: Manifest = toml::from_str(manifest).map_err(|error| error.to_string())?;
    let forbids = |lints: &Lints| lints.rust.get("unsafe_code").and_then(|it| it.as_str()) == Some("forbid");
    Ok(manifest
        .lints
        .is_some_and(|lints| lints.workspace || forbids(&lints)))
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
                "{PAGE}: no row states why {} needs `{name}`",
                users.join(", ")
            ));
        }
    }
    for name in rows.into_iter().filter(|name| !direct.contains_key(name)) {
        findings.push(format!("{PAGE}: `{name}` has a row, but no package uses it"));
    }
    Ok(())
}

/// Names in backquotes in the first column of the tables.
fn rows(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_against_unsafe_code_are_recognised() {
        assert_eq!(has_lints("[lints]\nworkspace = true\n"), Ok(true));
        assert_eq!(has_lints("[lints.rust]\nunsafe_code = \"forbid\"\n"), Ok(true));
        assert_eq!(has_lints("[lints.rust]\nunsafe_code = \"allow\"\n"), Ok(false));
        assert_eq!(has_lints("[package]\nname = \"a\"\n"), Ok(false));
    }

    #[test]
    fn rows_are_read() {
        let page = "| crate | why |\n|---|---|\n| `slab` | tables |\n| `clap` | `a` |\n";
        assert_eq!(rows(page).collect::<Vec<_>>(), ["slab", "clap"]);
    }
}
