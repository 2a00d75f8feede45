//! `punctual new --example`: an example of the checkout, with its sources unchanged, as a package of its own.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Copies an example of a checkout into a new folder. Only its `Cargo.toml` and the links of its README
/// change: entries inherited from the workspace are written out, with paths into the checkout.
pub fn copy(checkout: &Path, name: &str, folder: &Path) -> Result<(), String> {
    let all = checkout.join("examples");
    let example = find(&all, name)?;
    let read = |file: PathBuf| {
        fs::read_to_string(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
    };
    let workspace = read(checkout.join("Cargo.toml"))?;
    let manifest = standalone(&read(example.join("Cargo.toml"))?, &workspace, checkout)?;
    let failed = |error: std::io::Error| format!("{} cannot be written: {error}", folder.display());
    fs::create_dir(folder).map_err(failed)?;
    copy_folder(&example, folder).map_err(failed)?;
    relink(&folder.join("README.md"), checkout, &example).map_err(failed)?;
    fs::write(folder.join("Cargo.toml"), manifest).map_err(failed)
}

/// The example with this name, with or without its number.
fn find(all: &Path, name: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(all).map_err(|error| format!("{}: {error}", all.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let is_meant = |other: &&String| {
        let without_number = other.split_once('-').map_or("", |(_, rest)| rest);
        *other == name || without_number == name
    };
    let found = names.iter().find(is_meant);
    let found =
        found.ok_or_else(|| format!("there is no example `{name}`; there are {}", names.join(", ")))?;
    Ok(all.join(found))
}

/// Copies everything but the tests of the README, which belong to the checkout, and the manifest.
fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if name == "tests" || name == "target" || name == "Cargo.toml" {
            continue;
        }
        let to = to.join(name);
        if from.is_dir() {
            fs::create_dir(&to)?;
            copy_folder(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// Lets the links of a README to files that are not copied lead into the checkout.
fn relink(readme: &Path, checkout: &Path, example: &Path) -> std::io::Result<()> {
    let text = fs::read_to_string(readme)?
        .replace("](../../", &format!("]({}/", checkout.display()))
        .replace("](tests/", &format!("]({}/tests/", example.display()));
    fs::write(readme, text)
}

/// A manifest without reference to its workspace. Entries that only tests need are left out, with the tests.
fn standalone(manifest: &str, workspace: &str, checkout: &Path) -> Result<String, String> {
    let mut text = String::from("[workspace]\n\n");
    let mut is_left_out = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_left_out = line == "[lints]" || line == "[dev-dependencies]";
        }
        if is_left_out {
            continue;
        }
        match line.strip_suffix(".workspace = true") {
            // Matters of the checkout, not of the copy.
            Some("publish" | "license" | "repository") => {}
            Some(key) => text += &format!("{key} = {}\n", value_of(key, workspace, checkout)?),
            None => text += &format!("{line}\n"),
        }
    }
    Ok(text)
}

/// Value that the workspace's manifest states for a key. Its paths are relative to the checkout.
fn value_of(key: &str, workspace: &str, checkout: &Path) -> Result<String, String> {
    let start = format!("{key} = ");
    let value = workspace.lines().find_map(|line| line.strip_prefix(&start));
    let value = value.ok_or_else(|| format!("Cargo.toml of the checkout does not state `{key}`"))?;
    let Some((_, rest)) = value.split_once("path = \"") else {
        return Ok(value.to_owned());
    };
    let path = rest.split('"').next().unwrap_or_default();
    Ok(format!("{{ path = {:?} }}", checkout.join(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_stands_alone() {
        let workspace = "[workspace.package]\nedition = \"2024\"\n\n[workspace.dependencies]\n\
                         punctual = { path = \"crates/punctual\", version = \"0.1.0\" }\nslab = \"0.4\"\n";
        let manifest = "[package]\nname = \"hello\"\nedition.workspace = true\npublish.workspace = true\n\
                        license.workspace = true\n\n[lints]\nworkspace = true\n\n[dependencies]\n\
                        punctual.workspace = true\n\
                        slab.workspace = true\n\n[dev-dependencies]\nserde_json.workspace = true\n";
        let expected = "[workspace]\n\n[package]\nname = \"hello\"\nedition = \"2024\"\n\n[dependencies]\n\
                        punctual = { path = \"/src/crates/punctual\" }\nslab = \"0.4\"\n\n";
        assert_eq!(
            standalone(manifest, workspace, Path::new("/src")).as_deref(),
            Ok(expected)
        );
        let unknown = standalone("x.workspace = true", workspace, Path::new("/src"));
        assert!(unknown.unwrap_err().contains("does not state `x`"));
    }
}
