//! Checks of the arguments of annotations: of the standard ones, and of declared ones.

use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use super::standard::{self, Argument};
use super::{Parser, integer};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::token::Token;

/// The least and the greatest `@bit_bound` of an enum; the resolver knows those of a bitmask.
const ENUM_BITS: RangeInclusive<u32> = 1..=32;

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
            (Some(opening), _) => {
                let (span, message) = (
                    tokens[opening].span,
                    format!("the `(` of `@{}` is not closed", name.text),
                );
                return self.bad_annotation(span, message, "add `)` after the arguments");
            }
            (None, _) => Vec::new(),
        };
        let declared = self.declared_annotations.get(&name.text);
        // A declaration of the same name replaces a standard annotation, and another scope has others.
        let is_scoped = opening.unwrap_or(tokens.len()) > 2;
        let standard = standard::arguments(&name.text).filter(|_| declared.is_none() && !is_scoped);
        let known: Vec<Rc<str>> = match (standard, declared) {
            (Some(arguments), _) => arguments.iter().map(|argument| Rc::from(argument.name)).collect(),
            (None, Some(names)) => names.clone(),
            (None, None) => return,
        };
        let before = self.out.findings.found();
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
            let of_type = known_name.and_then(|known| {
                let standard = standard?.iter();
                standard.clone().find(|standard| *standard.name == **known)
            });
            if let Some(of_type) = of_type {
                self.check_value(&name.text, of_type, &argument[if named { 2 } else { 0 }..], first);
            }
        }
        let required = standard.into_iter().flatten();
        let missing = required
            .filter(|argument| argument.is_required)
            .find(|argument| !given.contains(&argument.name));
        if let Some(Argument { name: missing, .. }) = missing
            && arguments.len() < known.len()
        {
            let message = format!("`@{}` has no value for `{missing}`", name.text);
            let help = format!("write `@{}({})`", name.text, template(&known));
            self.bad_annotation(name.span, message, &help);
        }
        if standard.is_some() {
            let is_right = self.out.findings.found() == before;
            self.check_effect(&name.text, name.span, &arguments, is_right);
        }
    }

    /// Warns of standard annotations that ask for what is not sent.
    fn check_effect(&mut self, name: &str, span: Span, arguments: &[&[Token]], is_right: bool) {
        let states_false = |argument: &&[Token]| argument.last().is_some_and(|value| &*value.text == "FALSE");
        let (message, help) = match name {
            "optional" if !arguments.first().is_some_and(states_false) => (
                "`@optional` has no effect: GIOP sends every member of a struct",
                "use a `sequence` with a bound of 1, or a union with a boolean discriminator",
            ),
            _ if !is_right => return,
            "value" => (
                "`@value` has no effect: GIOP sends the position of an enumerator",
                "list the enumerators in the order of their values, from 0, or use constants",
            ),
            "bit_bound" if self.at("enum") => (
                "`@bit_bound` has no effect here: GIOP sends an enumerator in 32 bits",
                "remove it, or use a constant of a shorter integer type for each value",
            ),
            "oneway" if !arguments.first().is_some_and(states_false) => (
                "`@oneway` has no effect: IDL has a keyword for operations without a reply",
                "write `oneway void` before the name of the operation",
            ),
            "default_literal" => (
                "`@default_literal` has no effect: the default is the first enumerator",
                "list this enumerator first, or write `@default` before members of this type",
            ),
            _ => return,
        };
        self.report(Diagnostic::new(Code::WithoutEffect, span, message).with_help(help));
    }

    /// Checks the value of an argument of a standard annotation; the argument begins with `first`.
    fn check_value(&mut self, annotation: &str, argument: &Argument, value: &[Token], first: &Token) {
        let Argument { name, ty, .. } = argument;
        let span = value.first().unwrap_or(first).span;
        if !ty.admits(value) {
            let message = format!("`{name}` of `@{annotation}` must be {}", ty.described());
            let help = format!("write a value such as `@{annotation}({name}={})`", ty.example());
            self.bad_annotation(span, message, &help);
        } else if annotation == "bit_bound"
            && self.at("enum")
            && let [bits] = value
            && !integer(&bits.text).is_some_and(|bits| ENUM_BITS.contains(&bits))
        {
            let message = format!("an enum cannot have {} bits", bits.text);
            self.bad_annotation(span, message, "use 1 to 32");
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

    pub(super) fn bad_annotation(&mut self, span: Span, message: String, help: &str) {
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

fn template(known: &[Rc<str>]) -> String {
    let arguments: Vec<String> = known.iter().map(|name| format!("{name}=...")).collect();
    arguments.join(", ")
}
