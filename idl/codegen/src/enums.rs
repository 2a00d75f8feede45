//! Enums: an `unsigned long` on the wire, counted from 0.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::{model::Enum, names::identifier, type_codes, types::Place};

/// An enum with its implementations.
pub fn generate(place: &Place<'_>, item: &Enum) -> TokenStream {
    let (rt, docs, name) = (place.rt, item.docs.tokens(), identifier(&item.name));
    let variants = item.enumerators.iter().enumerate().map(|(index, enumerator)| {
        let (docs, name) = (enumerator.docs.tokens(), identifier(&enumerator.name));
        let default = (index == 0).then(|| quote!(#[default]));
        quote!(#docs #default #name,)
    });
    let arms = item.enumerators.iter().enumerate().map(|(index, enumerator)| {
        let (index, name) = (Literal::usize_unsuffixed(index), identifier(&enumerator.name));
        quote!(#index => Ok(Self::#name),)
    });
    let type_code = type_codes::of_enum(place, item);
    let attributes = &item.attributes;
    quote! {
        #docs
        #attributes
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[repr(u32)]
        pub enum #name { #(#variants)* }

        impl #rt::Encode for #name {
            fn encode(&self, encoder: &mut #rt::Encoder<'_>) -> ::core::result::Result<(), #rt::CdrError> {
                #rt::Encode::encode(&(*self as u32), encoder)
            }
        }

        impl<'a> #rt::Decode<'a> for #name {
            const MIN_SIZE: usize = 4;

            fn decode(decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
                match <u32 as #rt::Decode>::decode(decoder)? {
                    #(#arms)*
                    _ => Err(decoder.error(#rt::CdrErrorKind::EnumOutOfRange)),
                }
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
