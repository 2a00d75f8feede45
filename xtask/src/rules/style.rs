//! Rules for text: line length, the opening comment of each file, citations that readers can follow.

use std::collections::BTreeMap;

/// A rule with the folders that do not follow it yet. Such a list only shrinks.
struct Rule {
    check: fn(name: &str, text: &str) -> Option<String>,
    not_yet: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule {
        check: long_line,
        not_yet: &[],
    },
    Rule {
        check: opening,
        not_yet: &[],
    },
    Rule {
        check: super::size::long_function,
        not_yet: &[],
    },
    Rule {
        check: super::fields::wide_struct,
        not_yet: &[],
    },
    Rule {
        check: number_of_paper,
        not_yet: &[],
    },
    Rule {
        check: number_of_issue,
        not_yet: &[],
    },
    Rule {
        check: super::prose::joined_rows,
        not_yet: &[],
    },
    Rule {
        check: super::prose::fragment,
        not_yet: &[],
    },
    Rule {
        check: super::prose::unknown_paper,
        not_yet: &[],
    },
];

/// The longest line, in columns.
const MOST_COLUMNS: usize = 110;
/// The greatest length of the comment that opens a file, in lines.
const MOST_OPENING_LINES: usize = 5;

/// Collects findings of all files, since a folder is removed from a list when it has no finding left.
#[derive(Default)]
pub struct Style {
    findings: Vec<String>,
    /// Rule and folder, with the number of findings.
    not_yet: BTreeMap<(usize, &'static str), usize>,
}

impl Style {
    /// Checks one file; `name` is its path from the root.
    pub fn file(&mut self, name: &str, text: &str) {
        for (index, rule) in RULES.iter().enumerate() {
            let Some(finding) = (rule.check)(name, text) else {
                continue;
            };
            match rule.not_yet.iter().find(|listed| **listed == folder(name)) {
                Some(listed) => *self.not_yet.entry((index, listed)).or_default() += 1,
                None => self.findings.push(format!("{name}: {finding}")),
            }
        }
    }

    /// All findings, with the entries of the lists that can be removed.
    pub fn findings(mut self) -> Vec<String> {
        for (index, rule) in RULES.iter().enumerate() {
            let clean = rule
                .not_yet
                .iter()
                .filter(|folder| !self.not_yet.contains_key(&(index, **folder)));
            self.findings.extend(clean.map(|folder| {
                format!("{folder} follows rule {index} of xtask/src/rules/style.rs; remove it from `not_yet`")
            }));
        }
        let left: usize = self.not_yet.values().sum();
        if left > 0 {
            println!("{left} findings in folders that do not follow a rule of style yet");
        }
        self.findings
    }
}

/// The folder that a list names: a package, a folder at the top, or `.`.
fn folder(name: &str) -> &str {
    const GROUPS: &[&str] = &[
        "crates", "examples", "idl", "qualify", "services", "tests", "tools",
    ];
    let Some((first, rest)) = name.split_once('/') else {
        return ".";
    };
    match rest.split_once('/') {
        Some((second, _)) if GROUPS.contains(&first) => &name[..first.len() + 1 + second.len()],
        _ => first,
    }
}

/// Text that is not written by hand: other programs' output that tests compare with.
fn is_recorded(name: &str) -> bool {
    name.contains("/golden/")
}

fn long_line(name: &str, text: &str) -> Option<String> {
    let is_code = name.ends_with(".rs");
    if is_recorded(name) || !(is_code || name.ends_with(".md")) {
        return None;
    }
    let mut is_block = false;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        is_block ^= !is_code && start.starts_with("```");
        let columns = line.chars().count();
        let comment = start.trim_start_matches(['/', '!', '-', '*']).trim_start();
        // Message texts stay in one piece, so that a search finds them.
        let is_string = is_code
            && ["\"", "b\"", "r\"", "r#\""]
                .iter()
                .any(|quote| start.starts_with(quote));
        let is_breakable = !(is_block
            || is_string
            || line.contains("](")
            || line.contains("://")
            || comment.starts_with('|'));
        if columns > MOST_COLUMNS && is_breakable {
            return Some(format!(
                "line {}: {columns} columns, at most {MOST_COLUMNS}",
                index + 1
            ));
        }
    }
    None
}

