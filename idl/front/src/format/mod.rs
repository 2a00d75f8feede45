//! Formatting of IDL: one style for indentation, spaces and line breaks, with all comments kept.
//!
//! It works on the text as it stands, before preprocessing: directives stay as they are, and macros are not
//! expanded. Only white space changes, so a formatted file means the same.

mod layout;
mod pieces;

use std::fmt;

/// Why a text is not formatted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unformatted {
    /// A comment or literal is not closed.
    Unclosed {
        /// Line at which it begins, from 1.
        line: usize,
    },
    /// The tokens, directives or comments would be others: the text is no IDL.
    Ambiguous,
}

impl fmt::Display for Unformatted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclosed { line } => write!(
                f,
                "line {line}: the comment or literal that begins here is not closed"
            ),
            Self::Ambiguous => f.write_str(
                "not formatted, because tokens, directives or comments would change; `punctual idl check` \
                 shows what is not IDL",
            ),
        }
    }
}

impl std::error::Error for Unformatted {}

/// Returns the text in the standard format: four spaces for each level, one declaration per line, at most one
/// empty line in a row. Lines longer than 100 columns are broken behind commas and in front of `raises` and
/// `context`; one without these, or with a comment behind its end, remains longer. Formatting twice changes
/// nothing.
///
/// Directives, and lines with text that is no IDL (as between `#if 0` and `#endif`), stay as they are. So do
/// a byte order mark and the kind of line ends: all lines end as the first one does.
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
/// # Ok::<(), punctual_idl::Unformatted>(())
/// ```
///
/// # Errors
/// [`Unformatted::Unclosed`]: a comment; or a string or a character, outside conditional directives.
/// [`Unformatted::Ambiguous`]: the new text would have other tokens, directives or comments for the compiler.
pub fn format(text: &str) -> Result<String, Unformatted> {
    let unmarked = text.strip_prefix(BYTE_ORDER_MARK);
    let lines = unmarked.unwrap_or(text);
    let formatted = format_lines(&lines.replace("\r\n", "\n"))?;
    let first = lines.find('\n').map(|end| &lines[..end]);
    let formatted = match first.is_some_and(|line| line.ends_with('\r')) {
        true => formatted.replace('\n', "\r\n"),
        false => formatted,
    };
    let mark = unmarked.map_or("", |_| BYTE_ORDER_MARK);
    Ok([mark, &formatted].concat())
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Formats text whose lines end with a line feed.
fn format_lines(text: &str) -> Result<String, Unformatted> {
    // A backslash at the end continues the line that follows.
    let ended = text.ends_with('\\').then(|| text.to_owned() + "\n");
    let laid_out = |text: &str| pieces::split(text).map(|pieces| layout::lay_out(&pieces));
    let mut formatted =
        laid_out(ended.as_deref().unwrap_or(text)).map_err(|offset| Unformatted::Unclosed {
            line: text[..offset].matches('\n').count() + 1,
        })?;
    for _ in 0..ROUNDS {
        let again = laid_out(&formatted).map_err(|_| Unformatted::Ambiguous)?;
        if again == formatted {
            let is_same = pieces::meaning(&formatted) == pieces::meaning(text);
            return is_same.then_some(formatted).ok_or(Unformatted::Ambiguous);
        }
        formatted = again;
    }
    Err(Unformatted::Ambiguous)
}

/// Text that is not IDL can need several rounds until formatting changes nothing.
const ROUNDS: usize = 4;

#[cfg(test)]
mod tests;
