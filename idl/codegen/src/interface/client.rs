//! The `Ref`: an object reference with a method for each operation.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{Output, RETURNED, one_or_tuple};
use crate::{
    Sides,
    docs::doc,
    factories,
    model::{Interface, Method, Mode, Operation, Parameter, Shape, Type},
    names::{Scope, identifier},
    type_codes,
    types::Place,
};

/// Octets above which each of several results is decoded by itself: without optimisation, it is on the stack
/// several times meanwhile.
const LARGE_RESULT: u64 = 256;

/// The reference type of an interface.
pub fn generate(place: &Place<'_>, interface: &Interface) -> TokenStream {
    let rt = place.rt;
    let name = identifier(&place.model.named(interface.reference).name);
    let docs = doc(&format!(
        "A reference to an object that supports `{}`.",
        interface.scoped_name
    ));
    let called = (place.sides != Sides::Server).then_some(&interface.methods);
    let methods = called.into_iter().flatten().map(|method| {
        let declared_in = &place.model.interfaces[method.declared_in.0];
        Client {
            place,
            declared_in,
            method,
            operation: &declared_in.operations[method.operation],
        }
        .methods()
    });
    let repository_id = &interface.repository_id;
    let supported = bases(place, interface).map(|base| &base.repository_id);
    let kind = kind(place, interface, &name);
    let widenings = widenings(place, interface, &name);
    quote! {
        #docs
        #[derive(Clone, Debug, PartialEq)]
        pub struct #name(#rt::ObjectRef);

        impl #name { #(#methods)* }

        impl #rt::Interface for #name {
            const REPOSITORY_ID: &'static str = #repository_id;
            const SUPPORTED_IDS: &'static [&'static str] = &[#repository_id, #(#supported),*];

            fn from_object(object: #rt::ObjectRef) -> Self {
                Self(object)
            }

            fn as_object(&self) -> &#rt::ObjectRef {
                &self.0
            }
        }

        impl ::core::ops::Deref for #name {
            type Target = #rt::ObjectRef;

            fn deref(&self) -> &#rt::ObjectRef {
                &self.0
            }
        }

        impl ::core::convert::AsRef<#rt::ObjectRef> for #name {
            fn as_ref(&self) -> &#rt::ObjectRef {
                &self.0
            }
        }

        impl #rt::HasIor for #name {
            fn ior(&self) -> &#rt::Ior {
                <#rt::ObjectRef as #rt::HasIor>::ior(&self.0)
            }
        }

        impl #rt::FromIor for #name {
            fn from_ior(
                ior: #rt::Ior,
                decoder: &#rt::Decoder<'_>,
            ) -> ::core::result::Result<Self, #rt::CdrError> {
                <#rt::ObjectRef as #rt::FromIor>::from_ior(ior, decoder).map(Self)
            }
        }

        #kind

        #widenings
    }
}

/// Kind of the reference in an `any`; for an abstract interface, also the values that support it.
fn kind(place: &Place<'_>, interface: &Interface, name: &Ident) -> TokenStream {
    let (rt, named) = (place.rt, place.model.named(interface.reference));
    if !matches!(named.shape, Shape::Abstract) {
        return type_codes::of_interface(place, interface.reference);
    }
    let values = factories::generate(
        place,
        name,
        &interface.repository_id,
        &[],
        &interface.values,
        true,
    );
    let idl = &named.idl;
    quote! {
        #values

        impl #rt::AbstractInterface for #name {
            const NAME: &'static str = #idl;
        }
    }
}

/// All base interfaces, the nearest first.
fn bases<'m>(place: &Place<'m>, interface: &'m Interface) -> impl Iterator<Item = &'m Interface> {
    let model = place.model;
    interface
        .all_bases
        .iter()
        .rev()
        .map(|base| &model.interfaces[base.0])
}

/// Conversions of the reference to those of its bases.
fn widenings(place: &Place<'_>, interface: &Interface, name: &Ident) -> TokenStream {
    let rt = place.rt;
    bases(place, interface)
        .map(|base| {
            let base = place.type_path(base.reference);
            quote! {
                impl ::core::convert::From<#name> for #base {
                    fn from(derived: #name) -> Self {
                        <Self as #rt::Interface>::from_object(derived.0)
                    }
                }
            }
        })
        .collect()
}

/// One operation of a `Ref`.
struct Client<'c, 'm> {
    place: &'c Place<'m>,
    declared_in: &'c Interface,
    method: &'c Method,
    operation: &'c Operation,
}

