//! The trait that servants implement.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Output, RETURNED, one_or_tuple};
use crate::{
    docs::doc,
    model::{Interface, Mode, Operation},
    names::{Scope, identifier},
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
    if operation.deferred {
        return deferred_method(place, interface, operation);
    }
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

/// The method of an operation that is answered later: `inout` parameters are passed like `in` parameters and
/// returned with the results.
fn deferred_method(place: &Place<'_>, interface: &Interface, operation: &Operation) -> TokenStream {
    let (rt, docs) = (place.rt, operation.docs.tokens());
    let name = identifier(&operation.name);
    let deferred_docs = doc("The reply may be sent later, from any thread, through `response`.");
    let parameters = operation.parameters.iter().filter_map(|parameter| {
        let name = identifier(&parameter.name);
        let of = match parameter.mode {
            Mode::In => place.servant_in(&parameter.of).declared,
            Mode::InOut => place.owned(&parameter.of),
            Mode::Out => return None,
        };
        Some(quote!(#name: #of))
    });
    let names = operation
        .parameters
        .iter()
        .map(|parameter| parameter.name.as_str());
    let response = identifier(&Scope::without(names).claim("response"));
    let (results, error) = (
        operation.replied_type(place),
        operation.error_type(place, interface),
    );
    quote! {
        #docs
        #[doc = ""]
        #deferred_docs
        fn #name(&self, #(#parameters,)* #response: #rt::ResponseHandler<#results, #error>);
    }
}

fn into_method(place: &Place<'_>, interface: &Interface, operation: &Operation) -> TokenStream {
    let (interface_name, name, into_name) = (
        identifier(&interface.name),
        identifier(&operation.name),
        identifier(&operation.into_name),
    );
    let docs = doc(&format!(
        "Like [`{}`](Self::{}), with results in memory that is kept from call to call; override it to allocate none.",
        operation.name, operation.name
    ));
    let parameters: Vec<_> = parameters(place, operation, true).collect();
    let error = operation.error_type(place, interface);
    let passed = operation
        .parameters
        .iter()
        .filter(|parameter| parameter.mode != Mode::Out);
    let passed = passed.map(|parameter| identifier(&parameter.name));
    let results = quote!(<Self as #interface_name>::#name(self, #(#passed),*)?);
    let stored = stored(place, operation, &results);
    quote! {
        #docs
        fn #into_name(&self, #(#parameters),*) -> ::core::result::Result<(), #error> {
            #stored
            Ok(())
        }
    }
}

/// Stores the results of an operation in the parameters of its `op_into`. Boxed arrays are exchanged element
/// by element: an assignment may take a way over the stack.
fn stored(place: &Place<'_>, operation: &Operation, results: &TokenStream) -> TokenStream {
    let outputs = operation.outputs(RETURNED);
    if !outputs.iter().any(|output| place.model.is_boxed(output.of)) {
        let assigned = outputs.iter().map(|Output { name, .. }| quote!(*#name));
        let assigned = one_or_tuple(assigned);
        return quote!(#assigned = #results;);
    }
    let parameters = operation
        .parameters
        .iter()
        .map(|parameter| parameter.name.as_str());
    let mut scope = Scope::without(parameters.chain([RETURNED]));
    let values: Vec<_> = outputs
        .iter()
        .map(|output| identifier(&scope.claim(&format!("new_{}", plain_name(&output.name)))))
        .collect();
    let bound = outputs.iter().zip(&values).map(|(output, value)| {
        let mutable = place.model.is_boxed(output.of).then(|| quote!(mut));
        quote!(#mutable #value)
    });
    let bound = one_or_tuple(bound);
    let stored = outputs.iter().zip(&values).map(|(Output { name, of }, value)| {
        if place.model.is_boxed(of) {
            quote!(#name.swap_with_slice(&mut *#value);)
        } else {
            quote!(*#name = #value;)
        }
    });
    quote!(let #bound = #results; #(#stored)*)
}

/// A name without the mark of a raw identifier.
fn plain_name(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// `in` and `inout` parameters in order; with `into`, then return value and `out` parameters.
pub fn parameters<'o>(
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
                let of = place.referred(&parameter.of);
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
        let (name, of) = (output.name, place.referred(output.of));
        quote!(#name: &mut #of)
    }))
}
