//! Lexical elements of one file, before preprocessing (OMG IDL 3.5, clause 7.2).

use logos::Logos;

/// A lexical element: its kind and the bytes it covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexeme {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// Splits a text. Every byte belongs to exactly one element; text without meaning is [`Kind::Unknown`].
pub(crate) fn lex(text: &str) -> Vec<Lexeme> {
    Kind::lexer(text)
        .spanned()
        .map(|(kind, range)| Lexeme {
            kind: kind.unwrap_or(Kind::Unknown),
            start: range.start as u32,
            end: range.end as u32,
        })
        .collect()
}

/// The kinds of lexical elements. Words become keywords or identifiers only after macros are expanded, and
/// numbers are checked when they are evaluated.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Blanks and line continuations.
    #[regex(r"([ \t\r\x0b\x0c\u{feff}]|\\\r?\n)+")]
    Space,
    #[token("\n")]
    Newline,
    #[regex(r"//([^\n\\]|\\\r?\n|\\)*", allow_greedy = true)]
    LineComment,
    #[token("/*", block_comment)]
    BlockComment,
    /// `/*` without its end; covers the rest of the file.
    UnterminatedComment,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex(r"0[xX][0-9A-Za-z_]*", priority = 10)]
    #[regex(
        r"(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+)([eE][+-]?[0-9]+)?[0-9A-Za-z_]*",
        priority = 9
    )]
    Number,
    #[regex(r"'([^'\\\n]|\\[^\n])*'")]
    Char,
    #[regex(r"L'([^'\\\n]|\\[^\n])*'")]
    WideChar,
    #[regex(r#""([^"\\\n]|\\[^\n]|\\\r?\n)*""#)]
    String,
    #[regex(r#"L"([^"\\\n]|\\[^\n]|\\\r?\n)*""#)]
    WideString,
    #[token("#")]
    #[token("##")]
    Hash,
    #[regex(r"::|<<|>>|&&|\|\||==|!=|<=|>=|[{}\[\]()<>:;,=+*/%|&^~@!?.-]")]
    Punctuation,
    /// Anything else, one character at a time.
    Unknown,
    /// The end of the input; made by the parser.
    End,
}

fn block_comment(lexer: &mut logos::Lexer<'_, Kind>) -> Kind {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            Kind::BlockComment
        }
        None => {
            lexer.bump(lexer.remainder().len());
            Kind::UnterminatedComment
        }
    }
}
