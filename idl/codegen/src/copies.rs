//! Owned copies of lent values, for `to_owned` of views.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{
    model::{Shape, Type},
    types::Place,
};

/// An expression for a lent value.
pub enum Lent {
    /// The value itself.
    Value(TokenStream),
    /// A reference to it.
    Reference(TokenStream),
}

impl Lent {
    /// The receiver of a method.
    fn receiver(&self) -> &TokenStream {
        match self {
            Self::Value(expression) | Self::Reference(expression) => expression,
        }
    }

    fn value(&self) -> TokenStream {
        match self {
            Self::Value(expression) => expression.clone(),
            Self::Reference(expression) => quote!(*#expression),
        }
    }

    fn reference(&self) -> TokenStream {
        match self {
            Self::Value(expression) => quote!(&#expression),
            Self::Reference(expression) => expression.clone(),
        }
    }
}

/// Expression that converts a lent value to an owned one.
///
/// Traits have full paths: an interface named `Iterator` would hide that of the prelude.
pub fn owned(place: &Place<'_>, of: &Type, lent: &Lent) -> TokenStream {
    let receiver = lent.receiver();
    if !place.model.has_lent_form(of) {
        let reference = lent.reference();
        return quote!(::core::clone::Clone::clone(#reference));
    }
    let of_element = |element| owned(place, element, &Lent::Reference(quote!(element)));
    match place.model.resolved(of) {
        Type::String { bound: None } => {
            let value = lent.value();
            quote!(::std::string::String::from(#value))
        }
        Type::String { bound: Some(_) } => quote!(#receiver.to_bounded_string()),
        Type::Any => quote!(#receiver.to_owned()),
        Type::Sequence {
            element,
            bound: Some(_),
        } => {
            let element = of_element(element);
            quote!(#receiver.to_bounded_seq(|element| #element))
        }
        Type::Sequence { element, bound: None } if !place.model.has_lent_form(element) => {
            quote!(#receiver.to_vec())
        }
        Type::Sequence { element, bound: None } => {
            let element = of_element(element);
            quote! {
                ::core::iter::Iterator::collect(
                    ::core::iter::Iterator::map(#receiver.iter(), |element| #element)
                )
            }
        }
        Type::Array { element, .. } => array(place, element, receiver, place.model.is_boxed(of)),
        Type::Named(id) => {
            debug_assert!(matches!(
                place.model.named(*id).shape,
                Shape::Struct(_) | Shape::Union { .. }
            ));
            quote!(#receiver.to_owned())
        }
        Type::Basic(_)
        | Type::WString { .. }
        | Type::Map { .. }
        | Type::Fixed { .. }
        | Type::Object
        | Type::TypeCode => unreachable!("has no lent form"),
    }
}

/// Copy of an array of these elements; rows are boxed at another length than other arrays.
fn array(place: &Place<'_>, element: &Type, receiver: &TokenStream, is_boxed: bool) -> TokenStream {
    let copy = match place.model.resolved(element) {
        _ if !place.model.is_boxed_row(element) && place.model.has_fixed_elements(element) => {
            quote!(::core::clone::Clone::clone(element))
        }
        Type::Array { element: inner, .. } => {
            let is_boxed = place.model.is_boxed_row(element);
            array(place, inner, &quote!(element), is_boxed)
        }
        _ => owned(place, element, &Lent::Reference(quote!(element))),
    };
    if is_boxed {
        let rt = place.rt;
        quote!(#rt::boxed_array(::core::iter::Iterator::map(#receiver.iter(), |element| #copy)))
    } else {
        quote!(#receiver.each_ref().map(|element| #copy))
    }
}
