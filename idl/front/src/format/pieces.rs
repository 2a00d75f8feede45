//! The pieces of a text: tokens, comments and verbatim lines, and the line breaks between them.

use crate::lexer::{self, Lexeme, lex};

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
    /// A line for the preprocessor with those that continue it, or a line with text that is no IDL.
    Verbatim,
}

/// Splits a text as the compiler does; fails with the offset of a comment or literal that is not closed.
pub(super) fn split(text: &str) -> Result<Vec<Piece<'_>>, usize> {
    let mut splitter = Splitter {
        text,
        pieces: Vec::new(),
        breaks: 0,
        apart: true,
        conditionals: 0,
    };
    for line in lines(&lex(text)) {
        splitter.line(line)?;
    }
    Ok(splitter.pieces)
}

/// Returns what a change of white space leaves as it is: tokens and directives exactly, and comments without
/// the white space around their lines.
pub(super) fn meaning(text: &str) -> Vec<(lexer::Kind, String)> {
    let mut elements = Vec::new();
    for line in lines(&lex(text)) {
        let (line, directive) = split_directive(without_newline(line));
        for lexeme in line.iter().filter(|lexeme| lexeme.kind != lexer::Kind::Space) {
            let element = text_of(text, std::slice::from_ref(lexeme));
            elements.push((
                lexeme.kind,
                match lexeme.kind {
                    lexer::Kind::LineComment | lexer::Kind::BlockComment => element
                        .lines()
                        .map(|line| line.trim().to_owned() + "\n")
                        .collect(),
                    _ => element.to_owned(),
                },
            ));
        }
        if !directive.is_empty() {
            elements.push((lexer::Kind::Hash, text_of(text, directive).trim_end().to_owned()));
        }
    }
    elements
}

/// The lexical elements of each line; comments and continued lines are not divided.
fn lines(lexemes: &[Lexeme]) -> impl Iterator<Item = &[Lexeme]> {
    lexemes.split_inclusive(|lexeme| lexeme.kind == lexer::Kind::Newline)
}

fn without_newline(line: &[Lexeme]) -> &[Lexeme] {
    match line {
        [line @ .., last] if last.kind == lexer::Kind::Newline => line,
        _ => line,
    }
}

/// The comments in front of a directive, and the directive; or the whole line, and nothing.
fn split_directive(line: &[Lexeme]) -> (&[Lexeme], &[Lexeme]) {
    use lexer::Kind::{BlockComment, Hash, LineComment, Space};
    let first = line
        .iter()
        .position(|lexeme| !matches!(lexeme.kind, Space | LineComment | BlockComment));
    let hash = first.filter(|first| line[*first].kind == Hash);
    line.split_at(hash.unwrap_or(line.len()))
}

fn text_of<'t>(text: &'t str, lexemes: &[Lexeme]) -> &'t str {
    match lexemes {
        [first, .., last] => &text[first.start as usize..last.end as usize],
        [only] => &text[only.start as usize..only.end as usize],
        [] => "",
    }
}

struct Splitter<'t> {
    text: &'t str,
    pieces: Vec<Piece<'t>>,
    /// Line breaks since the last piece, and whether there is any white space.
    breaks: usize,
    apart: bool,
    /// Conditional directives that are open: what is between them need not be IDL.
    conditionals: usize,
}

impl<'t> Splitter<'t> {
    fn line(&mut self, whole: &[Lexeme]) -> Result<(), usize> {
        use lexer::Kind::{Space, Unknown, UnterminatedComment};
        let line = without_newline(whole);
        let (tokens, directive) = split_directive(line);
        let is_quote = |lexeme: &Lexeme| {
            let text = text_of(self.text, std::slice::from_ref(lexeme));
            lexeme.kind == Unknown && text.starts_with(['\'', '"'])
        };
        let unclosed = line
            .iter()
            .find(|lexeme| lexeme.kind == UnterminatedComment)
            .or_else(|| tokens.iter().find(|of| self.conditionals == 0 && is_quote(of)));
        if let Some(unclosed) = unclosed {
            return Err(unclosed.start as usize);
        }
        if tokens.iter().any(|lexeme| lexeme.kind == Unknown) {
            self.add(Kind::Verbatim, text_of(self.text, tokens));
        } else {
            for lexeme in tokens {
                match kind(lexeme.kind) {
                    Some(kind) => self.add(kind, text_of(self.text, std::slice::from_ref(lexeme))),
                    None => self.apart |= lexeme.kind == Space,
                }
            }
        }
        if !directive.is_empty() {
            self.directive(text_of(self.text, directive));
        }
        if line.len() < whole.len() {
            self.breaks += 1;
            self.apart = true;
        }
        Ok(())
    }

    fn directive(&mut self, text: &'t str) {
        let name = text.trim_start_matches('#').trim_start();
        if name.starts_with("if") {
            self.conditionals += 1;
        } else if name.starts_with("endif") {
            self.conditionals = self.conditionals.saturating_sub(1);
        }
        self.add(Kind::Verbatim, text);
    }

    fn add(&mut self, kind: Kind, text: &'t str) {
        // White space behind a backslash keeps the next line from continuing this one.
        let trimmed = text.trim_end();
        let text = if trimmed.ends_with('\\') { text } else { trimmed };
        self.pieces.push(Piece {
            kind,
            text,
            breaks: self.breaks,
            apart: self.apart,
        });
        (self.breaks, self.apart) = (0, false);
    }
}

/// Kind of the piece that an element is; `None`: it is white space.
fn kind(kind: lexer::Kind) -> Option<Kind> {
    Some(match kind {
        lexer::Kind::Space | lexer::Kind::Newline | lexer::Kind::End => return None,
        lexer::Kind::LineComment => Kind::LineComment,
        lexer::Kind::BlockComment | lexer::Kind::UnterminatedComment => Kind::BlockComment,
        lexer::Kind::Hash | lexer::Kind::Punctuation | lexer::Kind::Unknown => Kind::Punctuation,
        lexer::Kind::Word
        | lexer::Kind::Number
        | lexer::Kind::Char
        | lexer::Kind::WideChar
        | lexer::Kind::String
        | lexer::Kind::WideString => Kind::Word,
    })
}
