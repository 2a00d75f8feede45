//! Directives: the lines that begin with `#`.

use std::collections::HashSet;
use std::rc::Rc;

use super::Preprocessor;
use super::condition::evaluate;
use super::expand::{self, Macro, Piece};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, Lexeme};
use crate::source::Span;
use crate::suggest::did_you_mean;

const DIRECTIVES: &[&str] = &[
    "define", "elif", "else", "endif", "error", "ident", "if", "ifdef", "ifndef", "include", "line",
    "pragma", "undef", "warning",
];

/// An open `#if`.
pub(super) struct Conditional {
    pub span: Span,
    /// Whether the current branch is taken.
    pub active: bool,
    /// Whether a branch has been taken, or none may be taken.
    taken: bool,
    seen_else: bool,
}

impl Preprocessor<'_> {
    /// Executes one directive. `hash` is its `#`, `rest` the rest of its line.
    pub(super) fn directive(
        &mut self,
        hash: Span,
        rest: &[Lexeme],
        conditionals: &mut Vec<Conditional>,
        active: bool,
    ) {
        self.place = hash;
        let line = self.pieces(hash.file, rest);
        // A line with `#` alone is allowed and has no effect.
        let Some((name, operands)) = line.split_first() else {
            return;
        };
        let whole = hash.to(line.last().map_or(hash, |last| last.span));
        match &*name.text {
            "if" | "ifdef" | "ifndef" => {
                let taken = active && self.condition(name, operands, whole);
                conditionals.push(Conditional {
                    span: whole,
                    active: taken,
                    taken: taken || !active,
                    seen_else: false,
                });
            }
            "elif" | "else" | "endif" => self.branch(name, operands, whole, conditionals),
            _ if !active => {}
            "include" => self.include(name, operands, whole),
            "define" => self.define(operands, whole),
            "undef" => match operands {
                [word] if word.kind == Kind::Word => {
                    self.macros.remove(&word.text);
                }
                _ => self.malformed(whole, "`#undef` takes one name", "write `#undef NAME`"),
            },
            "pragma" => self.pragma(operands, whole),
            "error" | "warning" => self.user_message(name, whole),
            // Line numbers come from preprocessed text; the places of tokens, and `__LINE__`, stay those of
            // the file that is read. `#ident` is for object files.
            "line" | "ident" => {}
            _ if name.kind == Kind::Number => {}
            other => {
                let mut diagnostic = Diagnostic::new(
                    Code::UnknownDirective,
                    whole,
                    format!("unknown directive `#{other}`"),
                );
                diagnostic.help = did_you_mean(other, DIRECTIVES.iter().copied());
                self.report(diagnostic);
            }
        }
    }

    /// Returns the elements of a line without blanks.
    fn pieces(&self, file: u32, line: &[Lexeme]) -> Vec<Piece> {
        expand::pieces(line, |lexeme| {
            let span = Span {
                file,
                start: lexeme.start,
                end: lexeme.end,
                expansion: 0,
            };
            (self.text(span).into(), span)
        })
    }

    /// `#error` and `#warning`.
    fn user_message(&mut self, name: &Piece, whole: Span) {
        let code = if &*name.text == "error" {
            Code::ErrorDirective
        } else {
            Code::WarningDirective
        };
        let text = Span {
            start: name.span.end,
            ..whole
        };
        let message = match self.text(text).trim() {
            "" => format!("#{}", name.text),
            text => text.to_owned(),
        };
        self.report(Diagnostic::new(code, whole, message));
    }

    pub(super) fn malformed(&mut self, span: Span, message: &str, help: &str) {
        self.report(Diagnostic::new(Code::MalformedDirective, span, message).with_help(help));
    }

    fn branch(&mut self, name: &Piece, operands: &[Piece], whole: Span, conditionals: &mut Vec<Conditional>) {
        let Some(conditional) = conditionals.last_mut() else {
            return self.report(
                Diagnostic::new(
                    Code::UnbalancedConditional,
                    whole,
                    format!("`#{}` without an `#if` in this file", name.text),
                )
                .with_help("remove it, or add the `#if` it belongs to"),
            );
        };
        if &*name.text == "endif" {
            conditionals.pop();
            return;
        }
        if conditional.seen_else {
            let opened = conditional.span;
            return self.report(
                Diagnostic::new(
                    Code::UnbalancedConditional,
                    whole,
                    format!("`#{}` after `#else`", name.text),
                )
                .with_label(opened, "of this conditional")
                .with_help("a conditional has one `#else`, its last branch"),
            );
        }
        conditional.seen_else = &*name.text == "else";
        let may = !conditional.taken;
        let taken = may && (&*name.text == "else" || self.condition(name, operands, whole));
        if let Some(conditional) = conditionals.last_mut() {
            conditional.active = taken;
            conditional.taken |= taken;
        }
    }

    fn condition(&mut self, name: &Piece, operands: &[Piece], whole: Span) -> bool {
        if &*name.text == "ifdef" || &*name.text == "ifndef" {
            return match operands {
                [word, ..] if word.kind == Kind::Word => {
                    self.is_macro(&word.text) == (&*name.text == "ifdef")
                }
                _ => {
                    let message = format!("`#{}` takes one name", name.text);
                    self.malformed(whole, &message, "add the name of a macro");
                    false
                }
            };
        }
        let operands = self.replace_defined(operands);
        let mut pieces = Vec::new();
        self.expand(&operands, &mut Vec::new(), 0, &mut pieces);
        match evaluate(&pieces) {
            Ok(value) => value != 0,
            Err((problem, at)) => {
                let span = pieces.get(at).map_or(whole, |piece| piece.span);
                self.report(
                    Diagnostic::new(
                        Code::BadCondition,
                        span,
                        format!("this condition cannot be evaluated: {problem}"),
                    )
                    .with_help("conditions are integer expressions with `defined(NAME)`"),
                );
                false
            }
        }
    }

    /// Replaces `defined NAME` and `defined(NAME)` by 1 or 0, before macros are expanded.
    fn replace_defined(&self, operands: &[Piece]) -> Vec<Piece> {
        let mut result = Vec::new();
        let mut rest = operands;
        while let Some((piece, tail)) = rest.split_first() {
            let (word, after) = match tail {
                _ if &*piece.text != "defined" => (None, tail),
                [open, word, close, after @ ..] if &*open.text == "(" && &*close.text == ")" => {
                    (Some(word), after)
                }
                [word, after @ ..] if word.kind == Kind::Word => (Some(word), after),
                _ => (None, tail),
            };
            rest = after;
            result.push(match word {
                Some(word) => {
                    let text = if self.is_macro(&word.text) { "1" } else { "0" };
                    Piece {
                        kind: Kind::Number,
                        text: text.into(),
                        span: piece.span.to(word.span),
                        spaced: piece.spaced,
                    }
                }
                None => piece.clone(),
            });
        }
        result
    }

    fn define(&mut self, operands: &[Piece], whole: Span) {
        let Some((name, mut body)) = operands.split_first().filter(|(name, _)| name.kind == Kind::Word)
        else {
            return self.malformed(
                whole,
                "`#define` needs a name",
                "write `#define NAME` or `#define NAME value`",
            );
        };
        let mut parameters = None;
        let mut variadic = false;
        // A parenthesis makes a function-like macro only if it touches the name.
        if body
            .first()
            .is_some_and(|open| &*open.text == "(" && open.span.start == name.span.end)
        {
            let close = body.iter().position(|piece| &*piece.text == ")");
            let Some(close) = close else {
                return self.malformed(whole, "the parameters of this macro are not closed", "add `)`");
            };
            let Some((names, takes_all)) = parameter_names(&body[1..close]) else {
                return self.malformed(
                    whole,
                    "malformed parameters of a macro",
                    "write `#define NAME(a, b) ...` or `#define NAME(a, ...) ...`",
                );
            };
            parameters = Some(names);
            variadic = takes_all;
            body = &body[close + 1..];
        }
        let definition = Macro {
            parameters,
            variadic,
            body: body.into(),
            span: Some(name.span),
        };
        if let Some((span, message, help)) = misplaced_hash(&definition) {
            return self.malformed(span, message, help);
        }
        if let Some(earlier) = self
            .macros
            .get(&name.text)
            .filter(|earlier| !earlier.means_the_same(&definition))
        {
            let mut diagnostic = Diagnostic::new(
                Code::MacroRedefined,
                name.span,
                format!("the macro `{}` is defined again with another meaning", name.text),
            )
            .with_help(format!("write `#undef {}` first if this is intended", name.text));
            if let Some(span) = earlier.span {
                diagnostic = diagnostic.with_label(span, "first defined here");
            }
            self.report(diagnostic);
        }
        self.macros.insert(Rc::clone(&name.text), definition);
    }
}

