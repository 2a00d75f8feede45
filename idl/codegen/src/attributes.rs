//! Attributes that users add to generated types.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, parse::Parser};

/// Whether a type is the named one, or declared in what has that name (empty: everything).
pub fn is_within(scoped_name: &str, name: &str) -> bool {
    let rest = scoped_name.strip_prefix(name);
    rest.is_some_and(|rest| name.is_empty() || rest.is_empty() || rest.starts_with("::"))
}

/// Checks that a text is one or more outer attributes, such as `#[derive(serde::Serialize)]`.
///
/// # Errors
/// Why it is none.
pub fn check_attribute(text: &str) -> Result<(), String> {
    match Attribute::parse_outer.parse_str(text) {
        Ok(attributes) if attributes.is_empty() => Err(String::from("it is empty")),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// The attributes of a type.
pub(crate) fn of(scoped_name: &str, attributes: &[(String, String)]) -> TokenStream {
    parsed(attributes, |name| is_within(scoped_name, name))
}

/// The attributes of a member, which only its own name stands for.
pub(crate) fn of_member(scoped_name: &str, attributes: &[(String, String)]) -> TokenStream {
    parsed(attributes, |name| name == scoped_name)
}

fn parsed(attributes: &[(String, String)], is_wanted: impl Fn(&str) -> bool) -> TokenStream {
    let wanted = attributes.iter().filter(|(name, _)| is_wanted(name));
    let parsed = wanted.flat_map(|(_, text)| {
        let parsed = Attribute::parse_outer.parse_str(text);
        parsed.unwrap_or_else(|error| panic!("attribute `{text}`: {error}"))
    });
    quote!(#(#parsed)*)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_what_is_declared_in_them() {
        let is_within = |name| super::is_within("Lab::Analyser::Sample", name);
        assert!(
            ["", "Lab", "Lab::Analyser", "Lab::Analyser::Sample"]
                .into_iter()
                .all(is_within)
        );
        assert!(
            !["La", "Lab::Analyse", "Analyser", "Lab::Analyser::Sample::x"]
                .into_iter()
                .any(is_within)
        );
    }

    #[test]
    fn only_outer_attributes_are_attributes() {
        assert_eq!(check_attribute("#[derive(Eq)] #[non_exhaustive]"), Ok(()));
        for bad in [
            "",
            "derive(Eq)",
            "#![allow(dead_code)]",
            "#[derive(Eq)] struct S;",
        ] {
            assert!(check_attribute(bad).is_err(), "{bad}");
        }
    }
}
