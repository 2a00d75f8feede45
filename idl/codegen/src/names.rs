//! Converts IDL names to Rust names: case, keywords, clashes. See "Names" in `docs/mapping.md`.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};

/// `long_seq`, `LONG_SEQ`, `longSeq` → `LongSeq`.
pub fn upper_camel(idl: &str) -> String {
    words(idl).iter().map(|word| capitalised(word)).collect()
}

/// `getState`, `GetState` → `get_state`.
pub fn snake(idl: &str) -> String {
    words(idl).join("_")
}

/// `minPriority` → `MIN_PRIORITY`.
pub fn screaming_snake(idl: &str) -> String {
    snake(idl).to_ascii_uppercase()
}

/// Identifier of a Rust name: raw if it is a keyword, with a trailing `_` if it cannot be raw.
pub fn identifier(name: &str) -> Ident {
    if UNQUOTABLE.contains(&name) {
        Ident::new(&format!("{name}_"), Span::call_site())
    } else if KEYWORDS.contains(&name) {
        Ident::new_raw(name, Span::call_site())
    } else {
        Ident::new(name, Span::call_site())
    }
}

/// Rust names used in one scope; earlier definitions take precedence.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    taken: HashSet<String>,
}

impl Scope {
    /// A scope with reserved names.
    pub fn without<'n>(reserved: impl IntoIterator<Item = &'n str>) -> Self {
        Self {
            taken: reserved.into_iter().map(String::from).collect(),
        }
    }

    /// Returns the name, with trailing `_` until it is unused.
    pub fn claim(&mut self, name: &str) -> String {
        let mut name = String::from(name);
        if UNQUOTABLE.contains(&name.as_str()) {
            name.push('_');
        }
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    /// Like [`Self::claim`], for tuple structs, which must not hide the variants in Rust's prelude.
    pub fn claim_tuple(&mut self, name: &str) -> String {
        if VARIANTS.contains(&name) {
            self.claim(&format!("{name}_"))
        } else {
            self.claim(name)
        }
    }

    /// Like [`Self::claim`], for modules, which must not hide primitive types.
    pub fn claim_module(&mut self, name: &str) -> String {
        if PRIMITIVES.contains(&name) {
            self.claim(&format!("{name}_"))
        } else {
            self.claim(name)
        }
    }
}

/// Words of a name in lower case: split at `_`, before a capital that follows a small letter or a digit, and
/// before the last capital of several if a small letter follows (`IORSeq`: `ior`, `seq`).
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let letters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (index, &letter) in letters.iter().enumerate() {
            let starts_word = letter.is_uppercase() && index > 0 && {
                let next_is_small = letters.get(index + 1).is_some_and(|next| next.is_lowercase());
                !letters[index - 1].is_uppercase() || next_is_small
            };
            if starts_word {
                words.push(std::mem::take(&mut word));
            }
            word.extend(letter.to_lowercase());
        }
        words.push(word);
    }
    // A word that starts with a digit cannot start a name.
    if words
        .first()
        .is_none_or(|word| word.starts_with(|first: char| first.is_ascii_digit()))
    {
        words.insert(0, String::from("x"));
    }
    words
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Keywords that cannot be raw identifiers.
const UNQUOTABLE: &[&str] = &["self", "Self", "super", "crate"];

/// Strict and reserved keywords of all editions up to 2024.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

const VARIANTS: &[&str] = &["Ok", "Err", "Some", "None"];

const PRIMITIVES: &[&str] = &[
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16", "u32",
    "u64", "u8", "usize",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_case_as_the_mapping_says() {
        // IDL name, type, function, constant.
        for (idl, camel, small, screaming) in [
            ("long_seq", "LongSeq", "long_seq", "LONG_SEQ"),
            (
                "CLIENT_PROPAGATED",
                "ClientPropagated",
                "client_propagated",
                "CLIENT_PROPAGATED",
            ),
            ("getState", "GetState", "get_state", "GET_STATE"),
            ("minPriority", "MinPriority", "min_priority", "MIN_PRIORITY"),
            ("CosNaming", "CosNaming", "cos_naming", "COS_NAMING"),
            ("Cubit_Factory", "CubitFactory", "cubit_factory", "CUBIT_FACTORY"),
            ("IORSeq", "IorSeq", "ior_seq", "IOR_SEQ"),
            ("RTCORBA", "Rtcorba", "rtcorba", "RTCORBA"),
            ("e_0th", "E0th", "e_0th", "E_0TH"),
            ("level2Gain", "Level2Gain", "level2_gain", "LEVEL2_GAIN"),
            ("a", "A", "a", "A"),
            ("x__y_", "XY", "x_y", "X_Y"),
        ] {
            assert_eq!(upper_camel(idl), camel, "{idl}");
            assert_eq!(snake(idl), small, "{idl}");
            assert_eq!(screaming_snake(idl), screaming, "{idl}");
        }
    }

    #[test]
    fn keywords_become_raw_or_get_an_underscore() {
        for (name, rust) in [
            ("type", "r#type"),
            ("match", "r#match"),
            ("gen", "r#gen"),
            ("self", "self_"),
            ("Self", "Self_"),
            ("super", "super_"),
            ("crate", "crate_"),
            ("plain", "plain"),
        ] {
            assert_eq!(identifier(name).to_string(), rust);
        }
    }

    #[test]
    fn every_keyword_is_one_to_the_parser() {
        for keyword in KEYWORDS {
            // `gen` is a keyword since edition 2024, unknown to the parser.
            assert!(
                *keyword == "gen" || syn::parse_str::<syn::Ident>(keyword).is_err(),
                "{keyword}"
            );
            syn::parse_str::<syn::Ident>(&identifier(keyword).to_string()).unwrap();
        }
    }

    #[test]
    fn the_later_of_two_equal_names_gives_way() {
        let mut scope = Scope::without(["result"]);
        assert_eq!(scope.claim("get_state"), "get_state");
        assert_eq!(scope.claim("get_state"), "get_state_");
        assert_eq!(scope.claim("get_state"), "get_state__");
        assert_eq!(scope.claim("result"), "result_");
        assert_eq!(scope.claim("self"), "self_");
        assert_eq!(scope.claim("self"), "self__");
        assert_eq!(scope.claim_module("u8"), "u8_");
        assert_eq!(scope.claim_module("radar"), "radar");
    }
}
