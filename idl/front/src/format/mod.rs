//! Formatting of IDL: one style for indentation, spaces and line breaks, with all comments kept.
//!
//! It works on the text as it stands, before preprocessing: directives stay as they are, and macros are not
//! expanded. Only white space changes, so a formatted file means the same.

mod layout;
mod pieces;

use std::fmt;

/// Why a text cannot be formatted: a comment or literal is not closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unclosed {
    /// Byte at which it begins.
    pub offset: usize,
    /// Line at which it begins, from 1.
    pub line: usize,
}

impl fmt::Display for Unclosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        write!(
            f,
            "line {line}: the comment or literal that begins here is not closed"
        )
    }
}

impl std::error::Error for Unclosed {}

/// Returns the text in the standard format: four spaces for each level, one declaration per line, at most one
/// empty line in a row. Lines longer than 100 columns are broken behind commas and in front of `raises` and
/// `context`; one without these, or with a comment behind its end, remains longer. Formatting twice changes nothing.
///
/// Directives, and lines with text that is no IDL (as between `#if 0` and `#endif`), stay as they are. So
/// does a whole text if the new one had other tokens, directives or comments for the compiler.
///
/// ```
/// let text = "module M{interface Valve:Device{void open(in   double part)raises(Stuck);};};";
/// let formatted = "\
/// module M {
///     interface Valve : Device {
///         void open(in double part) raises (Stuck);
///     };
/// };
/// ";
/// assert_eq!(punctual_idl::format(text)?, formatted);
/// # Ok::<(), punctual_idl::Unclosed>(())
/// ```
///
/// # Errors
/// A comment is not closed; or a string or a character, outside conditional directives.
pub fn format(text: &str) -> Result<String, Unclosed> {
    // A backslash at the end continues the line that follows.
    let ended = text.ends_with('\\').then(|| text.to_owned() + "\n");
    let ended = ended.as_deref().unwrap_or(text);
    let laid_out = |text: &str| pieces::split(text).map(|pieces| layout::lay_out(&pieces));
    let mut formatted = laid_out(ended).map_err(|offset| Unclosed {
        offset,
        line: text[..offset].matches('\n').count() + 1,
    })?;
    for _ in 0..ROUNDS {
        match laid_out(&formatted) {
            Ok(again) if again == formatted => {
                let is_same = pieces::meaning(&formatted) == pieces::meaning(text);
                return Ok(if is_same { formatted } else { text.to_owned() });
            }
            Ok(again) => formatted = again,
            Err(_) => break,
        }
    }
    Ok(text.to_owned())
}

/// Text that is not IDL can need several rounds until formatting changes nothing.
const ROUNDS: usize = 4;

#[cfg(test)]
mod tests;
