//! The pieces of a text: tokens, comments and directives, and the line breaks between them.

/// A piece of the text, without the white space around it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Piece<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    /// Line breaks in front of it.
    pub(super) breaks: usize,
    /// Whether white space, or the start of the text, is in front of it.
    pub(super) apart: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// Identifier, keyword, number or literal.
    Word,
    Punctuation,
    LineComment,
    BlockComment,
    /// A line for the preprocessor, with its continuation lines.
    Directive,
}

/// Splits a text; fails with the offset of a comment or literal that is not closed.
pub(super) fn split(text: &str) -> Result<Vec<Piece<'_>>, usize> {
    let mut pieces = Vec::new();
    let mut at = 0;
    let (mut breaks, mut apart) = (0, true);
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            breaks += usize::from(first == '\n');
            apart = true;
            at += first.len_utf8();
            continue;
        }
        let at_line_start = breaks > 0 || pieces.is_empty();
        let (kind, length) = piece(&text[at..], first, at_line_start).ok_or(at)?;
        let whole = &text[at..at + length];
        pieces.push(Piece {
            kind,
            text: whole.trim_end(),
            breaks,
            apart,
        });
        at += length;
        (breaks, apart) = (0, false);
    }
    Ok(pieces)
}

/// Kind and length of the first piece of a text; `None`: it is not closed.
fn piece(text: &str, first: char, at_line_start: bool) -> Option<(Kind, usize)> {
    if first == '#' && at_line_start {
        return Some((Kind::Directive, directive(text)));
    }
    if text.starts_with("//") {
        return Some((Kind::LineComment, text.find('\n').unwrap_or(text.len())));
    }
    if let Some(rest) = text.strip_prefix("/*") {
        return Some((Kind::BlockComment, rest.find("*/")? + 4));
    }
    if first == '"' || first == '\'' {
        return Some((Kind::Word, literal(text, first)?));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if is_word(first) {
        return Some((Kind::Word, word(text, is_word)));
    }
    let double = ["::", "<<", ">>"].iter().any(|double| text.starts_with(double));
    let length = if double { 2 } else { first.len_utf8() };
    Some((Kind::Punctuation, length))
}

/// Length of a directive with its continuation lines, which end in a backslash.
fn directive(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            return length - line.len() + line.trim_end_matches('\n').len();
        }
    }
    length
}

/// Length of a word; a number also contains its point and signed exponent, and a wide literal its quotes.
fn word(text: &str, is_word: impl Fn(char) -> bool) -> usize {
    let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
    if let ("L", Some(quote)) = (&text[..length], text[length..].chars().next())
        && (quote == '"' || quote == '\'')
    {
        return literal(&text[length..], quote).map_or(length, |quoted| length + quoted);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return length;
    }
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let mut length = length;
    loop {
        let next = text[length..].chars().next();
        let after_exponent = text[..length].ends_with(['e', 'E']) && !is_hexadecimal;
        let goes_on = match next {
            Some('.') => !text[..length].contains('.'),
            Some('+' | '-') => after_exponent,
            _ => false,
        };
        if !goes_on {
            return length;
        }
        let rest = &text[length + 1..];
        length += 1 + rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    }
}

/// Length of a literal with its quotes; `None`: it is not closed on its line.
fn literal(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (offset, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(offset + 1),
            _ => {}
        }
    }
    None
}
