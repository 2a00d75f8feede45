//! `#pragma`.

use std::rc::Rc;

use super::Preprocessor;
use super::expand::Piece;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;
use crate::token::{EventKind, PragmaName};

impl Preprocessor<'_> {
    /// The pragmas that change repository ids (CORBA 3.3, 14.7.5); any other one is ignored.
    pub(super) fn pragma(&mut self, operands: &[Piece], whole: Span) {
        let Some((name, arguments)) = operands.split_first() else {
            return;
        };
        let kind = match &*name.text {
            "prefix" => match arguments {
                [text] if text.kind == Kind::String => Some(EventKind::Prefix(unquoted(&text.text))),
                _ => None,
            },
            "ID" => match arguments.split_last() {
                Some((text, name)) if text.kind == Kind::String => {
                    pragma_name(name).map(|name| EventKind::Id {
                        name,
                        id: unquoted(&text.text),
                    })
                }
                _ => None,
            },
            "version" => match arguments.split_last() {
                Some((number, name)) if number.kind == Kind::Number => {
                    pragma_name(name).map(|name| EventKind::Version {
                        name,
                        version: number.text.to_string(),
                    })
                }
                _ => None,
            },
            _ => return,
        };
        match kind {
            Some(kind) => self.event(whole, kind),
            None => self.report(
                Diagnostic::new(
                    Code::MalformedPragma,
                    whole,
                    format!("malformed `#pragma {}`", name.text),
                )
                .with_help(
                    "the forms are `#pragma prefix \"text\"`, `#pragma ID name \"id\"` and `#pragma version name 1.2`",
                ),
            ),
        }
    }
}

fn unquoted(literal: &str) -> String {
    literal.trim_matches('"').to_owned()
}

fn pragma_name(pieces: &[Piece]) -> Option<PragmaName> {
    let absolute = pieces.first().is_some_and(|first| &*first.text == "::");
    let pieces = if absolute { &pieces[1..] } else { pieces };
    let well_formed = pieces.len() % 2 == 1
        && pieces.iter().enumerate().all(|(index, piece)| {
            if index % 2 == 0 {
                piece.kind == Kind::Word
            } else {
                &*piece.text == "::"
            }
        });
    let name = |piece: &Piece| {
        (
            Rc::from(piece.text.strip_prefix('_').unwrap_or(&piece.text)),
            piece.span,
        )
    };
    well_formed.then(|| PragmaName {
        absolute,
        parts: pieces.iter().step_by(2).map(name).collect(),
    })
}
