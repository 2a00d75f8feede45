//! Factories of values from messages: those of value types, and of abstract interfaces.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::{model::TypeId, types::Place};

/// `ValueType` of a type whose values are of these concrete ones. `circular`: whether a reference of the type
/// may close a circle.
pub fn generate(
    place: &Place<'_>,
    name: &Ident,
    id: &str,
    ancestors: &[TypeId],
    concrete: &[TypeId],
    circular: bool,
) -> TokenStream {
    let rt = place.rt;
    let circular = circular.then(|| {
        quote!(
            const CIRCULAR: bool = true;
        )
    });
    let bases = ancestors
        .iter()
        .map(|base| &place.model.named(*base).repository_id);
    let factories = concrete.iter().map(|concrete| {
        let (path, id) = (
            place.type_path(*concrete),
            &place.model.named(*concrete).repository_id,
        );
        quote! {
            #rt::ValueFactory {
                id: #id,
                bases: <#path as #rt::ValueType>::BASES,
                decode: |decoder| #rt::ValueFactory::decode::<#path>(decoder),
            }
        }
    });
    quote! {
        impl #rt::ValueType for #name {
            const REPOSITORY_ID: &'static str = #id;
            const BASES: &'static [&'static str] = &[#(#bases),*];
            #circular

            fn factories() -> &'static [#rt::ValueFactory] {
                static FACTORIES: &[#rt::ValueFactory] = &[#(#factories),*];
                FACTORIES
            }
        }
    }
}
