//! Tokens, the output of the preprocessor.

use std::rc::Rc;

use crate::lexer::Kind;
use crate::source::Span;

/// A token with its place in the original source. The expansion of a macro has the place of its use.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub kind: Kind,
    pub text: Rc<str>,
    pub span: Span,
    /// The comments directly above.
    pub doc: Option<Rc<str>>,
}

/// A change of repository ids between two tokens.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    /// Index of the token that follows.
    pub at: usize,
    pub span: Span,
    pub kind: EventKind,
}

#[derive(Debug, Clone)]
pub(crate) enum EventKind {
    EnterFile,
    LeaveFile,
    /// `#pragma prefix "..."`
    Prefix(String),
    /// `#pragma ID name "..."`
    Id {
        name: PragmaName,
        id: String,
    },
    /// `#pragma version name 1.2`
    Version {
        name: PragmaName,
        version: String,
    },
}

/// The possibly qualified name in a pragma.
#[derive(Debug, Clone)]
pub(crate) struct PragmaName {
    pub absolute: bool,
    pub parts: Vec<(Rc<str>, Span)>,
}

/// Reserved words of OMG IDL 3.5 (table 7-6), in alphabetical order by bytes.
pub(crate) const KEYWORDS: &[&str] = &[
    "FALSE",
    "Object",
    "TRUE",
    "ValueBase",
    "abstract",
    "alias",
    "any",
    "attribute",
    "boolean",
    "case",
    "char",
    "component",
    "connector",
    "const",
    "consumes",
    "context",
    "custom",
    "default",
    "double",
    "emits",
    "enum",
    "eventtype",
    "exception",
    "factory",
    "finder",
    "fixed",
    "float",
    "getraises",
    "home",
    "import",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "manages",
    "mirrorport",
    "module",
    "multiple",
    "native",
    "octet",
    "oneway",
    "out",
    "port",
    "porttype",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "truncatable",
    "typedef",
    "typeid",
    "typename",
    "typeprefix",
    "union",
    "unsigned",
    "uses",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

/// The keywords with which a type can begin.
pub(crate) const TYPE_KEYWORDS: &[&str] = &[
    "Object",
    "ValueBase",
    "any",
    "boolean",
    "char",
    "double",
    "enum",
    "fixed",
    "float",
    "long",
    "octet",
    "sequence",
    "short",
    "string",
    "struct",
    "union",
    "unsigned",
    "wchar",
    "wstring",
];

/// Keywords introduced after CORBA 2.6. Older specifications use them as names, so they are accepted where
/// only a name is possible.
const LATE_KEYWORDS: &[&str] = &[
    "alias",
    "component",
    "connector",
    "consumes",
    "emits",
    "eventtype",
    "finder",
    "getraises",
    "home",
    "import",
    "manages",
    "mirrorport",
    "multiple",
    "port",
    "porttype",
    "primarykey",
    "provides",
    "publishes",
    "setraises",
    "typeid",
    "typename",
    "typeprefix",
    "uses",
];

/// Returns whether a word is a keyword, spelled exactly.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// Returns the keyword that a word collides with: identifiers differ from keywords by more than their case
/// (7.2.3).
pub(crate) fn colliding_keyword(word: &str) -> Option<&'static str> {
    KEYWORDS
        .iter()
        .copied()
        .find(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Returns whether a keyword is accepted as a name where only a name is possible.
pub(crate) fn is_late_keyword(word: &str) -> bool {
    LATE_KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted());
        assert!(LATE_KEYWORDS.iter().all(|word| is_keyword(word)));
    }
}
