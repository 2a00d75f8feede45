//! The trait that servants implement.

use proc_macro2::TokenStream;
use quote::quote;

use super::{RETURNED, one_or_tuple};
use crate::{
    docs::doc,
    model::{Interface, Mode, Operation},
    names::identifier,
    types::Place,
};

/// The trait of an interface.
pub fn generate(place: &Place<'_>, interface: &Interface) -> TokenStream {
    let (docs, name) = (interface.docs.tokens(), identifier(&interface.name));
    let bases = interface.bases.iter().map(|base| {
        let base = &place.model.interfaces[base.0];
        place.path(&base.module, &base.name)
    });
    let bounds = if interface.bases.is_empty() {
        quote!(::core::marker::Send + ::core::marker::Sync + 'static)
    } else {
        quote!(#(#bases)+*)
    };
    let methods = interface
        .operations
        .iter()
        .map(|operation| method(place, interface, operation));
    quote!(#docs pub trait #name: #bounds { #(#methods)* })
}

fn method(place: &Place<'_>, interface: &Interface, operation: &Operation) -> TokenStream {
    let (docs, name) = (operation.docs.tokens(), identifier(&operation.name));
    let parameters: Vec<_> = parameters(place, operation, false).collect();
    let (output, error) = (
        operation.output_type(place),
        operation.error_type(place, interface),
    );
    let into = operation
        .has_into(place.model)
        .then(|| into_method(place, interface, operation));
    quote! {
        #docs
        fn #name(&self, #(#parameters),*) -> ::core::result::Result<#output, #error>;
        #into
    }
}

fn into_method(place: &Place<'_>, interface: &Interface, operation: &Operation) -> TokenStream {
    let (interface_name, name, into_name) = (
        identifier(&interface.name),
        identifier(&operation.name),
        identifier(&operation.into_name),
    );
    let docs = doc(&format!(
        "As [`{}`](Self::{}), with results in memory that is kept from call to call; override it to allocate none.",
        operation.name, operation.name
    ));
    let parameters: Vec<_> = parameters(place, operation, true).collect();
    let error = operation.error_type(place, interface);
    let passed = operation
        .parameters
        .iter()
        .filter(|parameter| parameter.mode != Mode::Out);
    let passed = passed.map(|parameter| identifier(&parameter.name));
    let outputs = operation.outputs(RETURNED).into_iter().map(|output| {
        let name = output.name;
        quote!(*#name)
    });
    let outputs = one_or_tuple(outputs);
    quote! {
        #docs
        fn #into_name(&self, #(#parameters),*) -> ::core::result::Result<(), #error> {
            #outputs = <Self as #interface_name>::#name(self, #(#passed),*)?;
            Ok(())
        }
    }
}

/// `in` and `inout` parameters in order; with `into`, then return value and `out` parameters.
fn parameters<'o>(
    place: &'o Place<'_>,
    operation: &'o Operation,
    into: bool,
) -> impl Iterator<Item = TokenStream> + 'o {
    let given = operation.parameters.iter().filter_map(|parameter| {
        let name = identifier(&parameter.name);
        match parameter.mode {
            Mode::In => {
                let of = place.servant_in(&parameter.of).declared;
                Some(quote!(#name: #of))
            }
            Mode::InOut => {
                let of = place.owned(&parameter.of);
                Some(quote!(#name: &mut #of))
            }
            Mode::Out => None,
        }
    });
    let outputs = if into {
        operation.outputs(RETURNED)
    } else {
        Vec::new()
    };
    given.chain(outputs.into_iter().map(|output| {
        let (name, of) = (output.name, place.owned(output.of));
        quote!(#name: &mut #of)
    }))
}
