//! Generates Rust from IDL, as specified in `docs/mapping.md`.
//!
//! [`generate`] takes the resolved specification of the front end, gives every definition its Rust name
//! (`lower`), emits tokens (one module per kind of definition) and prints them (`print`). It reads and writes
//! no files; `punctual-build` does.

mod attributes;
mod bits;
mod constants;
mod copies;
mod docs;
mod enums;
mod exceptions;
mod factories;
mod facts;
mod interface;
mod layout;
mod lower;
mod model;
mod names;
mod parts;
mod print;
mod properties;
mod structs;
mod type_codes;
mod types;
mod unions;
mod values;

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use punctual_idl::{Diagnostic, Limits, hir};
use quote::quote;

pub use attributes::{check_attribute, is_within};

use crate::{docs::doc, model::Item, names::identifier, types::Place};

/// Settings of the generator.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Rust path of the runtime in generated code, such as `::punctual::rt`.
    pub runtime_path: String,
    /// Scoped names of operations, attributes and interfaces whose servants answer later, through a
    /// `ResponseHandler`; of an interface, all that have a reply. Names of nothing have no effect:
    /// [`deferrable`] lists those of a specification.
    pub deferred: Vec<String>,
    /// Attributes of generated structs, enums, unions, exceptions and their members, with the scoped name of
    /// the type, of what contains it (empty: all types), or of the member. Names of nothing have no effect:
    /// [`attributable`] lists types and members.
    pub attributes: Vec<(String, String)>,
    /// For the scoped name of a module (empty: the global scope), the Rust path of the module that declares
    /// what included files declare in it. Names of nothing have no effect: [`included`] lists the modules.
    pub external: Vec<(String, String)>,
    /// Scoped names of value types whose values may be in circles, with all that they inherit from and that
    /// inherit from them, and of what contains such types (empty: all). Names of nothing have no effect:
    /// [`value_types`] lists the types.
    pub circular: Vec<String>,
    /// Sides of interfaces that are generated.
    pub sides: Sides,
}

/// Generated sides of interfaces that objects can have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Sides {
    /// References with a method for each operation, and traits of servants.
    #[default]
    Both,
    /// References with a method for each operation.
    Client,
    /// References without methods, and traits of servants.
    Server,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            runtime_path: String::from("::punctual::rt"),
            deferred: Vec::new(),
            attributes: Vec::new(),
            external: Vec::new(),
            circular: Vec::new(),
            sides: Sides::Both,
        }
    }
}

