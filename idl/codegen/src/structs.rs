//! Structs: owned form, and lent form for variable length.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::{
    copies::{self, Lent},
    docs::doc,
    model::{Member, Struct, Type},
    names::identifier,
    parts::{self, Held, With},
    type_codes,
    types::Place,
};

/// A struct with its implementations; one with local objects or native values inside is never encoded.
pub fn generate(place: &Place<'_>, item: &Struct) -> TokenStream {
    let definition = definition(place, item);
    let to_base = item.base.as_ref().map(|base| to_base(place, item, base));
    if place.model.is_local(&Type::Named(item.id)) {
        return quote!(#definition #to_base);
    }
    let encode = encode(place, item);
    let decode = decode(place, item);
    let reset = reset(place, item);
    let view = place
        .model
        .has_lent_form(&Type::Named(item.id))
        .then(|| view(place, item));
    let type_code = type_codes::of_struct(place, item);
    quote!(#definition #to_base #encode #decode #reset #type_code #view)
}

/// The conversion to the base: a copy of the members that both have.
fn to_base(place: &Place<'_>, item: &Struct, base: &Struct) -> TokenStream {
    let (name, of_base) = (name(place, item), place.owned(&Type::Named(base.id)));
    let members = base.members.iter().zip(&item.members).map(|(member, own)| {
        let (name, own_name) = (identifier(&member.name), identifier(&own.name));
        let copy = match (member.boxed, own.boxed) {
            (false, true) => quote!((*derived.#own_name).clone()),
            (true, false) => quote!(::std::boxed::Box::new(derived.#own_name.clone())),
            _ => quote!(derived.#own_name.clone()),
        };
        (name, copy)
    });
    let body = if base.parts.is_empty() {
        let members = members.map(|(name, copy)| quote!(#name: #copy,));
        quote!(Self { #(#members)* })
    } else {
        let members = members.map(|(name, copy)| quote!(base.#name = #copy;));
        quote!(let mut base = Self::default(); #(#members)* base)
    };
    quote! {
        /// The members of the base.
        impl ::core::convert::From<&#name> for #of_base {
            fn from(derived: &#name) -> Self {
                #body
            }
        }
    }
}

fn held(item: &Struct) -> Held<'_> {
    Held {
        docs: &item.docs,
        attributes: &item.attributes,
        id: item.id,
        members: item.members.iter().map(|member| (quote!(pub), member)).collect(),
        parts: &item.parts,
    }
}

/// The struct itself, with its default.
pub fn definition(place: &Place<'_>, item: &Struct) -> TokenStream {
    let held = held(item);
    let is_default = |member: &Member| {
        !member.boxed && member.default.is_none() && !place.model.has_long_array(&member.of)
    };
    if held.is_in_parts() || !item.members.iter().all(is_default) {
        return held.definition(place, None);
    }
    let (docs, name, members) = (
        item.docs.tokens(),
        name(place, item),
        held.fields(place, 0..item.members.len()),
    );
    let attributes = &item.attributes;
    quote! {
        #docs
        #attributes
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct #name { #members }
    }
}

/// `Encode`: the members in order.
pub fn encode(place: &Place<'_>, item: &Struct) -> TokenStream {
    let (rt, name) = (place.rt, name(place, item));
    let encoder = used_by_members(item, "encoder");
    let members = held(item).each(
        place,
        &With::Encoder,
        &quote!(self),
        |member| quote!(#rt::Encode::encode(&#member, encoder)?;),
    );
    quote! {
        impl #rt::Encode for #name {
            fn encode(&self, #encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                #members
                Ok(())
            }
        }
    }
}

/// `Decode` of the owned form, also into an existing value.
pub fn decode(place: &Place<'_>, item: &Struct) -> TokenStream {
    let (rt, name) = (place.rt, name(place, item));
    let held = held(item);
    let decode = if held.is_in_parts() || item.members.len() > parts::GROUP {
        decode_into_new(place, item, &held)
    } else {
        decode_members(place, item)
    };
    let min_size = min_size(place, item);
    let members = held.each(
        place,
        &With::Decoder,
        &quote!(self),
        |member| quote!(#rt::Decode::decode_into(&mut #member, decoder)?;),
    );
    let into = nested(place, item, quote!(#members Ok(())));
    let is_decoded_in_place = !place.model.is_fixed(&Type::Named(item.id));
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
    let members = held(item).each(
        place,
        &With::Nothing,
        &quote!(self),
        |member| quote!(#rt::Reset::reset(&mut #member);),
    );
    quote! {
        impl #rt::Reset for #name {
            fn reset(&mut self) {
                #members
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
    let names: Vec<_> = member_names(item).collect();
    let body = nested(place, item, parts::decoded(place, &names));
    quote! {
        fn decode(#decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
            #body
        }
    }
}

/// Decodes into a new value: that of very many members is never on a stack, that of many only once.
fn decode_into_new(place: &Place<'_>, item: &Struct, held: &Held<'_>) -> TokenStream {
    let rt = place.rt;
    let members = held.each(
        place,
        &With::Decoder,
        &quote!(made),
        |member| quote!(#member = #rt::Decode::decode(decoder)?;),
    );
    let members = if place.model.is_recursive(item.id) {
        quote!(decoder.nested(|decoder| { #members Ok(()) })?;)
    } else {
        members
    };
    let reserve = held.is_in_parts().then(|| {
        let octets = held.octets(place);
        quote!(decoder.reserve(#octets)?;)
    });
    quote! {
        fn decode(decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
            #reserve
            let mut new = Self::default();
            let made = &mut new;
            #members
            Ok(new)
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
