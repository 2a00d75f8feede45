//! Rule for `Debug` of public errors: `main` and `unwrap` print it, so it is the text for people.

use syn::{Attribute, Item, ItemImpl, Meta, Path, Token, Type, Visibility, punctuated::Punctuated};

/// Finds a public error of a library that derives `Debug`.
pub fn raw_debug(name: &str, text: &str) -> Option<String> {
    let is_library = ["crates/", "services/"]
        .iter()
        .any(|folder| name.starts_with(folder));
    let is_product = is_library && name.ends_with(".rs") && name.contains("/src/");
    // Most files have no errors.
    if !is_product || !text.contains("Error") {
        return None;
    }
    let items = syn::parse_file(text).ok()?.items;
    let implemented: Vec<_> = items.iter().filter_map(error_of).collect();
    let raw = items.iter().find_map(|item| {
        let (visibility, attributes, ident) = match item {
            Item::Enum(item) => (&item.vis, &item.attrs, &item.ident),
            Item::Struct(item) => (&item.vis, &item.attrs, &item.ident),
            _ => return None,
        };
        let derived: Vec<_> = attributes.iter().flat_map(derived).collect();
        let has = |name: &str| derived.iter().any(|derived| derived == name);
        let is_error = has("Error") || implemented.iter().any(|error| ident == error);
        let is_raw = matches!(visibility, Visibility::Public(_)) && is_error && has("Debug");
        is_raw.then_some(ident)
    })?;
    Some(format!(
        "`{raw}` is an error that derives `Debug`, which `main` prints; use `punctual_types::debug_as_display!`"
    ))
}

/// Returns the last names of the traits that an attribute derives.
fn derived(attribute: &Attribute) -> Vec<String> {
    let Meta::List(list) = &attribute.meta else {
        return Vec::new();
    };
    if !list.path.is_ident("derive") {
        return Vec::new();
    }
    let parse = Punctuated::<Path, Token![,]>::parse_terminated;
    let traits = list.parse_args_with(parse).unwrap_or_default();
    traits.iter().filter_map(last_name).collect()
}

/// Returns the type for which an item implements `Error`.
fn error_of(item: &Item) -> Option<String> {
    match item {
        Item::Impl(ItemImpl {
            trait_: Some((path, _)),
            self_ty,
            ..
        }) if last_name(path)? == "Error" => match &**self_ty {
            Type::Path(of) => last_name(&of.path),
            _ => None,
        },
        _ => None,
    }
}

fn last_name(path: &Path) -> Option<String> {
    Some(path.segments.last()?.ident.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_derive_debug_are_found() {
        let found = |text| raw_debug("crates/a/src/error.rs", text).is_some();
        assert!(found("#[derive(Debug, thiserror::Error)] pub enum Late {}"));
        assert!(found(
            "#[derive(Clone, Debug)] pub struct Late; impl std::error::Error for Late {}"
        ));
        assert!(!found("#[derive(thiserror::Error)] pub enum Late {}"));
        assert!(!found("#[derive(Debug, thiserror::Error)] enum Late {}"));
        assert!(!found("#[derive(Debug)] pub struct Error;"));
    }
}