fn opening(name: &str, text: &str) -> Option<String> {
    // Examples in the documentation include such files, which must not open with an inner comment.
    let is_included = name.contains("/doc/");
    if !name.ends_with(".rs") || is_included || is_recorded(name) {
        return None;
    }
    // The documentation of a crate or folder may be longer.
    let is_overview = ["lib.rs", "mod.rs", "main.rs"]
        .iter()
        .any(|end| name.ends_with(end));
    let lines = text.lines().take_while(|line| line.starts_with("//!")).count();
    match lines {
        0 => Some("does not open with `//!` and the purpose of the file".to_owned()),
        1..=MOST_OPENING_LINES => None,
        _ if is_overview => None,
        _ => Some(format!(
            "opens with {lines} lines of `//!`, at most {MOST_OPENING_LINES}; move text to the items"
        )),
    }
}

/// Papers are cited as in docs/papers.md: author and year.
fn number_of_paper(_: &str, text: &str) -> Option<String> {
    (0..=4).find_map(|number| {
        let citation = format!("[S{number}]");
        let line = text.lines().position(|line| line.contains(&citation))?;
        Some(format!(
            "line {}: cites a paper by number; write author and year",
            line + 1
        ))
    })
}

fn number_of_issue(_: &str, text: &str) -> Option<String> {
    let names_issue = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.windows(2).any(|pair| {
            let word = pair[0]
                .trim_start_matches(|letter: char| !letter.is_alphabetic())
                .to_lowercase();
            let number = pair[1].trim_start_matches('#');
            (word == "issue" || word == "issues") && number.starts_with(|digit: char| digit.is_ascii_digit())
        })
    };
    let line = text.lines().position(names_issue)?;
    Some(format!(
        "line {}: names an issue by number; give the reason itself",
        line + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_found_where_they_can_be_broken() {
        let long = "word ".repeat(30);
        for (name, line) in [
            ("a.rs", format!("// {long}")),
            ("a.rs", format!("call({long});")),
            ("a.md", long.clone()),
        ] {
            assert!(long_line(name, &line).is_some(), "{line}");
        }
        for (name, line) in [
            ("a.rs", format!("    \"{long}\",")),
            ("a.rs", format!("// https://example.org/ {long}")),
            ("a.md", format!("| {long} |")),
            ("a.md", format!("```\n{long}\n```\n")),
            ("a.toml", long.clone()),
            ("x/golden/a.rs", long.clone()),
        ] {
            assert_eq!(long_line(name, &line), None, "{line}");
        }
    }

    #[test]
    fn files_without_a_purpose_and_with_long_openings_are_found() {
        assert!(opening("a.rs", "use a::b;\n").is_some());
        assert_eq!(opening("a.rs", &"//! Adds.\n".repeat(5)), None);
        assert!(opening("a.rs", &"//! Adds.\n".repeat(6)).is_some());
        assert_eq!(opening("a/mod.rs", &"//! Adds.\n".repeat(6)), None);
        assert_eq!(opening("a.md", "# Title\n"), None);
    }

    #[test]
    fn numbers_of_papers_and_issues_are_found() {
        let paper = ["as in [S", "2] section 2"].concat();
        assert!(number_of_paper("a.md", &paper).is_some());
        assert_eq!(number_of_paper("a.md", "as in [Pyarali 2002] section 2"), None);
        for text in [
            ["the limit of (Issue", " 4)"].concat(),
            ["issues", " #12"].concat(),
        ] {
            assert!(number_of_issue("a.rs", &text).is_some(), "{text}");
        }
        assert_eq!(number_of_issue("a.rs", "an issue of 4 lanes; tissue 5"), None);
    }

    #[test]
    fn folders_are_packages_or_stand_at_the_top() {
        assert_eq!(folder("crates/orb/src/lib.rs"), "crates/orb");
        assert_eq!(folder("crates/clippy.toml"), "crates");
        assert_eq!(folder("docs/simulation/model.toml"), "docs");
        assert_eq!(folder("README.md"), ".");
    }
}