/// Generates the Rust code of a specification, an item, statement, field or arm in each line at least.
///
/// Fails with one diagnostic per construct that is not generated, up to the default of
/// [`Limits::diagnostics`].
///
/// # Panics
/// If `settings.runtime_path` or a path of `settings.external` is not a path, or [`check_attribute`] refuses
/// an attribute.
pub fn generate(specification: &hir::Specification, settings: &Settings) -> Result<String, Vec<Diagnostic>> {
    let refused = hir::not_generated(specification, &Limits::default());
    if !refused.is_empty() {
        return Err(refused);
    }
    let model = lower::lower(specification, settings);
    let runtime: syn::Path = syn::parse_str(&settings.runtime_path)
        .unwrap_or_else(|error| panic!("runtime path `{}`: {error}", settings.runtime_path));
    let rt = quote!(#runtime);
    let place = Place {
        model: &model,
        rt: &rt,
        sides: settings.sides,
        module: &[],
    };
    let mut tokens = items(&place, &model.root);
    tokens.extend(
        model
            .value_base
            .iter()
            .map(|value| values::generate(&place, value)),
    );
    Ok(format!("{HEADER}{}", print::file(tokens, ALLOWED)))
}

/// Scoped names of the types and members that can have [attributes](Settings::attributes).
pub fn attributable(specification: &hir::Specification) -> Vec<String> {
    let has_attributes = |definition: &&hir::Definition| {
        use hir::DefinitionKind::{Bitmask, Bitset, Enum, Exception, Struct, Union};
        let is_data = matches!(
            definition.kind,
            Struct(_) | Enum(_) | Bitmask(_) | Bitset(_) | Union(_) | Exception(_)
        );
        is_data || lower::is_concrete(definition)
    };
    let types = specification.definitions.iter().filter(has_attributes);
    let names = types.flat_map(|definition| {
        let of_member = |member: &hir::Member| format!("{}::{}", definition.scoped_name, member.name);
        let members = members(definition).into_iter().map(of_member);
        std::iter::once(definition.scoped_name.to_string()).chain(members)
    });
    names.collect()
}

/// Scoped names of the value types whose values may be in [circles](Settings::circular).
pub fn value_types(specification: &hir::Specification) -> Vec<String> {
    let values = specification
        .definitions
        .iter()
        .filter(|value| lower::is_concrete(value));
    values.map(|value| value.scoped_name.to_string()).collect()
}

/// Members of a struct or exception, and of the state of a value type.
fn members(definition: &hir::Definition) -> Vec<&hir::Member> {
    match &definition.kind {
        hir::DefinitionKind::Struct(item) => item.members.iter().collect(),
        hir::DefinitionKind::Exception(item) => item.members.iter().collect(),
        hir::DefinitionKind::ValueType(item) => item.state.iter().map(|(_, member)| member).collect(),
        _ => Vec::new(),
    }
}

/// Scoped names of the modules in which included files declare something, for [`Settings::external`]; an
/// empty one stands for the global scope.
pub fn included(specification: &hir::Specification) -> Vec<String> {
    let is_module = |definition: &hir::Definition| matches!(definition.kind, hir::DefinitionKind::Module(_));
    let definitions = specification.definitions.iter();
    let included = definitions.filter(|item| !is_module(item) && specification.is_included(item));
    let mut modules = BTreeSet::new();
    for definition in included {
        let scope = &definition.scoped_name.0[..definition.scoped_name.0.len() - 1];
        modules.extend((0..=scope.len()).map(|length| scope[..length].join("::")));
    }
    modules.into_iter().collect()
}

/// Checks that a text is a Rust path, such as `::lab_types::lab`.
///
/// # Errors
/// Why it is none.
pub fn check_path(text: &str) -> Result<(), String> {
    syn::parse_str::<syn::Path>(text)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Scoped names that [`Settings::deferred`] may contain: of unconstrained interfaces, and of their operations
/// and attributes that have a reply.
pub fn deferrable(specification: &hir::Specification) -> Vec<String> {
    let definitions = specification.definitions.iter();
    let interfaces = definitions.filter_map(|definition| match &definition.kind {
        hir::DefinitionKind::Interface(idl) if idl.flavour == hir::InterfaceFlavour::Plain => {
            Some((definition.scoped_name.to_string(), idl))
        }
        _ => None,
    });
    interfaces
        .flat_map(|(name, idl)| {
            let operations = idl.operations.iter().filter(|operation| !operation.oneway);
            let operations = operations.map(|operation| operation.scoped_name.to_string());
            let attributes = idl
                .attributes
                .iter()
                .map(|attribute| attribute.scoped_name.to_string());
            [name]
                .into_iter()
                .chain(operations)
                .chain(attributes)
                .collect::<Vec<_>>()
        })
        .collect()
}

const HEADER: &str = "// Generated from IDL by Punctual; changes here are lost.\n\n";

/// At each item: lints that do not apply to generated code are switched off.
const ALLOWED: &str = "#[allow(dead_code, clippy::all, clippy::pedantic, clippy::nursery, rustdoc::all)]";

/// Items of one Rust module.
fn items(place: &Place<'_>, list: &[Item]) -> TokenStream {
    list.iter().map(|item| self::item(place, item)).collect()
}

fn item(place: &Place<'_>, item: &Item) -> TokenStream {
    match item {
        Item::Module(module) => nested_module(place, &module.name, &module.docs.tokens(), |place| {
            items(place, &module.items)
        }),
        Item::Typedef(typedef) => {
            let (docs, name, aliased) = (
                typedef.docs.tokens(),
                identifier(&typedef.name),
                place.plain(&typedef.aliased),
            );
            quote!(#docs pub type #name = #aliased;)
        }
        Item::Native(native) => {
            let (docs, rt, name) = (native.docs.tokens(), place.rt, identifier(&native.name));
            quote!(#docs pub type #name = #rt::NativeValue;)
        }
        Item::Struct(item) => structs::generate(place, item),
        Item::Union(item) => unions::generate(place, item),
        Item::Enum(item) => enums::generate(place, item),
        Item::Bitmask(item) => bits::bitmask(place, item),
        Item::Bitset(item) => bits::bitset(place, item),
        Item::Exception(item) => exceptions::generate(place, item),
        Item::Constant(item) => constants::generate(place, item),
        Item::Interface(id) => interface::generate(place, &place.model.interfaces[id.0]),
        Item::Value(item) => values::generate(place, item),
        Item::Inner(module) => nested_module(place, &module.name, &doc(&module.docs.idl), |place| {
            items(place, &module.items)
        }),
    }
}

/// `pub mod name { … }`, or nothing for an empty module.
fn nested_module(
    place: &Place<'_>,
    name: &str,
    docs: &TokenStream,
    contents: impl FnOnce(&Place<'_>) -> TokenStream,
) -> TokenStream {
    let mut module = place.module.to_vec();
    module.push(String::from(name));
    let contents = contents(&Place {
        module: &module,
        ..*place
    });
    if contents.is_empty() {
        return contents;
    }
    let name = identifier(name);
    quote!(#docs pub mod #name { #contents })
}
