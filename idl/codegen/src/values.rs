//! Value types: the state as a struct, and what shares, sends and receives it.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::{
    factories,
    interface::{self, servant},
    model::{Type, TypeId, ValueKind, ValueState, ValueType},
    names::identifier,
    parts::{Base, Held, With},
    type_codes,
    types::Place,
};

/// A value type with its implementations.
pub fn generate(place: &Place<'_>, item: &ValueType) -> TokenStream {
    let (docs, name) = (item.docs.tokens(), identifier(&place.model.named(item.id).name));
    let (definition, type_code) = match &item.kind {
        ValueKind::Abstract => {
            let definition = quote! {
                #docs
                #[derive(Clone, Copy, Debug)]
                pub enum #name {}
            };
            (definition, type_codes::of_value(place, item, None))
        }
        ValueKind::Boxed(of) => {
            let definition = boxed(place, item, of);
            let of = place.owned(of);
            let object = object(place, item, &[], false, &TokenStream::new());
            (
                quote!(#definition #object),
                type_codes::of_value_box(place, item.id, &of),
            )
        }
        ValueKind::Concrete(state) => {
            let definition = concrete(place, item, state);
            (definition, type_codes::of_value(place, item, Some(state)))
        }
    };
    let value_type = value_type(place, item);
    let operations = operations(place, item);
    quote!(#definition #value_type #type_code #operations)
}

/// A box around its content, whose default is written out for an array without one in the standard library.
fn boxed(place: &Place<'_>, item: &ValueType, of: &Type) -> TokenStream {
    let (docs, name) = (item.docs.tokens(), identifier(&place.model.named(item.id).name));
    let (attributes, content) = (&item.attributes, place.owned(of));
    let codec = codec(place, &name, &[quote!(0)]);
    let (derived, default) = if place.model.has_long_array(of) {
        let value = place.default_value(of);
        let default = quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    Self(#value)
                }
            }
        };
        (quote!(Clone, Debug, PartialEq), Some(default))
    } else {
        (quote!(Clone, Debug, Default, PartialEq), None)
    };
    quote! {
        #docs
        #attributes
        #[derive(#derived)]
        pub struct #name(pub #content);
        #default
        #codec
    }
}

