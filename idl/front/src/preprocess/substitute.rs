//! Bodies of macros with their arguments: parameters, `#` and `##` (ISO C, 6.10.3).

use std::collections::HashMap;
use std::rc::Rc;

use super::Preprocessor;
use super::expand::{Macro, Piece, is_blank};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, lex};

impl Preprocessor<'_> {
    /// Returns the body of a macro with its arguments. Those beside `#` and `##` are not expanded.
    pub(super) fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[&[Piece]],
        active: &mut Vec<Rc<str>>,
        depth: usize,
    ) -> Vec<Piece> {
        let parameters = definition.parameters.as_deref().unwrap_or_default();
        let numbers = parameters.iter().enumerate().rev();
        let numbers: HashMap<&str, usize> = numbers.map(|(number, name)| (&**name, number)).collect();
        let number_of = |piece: &Piece| numbers.get(&*piece.text).copied();
        let mut expanded: Vec<Option<Vec<Piece>>> = vec![None; arguments.len()];
        let mut result: Vec<Piece> = Vec::new();
        // Before the operand behind a `##`: whether the one before it has any token.
        let mut joins: Option<bool> = None;
        let mut at = 0;
        while let Some(piece) = definition.body.get(at) {
            at += 1;
            let is_joined = joins.is_some() || definition.body.get(at).is_some_and(|next| next.is_hash("##"));
            let quoted = definition.body.get(at).filter(|_| piece.is_hash("#"));
            let parameter = number_of(piece);
            let mut operand = match (quoted.and_then(number_of), parameter) {
                (Some(number), _) => {
                    at += 1;
                    vec![self.stringized(arguments[number], piece)]
                }
                (None, Some(number)) if is_joined => arguments[number].to_vec(),
                (None, Some(number)) => {
                    if expanded[number].is_none() {
                        let mut pieces = Vec::new();
                        self.expand(arguments[number], active, depth + 1, &mut pieces);
                        expanded[number] = Some(pieces);
                    }
                    expanded[number].clone().unwrap_or_default()
                }
                (None, None) => vec![piece.clone()],
            };
            if !self.spend_many(piece.span, operand.len()) {
                break;
            }
            if let Some(first) = operand.first_mut() {
                first.spaced = piece.spaced;
            }
            let has_operand = !operand.is_empty() || joins == Some(true);
            // `, ## __VA_ARGS__`: the comma stands only before further arguments.
            let is_rest = definition.variadic && parameter == parameters.len().checked_sub(1);
            let behind_comma = is_rest && result.last().is_some_and(|last| &*last.text == ",");
            match joins.take() {
                Some(true) if behind_comma && operand.is_empty() => {
                    result.pop();
                }
                Some(true) if !behind_comma => self.join(&mut result, operand),
                _ => result.append(&mut operand),
            }
            if definition.body.get(at).is_some_and(|next| next.is_hash("##")) {
                at += 1;
                joins = Some(has_operand);
            }
        }
        result
    }

    /// `##`: makes one token of the last one and the first operand.
    fn join(&mut self, result: &mut Vec<Piece>, operand: Vec<Piece>) {
        let mut operand = operand.into_iter();
        let (Some(right), Some(left)) = (operand.next(), result.last_mut()) else {
            return;
        };
        let text = format!("{}{}", left.text, right.text);
        // Joined texts are copies, which can double at every level.
        if !self.spend_many(right.span, text.len()) {
            return;
        }
        let is_token =
            |kind: Kind| !is_blank(kind) && !matches!(kind, Kind::Unknown | Kind::UnterminatedComment);
        match lex(&text).as_slice() {
            [only] if is_token(only.kind) => {
                left.kind = only.kind;
                left.text = text.into();
            }
            _ => {
                let message = format!("`{}` and `{}` do not make one token", left.text, right.text);
                self.report(
                    Diagnostic::new(Code::BadMacroUse, left.span, message)
                        .with_label(right.span, "joined with this")
                        .with_help("`##` makes a name, a number or an operator of two parts"),
                );
                result.push(right);
            }
        }
        result.extend(operand);
    }

    /// `#`: the text of an argument as a string literal; the operator is the place.
    fn stringized(&mut self, argument: &[Piece], operator: &Piece) -> Piece {
        let most: usize = argument.iter().map(|piece| 2 * piece.text.len() + 1).sum();
        let mut text = String::from("\"");
        if self.spend_many(operator.span, most) {
            for (index, piece) in argument.iter().enumerate() {
                if index > 0 && piece.spaced {
                    text.push(' ');
                }
                let literal = piece.text.replace("\\\r\n", "").replace("\\\n", "");
                text.push_str(&match piece.kind {
                    Kind::String | Kind::WideString | Kind::Char | Kind::WideChar => {
                        literal.replace('\\', "\\\\").replace('"', "\\\"")
                    }
                    _ => literal,
                });
            }
        }
        text.push('"');
        if !matches!(lex(&text).as_slice(), [only] if only.kind == Kind::String) {
            let message = "the argument does not make a string literal";
            self.report(
                Diagnostic::new(Code::BadMacroUse, operator.span, message)
                    .with_help("a single quotation mark or backslash can only be part of a literal"),
            );
            text = "\"\"".to_owned();
        }
        Piece {
            kind: Kind::String,
            text: text.into(),
            ..operator.clone()
        }
    }
}
