//! Macros: object-like and function-like.

use std::rc::Rc;

use super::Preprocessor;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, Lexeme, lex};
use crate::source::Span;

/// The macros whose values are places.
const BUILT_IN: [&str; 2] = ["__FILE__", "__LINE__"];

/// How deeply macros may use each other.
const DEPTH: usize = 64;

/// A token during expansion.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub kind: Kind,
    pub text: Rc<str>,
    pub span: Span,
    /// Whether blanks or comments precede it.
    pub spaced: bool,
}

impl Piece {
    /// Whether it is this operator of a macro's body: `#` or `##`.
    pub fn is_hash(&self, text: &str) -> bool {
        self.kind == Kind::Hash && &*self.text == text
    }
}

/// A definition by `#define`.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    /// `None` for an object-like macro.
    pub parameters: Option<Rc<[Rc<str>]>>,
    /// Whether the last parameter takes all further arguments, also none.
    pub variadic: bool,
    pub body: Rc<[Piece]>,
    /// `None` if it comes from the options.
    pub span: Option<Span>,
}

impl Macro {
    /// Creates a macro from the options, like `-DNAME=VALUE`.
    pub fn predefined(value: &str) -> Self {
        let body = pieces(&lex(value), |lexeme| {
            let text = value[lexeme.start as usize..lexeme.end as usize].into();
            (text, Span::default())
        });
        Self {
            parameters: None,
            variadic: false,
            body: body.into(),
            span: None,
        }
    }

    pub fn means_the_same(&self, other: &Macro) -> bool {
        self.parameters == other.parameters
            && self.variadic == other.variadic
            && self
                .body
                .iter()
                .map(|piece| &piece.text)
                .eq(other.body.iter().map(|piece| &piece.text))
    }
}

pub(super) fn is_blank(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Space | Kind::Newline | Kind::LineComment | Kind::BlockComment
    )
}

/// Returns the elements that are no blanks, each with its text and place.
pub(super) fn pieces(lexemes: &[Lexeme], place: impl Fn(&Lexeme) -> (Rc<str>, Span)) -> Vec<Piece> {
    let mut spaced = false;
    let mut found = Vec::new();
    for lexeme in lexemes {
        if is_blank(lexeme.kind) {
            spaced = true;
            continue;
        }
        let (text, span) = place(lexeme);
        found.push(Piece {
            kind: lexeme.kind,
            text,
            span,
            spaced: std::mem::take(&mut spaced),
        });
    }
    found
}

