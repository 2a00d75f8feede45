//! Text of generated tokens, without parsing them: an item, statement, field or match arm starts a line, and
//! long lists in parentheses have a line for each element.

use std::fmt::Write as _;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Columns from which the list in parentheses is divided.
const WIDTH: usize = 110;

/// Prints the items of a file, each with `attribute` behind its own ones.
pub fn file(tokens: TokenStream, attribute: &str) -> String {
    let mut flat = Flat::default();
    flat.stream(tokens);
    let mut printer = Printer {
        flat: &flat,
        text: String::with_capacity(2 * flat.text.len()),
        indent: 0,
        line: 0,
        last: Last::Start,
    };
    printer.lines(0, flat.tokens.len(), Some(attribute));
    printer.text
}

/// Tokens in one list, with the ends of groups.
#[derive(Default)]
struct Flat {
    tokens: Vec<Token>,
    /// Texts of all tokens, one after the other.
    text: String,
}

struct Token {
    kind: Kind,
    /// Where its text begins in [`Flat::text`].
    start: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// An identifier that is no keyword, a literal.
    Operand,
    /// A keyword behind which an expression or a type follows.
    Keyword,
    /// `'a` without the quote.
    Lifetime,
    /// One or several punctuation characters.
    Operator,
    /// The begin of a group, with the index of its end, and whether it contains a comma.
    Open(Delimiter, usize, bool),
    Close,
}

impl Flat {
    fn stream(&mut self, tokens: TokenStream) {
        let mut is_joint = false;
        for tree in tokens {
            let start = self.text.len();
            let was_joint = std::mem::take(&mut is_joint);
            let kind = match tree {
                TokenTree::Group(group) => {
                    let (delimiter, inner) = (group.delimiter(), group.stream());
                    // The only owner of a stream takes its tokens without copies.
                    drop(group);
                    match delimiter {
                        Delimiter::None => self.stream(inner),
                        _ => self.group(delimiter, inner),
                    }
                    continue;
                }
                TokenTree::Punct(punct) => {
                    is_joint = punct.spacing() == Spacing::Joint;
                    self.text.push(punct.as_char());
                    if was_joint && punct.as_char() != '\'' {
                        continue;
                    }
                    Kind::Operator
                }
                TokenTree::Literal(literal) => {
                    let _ = write!(self.text, "{literal}");
                    Kind::Operand
                }
                TokenTree::Ident(ident) => {
                    let _ = write!(self.text, "{ident}");
                    match &self.text[start..] {
                        _ if was_joint => Kind::Lifetime,
                        word if KEYWORDS.contains(&word) => Kind::Keyword,
                        _ => Kind::Operand,
                    }
                }
            };
            self.tokens.push(Token { kind, start });
        }
    }

    fn group(&mut self, delimiter: Delimiter, inner: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Brace => ('{', '}'),
            Delimiter::Bracket => ('[', ']'),
            _ => ('(', ')'),
        };
        let (at, start) = (self.tokens.len(), self.text.len());
        self.text.push(open);
        self.tokens.push(Token {
            kind: Kind::Close,
            start,
        });
        self.stream(inner);
        let end = self.tokens.len();
        let mut next = at + 1;
        let mut has_comma = false;
        while next < end {
            has_comma |= self.is(next, ",");
            next = self.after(next);
        }
        self.tokens[at].kind = Kind::Open(delimiter, end, has_comma);
        let start = self.text.len();
        self.text.push(close);
        self.tokens.push(Token {
            kind: Kind::Close,
            start,
        });
    }

    fn text(&self, at: usize) -> &str {
        let end = self.tokens.get(at + 1).map_or(self.text.len(), |next| next.start);
        &self.text[self.tokens[at].start..end]
    }

    fn is(&self, at: usize, text: &str) -> bool {
        at < self.tokens.len() && self.text(at) == text
    }

    /// The token behind this one, or behind the group that it begins.
    fn after(&self, at: usize) -> usize {
        match self.tokens[at].kind {
            Kind::Open(_, end, _) => end + 1,
            _ => at + 1,
        }
    }

    /// Columns that these tokens take in one line, about.
    fn width(&self, from: usize, to: usize) -> usize {
        let end = self.tokens.get(to).map_or(self.text.len(), |token| token.start);
        end - self.tokens[from].start + (to - from) / 3
    }
}

