//! Formatting of IDL: one style for indentation, spaces and line breaks, with all comments kept.
//!
//! It works on the text as it stands, before preprocessing: directives stay as they are, and macros are not
//! expanded. Only white space changes, so a formatted file means the same.

mod layout;
mod pieces;

use std::fmt;

use pieces::Piece;

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

/// Returns the text in the standard format: four spaces for each level, one declaration per line, at most
/// 100 columns where parameters can be broken, at most one empty line in a row. Formatting twice changes
/// nothing.
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
/// A comment, a string or a character is not closed.
pub fn format(text: &str) -> Result<String, Unclosed> {
    let pieces = pieces::split(text).map_err(|offset| Unclosed {
        offset,
        line: text[..offset].matches('\n').count() + 1,
    })?;
    let formatted = layout::lay_out(&pieces);
    // Text that is not IDL, such as `#`, may have another meaning on other lines: it stays unchanged.
    let is_same = pieces::split(&formatted).is_ok_and(|after| {
        let words = |of: &[Piece<'_>]| {
            of.iter()
                .map(|piece| (piece.kind, squeezed(piece.text)))
                .collect::<Vec<_>>()
        };
        words(&pieces) == words(&after)
    });
    Ok(if is_same { formatted } else { text.to_owned() })
}

/// Returns a text whose white space does not count.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests;
