//! Rules for the files of the repository.

use std::path::Path;

use crate::{command::root, layers};

/// Returns the violations of a file of the repository; `name` is its path from the root.
pub fn tracked_file(name: &str, bytes: &[u8]) -> Vec<String> {
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
    if name.ends_with(".md") {
        let folder = root().join(name);
        let folder = folder.parent().unwrap_or(Path::new(""));
        let dead = links(&text).filter(|link| !folder.join(link).exists());
        findings.extend(dead.map(|link| format!("links to `{link}`, which is not there")));
    }
    if let Some(used) = impurity(name, &text) {
        findings.push(format!(
            "`{used}` has no place in a crate without input and output"
        ));
    }
    findings
}

/// The longest file that may be written by hand, in lines.
const MOST_LINES: usize = 900;
/// The largest file, in octets.
const MOST_OCTETS: usize = 1 << 20;

/// Links to files, without the place in them.
fn links(markdown: &str) -> impl Iterator<Item = &str> {
    markdown
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or(target))
        .filter(|target| {
            !target.is_empty() && !target.contains("://") && !target.contains(char::is_whitespace)
        })
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
        // Shorter ones could be anything.
        let is_telling = root().as_os_str().len() > 8;
        assert_eq!(!tracked_file("a.md", own.as_bytes()).is_empty(), is_telling);
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
    fn dead_links_are_found() {
        let page = "[a](README.md#top) [b](https://example.org/x) [c](#here) [d](gone.md)";
        assert_eq!(links(page).collect::<Vec<_>>(), ["README.md", "gone.md"]);
        assert_eq!(tracked_file("page.md", page.as_bytes()).len(), 1);
    }
}