impl Preprocessor<'_> {
    pub(super) fn is_macro(&self, word: &str) -> bool {
        self.macros.contains_key(word) || BUILT_IN.contains(&word)
    }

    /// The value of `__FILE__` or `__LINE__`, where the macro of the outermost use stands.
    fn built_in(&mut self, piece: &Piece) -> Option<Piece> {
        if piece.kind != Kind::Word || !BUILT_IN.contains(&&*piece.text) {
            return None;
        }
        let (kind, text) = if &*piece.text == "__LINE__" {
            (Kind::Number, self.line_of(self.place).to_string())
        } else {
            let name = &self.out.files[self.place.file as usize].name;
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            (Kind::String, format!("\"{escaped}\""))
        };
        self.spend_many(piece.span, text.len());
        Some(Piece {
            kind,
            text: text.into(),
            ..piece.clone()
        })
    }

    /// Number of the line of a place, from 1. The lines of a file are counted once.
    fn line_of(&mut self, place: Span) -> usize {
        let text = &self.out.files[place.file as usize].text;
        let ends = self.line_ends.entry(place.file).or_insert_with(|| {
            let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            newlines.map(|(at, _)| at as u32).collect()
        });
        ends.partition_point(|end| *end < place.start) + 1
    }

    /// Emits the expansion of a macro. `at` is the position after its name; returns the position after its
    /// arguments.
    pub(super) fn use_macro(&mut self, span: Span, lexemes: &[Lexeme], at: usize) -> usize {
        self.place = span;
        let name: Rc<str> = self.text(span).into();
        let takes_arguments = self
            .macros
            .get(&name)
            .is_some_and(|found| found.parameters.is_some());
        let mut input = vec![Piece {
            kind: Kind::Word,
            text: name,
            span,
            spaced: false,
        }];
        let mut end = at;
        if takes_arguments {
            // Without a closing parenthesis the arguments take the rest of the file.
            let mut depth = 0;
            let mut spaced = false;
            for (index, lexeme) in lexemes.iter().enumerate().skip(at) {
                if is_blank(lexeme.kind) {
                    spaced = true;
                    continue;
                }
                let span = Span {
                    file: span.file,
                    start: lexeme.start,
                    end: lexeme.end,
                    expansion: 0,
                };
                let next = Piece {
                    kind: lexeme.kind,
                    text: self.text(span).into(),
                    span,
                    spaced: std::mem::take(&mut spaced),
                };
                match &*next.text {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    _ if depth == 0 => break,
                    _ => {}
                }
                if !self.spend(next.span) {
                    return lexemes.len();
                }
                input.push(next);
                end = index + 1;
                if depth == 0 {
                    break;
                }
            }
        }
        let mut output = Vec::new();
        self.expand(&input, &mut Vec::new(), 0, &mut output);
        for piece in output {
            // The text of a macro from the options has no place.
            let mut place = span;
            if piece.span != Span::default() {
                self.out.expansions.push(piece.span);
                place.expansion = self.out.expansions.len() as u32;
            }
            self.emit(Piece { span: place, ..piece });
        }
        end
    }

    /// Expands every macro in `input`, except those that are being expanded.
    pub(super) fn expand(
        &mut self,
        input: &[Piece],
        active: &mut Vec<Rc<str>>,
        depth: usize,
        output: &mut Vec<Piece>,
    ) {
        let mut at = 0;
        while let Some(piece) = input.get(at) {
            at += 1;
            if !self.spend(piece.span) {
                return;
            }
            let definition = match self.macros.get(&piece.text) {
                Some(definition) if piece.kind == Kind::Word && !active.contains(&piece.text) => {
                    definition.clone()
                }
                Some(_) => {
                    output.push(piece.clone());
                    continue;
                }
                None => {
                    let value = self.built_in(piece);
                    output.push(value.unwrap_or_else(|| piece.clone()));
                    continue;
                }
            };
            if depth >= DEPTH {
                let message = format!("macros use each other more than {DEPTH} levels deep");
                return self.stop(
                    Diagnostic::new(Code::LimitExceeded, piece.span, message)
                        .with_help("simplify the macros"),
                );
            }
            let mut given: Vec<&[Piece]> = Vec::new();
            if let Some(parameters) = &definition.parameters {
                if input.get(at).is_none_or(|next| &*next.text != "(") {
                    // Without arguments, the name of a function-like macro is an ordinary word.
                    output.push(piece.clone());
                    continue;
                }
                let most = definition.variadic.then_some(parameters.len());
                let Some((arguments, end)) = arguments(input, at + 1, most) else {
                    let message = format!("the arguments of the macro `{}` are not closed", piece.text);
                    return self.report(
                        Diagnostic::new(Code::BadMacroUse, piece.span, message).with_help("add `)`"),
                    );
                };
                at = end;
                given = arguments;
                if !self.check_arity(piece, &definition, parameters.len(), &mut given) {
                    continue;
                }
            }
            let mut body = self.substitute(&definition, &given, active, depth);
            if let Some(first) = body.first_mut() {
                first.spaced = piece.spaced;
            }
            active.push(Rc::clone(&piece.text));
            self.expand(&body, active, depth + 1, output);
            active.pop();
            if self.stopped {
                return;
            }
        }
    }

    /// Checks the number of arguments; adds an empty one for those that a variadic macro need not have.
    fn check_arity(
        &mut self,
        name: &Piece,
        definition: &Macro,
        parameters: usize,
        given: &mut Vec<&[Piece]>,
    ) -> bool {
        if definition.variadic && given.len() + 1 == parameters {
            given.push(&[]);
        }
        if arity_fits(parameters, given) {
            return true;
        }
        let message = format!(
            "the macro `{}` takes {} argument(s), but {} are given",
            name.text,
            parameters,
            given.len()
        );
        let mut diagnostic = Diagnostic::new(Code::BadMacroUse, name.span, message)
            .with_help("enclose arguments that contain a comma in parentheses");
        if let Some(span) = definition.span {
            diagnostic = diagnostic.with_label(span, "defined here");
        }
        self.report(diagnostic);
        false
    }
}

/// `f()` has no argument for a macro without parameters, and an empty one for a macro with one.
fn arity_fits(parameters: usize, arguments: &[&[Piece]]) -> bool {
    arguments.len() == parameters || (parameters == 0 && arguments.len() == 1 && arguments[0].is_empty())
}

/// Splits at commas outside parentheses, into `most` arguments at most; `at` is the position after the
/// opening one, the result after the closing one.
fn arguments(input: &[Piece], at: usize, most: Option<usize>) -> Option<(Vec<&[Piece]>, usize)> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut first = at;
    for (index, piece) in input.iter().enumerate().skip(at) {
        match &*piece.text {
            "(" => depth += 1,
            ")" if depth == 0 => {
                found.push(&input[first..index]);
                return Some((found, index + 1));
            }
            ")" => depth -= 1,
            "," if depth == 0 && most.is_none_or(|most| found.len() + 1 < most) => {
                found.push(&input[first..index]);
                first = index + 1;
            }
            _ => {}
        }
    }
    None
}
