//! Bitmasks and bitsets: an unsigned integer on the wire.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::{
    model::{Basic, Bitfield, Bitmask, Bitset, Type, TypeId},
    names::identifier,
    type_codes,
    types::Place,
};

/// A bitmask: the integer, with a constant for each flag.
pub fn bitmask(place: &Place<'_>, item: &Bitmask) -> TokenStream {
    let (docs, attributes) = (item.docs.tokens(), &item.attributes);
    let name = identifier(&place.model.named(item.id).name);
    let holder = place.plain(&item.holder);
    let flags = item.flags.iter().map(|flag| {
        let (docs, name) = (flag.docs.tokens(), identifier(&flag.name));
        let position = Literal::u32_unsuffixed(flag.position);
        quote!(#docs pub const #name: Self = Self(1 << #position);)
    });
    let encoded = quote!(Some(self.0));
    let codec = codec(place, item.id, &item.holder, &encoded, &quote!(Self(bits)));
    quote! {
        #docs
        #attributes
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct #name(pub #holder);

        impl #name {
            #(#flags)*

            /// Whether all flags of the other one are set here.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl ::core::ops::BitOr for #name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl ::core::ops::BitAnd for #name {
            type Output = Self;

            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl ::core::ops::Sub for #name {
            type Output = Self;

            /// The flags that are not set in the other one.
            fn sub(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
        }

        #codec
    }
}

/// A bitset: a struct, whose fields are checked when they are encoded.
pub fn bitset(place: &Place<'_>, item: &Bitset) -> TokenStream {
    let (rt, docs, attributes) = (place.rt, item.docs.tokens(), &item.attributes);
    let name = identifier(&place.model.named(item.id).name);
    let fields = item.fields.iter().map(|field| {
        let (docs, name, of) = (
            field.docs.tokens(),
            identifier(&field.name),
            place.basic(field.of),
        );
        quote!(#docs pub #name: #of,)
    });
    let holder = place.plain(&item.holder);
    let packed = item.fields.iter().map(|field| {
        let (
            name,
            Parts {
                offset,
                width,
                signed,
            },
        ) = (identifier(&field.name), Parts::of(field));
        quote!(.and_then(|bits| Some(bits | #rt::pack_bits(self.#name.into(), #width, #signed)? << #offset)))
    });
    let encoded = quote!(Some(0_u64) #(#packed)* .map(|bits| bits as #holder));
    let unpacked = item.fields.iter().map(|field| {
        let (
            name,
            Parts {
                offset,
                width,
                signed,
            },
        ) = (identifier(&field.name), Parts::of(field));
        let value = quote!(#rt::unpack_bits(bits.into(), #offset, #width, #signed));
        match field.of {
            Basic::Boolean => quote!(#name: #value != 0,),
            of => {
                let of = place.basic(of);
                quote!(#name: #value as #of,)
            }
        }
    });
    let decoded = quote!(Self { #(#unpacked)* });
    let codec = codec(place, item.id, &item.holder, &encoded, &decoded);
    quote! {
        #docs
        #attributes
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
        pub struct #name { #(#fields)* }

        #codec
    }
}

/// Place of a field, as literals.
struct Parts {
    offset: Literal,
    width: Literal,
    signed: bool,
}

impl Parts {
    fn of(field: &Bitfield) -> Self {
        Self {
            offset: Literal::u32_unsuffixed(field.offset),
            width: Literal::u32_unsuffixed(field.width),
            signed: matches!(
                field.of,
                Basic::Int8 | Basic::Short | Basic::Long | Basic::LongLong
            ),
        }
    }
}

/// Implementations for what is encoded as an integer: `encoded` is one, if there is one for the value, and
/// `decoded` is made of `bits`.
fn codec(
    place: &Place<'_>,
    id: TypeId,
    holder: &Type,
    encoded: &TokenStream,
    decoded: &TokenStream,
) -> TokenStream {
    let (rt, name) = (place.rt, identifier(&place.model.named(id).name));
    let size = Literal::u64_unsuffixed(place.model.min_size(holder));
    let holder = place.plain(holder);
    let type_code = type_codes::of_holder(place, id, &holder);
    quote! {
        impl #rt::Encode for #name {
            fn encode(&self, encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                let bits: ::core::option::Option<#holder> = #encoded;
                let bits = bits.ok_or_else(|| encoder.error(#rt::CdrErrorKind::ValueNotRepresentable))?;
                #rt::Encode::encode(&bits, encoder)
            }
        }

        impl<'a> #rt::Decode<'a> for #name {
            const MIN_SIZE: usize = #size;

            fn decode(decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
                let bits = <#holder as #rt::Decode>::decode(decoder)?;
                Ok(#decoded)
            }
        }

        impl #rt::Reset for #name {
            fn reset(&mut self) {
                *self = ::core::default::Default::default();
            }
        }

        #type_code
    }
}
