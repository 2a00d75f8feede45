//! Import cycles: no cycle of imports extends beyond a file and its own submodules.

mod crate_files;
mod graph;
mod names;
mod tokens;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    command::root,
    metadata::{Metadata, Package},
};
use crate_files::CrateFiles;
use graph::Graph;

/// Crates that still have cycles, each with the number of files in its largest cycle. This list only shrinks.
const NOT_YET: &[(&str, usize)] = &[];

/// The folders of product crates.
const PRODUCT: &[&str] = &["crates", "idl", "services", "tools", "qualify"];

/// Prints every cycle with its imports; with names, those of these packages only.
pub fn run(names: &[&str]) -> Result<(), String> {
    let metadata = Metadata::read()?;
    let mut count = 0;
    for member in product_crates(&metadata) {
        if !names.is_empty() && !names.contains(&member.name.as_str()) {
            continue;
        }
        for cycle in cycles_of(&metadata, member)? {
            count += 1;
            println!("{cycle}\n{}", cycle.imports.join("\n"));
        }
    }
    match count {
        0 => {
            println!("no import cycle");
            Ok(())
        }
        _ => Err(format!("{count} import cycles")),
    }
}

/// Reports cycles of crates outside of [`NOT_YET`], and entries of that list that can be removed.
pub fn findings(metadata: &Metadata) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for member in product_crates(metadata) {
        let mut cycles = cycles_of(metadata, member)?;
        let largest = cycles.iter().map(|cycle| cycle.files.len()).max().unwrap_or(0);
        match NOT_YET.iter().find(|(name, _)| *name == member.name) {
            Some(_) if cycles.is_empty() => findings.push(format!(
                "{} has no import cycle; remove it from NOT_YET in xtask/src/cycles.rs",
                member.name
            )),
            Some((_, allowed)) => cycles.retain(|_| largest > *allowed),
            None => {}
        }
        findings.extend(cycles.iter().map(ToString::to_string));
    }
    let unknown = NOT_YET
        .iter()
        .filter(|(name, _)| product_crates(metadata).all(|member| member.name != *name));
    findings.extend(unknown.map(|(name, _)| format!("NOT_YET in xtask/src/cycles.rs: no crate `{name}`")));
    Ok(findings)
}

fn product_crates(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.members().filter(|member| {
        let folder = metadata.folder(member);
        PRODUCT.iter().any(|product| folder.starts_with(product))
    })
}

/// Files that import each other in a circle.
struct Cycle {
    package: String,
    /// Paths from the root of the workspace.
    files: Vec<String>,
    /// One line for each import inside the cycle.
    imports: Vec<String>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { package, files, .. } = self;
        write!(f, "import cycle of {} files in {package}:", files.len())?;
        files.iter().try_for_each(|file| write!(f, "\n      {file}"))
    }
}

fn cycles_of(metadata: &Metadata, member: &Package) -> Result<Vec<Cycle>, String> {
    let folder = metadata.folder(member);
    let mut cycles = Vec::new();
    for root_file in root_files(&root().join(folder))? {
        let files = CrateFiles::read(&root_file)?;
        let graph = Graph::of(&files);
        let name = |file: usize| {
            let path = &files.paths[file];
            path.strip_prefix(root()).unwrap_or(path).display().to_string()
        };
        for cycle in graph.cycles() {
            let import =
                |from: usize, to: usize, path: &str| format!("    {} -> {}: {path}", name(from), name(to));
            cycles.push(Cycle {
                package: member.name.clone(),
                files: cycle.iter().map(|file| name(*file)).collect(),
                imports: graph
                    .edges_within(&cycle)
                    .map(|(from, to, path)| import(from, to, path))
                    .collect(),
            });
        }
    }
    Ok(cycles)
}

/// The files at which the crates of a package start: library, main program, further programs.
fn root_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = vec![folder.join("src/lib.rs"), folder.join("src/main.rs")];
    if let Ok(programs) = fs::read_dir(folder.join("src/bin")) {
        for program in programs {
            let path = program.map_err(|error| error.to_string())?.path();
            files.push(if path.is_dir() { path.join("main.rs") } else { path });
        }
    }
    files.retain(|file| file.is_file());
    Ok(files)
}

#[cfg(test)]
mod tests;
