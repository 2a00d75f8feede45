//! Arguments of annotations: of the standard ones that are given a meaning, and of declared ones.

use std::ops::Range;
use std::rc::Rc;

use super::Parser;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::Kind;
use crate::source::Span;
use crate::token::Token;

/// Standard annotations and their arguments, all of which are necessary (IDL 4.2, clause 8.3).
const STANDARD: [(&str, &[&str]); 5] = [
    ("default", &["value"]),
    ("max", &["value"]),
    ("min", &["value"]),
    ("range", &["min", "max"]),
    ("unit", &["value"]),
];

impl Parser<'_> {
    /// Checks the names and the number of the arguments of an annotation, which begins with `@`.
    pub(super) fn check_annotation(&mut self, tokens: Range<usize>) {
        let tokens = &self.tokens[tokens];
        let opening = tokens.iter().position(|token| &*token.text == "(");
        let Some(name) = tokens[..opening.unwrap_or(tokens.len())].last() else {
            return;
        };
        let arguments = match (opening, tokens.split_last()) {
            (Some(opening), Some((last, before))) if &*last.text == ")" => split(&before[opening + 1..]),
            (Some(_), _) => return,
            (None, _) => Vec::new(),
        };
        let standard = STANDARD.iter().find(|(standard, _)| *standard == &*name.text);
        let known: Vec<Rc<str>> = match (standard, self.declared_annotations.get(&name.text)) {
            (Some((_, names)), _) => names.iter().map(|name| Rc::from(*name)).collect(),
            (None, Some(names)) => names.clone(),
            (None, None) => return,
        };
        let mut given: Vec<&str> = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let named = argument.get(1).is_some_and(|token| &*token.text == "=");
            let Some(first) = argument.first() else { continue };
            let known_name = match named {
                true => known.iter().find(|known| **known == first.text),
                false => known.get(position),
            };
            match known_name {
                Some(known) if given.contains(&&**known) => {
                    let message = format!("`@{}` has two values for `{known}`", name.text);
                    self.bad_annotation(first.span, message, "remove one of them");
                }
                Some(known) => given.push(known),
                None => self.unknown_argument(&name.text, first, named, &known),
            }
            let value = &argument[if named { 2 } else { 0 }..];
            if &*name.text == "unit" && !may_be_text(value) {
                let message = "the unit must be a string".to_owned();
                self.bad_annotation(
                    first.span,
                    message,
                    "put it in double quotes, as in `@unit(\"m\")`",
                );
            }
        }
        let missing = known.iter().find(|known| !given.contains(&&***known));
        if let (Some(missing), Some(_)) = (missing, standard)
            && arguments.len() < known.len()
        {
            let message = format!("`@{}` has no value for `{missing}`", name.text);
            let help = format!("write `@{}({})`", name.text, template(&known));
            self.bad_annotation(name.span, message, &help);
        }
    }

    fn unknown_argument(&mut self, annotation: &str, argument: &Token, named: bool, known: &[Rc<str>]) {
        let message = match named {
            true => format!("`@{annotation}` has no argument `{}`", argument.text),
            false => format!("`@{annotation}` has {} arguments at most", known.len()),
        };
        let help = match known {
            [] => format!("write `@{annotation}`"),
            known => format!("write `@{annotation}({})`", template(known)),
        };
        self.bad_annotation(argument.span, message, &help);
    }

    fn bad_annotation(&mut self, span: Span, message: String, help: &str) {
        self.report(Diagnostic::new(Code::BadAnnotation, span, message).with_help(help));
    }
}

/// Splits what is between the parentheses at the commas.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let mut open = 0_usize;
    let at_comma = |token: &Token| {
        match &*token.text {
            "(" => open += 1,
            ")" => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0 && &*token.text == ","
    };
    match tokens {
        [] => Vec::new(),
        tokens => tokens.split(at_comma).collect(),
    }
}

/// Whether a value is a string, a constant or an expression.
fn may_be_text(value: &[Token]) -> bool {
    match value {
        [only] if only.kind == Kind::Word => !matches!(&*only.text, "TRUE" | "FALSE"),
        [only] => matches!(only.kind, Kind::String | Kind::WideString),
        _ => true,
    }
}

fn template(known: &[Rc<str>]) -> String {
    let arguments: Vec<String> = known.iter().map(|name| format!("{name}=...")).collect();
    arguments.join(", ")
}
