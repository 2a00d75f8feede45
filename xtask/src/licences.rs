//! Licences of dependencies, checked against the list in `deny.toml`; `cargo deny` reads the same file.

use std::collections::BTreeSet;

use serde::Deserialize;

/// Licences that `deny.toml` allows.
pub fn allowed(deny_toml: &str) -> Result<BTreeSet<String>, String> {
    #[derive(Deserialize)]
    struct Deny {
        licenses: Licenses,
    }
    #[derive(Deserialize)]
    struct Licenses {
        allow: BTreeSet<String>,
    }
    toml::from_str(deny_toml)
        .map(|deny: Deny| deny.licenses.allow)
        .map_err(|error| format!("deny.toml: {error}"))
}

/// Whether allowed licences satisfy an SPDX expression. Older packages write `A/B` for `A OR B`.
pub fn is_met(expression: &str, allowed: &BTreeSet<String>) -> Result<bool, String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = either(&mut words, allowed);
    match (met, words.next()) {
        (Some(met), None) => Ok(met),
        _ => Err(format!("`{expression}` is no SPDX expression")),
    }
}

type Words<'w> = std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn either(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut met = both(words, allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        met |= both(words, allowed)?;
    }
    Some(met)
}

fn both(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    let mut met = one(words, allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed)?;
    }
    Some(met)
}

fn one(words: &mut Words<'_>, allowed: &BTreeSet<String>) -> Option<bool> {
    match words.next()? {
        "(" => {
            let met = either(words, allowed)?;
            (words.next()? == ")").then_some(met)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        licence => {
            let mut licence = licence.to_owned();
            if words.next_if_eq(&"WITH").is_some() {
                licence = format!("{licence} WITH {}", words.next()?);
            }
            Some(allowed.contains(&licence))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expression: &str) -> Result<bool, String> {
        let deny = "[licenses]\nallow = [\"MIT\", \"Zlib\", \"Apache-2.0 WITH LLVM-exception\"]";
        is_met(expression, &allowed(deny).unwrap())
    }

    #[test]
    fn one_of_several_is_enough() {
        assert_eq!(met("MIT OR GPL-3.0"), Ok(true));
        assert_eq!(met("GPL-3.0/MIT"), Ok(true));
        assert_eq!(met("GPL-3.0 OR LGPL-2.1"), Ok(false));
        assert_eq!(met("Apache-2.0 WITH LLVM-exception OR GPL-3.0"), Ok(true));
    }

    #[test]
    fn all_of_several_are_needed() {
        assert_eq!(met("MIT AND Zlib"), Ok(true));
        assert_eq!(met("(MIT OR GPL-3.0) AND Unicode-3.0"), Ok(false));
        assert_eq!(met("GPL-3.0 OR (MIT AND Zlib)"), Ok(true));
        assert_eq!(met("Apache-2.0"), Ok(false));
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in ["", "MIT OR", "(MIT", "MIT)", "AND MIT", "MIT Zlib"] {
            assert!(met(wrong).is_err(), "{wrong:?}");
        }
    }
}
