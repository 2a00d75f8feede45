//! The licences of everything that the program contains.

use std::{collections::BTreeSet, fs, path::Path};

use crate::{
    command,
    metadata::{Metadata, Package},
};

/// The licence texts of all packages that are linked into `punctual` for a target.
pub fn text(metadata: &Metadata, triple: &str) -> Result<String, String> {
    let arguments = [
        "tree",
        "--locked",
        "-p",
        "punctual-cli",
        "-e",
        "normal",
        "--target",
        triple,
    ];
    let format = ["--prefix", "none", "--format", "{p}"];
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let tree = command::output(&program, &[&arguments[..], &format].concat())?;
    let linked: BTreeSet<(&str, &str)> = tree.lines().filter_map(name_and_version).collect();
    let mut text = String::from(
        "This program contains the Rust standard library (Apache-2.0 OR MIT), the GNU C library \
         (LGPL-2.1-or-later; as the program's source is public, it can be linked with another one), \
         and these packages:\n",
    );
    let foreign = metadata.foreign();
    for package in foreign.filter(|it| linked.contains(&(&it.name, &it.version))) {
        text += &entry(package)?;
    }
    Ok(text)
}

/// Parses a line `serde v1.0.229 (proc-macro)`.
fn name_and_version(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

fn entry(package: &Package) -> Result<String, String> {
    let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let licence = package.license.as_deref().unwrap_or("no licence stated");
    let mut text = format!("\n==== {} {}: {licence}\n", package.name, package.version);
    let mut files: Vec<_> = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(failed)?;
    files.sort();
    for file in files.iter().filter(|file| file.is_file() && is_licence(file)) {
        let octets = fs::read(file).map_err(failed)?;
        text += &format!("\n{}\n", String::from_utf8_lossy(&octets).trim_end());
    }
    Ok(text)
}

fn is_licence(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().to_uppercase());
    let starts = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];
    name.is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_linked_package_has_its_licence() {
        let metadata = Metadata::read().unwrap();
        let text = text(&metadata, "x86_64-unknown-linux-gnu").unwrap();
        for linked in ["clap ", "rustix ", "serde_json "] {
            assert!(text.contains(&format!("\n==== {linked}")), "{linked} is missing");
        }
        assert!(text.contains("Permission is hereby granted"));
        for not_linked in ["loom ", "proptest ", "punctual-orb "] {
            assert!(
                !text.contains(&format!("\n==== {not_linked}")),
                "{not_linked} is not in the program"
            );
        }
    }

    #[test]
    fn lines_of_the_tree_are_read() {
        assert_eq!(
            name_and_version("serde v1.0.229 (proc-macro)"),
            Some(("serde", "1.0.229"))
        );
        assert_eq!(name_and_version(""), None);
    }
}
