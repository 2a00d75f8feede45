//! Rules for text: line length, the opening comment of each file, citations that readers can follow.

/// Returns what is wrong with the text of a file, whose name is its path from the root.
type Rule = fn(name: &str, text: &str) -> Option<String>;

const RULES: &[Rule] = &[
    long_line,
    opening,
    conflict_marker,
    super::size::long_function,
    super::fields::wide_struct,
    super::errors::raw_debug,
    number_of_paper,
    number_of_issue,
    super::prose::joined_rows,
    super::prose::fragment,
    super::prose::unknown_paper,
];

/// The longest line, in columns.
const MOST_COLUMNS: usize = 110;
/// The greatest length of the comment that opens a file, in lines.
const MOST_OPENING_LINES: usize = 5;

/// Checks one file; `name` is its path from the root.
pub fn findings<'a>(name: &'a str, text: &'a str) -> impl Iterator<Item = String> + use<'a> {
    RULES.iter().filter_map(move |rule| rule(name, text))
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

/// Lines that a merge writes around two versions of a text.
fn conflict_marker(_: &str, text: &str) -> Option<String> {
    let is_marker = |line: &str| {
        ["<<<<<<< ", "||||||| ", ">>>>>>> "]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    let line = text.lines().position(is_marker)?;
    Some(format!(
        "line {}: a merge has left a conflict; keep one version",
        line + 1
    ))
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
    fn conflicts_that_a_merge_has_left_are_found() {
        for mark in ["<", "|", ">"] {
            let text = format!("# Title\n{} main\n", mark.repeat(7));
            assert!(conflict_marker("a.md", &text).is_some(), "{text}");
        }
        for text in ["Title\n=======\n", "x <<<<<<< main\n", "<<<<<<<<\n"] {
            assert_eq!(conflict_marker("a.md", text), None, "{text}");
        }
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
}
