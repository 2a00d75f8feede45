//! Constants and literals of union labels.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::{
    model::{Constant, Member, Type, Value},
    names::identifier,
    types::Place,
};

/// A `pub const`.
pub fn generate(place: &Place<'_>, item: &Constant) -> TokenStream {
    let (docs, name) = (item.docs.tokens(), identifier(&item.name));
    let of = match place.model.resolved(&item.of) {
        Type::String { .. } | Type::WString { .. } => quote!(&str),
        _ => place.owned(&item.of),
    };
    let value = match &item.value {
        Value::Fixed(unscaled) => fixed(&of, *unscaled),
        value => self::value(place, value),
    };
    quote!(#docs pub const #name: #of = #value;)
}

/// Value of a member in the default of what contains it.
pub fn default(place: &Place<'_>, member: &Member) -> TokenStream {
    let (rt, value) = (place.rt, default_in_place(place, member));
    if member.boxed {
        quote!(#rt::boxed(|| #value))
    } else {
        value
    }
}

fn default_in_place(place: &Place<'_>, member: &Member) -> TokenStream {
    let of = place.owned(&member.of);
    match &member.default {
        None => place.default_value(&member.of),
        Some(Value::Fixed(unscaled)) => fixed(&of, *unscaled),
        Some(Value::String(text) | Value::WString(text)) => match place.model.resolved(&member.of) {
            Type::String { bound: None } | Type::WString { bound: None } => {
                quote!(<#of as ::core::convert::From<&str>>::from(#text))
            }
            Type::WString { .. } => quote!(<#of>::new(#text).unwrap_or_default()),
            _ => quote!(<#of>::try_from(::std::string::String::from(#text)).unwrap_or_default()),
        },
        Some(value) => self::value(place, value),
    }
}

/// A number of type `fixed`.
fn fixed(of: &TokenStream, unscaled: i128) -> TokenStream {
    let digits = Literal::i128_unsuffixed(unscaled);
    quote!(match <#of>::new(#digits) { Ok(number) => number, Err(_) => panic!("too many digits") })
}

/// Expression or pattern of a value.
pub fn value(place: &Place<'_>, value: &Value) -> TokenStream {
    let rt = place.rt;
    match value {
        Value::Boolean(value) => quote!(#value),
        Value::Char(value) => quote!(#value),
        Value::Integer(value) => {
            let digits = Literal::u128_unsuffixed(value.unsigned_abs());
            if *value < 0 {
                quote!(-#digits)
            } else {
                quote!(#digits)
            }
        }
        Value::Single(value) => {
            let digits = value.is_finite().then(|| Literal::f32_unsuffixed(value.abs()));
            float(&quote!(f32), (*value).into(), digits)
        }
        Value::Double(value) => {
            let digits = value.is_finite().then(|| Literal::f64_unsuffixed(value.abs()));
            float(&quote!(f64), *value, digits)
        }
        Value::LongDouble(bits) => {
            let bits = Literal::u128_unsuffixed(*bits);
            quote!(#rt::LongDouble(#bits))
        }
        Value::String(value) | Value::WString(value) => quote!(#value),
        Value::WChar(value) => quote!(#rt::WChar(#value)),
        Value::Fixed(_) => {
            unreachable!("labels are not of type `fixed`, and its constants have been handled")
        }
        Value::Enumerator {
            enumeration, variant, ..
        } => {
            let (path, variant) = (place.type_path(*enumeration), identifier(variant));
            quote!(#path::#variant)
        }
    }
}

/// A number as digits or as a named constant.
fn float(of: &TokenStream, value: f64, digits: Option<Literal>) -> TokenStream {
    match digits {
        Some(digits) if value.is_sign_negative() => quote!(-#digits),
        Some(digits) => quote!(#digits),
        None if value.is_nan() => quote!(#of::NAN),
        None if value > 0.0 => quote!(#of::INFINITY),
        None => quote!(#of::NEG_INFINITY),
    }
}