/// Preceding element of the line.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// Nothing, or what needs no space behind it.
    Start,
    /// An expression that can be the left side of an operator.
    Operand,
    /// A keyword or an operator with a space behind it.
    Spaced,
    /// `|` before the parameters of a closure, and these.
    Closure,
}

struct Printer<'f> {
    flat: &'f Flat,
    text: String,
    indent: usize,
    /// Where the line begins in `text`.
    line: usize,
    last: Last,
}

impl Printer<'_> {
    /// Prints tokens that are not in a group of one line. The first token of an item follows its attributes,
    /// and `attribute`.
    fn lines(&mut self, from: usize, to: usize, attribute: Option<&str>) {
        let mut at = from;
        let mut angles = 0_usize;
        let mut starts_item = true;
        while at < to {
            if starts_item && self.flat.is(at, "#") {
                at = self.attribute(at);
                continue;
            }
            if let Some(attribute) = attribute.filter(|_| starts_item) {
                self.text.push_str(attribute);
                self.new_line();
            }
            let next = self.flat.after(at);
            self.token(at);
            angles = self.angles(at, angles);
            starts_item = match self.flat.tokens[at].kind {
                Kind::Open(Delimiter::Brace, ..) => next < to && self.starts_item(next),
                Kind::Operator => match self.flat.text(at) {
                    ";" => true,
                    "," => angles == 0 && attribute.is_none(),
                    _ => false,
                },
                _ => false,
            };
            at = next;
            if starts_item && at < to {
                self.new_line();
                angles = 0;
            }
        }
        if to == self.flat.tokens.len() {
            self.text.push('\n');
        }
    }

    /// Whether the token behind a group in braces begins the next item or statement.
    fn starts_item(&self, at: usize) -> bool {
        match self.flat.tokens[at].kind {
            Kind::Operand | Kind::Lifetime | Kind::Open(..) => true,
            Kind::Keyword => !matches!(self.flat.text(at), "else" | "as" | "in"),
            Kind::Operator => matches!(self.flat.text(at), "#" | "::" | "<" | "*" | "&" | "'"),
            Kind::Close => false,
        }
    }

    /// Depth of generic arguments behind a token.
    fn angles(&self, at: usize, depth: usize) -> usize {
        match self.flat.text(at) {
            "<" => depth + 1,
            ">" => depth.saturating_sub(1),
            ">>" => depth.saturating_sub(2),
            ";" | "=>" => 0,
            _ => depth,
        }
    }

    /// Prints an attribute in its own line, documentation as a comment; returns the token behind it.
    fn attribute(&mut self, at: usize) -> usize {
        let (doc, text) = (at + 2, at + 4);
        let is_doc = self.flat.is(doc, "doc") && self.flat.is(at + 3, "=");
        let comment = is_doc.then(|| comment(self.flat.text(text))).flatten();
        if let Some(comment) = comment {
            self.text.push_str("///");
            self.text.push_str(&comment);
        } else {
            self.token(at);
            self.token(at + 1);
        }
        self.new_line();
        self.flat.after(at + 1)
    }

    fn token(&mut self, at: usize) {
        let flat = self.flat;
        let text = flat.text(at);
        match flat.tokens[at].kind {
            Kind::Open(delimiter, end, has_comma) => self.group(at, delimiter, end, has_comma),
            Kind::Close => {}
            Kind::Operator => self.operator(text),
            kind => {
                let needs_space = match self.last {
                    Last::Start => false,
                    Last::Operand | Last::Spaced => kind != Kind::Lifetime,
                    Last::Closure => self.text.ends_with(char::is_alphanumeric),
                };
                self.word(text, needs_space);
                self.last = match (kind, self.last) {
                    (_, Last::Closure) => Last::Closure,
                    (Kind::Operand, _) => Last::Operand,
                    _ => Last::Spaced,
                };
            }
        }
    }

    fn word(&mut self, text: &str, space: bool) {
        if space && self.text.len() > self.line && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    fn operator(&mut self, text: &str) {
        let is_spaced = self.last == Last::Spaced;
        let behind_operand = self.last == Last::Operand;
        let in_closure = self.last == Last::Closure;
        let (before, last) = match text {
            "|" if in_closure => (false, Last::Spaced),
            "|" if !behind_operand => (is_spaced, Last::Closure),
            _ if in_closure => (false, Last::Closure),
            "," | ";" | ":" => (false, Last::Spaced),
            "::" | "." | ".." | "..=" | "!" => (is_spaced, Last::Start),
            "?" => (is_spaced, Last::Operand),
            "<" => (is_spaced && !self.ends_with_introducer(), Last::Start),
            ">" | ">>" => (false, Last::Operand),
            "'" | "#" => (is_spaced || behind_operand, Last::Start),
            "||" if !behind_operand => (is_spaced, Last::Spaced),
            "&" | "*" | "-" | "&&" | "<<" if !behind_operand => (is_spaced, Last::Start),
            _ => (true, Last::Spaced),
        };
        self.word(text, before);
        self.last = last;
    }

    /// Whether the word before introduces generic parameters.
    fn ends_with_introducer(&self) -> bool {
        self.text.ends_with("impl") || self.text.ends_with("for")
    }

    fn group(&mut self, at: usize, delimiter: Delimiter, end: usize, has_comma: bool) {
        let flat = self.flat;
        let last = self.last;
        let space = last == Last::Spaced || delimiter == Delimiter::Brace && last == Last::Operand;
        self.word(flat.text(at), space);
        self.last = Last::Start;
        let column = 4 * self.indent + self.text.len() - self.line;
        if delimiter == Delimiter::Brace && end > at + 1 {
            self.divided(|this| this.lines(at + 1, end, None));
        } else if has_comma && column + flat.width(at, end) > WIDTH {
            self.divided(|this| this.elements(at + 1, end));
        } else {
            self.row(at + 1, end);
        }
        self.text.push_str(flat.text(end));
        self.last = if last == Last::Closure {
            last
        } else {
            Last::Operand
        };
    }

    fn row(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            self.token(at);
            at = self.flat.after(at);
        }
    }

    /// Prints a list with a line for each element.
    fn elements(&mut self, from: usize, to: usize) {
        let mut at = from;
        let mut angles = 0;
        while at < to {
            self.token(at);
            angles = self.angles(at, angles);
            let is_end = self.flat.is(at, ",") && angles == 0;
            at = self.flat.after(at);
            if is_end && at < to {
                self.new_line();
            }
        }
    }

    /// Prints the contents of a group in lines of their own.
    fn divided(&mut self, contents: impl FnOnce(&mut Self)) {
        self.indent += 1;
        self.new_line();
        contents(self);
        self.indent -= 1;
        self.new_line();
    }

    fn new_line(&mut self) {
        self.text.push('\n');
        self.line = self.text.len() + 4 * self.indent;
        self.text.extend(std::iter::repeat_n(' ', 4 * self.indent));
        self.last = Last::Start;
    }
}

/// Text of a documentation comment; `None` if the literal is better printed as it is.
fn comment(literal: &str) -> Option<String> {
    let (is_raw, text) = match literal.strip_prefix('r') {
        Some(raw) => (true, raw),
        None => (false, literal),
    };
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    if !(text.is_empty() || text.starts_with(' ')) {
        return None;
    }
    let mut comment = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        comment.push(match letter {
            '\\' if !is_raw => letters
                .next()
                .filter(|escaped| matches!(escaped, '"' | '\\' | '\''))?,
            '\n' | '\r' => return None,
            _ => letter,
        });
    }
    Some(comment)
}

/// Words that are followed by an operand rather than an operator.
const KEYWORDS: &[&str] = &[
    "as", "dyn", "else", "for", "if", "impl", "in", "let", "match", "move", "mut", "ref", "return", "use",
    "where", "while",
];

#[cfg(test)]
mod tests;