/// The names of parameters, and whether the last one takes all further arguments: `...`, or `name...`.
fn parameter_names(list: &[Piece]) -> Option<(Rc<[Rc<str>]>, bool)> {
    let dots = list.iter().rev().take_while(|piece| &*piece.text == ".").count();
    let (mut list, variadic) = match dots {
        0 => (list, false),
        3 => (&list[..list.len() - dots], true),
        _ => return None,
    };
    let mut unnamed = variadic && list.is_empty();
    if let (true, Some((comma, before))) = (variadic, list.split_last())
        && &*comma.text == ","
    {
        (list, unnamed) = (before, true);
        if list.is_empty() {
            return None;
        }
    }
    let well_formed = list.iter().enumerate().all(|(index, piece)| {
        if index % 2 == 0 {
            piece.kind == Kind::Word
        } else {
            &*piece.text == ","
        }
    });
    if !well_formed || (!list.is_empty() && list.len() % 2 == 0) {
        return None;
    }
    let names = list.iter().step_by(2).map(|piece| Rc::clone(&piece.text));
    let rest = unnamed.then(|| Rc::from("__VA_ARGS__"));
    Some((names.chain(rest).collect(), variadic))
}

/// A `##` without two operands, or a `#` that is not before a parameter: place, problem and help.
fn misplaced_hash(definition: &Macro) -> Option<(Span, &'static str, &'static str)> {
    let body = &definition.body;
    let is_join = |piece: &&Piece| piece.is_hash("##");
    if let Some(join) = body.first().filter(is_join).or(body.last().filter(is_join)) {
        let help = "write what it joins on both sides";
        return Some((join.span, "`##` stands between two parts of a macro", help));
    }
    let parameters: HashSet<&str> = definition
        .parameters
        .as_ref()?
        .iter()
        .map(|name| &**name)
        .collect();
    let is_parameter = |piece: &Piece| parameters.contains(&*piece.text);
    let wrong = body
        .iter()
        .enumerate()
        .find(|(at, piece)| piece.is_hash("#") && !body.get(at + 1).is_some_and(is_parameter));
    let help = "write the name of a parameter behind it";
    wrong.map(|(_, hash)| (hash.span, "`#` makes a string of a parameter", help))
}
