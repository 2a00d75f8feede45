//! Structs: owned form, and lent form for variable length.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::{
    constants,
    copies::{self, Lent},
    docs::doc,
    model::{Member, Struct, Type},
    names::identifier,
    type_codes,
    types::Place,
};

/// A struct with its implementations; one with local objects inside is never encoded.
pub fn generate(place: &Place<'_>, item: &Struct) -> TokenStream {
    let definition = definition(place, item);
    if place.model.is_local(&Type::Named(item.id)) {
        return definition;
    }
    let encode = encode(place, item);
    let decode = decode(place, item);
    let reset = reset(place, item);
    let view = place
        .model
        .has_lent_form(&Type::Named(item.id))
        .then(|| view(place, item));
    let type_code = type_codes::of_struct(place, item);
    quote!(#definition #encode #decode #reset #type_code #view)
}

/// The struct itself, with its default.
pub fn definition(place: &Place<'_>, item: &Struct) -> TokenStream {
    let docs = item.docs.tokens();
    let name = name(place, item);
    let members = item.members.iter().map(|member| {
        let (docs, name, of) = (
            member.docs.tokens(),
            identifier(&member.name),
            place.member(member),
        );
        let attributes = &member.attributes;
        quote!(#docs #attributes pub #name: #of,)
    });
    let by_hand = item
        .members
        .iter()
        .any(|member| member.boxed || member.default.is_some() || place.model.has_long_array(&member.of));
    let (derived, default) = if by_hand {
        let values = item.members.iter().map(|member| {
            let (name, value) = (identifier(&member.name), constants::default(place, member));
            quote!(#name: #value,)
        });
        let default = quote! {
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    Self { #(#values)* }
                }
            }
        };
        (quote!(Clone, Debug, PartialEq), Some(default))
    } else {
        (quote!(Clone, Debug, Default, PartialEq), None)
    };
    let attributes = &item.attributes;
    quote! {
        #docs
        #attributes
        #[derive(#derived)]
        pub struct #name { #(#members)* }
        #default
    }
}

/// `Encode`: the members in order.
pub fn encode(place: &Place<'_>, item: &Struct) -> TokenStream {
    let (rt, name) = (place.rt, name(place, item));
    let encoder = used_by_members(item, "encoder");
    let members = member_names(item).map(|name| quote!(#rt::Encode::encode(&self.#name, encoder)?;));
    quote! {
        impl #rt::Encode for #name {
            fn encode(&self, #encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                #(#members)*
                Ok(())
            }
        }
    }
}

/// `Decode` of the owned form, also into an existing value.
pub fn decode(place: &Place<'_>, item: &Struct) -> TokenStream {
    let (rt, name) = (place.rt, name(place, item));
    let decode = decode_members(place, item);
    let min_size = min_size(place, item);
    let members = member_names(item).map(|name| quote!(#rt::Decode::decode_into(&mut self.#name, decoder)?;));
    let into = nested(place, item, quote!(#(#members)* Ok(())));
    let of = Type::Named(item.id);
    let is_decoded_in_place = !place.model.is_fixed(&of) || place.model.is_oversized(&of);
    let decode_into = is_decoded_in_place.then(|| {
        quote! {
            fn decode_into(
                &mut self,
                decoder: &mut #rt::Decoder<'a>,
            ) -> ::core::result::Result<(), #rt::CdrError> {
                #into
            }
        }
    });
    quote! {
        impl<'a> #rt::Decode<'a> for #name {
            #min_size
            #decode
            #decode_into
        }
    }
}

fn reset(place: &Place<'_>, item: &Struct) -> TokenStream {
    let (rt, name) = (place.rt, name(place, item));
    let members = member_names(item).map(|name| quote!(#rt::Reset::reset(&mut self.#name);));
    quote! {
        impl #rt::Reset for #name {
            fn reset(&mut self) {
                #(#members)*
            }
        }
    }
}

fn view(place: &Place<'_>, item: &Struct) -> TokenStream {
    let (rt, owned) = (place.rt, name(place, item));
    let view = identifier(&place.model.named(item.id).view);
    let docs = doc(&format!(
        "[`{owned}`] as lent to a servant for the time of an upcall."
    ));
    let lifetime = quote!('a);
    let members = item.members.iter().map(|member| {
        let (docs, name) = (member.docs.tokens(), identifier(&member.name));
        let of = place.lent_member(member, &lifetime);
        quote!(#docs pub #name: #of,)
    });
    let decode = decode_members(place, item);
    let min_size = min_size(place, item);
    let copies = item.members.iter().map(|member| {
        let name = identifier(&member.name);
        if member.boxed {
            let copy = copies::owned(place, &member.of, &Lent::Reference(quote!(self.#name)));
            return quote!(#name: #rt::boxed(|| #copy),);
        }
        let copy = copies::owned(place, &member.of, &Lent::Value(quote!(self.#name)));
        quote!(#name: #copy,)
    });
    quote! {
        #docs
        #[derive(Clone, Debug)]
        pub struct #view<'a> { #(#members)* }

        impl<'a> #rt::Decode<'a> for #view<'a> {
            #min_size
            #decode
        }

        impl #view<'_> {
            /// A copy that outlives the upcall.
            pub fn to_owned(&self) -> #owned {
                #owned { #(#copies)* }
            }
        }

        impl ::core::convert::From<#view<'_>> for #owned {
            fn from(view: #view<'_>) -> Self {
                view.to_owned()
            }
        }
    }
}

fn decode_members(place: &Place<'_>, item: &Struct) -> TokenStream {
    let rt = place.rt;
    let decoder = used_by_members(item, "decoder");
    let members = member_names(item).map(|name| quote!(#name: #rt::Decode::decode(decoder)?,));
    let body = nested(place, item, quote!(Ok(Self { #(#members)* })));
    quote! {
        fn decode(#decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
            #body
        }
    }
}

fn min_size(place: &Place<'_>, item: &Struct) -> TokenStream {
    let size = proc_macro2::Literal::u64_unsuffixed(place.model.min_size_of(item.id));
    quote!(const MIN_SIZE: usize = #size;)
}

/// `body`, one nesting level deeper for recursive types.
fn nested(place: &Place<'_>, item: &Struct, body: TokenStream) -> TokenStream {
    if place.model.is_recursive(item.id) {
        quote!(decoder.nested(|decoder| { #body }))
    } else {
        body
    }
}

fn name(place: &Place<'_>, item: &Struct) -> Ident {
    identifier(&place.model.named(item.id).name)
}

fn member_names(item: &Struct) -> impl Iterator<Item = Ident> {
    item.members.iter().map(|Member { name, .. }| identifier(name))
}

/// Name of a parameter that only members use; an exception may have no members.
fn used_by_members(item: &Struct, name: &str) -> TokenStream {
    if item.members.is_empty() {
        quote!(_)
    } else {
        let name = identifier(name);
        quote!(#name)
    }
}
