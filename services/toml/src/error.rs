//! The error of reading a file.

use std::io;

use thiserror::Error;

/// A file that cannot be read or is invalid: where, which key, and what would be valid.
///
/// ```
/// use punctual_toml::{Span, parse};
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize)]
/// struct Activity {
///     period: Span,
/// }
///
/// let error = parse::<Activity>("radar.toml", "period = \"10\"\n", |_| Ok(())).unwrap_err();
/// assert!(error.to_string().starts_with("radar.toml:1:10: period: invalid time span `10`; "), "{error}");
/// ```
#[derive(Error)]
pub enum FileError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Read {
        /// Name of the file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The contents are invalid.
    #[error("{file}:{line}:{column}: \
             {}{problem}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
    Invalid {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Character in the line, from 1.
        column: usize,
        /// Key, as far as it is known: `activity[2].step[1].pool`, numbered from 1.
        key: String,
        /// The problem, and a valid alternative.
        problem: String,
    },
    /// The contents have several errors, in the order of the text; each has its line in the message.
    #[error("{}", lines(.0))]
    Several(Vec<Self>),
}

fn lines(errors: &[FileError]) -> String {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

punctual_types::debug_as_display!(FileError);

impl FileError {
    /// Creates the error with these, of which there is at least one.
    pub(crate) fn of_all(mut errors: Vec<Self>) -> Self {
        errors.sort_by_key(|error| match error {
            Self::Invalid { line, column, .. } => (*line, *column),
            Self::Read { .. } | Self::Several(_) => (0, 0),
        });
        match errors.len() {
            1 => errors.remove(0),
            _ => Self::Several(errors),
        }
    }

    /// Creates the error of an octet of the text.
    pub(crate) fn at(file: &str, text: &str, offset: usize, key: String, problem: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self::Invalid {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            key,
            problem,
        }
    }
}
