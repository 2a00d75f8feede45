//! Rule for the maps of the source code: the files and folders that they name exist.

use std::fs;

use crate::command::root;

/// Documents that tell a reader which file does what.
const MAPS: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Finds files and folders of Rust code that a map names and the repository does not have.
pub fn findings(tracked: &[&str]) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for map in MAPS {
        let text = fs::read_to_string(root().join(map)).map_err(|error| format!("{map}: {error}"))?;
        findings.extend(absent(&text, tracked).map(|finding| format!("{map}: {finding}")));
    }
    Ok(findings)
}

/// A path may leave out the folders above it, because a map states them once for a whole row.
fn absent(text: &str, tracked: &[&str]) -> impl Iterator<Item = String> {
    let named = text.lines().enumerate().flat_map(|(index, line)| {
        let quoted = line.split('`').skip(1).step_by(2);
        quoted.map(move |path| (index + 1, path))
    });
    let exists = move |path: &str| match path.strip_suffix('/') {
        Some(_) => tracked
            .iter()
            .any(|file| format!("/{file}").contains(&format!("/{path}"))),
        None => tracked
            .iter()
            .any(|file| format!("/{file}").ends_with(&format!("/{path}"))),
    };
    named
        .filter(|(_, path)| is_path(path))
        .filter(move |(_, path)| !exists(path))
        .map(|(line, path)| format!("line {line}: names `{path}`, which does not exist"))
}

fn is_path(text: &str) -> bool {
    let of_path = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    (text.ends_with(".rs") || text.ends_with('/')) && text.chars().all(of_path) && !text.starts_with("foo/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_that_do_not_exist_are_found() {
        let tracked = ["crates/orb/src/poa/builder.rs", "crates/orb/src/client/core.rs"];
        let text =
            "`poa/builder.rs`, `poa/`\n`builder.rs` and `client/route.rs`, `uilder.rs`, `pools/`, `/tmp`";
        let found: Vec<String> = absent(text, &tracked).collect();
        assert_eq!(
            found,
            [
                "line 2: names `client/route.rs`, which does not exist",
                "line 2: names `uilder.rs`, which does not exist",
                "line 2: names `pools/`, which does not exist",
            ]
        );
    }
}