impl Client<'_, '_> {
    fn methods(&self) -> TokenStream {
        let waiting = self.waiting_methods();
        let asynchronous = (!self.operation.oneway).then(|| self.async_method());
        quote!(#waiting #asynchronous)
    }

    fn waiting_methods(&self) -> TokenStream {
        let operation = self.operation;
        let (docs, name) = (operation.docs.tokens(), identifier(&self.method.name));
        let error = operation.error_type(self.place, self.declared_in);
        let output = operation.output_type(self.place);
        let given: Vec<_> = self.given().collect();
        let mut scope = self.scope();
        let returned = scope.claim(RETURNED);
        let outputs = operation.outputs(&returned);
        let values = outputs.iter().map(|Output { name, .. }| quote!(#name));
        let values = one_or_tuple(values);
        let locals: Vec<_> = outputs.iter().map(|output| self.local(output)).collect();
        if !operation.has_into(self.place.model) {
            let call = self.call(&mut scope, &outputs, |name| quote!(&mut #name));
            let body = if outputs.is_empty() {
                call
            } else {
                quote!(#(#locals)* #call?; Ok(#values))
            };
            return quote! {
                #docs
                pub fn #name(&self, #(#given),*) -> ::core::result::Result<#output, #error> { #body }
            };
        }
        let into_name = identifier(&self.method.into_name);
        let passed = operation
            .parameters
            .iter()
            .filter(|parameter| parameter.mode != Mode::Out);
        let passed = passed.map(|parameter| identifier(&parameter.name));
        let into = outputs.iter().map(|Output { name, .. }| quote!(&mut #name));
        let into_docs = doc(&format!(
            "Like [`{}`](Self::{}), with results in memory that the caller keeps.",
            self.method.name, self.method.name
        ));
        let taken = operation.outputs(RETURNED);
        let into_parameters = taken.iter().map(|output| {
            let (name, of) = (&output.name, self.place.referred(output.of));
            quote!(#name: &mut #of)
        });
        let call = self.call(&mut self.scope(), &taken, |name| quote!(&mut *#name));
        quote! {
            #docs
            pub fn #name(&self, #(#given),*) -> ::core::result::Result<#output, #error> {
                #(#locals)*
                self.#into_name(#(#passed,)* #(#into),*)?;
                Ok(#values)
            }

            #into_docs
            pub fn #into_name(
                &self,
                #(#given,)*
                #(#into_parameters),*
            ) -> ::core::result::Result<(), #error> {
                #call
            }
        }
    }

    /// The call itself: encodes the arguments, decodes the results into `outputs`.
    fn call(
        &self,
        scope: &mut Scope,
        outputs: &[Output<'_>],
        target: impl Fn(&Ident) -> TokenStream,
    ) -> TokenStream {
        let (rt, operation) = (self.place.rt, self.operation);
        let wire_name = &operation.wire_name;
        let [phase, encoder, decoder] =
            ["phase", "encoder", "decoder"].map(|name| identifier(&scope.claim(name)));
        let arguments = self.arguments(&encoder, |parameter| parameter.mode);
        let arguments = phase_arm(&quote!(#rt::Phase::Arguments), &encoder, &arguments);
        let (start, error) = if operation.oneway {
            (quote!(oneway), None)
        } else {
            let error = operation.error_type(self.place, self.declared_in);
            (quote!(call), Some(quote!(::<#error>)))
        };
        let returned = operation
            .returns
            .iter()
            .zip(outputs)
            .map(|(_, output)| target(&output.name));
        let parameters = operation.parameters.iter().filter_map(|parameter| {
            let name = identifier(&parameter.name);
            match parameter.mode {
                Mode::In => None,
                Mode::InOut => Some(quote!(&mut *#name)),
                Mode::Out => Some(target(&name)),
            }
        });
        let results: Vec<_> = returned
            .chain(parameters)
            .map(|target| quote!(#rt::Decode::decode_into(#target, #decoder)?;))
            .collect();
        let results = phase_arm(&quote!(#rt::Phase::Results), &decoder, &results);
        quote! {
            self.0.#start #error (#wire_name, |#phase| match #phase { #arguments #results })
        }
    }

    /// The asynchronous call: `inout` parameters are passed like `in` parameters and returned with the
    /// results.
    fn async_method(&self) -> TokenStream {
        let (rt, operation) = (self.place.rt, self.operation);
        let wire_name = &operation.wire_name;
        let name = identifier(&self.method.async_name);
        let docs = doc(&format!(
            "Like [`{}`](Self::{}), without waiting: the request is sent, and the result is a future.",
            self.method.name, self.method.name
        ));
        let mut scope = self.scope();
        let [encoder, decoder] = ["encoder", "decoder"].map(|name| identifier(&scope.claim(name)));
        let given = operation.parameters.iter().filter_map(|parameter| {
            let (name, of) = (identifier(&parameter.name), self.place.client_in(&parameter.of));
            (parameter.mode != Mode::Out).then(|| quote!(#name: #of))
        });
        let arguments = self.arguments(&encoder, |parameter| match parameter.mode {
            Mode::InOut => Mode::In,
            mode => mode,
        });
        let arguments = if arguments.is_empty() {
            quote!(|_| Ok(()))
        } else {
            quote!(|#encoder| { #(#arguments)* Ok(()) })
        };
        let output = operation.replied_type(self.place);
        let error = operation.error_type(self.place, self.declared_in);
        let results = match operation.replied().count() {
            0 => quote!(|_| Ok(())),
            1 => quote!(#rt::one_result),
            _ => {
                let each = operation.replied().map(|of| {
                    if self.place.model.size(of) <= LARGE_RESULT {
                        return quote!(#rt::Decode::decode(#decoder)?);
                    }
                    let of = self.place.owned(of);
                    quote!(*<::std::boxed::Box<#of> as #rt::Decode<'_>>::decode(#decoder)?)
                });
                quote!(|#decoder| Ok((#(#each),*)))
            }
        };
        quote! {
            #docs
            pub fn #name(&self, #(#given),*) -> #rt::AsyncCall<#output, #error> {
                self.0.call_async(#wire_name, &mut #arguments, #results)
            }
        }
    }

    /// Encodes the parameters of these modes.
    fn arguments(&self, encoder: &Ident, mode: impl Fn(&Parameter) -> Mode) -> Vec<TokenStream> {
        let rt = self.place.rt;
        let patterns = &self.operation.context;
        let context = (!patterns.is_empty())
            .then(|| quote!(#rt::encode_context(&self.0, &[#(#patterns),*], #encoder)?;));
        let parameters = self.operation.parameters.iter();
        parameters
            .filter_map(|parameter| self.argument(parameter, mode(parameter), encoder))
            .chain(context)
            .collect()
    }

    /// Encodes one parameter.
    fn argument(&self, parameter: &Parameter, mode: Mode, encoder: &Ident) -> Option<TokenStream> {
        let (rt, model, name) = (self.place.rt, self.place.model, identifier(&parameter.name));
        match (mode, model.resolved(&parameter.of)) {
            (Mode::Out, _) => None,
            (Mode::InOut, _) => Some(quote!(#rt::Encode::encode(&*#name, #encoder)?;)),
            (Mode::In, Type::Sequence { element, bound: None }) if model.is_string(element) => Some(quote! {
                #encoder.length(#name.len())?;
                for text in #name {
                    #rt::Encode::encode(::core::convert::AsRef::<str>::as_ref(text), #encoder)?;
                }
            }),
            (Mode::In, _) => Some(quote!(#rt::Encode::encode(&#name, #encoder)?;)),
        }
    }

    fn given(&self) -> impl Iterator<Item = TokenStream> {
        self.operation.parameters.iter().filter_map(|parameter| {
            let name = identifier(&parameter.name);
            let of = match parameter.mode {
                Mode::In => self.place.client_in(&parameter.of),
                Mode::InOut => {
                    let of = self.place.referred(&parameter.of);
                    quote!(&mut #of)
                }
                Mode::Out => return None,
            };
            Some(quote!(#name: #of))
        })
    }

    fn local(&self, output: &Output<'_>) -> TokenStream {
        let (name, of) = (&output.name, self.place.owned(output.of));
        let value = self.place.default_value(output.of);
        quote!(let mut #name: #of = #value;)
    }

    /// Names of the parameters.
    fn scope(&self) -> Scope {
        Scope::without(
            self.operation
                .parameters
                .iter()
                .map(|parameter| parameter.name.as_str()),
        )
    }
}

fn phase_arm(phase: &TokenStream, name: &Ident, statements: &[TokenStream]) -> TokenStream {
    if statements.is_empty() {
        quote!(#phase(_) => Ok(()),)
    } else {
        quote!(#phase(#name) => { #(#statements)* Ok(()) })
    }
}
