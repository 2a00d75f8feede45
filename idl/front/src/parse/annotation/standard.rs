//! The standard annotations of IDL 4.2 (clause 8.3), with the types of their arguments.

use super::integer;
use crate::lexer::Kind;
use crate::token::Token;

/// An argument of a standard annotation.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) ty: ArgumentType,
    pub(super) is_required: bool,
}

/// The type of an argument.
#[derive(Clone, Copy)]
pub(super) enum ArgumentType {
    /// The type of what is annotated: the value is checked there.
    Any,
    Boolean,
    Text,
    /// An integer from 0 to this one.
    Unsigned(u32),
    /// As above, but only a literal: it determines a representation before constants are known.
    Literal(u32),
    /// One of these enumerators.
    OneOf(&'static [&'static str]),
}

use ArgumentType::{Any, Boolean, Literal, OneOf, Text, Unsigned};

const U16: u32 = u16::MAX as u32;
const FLAG: &[Argument] = &[optional("value", Boolean)];
const VALUE: &[Argument] = &[required("value", Any)];
const PLATFORM: &[Argument] = &[optional("platform", Text)];
const VERBATIM: &[Argument] = &[
    optional("language", Text),
    optional(
        "placement",
        OneOf(&[
            "BEGIN_FILE",
            "BEFORE_DECLARATION",
            "BEGIN_DECLARATION",
            "END_DECLARATION",
            "AFTER_DECLARATION",
            "END_FILE",
        ]),
    ),
    required("text", Text),
];
const EXTENSIBILITY: &[&str] = &["FINAL", "APPENDABLE", "MUTABLE"];

const STANDARD: [(&str, &[Argument]); 25] = [
    ("ami", FLAG),
    ("appendable", &[]),
    ("autoid", &[optional("value", OneOf(&["SEQUENTIAL", "HASH"]))]),
    ("bit_bound", &[required("value", Literal(U16))]),
    ("default", VALUE),
    ("default_literal", &[]),
    ("extensibility", &[required("value", OneOf(EXTENSIBILITY))]),
    ("external", FLAG),
    ("final", &[]),
    ("id", &[required("value", Unsigned(u32::MAX))]),
    ("key", FLAG),
    ("max", VALUE),
    ("min", VALUE),
    ("must_understand", FLAG),
    ("mutable", &[]),
    ("nested", FLAG),
    ("oneway", FLAG),
    ("optional", FLAG),
    ("position", &[required("value", Literal(U16))]),
    ("range", &[required("min", Any), required("max", Any)]),
    ("service", PLATFORM),
    ("topic", &[optional("name", Text), optional("platform", Text)]),
    ("unit", &[required("value", Text)]),
    ("value", VALUE),
    ("verbatim", VERBATIM),
];

const fn required(name: &'static str, ty: ArgumentType) -> Argument {
    Argument {
        name,
        ty,
        is_required: true,
    }
}

const fn optional(name: &'static str, ty: ArgumentType) -> Argument {
    Argument {
        name,
        ty,
        is_required: false,
    }
}

/// Returns the arguments of a standard annotation.
pub(super) fn arguments(annotation: &str) -> Option<&'static [Argument]> {
    let found = STANDARD.iter().find(|(name, _)| *name == annotation);
    found.map(|(_, arguments)| *arguments)
}

impl ArgumentType {
    /// Whether a value may have this type: the values of constants are not known yet.
    pub(super) fn admits(self, value: &[Token]) -> bool {
        let all = |kinds: &[Kind]| value.iter().all(|token| kinds.contains(&token.kind));
        let is_name = value
            .iter()
            .all(|token| token.kind == Kind::Word || &*token.text == "::")
            && !value.iter().any(|token| is_boolean(&token.text));
        match self {
            Any => true,
            Boolean => is_name || matches!(value, [only] if matches!(&*only.text, "TRUE" | "FALSE")),
            Text => is_name || all(&[Kind::String]) || all(&[Kind::WideString]),
            OneOf(enumerators) => {
                is_name
                    && value
                        .last()
                        .is_some_and(|last| enumerators.contains(&&*last.text))
            }
            Unsigned(most) | Literal(most) => match value {
                [only] if only.kind == Kind::Number => integer(&only.text).is_some_and(|value| value <= most),
                _ if matches!(self, Literal(_)) => false,
                [minus, number] if &*minus.text == "-" && number.kind == Kind::Number => {
                    integer(&number.text) == Some(0)
                }
                _ => is_name || value.iter().all(may_be_in_integer),
            },
        }
    }

    /// Description of a value of this type.
    pub(super) fn described(self) -> String {
        match self {
            Any => "a constant".to_owned(),
            Boolean => "TRUE or FALSE".to_owned(),
            Text => "a string".to_owned(),
            Unsigned(most) => format!("an integer from 0 to {most}"),
            Literal(most) => format!("an integer literal from 0 to {most}"),
            OneOf(enumerators) => format!("one of {}", enumerators.join(", ")),
        }
    }

    /// An example of a value.
    pub(super) fn example(self) -> &'static str {
        match self {
            Any => "...",
            Boolean => "TRUE",
            Text => "\"text\"",
            Unsigned(_) | Literal(_) => "8",
            OneOf(enumerators) => enumerators[0],
        }
    }
}

/// Whether a word is a boolean literal, also as other languages write it.
fn is_boolean(word: &str) -> bool {
    word.eq_ignore_ascii_case("TRUE") || word.eq_ignore_ascii_case("FALSE")
}

/// Whether an expression of integers may contain this.
fn may_be_in_integer(token: &Token) -> bool {
    match token.kind {
        Kind::Word => !is_boolean(&token.text),
        Kind::Number => integer(&token.text).is_some(),
        Kind::String | Kind::WideString | Kind::Char | Kind::WideChar => false,
        _ => true,
    }
}
