//! Interfaces: the reference that clients call, the trait that servants implement, and the skeleton between
//! them.

mod client;
pub mod servant;
mod skeleton;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::{
    Sides,
    docs::doc,
    exceptions, items,
    model::{Interface, Mode, Model, Operation, Parameter, Shape, Type},
    names::identifier,
    nested_module,
    types::Place,
};

/// An interface with all generated items. A local one is its trait, and what belongs to it; an abstract one
/// has no skeleton, because the objects that support it have another interface.
pub fn generate(place: &Place<'_>, interface: &Interface) -> TokenStream {
    let shape = &place.model.named(interface.reference).shape;
    let is_remote = matches!(shape, Shape::Interface);
    let has_servants = is_remote && place.sides != Sides::Client;
    let has_trait = has_servants || !is_remote || place.model.bases_of_local.contains(&interface.reference);
    let servant = has_trait.then(|| servant::generate(place, interface));
    let client = (!matches!(shape, Shape::Local)).then(|| client::generate(place, interface));
    let local = matches!(shape, Shape::Local).then(|| local_object(interface));
    let skeleton = has_servants.then(|| skeleton::generate(place, interface));
    let scope = scope(place, interface, &interface.operations);
    quote!(#servant #local #client #skeleton #scope)
}

/// Traits of a local object that structs, unions and exceptions with one inside need.
fn local_object(interface: &Interface) -> TokenStream {
    let (name, scoped_name) = (identifier(&interface.name), &interface.scoped_name);
    quote! {
        impl ::core::fmt::Debug for dyn #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(#scoped_name)
            }
        }

        /// Whether both are the same object.
        impl ::core::cmp::PartialEq for dyn #name {
            fn eq(&self, other: &Self) -> bool {
                ::core::ptr::addr_eq(self, other)
            }
        }
    }
}

/// The module of what is declared inside, and of the errors of operations.
pub fn scope<'o>(
    place: &Place<'_>,
    interface: &Interface,
    operations: impl IntoIterator<Item = &'o Operation>,
) -> TokenStream {
    nested_module(place, &interface.scope, &doc(&scope_docs(interface)), |inside| {
        let declared = items(inside, &interface.items);
        let errors = operations
            .into_iter()
            .filter(|operation| !operation.raises.is_empty())
            .map(|operation| exceptions::operation_error(inside, interface, operation));
        quote!(#declared #(#errors)*)
    })
}

fn scope_docs(interface: &Interface) -> String {
    format!("Declarations of the interface `{}`.", interface.scoped_name)
}

/// A result: the return value or an `out` parameter.
struct Output<'o> {
    name: Ident,
    of: &'o Type,
}

impl Operation {
    /// The return value, then the `out` parameters; `returned` is the name of the former.
    fn outputs(&self, returned: &str) -> Vec<Output<'_>> {
        let returned = self.returns.iter().map(|of| Output {
            name: identifier(returned),
            of,
        });
        let parameters = self
            .parameters
            .iter()
            .filter(|parameter| parameter.mode == Mode::Out);
        let parameters = parameters.map(|Parameter { name, of, .. }| Output {
            name: identifier(name),
            of,
        });
        returned.chain(parameters).collect()
    }

    /// Contents of a reply: the return value, then `inout` and `out` parameters.
    fn replied(&self) -> impl Iterator<Item = &Type> {
        let parameters = self
            .parameters
            .iter()
            .filter(|parameter| parameter.mode != Mode::In);
        self.returns
            .iter()
            .chain(parameters.map(|parameter| &parameter.of))
    }

    /// Type of the results: unit, a single value, or a tuple.
    pub(crate) fn output_type(&self, place: &Place<'_>) -> TokenStream {
        let outputs = self.outputs(RETURNED);
        let types = outputs.iter().map(|output| place.owned(output.of));
        one_or_tuple(types)
    }

    /// Type of what a reply contains: unit, a single value, or a tuple.
    pub(crate) fn replied_type(&self, place: &Place<'_>) -> TokenStream {
        one_or_tuple(self.replied().map(|of| place.owned(of)))
    }

    /// Error type, relative to `place`.
    pub(crate) fn error_type(&self, place: &Place<'_>, declared_in: &Interface) -> TokenStream {
        if self.raises.is_empty() {
            let rt = place.rt;
            return quote!(#rt::SystemException);
        }
        place.path(&declared_in.module.join(&declared_in.scope), &self.error)
    }

    /// Whether an `op_into` exists.
    pub(crate) fn has_into(&self, model: &Model) -> bool {
        let parameters = self
            .parameters
            .iter()
            .filter(|parameter| parameter.mode == Mode::Out);
        let mut outputs = self
            .returns
            .iter()
            .chain(parameters.map(|parameter| &parameter.of));
        outputs.any(|of| model.is_worth_reusing(of))
    }
}

/// The name of the return value among the parameters of `op_into`.
pub(crate) const RETURNED: &str = "result";

/// `()`, `a`, or `(a, b)`.
fn one_or_tuple(parts: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let mut parts: Vec<TokenStream> = parts.into_iter().collect();
    match parts.len() {
        1 => parts.remove(0),
        _ => quote!((#(#parts),*)),
    }
}
