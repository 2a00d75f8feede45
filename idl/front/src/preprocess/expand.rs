//! Macros: object-like and function-like, without `#` and `##`.

use std::rc::Rc;

use super::Preprocessor;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, Lexeme, lex};
use crate::source::Span;

/// How deeply macros may use each other.
const DEPTH: usize = 64;

/// A token during expansion.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub kind: Kind,
    pub text: Rc<str>,
    pub span: Span,
}

/// A definition by `#define`.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    /// `None` for an object-like macro.
    pub parameters: Option<Vec<Rc<str>>>,
    pub body: Rc<[Piece]>,
    /// `None` if it comes from the options.
    pub span: Option<Span>,
}

impl Macro {
    /// Creates a macro from the options, like `-DNAME=VALUE`.
    pub fn predefined(value: &str) -> Self {
        let body = lex(value)
            .into_iter()
            .filter(|lexeme| !is_blank(lexeme.kind))
            .map(|lexeme| Piece {
                kind: lexeme.kind,
                text: value[lexeme.start as usize..lexeme.end as usize].into(),
                span: Span::default(),
            })
            .collect();
        Self {
            parameters: None,
            body,
            span: None,
        }
    }

    pub fn means_the_same(&self, other: &Macro) -> bool {
        self.parameters == other.parameters
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

impl Preprocessor<'_> {
    pub(super) fn is_macro(&self, word: &str) -> bool {
        self.macros.contains_key(word)
    }

    /// Emits the expansion of a macro. `at` is the position after its name; returns the position after its
    /// arguments.
    pub(super) fn use_macro(&mut self, span: Span, lexemes: &[Lexeme], at: usize) -> usize {
        let piece = |lexeme: &Lexeme, this: &Self| {
            let span = Span {
                file: span.file,
                start: lexeme.start,
                end: lexeme.end,
                expansion: 0,
            };
            Piece {
                kind: lexeme.kind,
                text: this.text(span).into(),
                span,
            }
        };
        let name: Rc<str> = self.text(span).into();
        let mut input = vec![Piece {
            kind: Kind::Word,
            text: Rc::clone(&name),
            span,
        }];
        let mut end = at;
        if self.macros[&name].parameters.is_some() {
            // Without a closing parenthesis the arguments take the rest of the file.
            let mut depth = 0;
            for (index, lexeme) in lexemes.iter().enumerate().skip(at) {
                if is_blank(lexeme.kind) {
                    continue;
                }
                let next = piece(lexeme, self);
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
                _ => {
                    output.push(piece.clone());
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
            let body = match &definition.parameters {
                None => definition.body.to_vec(),
                Some(parameters) => {
                    if input.get(at).is_none_or(|next| &*next.text != "(") {
                        // Without arguments, the name of a function-like macro is an ordinary word.
                        output.push(piece.clone());
                        continue;
                    }
                    let Some((arguments, end)) = arguments(input, at + 1) else {
                        let message = format!("the arguments of the macro `{}` are not closed", piece.text);
                        return self.report(
                            Diagnostic::new(Code::BadMacroUse, piece.span, message).with_help("add `)`"),
                        );
                    };
                    at = end;
                    if !arity_fits(parameters.len(), &arguments) {
                        let message = format!(
                            "the macro `{}` takes {} argument(s), but {} are given",
                            piece.text,
                            parameters.len(),
                            arguments.len()
                        );
                        let mut diagnostic = Diagnostic::new(Code::BadMacroUse, piece.span, message)
                            .with_help("enclose arguments that contain a comma in parentheses");
                        if let Some(span) = definition.span {
                            diagnostic = diagnostic.with_label(span, "defined here");
                        }
                        self.report(diagnostic);
                        continue;
                    }
                    let mut expanded = Vec::with_capacity(arguments.len());
                    for argument in arguments {
                        let mut pieces = Vec::new();
                        self.expand(argument, active, depth + 1, &mut pieces);
                        expanded.push(pieces);
                    }
                    self.substitute(&definition.body, parameters, &expanded)
                }
            };
            active.push(Rc::clone(&piece.text));
            self.expand(&body, active, depth + 1, output);
            active.pop();
            if self.stopped {
                return;
            }
        }
    }

    fn substitute(&mut self, body: &[Piece], parameters: &[Rc<str>], arguments: &[Vec<Piece>]) -> Vec<Piece> {
        let mut result = Vec::new();
        for piece in body {
            match parameters.iter().position(|parameter| *parameter == piece.text) {
                Some(index) => {
                    for piece in &arguments[index] {
                        if !self.spend(piece.span) {
                            return result;
                        }
                        result.push(piece.clone());
                    }
                }
                None => result.push(piece.clone()),
            }
        }
        result
    }
}

/// `f()` has no argument for a macro without parameters, and an empty one for a macro with one.
fn arity_fits(parameters: usize, arguments: &[&[Piece]]) -> bool {
    arguments.len() == parameters || (parameters == 0 && arguments.len() == 1 && arguments[0].is_empty())
}

/// Splits at commas outside parentheses; `at` is the position after the opening one, the result after the
/// closing one.
fn arguments(input: &[Piece], at: usize) -> Option<(Vec<&[Piece]>, usize)> {
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
            "," if depth == 0 => {
                found.push(&input[first..index]);
                first = index + 1;
            }
            _ => {}
        }
    }
    None
}
