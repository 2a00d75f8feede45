//! Rule for the crates that are published: what they depend on is published before them, and what they
//! compile lies in their folders.

mod includes;

use std::{collections::BTreeMap, fs};

use super::targets;
use crate::{
    command::root,
    metadata::{Kind, Metadata, Package},
    test::SEPARATE_WORKSPACES,
};

/// Checks every crate that does not state `publish = false`, and the order of publication.
pub fn findings(metadata: &Metadata) -> Result<Vec<String>, String> {
    let mut packages: Vec<Package> = metadata.members().cloned().collect();
    for folder in SEPARATE_WORKSPACES {
        let separate = Metadata::without_dependencies(&format!("{folder}/Cargo.toml"))?.packages;
        packages.extend(separate.into_iter().filter(|it| it.name != LINK));
    }
    let mut findings = Vec::new();
    for package in packages.iter().filter(|package| package.is_published()) {
        let manifest = format!("{}/Cargo.toml", metadata.folder(package).display());
        let about = fields(package).chain(dependencies(package, &packages));
        findings.extend(about.map(|finding| format!("{manifest}: {finding}")));
        findings.extend(files(package)?);
    }
    let page = fs::read_to_string(root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let order = order(&page).ok_or_else(|| format!("{PAGE}: no block of text follows `{HEADING}`"))?;
    findings.extend(
        misplaced(&order, &packages)
            .into_iter()
            .map(|finding| format!("{PAGE}, \"Publishing\": {finding}")),
    );
    Ok(findings)
}

/// The page with the order, and the section: its first block of text lists the crates.
const PAGE: &str = "CONTRIBUTING.md";
const HEADING: &str = "\n## Publishing\n";

/// A dependency of members, which has been seen as such.
const LINK: &str = crate::test::LINK;

/// Fields that a registry requires.
fn fields(package: &Package) -> impl Iterator<Item = String> {
    let fields = [
        ("description", &package.description),
        ("license", &package.license),
        ("repository", &package.repository),
    ];
    fields
        .into_iter()
        .filter(|(_, value)| value.is_none())
        .map(|(name, _)| format!("`{name}` is missing, but the crate is published"))
}

/// Dependencies without which it could not be published or compiled.
fn dependencies(package: &Package, packages: &[Package]) -> impl Iterator<Item = String> {
    package.inner_dependencies().filter_map(|dependency| {
        let name = &dependency.name;
        let is_published = packages.iter().any(|it| it.name == *name && it.is_published());
        match (dependency.has_version(), dependency.kind) {
            // Cargo leaves it out.
            (false, Kind::Dev) => None,
            (false, _) => Some(format!("the dependency `{name}` has no version")),
            (true, Kind::Dev) if !is_published => Some(format!(
                "`{name}` is not published; without a version, Cargo leaves this dependency of tests out"
            )),
            (true, _) if !is_published => {
                Some(format!("it is published, but depends on `{name}`, which is not"))
            }
            _ => None,
        }
    })
}

/// Files that its library, programs and build script include from outside its folder. Tests may: nobody
/// compiles those of a published crate.
fn files(package: &Package) -> Result<Vec<String>, String> {
    let folder = package.manifest_path.parent().unwrap_or(&package.manifest_path);
    let mut findings = Vec::new();
    for target in &package.targets {
        if !target.is_library_or_program() && !target.is_build_script() {
            continue;
        }
        for source in targets::sources(package, target)? {
            let name = source
                .strip_prefix(root())
                .unwrap_or(&source)
                .display()
                .to_string();
            let text = fs::read_to_string(&source).map_err(|error| format!("{name}: {error}"))?;
            let outside = includes::outside(&text, &source, folder, target.is_build_script())
                .map_err(|error| format!("{name}: {error}"))?;
            findings.extend(outside.into_iter().map(|path| {
                format!("{name}: {path} lies outside the folder of a crate that is published; move it there")
            }));
        }
    }
    Ok(findings)
}

fn order(page: &str) -> Option<Vec<&str>> {
    let (_, section) = page.split_once(HEADING)?;
    let section = section
        .split_once("\n## ")
        .map_or(section, |(section, _)| section);
    let (_, block) = section.split_once("```text\n")?;
    Some(block.split_once("\n```")?.0.split_whitespace().collect())
}

/// Crates that the order leaves out, has twice, or has before what they depend on.
fn misplaced(order: &[&str], packages: &[Package]) -> Vec<String> {
    let mut findings = Vec::new();
    let mut places = BTreeMap::new();
    for (place, name) in order.iter().enumerate() {
        if places.insert(*name, place).is_some() {
            findings.push(format!("`{name}` is listed twice"));
        }
        if !packages.iter().any(|it| it.name == *name && it.is_published()) {
            findings.push(format!("`{name}` is not published"));
        }
    }
    for package in packages.iter().filter(|package| package.is_published()) {
        let Some(place) = places.get(&*package.name) else {
            findings.push(format!("`{}` is missing", package.name));
            continue;
        };
        let later = package
            .inner_dependencies()
            .filter(|dependency| dependency.has_version())
            .filter(|dependency| places.get(&*dependency.name).is_some_and(|other| other >= place));
        findings.extend(later.map(|dependency| {
            format!(
                "`{}` stands before `{}`, which it depends on",
                package.name, dependency.name
            )
        }));
    }
    findings
}

#[cfg(test)]
mod tests;
