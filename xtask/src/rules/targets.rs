//! Rule for the targets of packages: those without tests are no test programs, and no other is left out.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    command::root,
    metadata::{Metadata, Package, Target},
};

/// Compares `test` of each library and program in its Cargo.toml with its sources.
pub fn findings(metadata: &Metadata) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for member in metadata.members() {
        for target in member
            .targets
            .iter()
            .filter(|target| target.is_library_or_program())
        {
            let tested = first_with_tests(&sources(member, target)?)?;
            let name = format!(
                "{}/Cargo.toml: `{}`",
                metadata.folder(member).display(),
                target.name
            );
            findings.extend(finding(target.test, tested.as_deref()).map(|what| format!("{name} {what}")));
        }
    }
    Ok(findings)
}

fn finding(is_tested: bool, source: Option<&Path>) -> Option<String> {
    match (is_tested, source) {
        (true, None) => Some("has no tests; `test = false` saves the program that runs none".into()),
        (false, Some(source)) => Some(format!(
            "has `test = false`, and nothing runs the tests in {}",
            source.strip_prefix(root()).unwrap_or(source).display()
        )),
        _ => None,
    }
}

/// The files of a target: those below its folder that are not below another target's.
pub(super) fn sources(package: &Package, target: &Target) -> Result<Vec<PathBuf>, String> {
    let roots: Vec<&Path> = package
        .targets
        .iter()
        .map(|other| other.src_path.as_path())
        .collect();
    let root = &target.src_path;
    let is_root_of_folder = ["lib.rs", "main.rs"].iter().any(|name| root.ends_with(name));
    // `bin/a.rs` has its modules in `bin/a`.
    let folder = match is_root_of_folder {
        true => root.parent().unwrap_or(root).to_path_buf(),
        false => root.with_extension(""),
    };
    let mut found = vec![root.clone()];
    collect(&folder, &roots, &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, roots: &[&Path], found: &mut Vec<PathBuf>) -> Result<(), String> {
    if !folder.is_dir() {
        return Ok(());
    }
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() && !path.ends_with("src/bin") {
            collect(&path, roots, found)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") && !roots.contains(&path.as_path()) {
            found.push(path);
        }
    }
    Ok(())
}

fn first_with_tests(sources: &[PathBuf]) -> Result<Option<PathBuf>, String> {
    for source in sources {
        let text = fs::read_to_string(source).map_err(|error| format!("{}: {error}", source.display()))?;
        if has_test(&text) {
            return Ok(Some(source.clone()));
        }
    }
    Ok(None)
}

/// Returns whether a line is the attribute of a test, also inside a macro.
fn has_test(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(TEST))
}

/// Put together here, so that it is not found in a text of this file.
const TEST: &str = concat!("#[te", "st]");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_tests_and_programs_without_tests_are_found() {
        let source = Path::new("src/a.rs");
        assert_eq!(finding(true, Some(source)), None);
        assert_eq!(finding(false, None), None);
        assert!(finding(true, None).unwrap().contains("`test = false` saves"));
        assert!(
            finding(false, Some(source))
                .unwrap()
                .contains("the tests in src/a.rs")
        );
    }

    #[test]
    fn tests_are_recognised() {
        for text in ["#[test]\nfn a() {}", "proptest! {\n    #[test]\n    fn a() {}\n}"] {
            assert!(has_test(text), "{text}");
        }
        for text in ["/// #[test]\nfn a() {}", "#[cfg(test)]\nmod tests;"] {
            assert!(!has_test(text), "{text}");
        }
    }

    #[test]
    fn sources_of_a_program_are_its_own() {
        let metadata = Metadata::read().unwrap();
        let member = metadata
            .members()
            .find(|member| member.name == "punctual-footprint");
        let member = member.unwrap();
        let roots: Vec<&PathBuf> = member.targets.iter().map(|target| &target.src_path).collect();
        assert!(roots.len() > 2, "{roots:?}");
        for target in member
            .targets
            .iter()
            .filter(|target| target.is_library_or_program())
        {
            let own = sources(member, target).unwrap();
            let roots_of_own: Vec<&&PathBuf> = roots.iter().filter(|root| own.contains(root)).collect();
            assert_eq!(roots_of_own, [&&target.src_path]);
        }
        let xtask = metadata.members().find(|member| member.name == "xtask").unwrap();
        let own = sources(xtask, &xtask.targets[0]).unwrap();
        assert!(
            own.iter().any(|source| source.ends_with("src/rules/targets.rs")),
            "{own:?}"
        );
    }
}
