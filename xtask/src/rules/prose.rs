//! Rules for the prose of comments: tables, first words, keys of papers.

use std::{collections::BTreeSet, sync::LazyLock};

/// First words of doc comments that are fragments: they refer to a noun that is not there.
const FRAGMENTS: &[&str] = &[
    "Of",
    "Since",
    "Something",
    "Those",
    "To",
    "What",
    "Which",
    "Who",
    "Whoever",
    "Whose",
];

/// Rows of a table in a doc comment that were joined into one line, as line breakers do.
pub fn joined_rows(name: &str, text: &str) -> Option<String> {
    // A complete row may have an empty cell.
    let is_joined = |line: &str| {
        doc_comment(line)
            .is_some_and(|prose| prose.contains(" | | ") && !(prose.starts_with('|') && prose.ends_with('|')))
    };
    let line = is_code(name)
        .then(|| text.lines().position(is_joined))
        .flatten()?;
    Some(format!(
        "line {}: joins rows of a table; write one row per line",
        line + 1
    ))
}

/// Doc comments are noun phrases or sentences.
pub fn fragment(name: &str, text: &str) -> Option<String> {
    let mut before = None;
    let (line, word) = text.lines().enumerate().find_map(|(index, line)| {
        let prose = doc_comment(line);
        let is_first = before.is_none();
        before = prose;
        let word = prose?.split(|letter: char| !letter.is_alphabetic()).next()?;
        (is_first && FRAGMENTS.contains(&word)).then_some((index + 1, word))
    })?;
    is_code(name).then(|| {
        format!("line {line}: a doc comment begins with `{word}`; write a noun phrase or a sentence")
    })
}

/// Papers are cited by keys that docs/papers.md explains.
pub fn unknown_paper(_: &str, text: &str) -> Option<String> {
    static KNOWN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let page = include_str!("../../../docs/papers.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ["));
        rows.filter_map(|row| row.split_once(']').map(|(key, _)| key))
            .collect()
    });
    // A key may be divided between two lines of a comment.
    let lines = text
        .lines()
        .map(|line| line.trim_start().trim_start_matches(['/', '!']));
    let words = lines
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ");
    let key = words.split('[').skip(1).find_map(|rest| {
        let key = rest.split_once(']')?.0.trim_end_matches('\\');
        (is_key(key) && !KNOWN.contains(key)).then_some(key)
    })?;
    Some(format!("cites [{key}], which has no row in docs/papers.md"))
}

/// Returns whether the text is a name, a year, and at most one small letter.
fn is_key(text: &str) -> bool {
    let Some((name, year)) = text.rsplit_once(' ') else {
        return false;
    };
    let digits = year.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.chars().all(|letter| letter.is_alphabetic() || letter == '-')
        && year.len() - digits.len() <= 1
        && digits.len() == 4
        && digits.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_code(name: &str) -> bool {
    name.ends_with(".rs") && !name.contains("/golden/")
}

/// Returns the text of a line of a doc comment.
fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then(|| text.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_rows_are_found() {
        let joined = ["//! | A | `a`, `b`", "\n//! `c` |", " | B | `b` |\n"].concat();
        assert!(joined_rows("a.rs", &joined).is_some());
        let rows = ["//! | A | `a` |\n//! | B |", " | `b` |\n"].concat();
        assert_eq!(joined_rows("a.rs", &rows), None);
        assert_eq!(joined_rows("a.md", &joined), None);
    }

    #[test]
    fn fragments_are_found_at_the_beginning_of_a_comment() {
        for text in ["/// Of the lane.\nx", "x\n    /// Whose it is.", "//! Who waits."] {
            assert!(fragment("a.rs", text).is_some(), "{text}");
        }
        for text in [
            "/// CORBA priority of this lane.",
            "/// A sentence.\n/// Of it, the second line.",
            "/// Offers it.",
            "// Those that are left.",
        ] {
            assert_eq!(fragment("a.rs", text), None, "{text}");
        }
        assert_eq!(fragment("x/golden/a.rs", "/// Of the lane.\n"), None);
    }

    #[test]
    fn papers_without_a_row_are_found() {
        for text in [
            ["/// Source: [", "Nobody 1999]."].concat(),
            ["/// Source: \\[", "Nobody\n/// 1999b\\]."].concat(),
        ] {
            assert!(unknown_paper("a.rs", &text).is_some(), "{text}");
        }
        for text in ["[Pyarali 2002]", "\\[Tindell 1994a\\]", "[1990]", "[Reply 12]"] {
            assert_eq!(unknown_paper("a.rs", text), None, "{text}");
        }
    }
}