fn concrete(place: &Place<'_>, item: &ValueType, state: &ValueState) -> TokenStream {
    let (rt, name) = (place.rt, identifier(&place.model.named(item.id).name));
    let base = state.base.as_ref().map(|base| {
        let (of, member) = (place.type_path(base.id), identifier(&base.name));
        let (of, value) = if base.boxed {
            let value = quote!(#rt::boxed(|| ::core::default::Default::default()));
            (quote!(::std::boxed::Box<#of>), value)
        } else {
            (of, quote!(::core::default::Default::default()))
        };
        Base {
            name: member,
            of,
            value,
        }
    });
    let members = state.members.iter().map(|(is_public, member)| {
        let visibility = if *is_public {
            quote!(pub)
        } else {
            quote!(pub(crate))
        };
        (visibility, member)
    });
    let held = Held {
        docs: &item.docs,
        attributes: &item.attributes,
        id: item.id,
        members: members.collect(),
        parts: &state.parts,
    };
    let definition = held.definition(place, base.as_ref());
    let codec = if state.is_custom {
        custom_codec(place, &name)
    } else {
        state_codec(place, &name, state, &held)
    };
    let part = state.base.iter().map(|base| {
        let member = identifier(&base.name);
        let inside = base.boxed.then(|| quote!(*));
        quote!(#rt::ValueObject::part(&#inside self.#member, wanted))
    });
    let part = quote!(#(#part)*);
    let is_chunked = state.is_custom || !state.truncatable_to.is_empty();
    let object = object(place, item, &state.truncatable_to, is_chunked, &part);
    quote!(#definition #codec #object)
}

/// `Encode` and `Decode` of a state: the base first.
fn state_codec(place: &Place<'_>, name: &Ident, state: &ValueState, held: &Held<'_>) -> TokenStream {
    let (rt, base) = (place.rt, state.base.iter().map(|base| identifier(&base.name)));
    if !held.is_in_parts() {
        let members = state.members.iter().map(|(_, member)| identifier(&member.name));
        let names: Vec<_> = base.chain(members).map(|name| quote!(#name)).collect();
        return codec(place, name, &names);
    }
    let base: Vec<_> = base.collect();
    let encoded = held.each(
        place,
        &With::Encoder,
        &quote!(self),
        |member| quote!(#rt::Encode::encode(&#member, encoder)?;),
    );
    let octets = held.octets(place);
    let decoded = held.each(
        place,
        &With::Decoder,
        &quote!(made),
        |member| quote!(#member = #rt::Decode::decode(decoder)?;),
    );
    quote! {
        impl #rt::Encode for #name {
            fn encode(&self, encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                #(#rt::Encode::encode(&self.#base, encoder)?;)*
                #encoded
                Ok(())
            }
        }

        impl<'a> #rt::Decode<'a> for #name {
            const MIN_SIZE: usize = 0;

            fn decode(decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
                decoder.reserve(#octets)?;
                let mut new = Self::default();
            let made = &mut new;
                #(made.#base = #rt::Decode::decode(decoder)?;)*
                #decoded
                Ok(new)
            }
        }
    }
}

/// `Encode` and `Decode` of a state.
fn codec(place: &Place<'_>, name: &Ident, members: &[TokenStream]) -> TokenStream {
    let rt = place.rt;
    let (encoder, decoder) = match members {
        [] => (quote!(_), quote!(_)),
        _ => (quote!(encoder), quote!(decoder)),
    };
    quote! {
        impl #rt::Encode for #name {
            fn encode(&self, #encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                #(#rt::Encode::encode(&self.#members, encoder)?;)*
                Ok(())
            }
        }

        impl<'a> #rt::Decode<'a> for #name {
            const MIN_SIZE: usize = 0;

            fn decode(#decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
                Ok(Self { #(#members: #rt::Decode::decode(decoder)?,)* })
            }
        }
    }
}

/// `Encode` and `Decode` of a state that the application marshals.
fn custom_codec(place: &Place<'_>, name: &Ident) -> TokenStream {
    let rt = place.rt;
    quote! {
        impl #rt::Encode for #name {
            fn encode(&self, encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                #rt::CustomMarshal::marshal(self, encoder)
            }
        }

        impl<'a> #rt::Decode<'a> for #name {
            const MIN_SIZE: usize = 0;

            fn decode(decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
                #rt::CustomMarshal::unmarshal(decoder)
            }
        }
    }
}

/// `ValueObject` of a concrete type.
fn object(
    place: &Place<'_>,
    item: &ValueType,
    truncatable_to: &[TypeId],
    is_chunked: bool,
    base: &TokenStream,
) -> TokenStream {
    let (rt, name) = (place.rt, identifier(&place.model.named(item.id).name));
    let ids = std::iter::once(&item.id).chain(truncatable_to);
    let ids = ids.map(|id| &place.model.named(*id).repository_id);
    let is_box = matches!(item.kind, ValueKind::Boxed(_)).then(|| {
        quote! {
            fn is_box(&self) -> bool {
                true
            }
        }
    });
    let otherwise = if base.is_empty() {
        quote!(::core::option::Option::None)
    } else {
        base.clone()
    };
    quote! {
        impl #rt::ValueObject for #name {
            fn ids(&self) -> &'static [&'static str] {
                const { &[#(#ids),*] }
            }

            fn bases(&self) -> &'static [&'static str] {
                <Self as #rt::ValueType>::BASES
            }

            fn is_chunked(&self) -> bool {
                #is_chunked
            }

            #is_box

            fn encode_state(
                &self,
                encoder: &mut #rt::Encoder<'_>,
            ) -> ::core::result::Result<(), #rt::CdrError> {
                #rt::Encode::encode(self, encoder)
            }

            fn part(&self, wanted: ::core::any::TypeId) -> ::core::option::Option<&dyn ::core::any::Any> {
                if wanted == ::core::any::TypeId::of::<Self>() {
                    return ::core::option::Option::Some(self);
                }
                #otherwise
            }
        }
    }
}

/// `ValueType`, and `Inherits` for each type from which it inherits.
fn value_type(place: &Place<'_>, item: &ValueType) -> TokenStream {
    let (rt, named) = (place.rt, place.model.named(item.id));
    let (name, id) = (identifier(&named.name), &named.repository_id);
    let circular = item.circular || matches!(item.kind, ValueKind::Abstract);
    let of_value = factories::generate(place, &name, id, &item.ancestors, &item.concrete, circular);
    let value_base = place.model.value_base.as_ref().map(|base| base.id);
    let ancestors = item
        .ancestors
        .iter()
        .copied()
        .chain(value_base.filter(|base| *base != item.id));
    let ancestors = ancestors.map(|ancestor| place.type_path(ancestor));
    quote! {
        #of_value

        #(impl #rt::Inherits<#ancestors> for #name {})*
    }
}

/// The traits of operations and initializers, and the module of what is declared inside.
fn operations(place: &Place<'_>, item: &ValueType) -> TokenStream {
    let interface = &item.operations;
    let operations = (!interface.operations.is_empty()).then(|| servant::generate(place, interface));
    let factories = (!item.factories.is_empty()).then(|| {
        let name = identifier(&item.factories_name);
        let docs = crate::docs::doc(&format!("Initializers of `{}`.", interface.scoped_name));
        let methods = item.factories.iter().map(|factory| {
            let (docs, name) = (factory.docs.tokens(), identifier(&factory.name));
            let parameters: Vec<_> = servant::parameters(place, factory, false).collect();
            let error = factory.error_type(place, interface);
            quote!(#docs fn #name(#(#parameters),*) -> ::core::result::Result<Self, #error>;)
        });
        quote!(#docs pub trait #name: ::core::marker::Sized { #(#methods)* })
    });
    let all = interface.operations.iter().chain(&item.factories);
    let scope = interface::scope(place, interface, all);
    quote!(#operations #factories #scope)
}
