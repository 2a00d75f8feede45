//! Exceptions as structs, and the error enum of an operation.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::{
    Sides,
    docs::doc,
    model::{Exception, Interface, Operation, Struct, Type, TypeId},
    names::identifier,
    structs, type_codes,
    types::Place,
};

/// An exception with its implementations.
pub fn generate(place: &Place<'_>, item: &Exception) -> TokenStream {
    let (data, scoped_name) = (&item.data, &item.scoped_name);
    let name = identifier(&place.model.named(data.id).name);
    let definition = structs::definition(place, data);
    let is_local = place.model.is_local(&Type::Named(data.id));
    let wire = (!is_local).then(|| wire_impls(place, data, &name));
    let fields = data.members.iter().map(|member| {
        let (text, name) = (&member.name, identifier(&member.name));
        quote!(.field(#text, &self.#name))
    });
    quote! {
        #definition
        #wire

        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#scoped_name) #(#fields)* .finish()
            }
        }

        impl ::core::error::Error for #name {}
    }
}

/// How an exception is sent and received.
fn wire_impls(place: &Place<'_>, data: &Struct, name: &Ident) -> TokenStream {
    let (rt, repository_id) = (place.rt, &place.model.named(data.id).repository_id);
    let encode = structs::encode(place, data);
    let decode = structs::decode(place, data);
    let type_code = type_codes::of_exception(place, data);
    quote! {
        #encode
        #decode
        #type_code

        impl #rt::UserException for #name {
            const REPOSITORY_ID: &'static str = #repository_id;
        }
    }
}

/// The error enum of an operation with `raises`.
pub fn operation_error(place: &Place<'_>, interface: &Interface, operation: &Operation) -> TokenStream {
    let rt = place.rt;
    let name = identifier(&operation.error);
    let declared_in = match place.sides {
        Sides::Client => place.type_path(interface.reference),
        _ => place.path(&interface.module, &interface.name),
    };
    let declared_in = declared_in.to_string().replace(' ', "");
    let docs = doc(&format!(
        "Errors of [`{}`]({declared_in}::{}).",
        operation.name, operation.name
    ));
    let raised: Vec<_> = operation
        .raises
        .iter()
        .map(|(id, variant)| (place.type_path(*id), identifier(variant)))
        .collect();
    let variants = raised.iter().map(|(exception, variant)| {
        let docs = doc(&format!("See [`{}`].", exception.to_string().replace(' ', "")));
        quote!(#docs #variant(#exception),)
    });
    let conversions = raised.iter().map(|(exception, variant)| {
        quote! {
            impl ::core::convert::From<#exception> for #name {
                fn from(exception: #exception) -> Self {
                    Self::#variant(exception)
                }
            }
        }
    });
    let is_local = |(id, _): &(TypeId, String)| place.model.is_local(&Type::Named(*id));
    let is_sent = !operation.raises.iter().any(is_local);
    let wire = is_sent.then(|| wire_impl(rt, &name, &raised));
    let error = error_impls(&name, &raised);
    quote! {
        #docs
        #[derive(Clone, PartialEq)]
        pub enum #name {
            #(#variants)*
            /// The call itself failed.
            System(#rt::SystemException),
        }

        #(#conversions)*

        impl ::core::convert::From<#rt::SystemException> for #name {
            fn from(exception: #rt::SystemException) -> Self {
                Self::System(exception)
            }
        }

        #wire

        #error
    }
}

/// How the exceptions of the error enum are sent and received.
fn wire_impl(rt: &TokenStream, name: &Ident, raised: &[(TokenStream, Ident)]) -> TokenStream {
    let raise = raised
        .iter()
        .map(|(_, variant)| quote!(Self::#variant(exception) => upcall.raise(&exception),));
    let decode = raised.iter().map(|(exception, variant)| {
        quote! {
            <#exception as #rt::UserException>::REPOSITORY_ID => {
                #rt::Decode::decode(decoder).map(|exception| Some(Self::#variant(exception)))
            }
        }
    });
    quote! {
        impl #rt::OperationError for #name {
            fn raise(
                self,
                upcall: &mut #rt::Upcall<'_, '_>,
            ) -> ::core::result::Result<(), #rt::SystemException> {
                match self {
                    #(#raise)*
                    Self::System(exception) => Err(exception),
                }
            }

            fn decode(
                repository_id: &str,
                decoder: &mut #rt::Decoder<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, #rt::CdrError> {
                match repository_id {
                    #(#decode)*
                    _ => Ok(None),
                }
            }
        }
    }
}

/// `Display` and `Error` of the error enum, delegated to the exceptions: what it displays is no source of it.
fn error_impls(name: &Ident, raised: &[(TokenStream, Ident)]) -> TokenStream {
    let display = raised
        .iter()
        .map(|(_, variant)| quote!(Self::#variant(exception) => ::core::fmt::Display::fmt(exception, f),));
    let source = raised
        .iter()
        .map(|(_, variant)| quote!(Self::#variant(exception) => ::core::error::Error::source(exception),));
    quote! {
        impl ::core::fmt::Display for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    #(#display)*
                    Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
                }
            }
        }

        /// `fn main() -> Result<…>` prints the message.
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }

        impl ::core::error::Error for #name {
            fn source(&self) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
                match self {
                    #(#source)*
                    Self::System(exception) => ::core::error::Error::source(exception),
                }
            }
        }
    }
}
