//! Type codes of generated types, for values in an `any`.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::{
    model::{Enum, Shape, Struct, Type, TypeId, Union, Value, ValueState, ValueType},
    names::identifier,
    types::Place,
};

/// `Typed` of a struct.
pub fn of_struct(place: &Place<'_>, item: &Struct) -> TokenStream {
    let build = members(place, item, &quote!(structure));
    typed(place, item.id, &build)
}

/// `Typed` of an exception.
pub fn of_exception(place: &Place<'_>, item: &Struct) -> TokenStream {
    let build = members(place, item, &quote!(exception));
    typed(place, item.id, &build)
}

/// `Typed` of an enum.
pub fn of_enum(place: &Place<'_>, item: &Enum) -> TokenStream {
    let (rt, id, name) = names(place, item.id);
    let enumerators = item.enumerators.iter().map(|enumerator| &enumerator.idl);
    let build = quote!(#rt::TypeCode::enumeration(#id, #name, [#(#enumerators),*]));
    typed(place, item.id, &build)
}

/// `Typed` of what is an integer on the wire: another name of the integer's type.
pub fn of_holder(place: &Place<'_>, id: TypeId, holder: &TokenStream) -> TokenStream {
    let (rt, repository_id, name) = names(place, id);
    let build =
        quote!(#rt::TypeCode::alias(#repository_id, #name, <#holder as #rt::Typed>::describe(enclosing)));
    typed(place, id, &build)
}

/// `Typed` of a union: a member for each label, and one for all other discriminators.
pub fn of_union(place: &Place<'_>, item: &Union) -> TokenStream {
    let (rt, id, name) = names(place, item.id);
    let discriminator = place.owned(&item.discriminator);
    let (mut members, mut default) = (Vec::new(), quote!(::core::option::Option::None));
    for case in &item.cases {
        let (idl, of) = (&case.idl, place.owned(&case.of));
        let mut member = |label: Literal| {
            members.push(quote!((#label, #idl, <#of as #rt::Typed>::describe)));
        };
        case.labels.iter().for_each(|label| member(number(label)));
        if case.is_default {
            member(Literal::i128_unsuffixed(0));
            let index = Literal::usize_unsuffixed(members.len() - 1);
            default = quote!(::core::option::Option::Some(#index));
        }
    }
    let build = quote! {
        enclosing.union(
            #id, #name, <#discriminator as #rt::Typed>::describe, #default, &[#(#members),*],
        )
    };
    typed(place, item.id, &build)
}

/// `TypedReference` of an interface's `Ref`.
pub fn of_interface(place: &Place<'_>, reference: TypeId) -> TokenStream {
    let (rt, id, name) = names(place, reference);
    let path = place.type_path(reference);
    quote! {
        impl #rt::TypedReference for #path {
            fn type_code() -> #rt::TypeCode {
                #rt::TypeCode::interface(#id, #name)
            }
        }
    }
}

/// `Typed` of a value type; one without state is abstract.
pub fn of_value(place: &Place<'_>, item: &ValueType, state: Option<&ValueState>) -> TokenStream {
    let (rt, id, name) = names(place, item.id);
    let modifier = match state {
        None => quote!(Abstract),
        Some(state) if state.is_custom => quote!(Custom),
        Some(state) if !state.truncatable_to.is_empty() => quote!(Truncatable),
        Some(_) => quote!(None),
    };
    let base = state.and_then(|state| state.base.as_ref()).map(|base| {
        let base = place.type_path(base.id);
        quote!(<#base as #rt::Typed>::describe)
    });
    let base = match base {
        Some(base) => quote!(::core::option::Option::Some(#base)),
        None => quote!(::core::option::Option::None),
    };
    let members = state
        .iter()
        .flat_map(|state| &state.members)
        .map(|(is_public, member)| {
            let (idl, of) = (&member.idl, place.owned(&member.of));
            quote!((#idl, <#of as #rt::Typed>::describe, #is_public))
        });
    let construct = if item.is_event {
        quote!(event)
    } else {
        quote!(value)
    };
    let build =
        quote!(enclosing.#construct(#id, #name, #rt::ValueModifier::#modifier, #base, &[#(#members),*]));
    typed(place, item.id, &build)
}

/// `Typed` of a boxed value type.
pub fn of_value_box(place: &Place<'_>, id: TypeId, content: &TokenStream) -> TokenStream {
    let (rt, repository_id, name) = names(place, id);
    let build = quote!(enclosing.value_box(#repository_id, #name, <#content as #rt::Typed>::describe));
    typed(place, id, &build)
}

fn names<'m>(place: &Place<'m>, id: TypeId) -> (&'m TokenStream, &'m str, &'m str) {
    let named = place.model.named(id);
    (place.rt, &named.repository_id, &named.idl)
}

fn members(place: &Place<'_>, item: &Struct, construct: &TokenStream) -> TokenStream {
    let (rt, id, name) = names(place, item.id);
    let members = item.members.iter().map(|member| {
        let (idl, of) = (&member.idl, place.owned(&member.of));
        quote!((#idl, <#of as #rt::Typed>::describe))
    });
    quote!(enclosing.#construct(#id, #name, &[#(#members),*]))
}

/// `Typed` of a type, whose type code is built once, and of its lent form.
fn typed(place: &Place<'_>, id: TypeId, build: &TokenStream) -> TokenStream {
    let (rt, path) = (place.rt, place.type_path(id));
    let is_enum = matches!(place.model.named(id).shape, Shape::Enum(_));
    let enclosing = if is_enum { quote!(_) } else { quote!(enclosing) };
    let named = place.model.named(id);
    let view = place.model.has_lent_form(&Type::Named(id)) && !named.view.is_empty();
    let view = view.then(|| {
        let view = identifier(&named.view);
        quote! {
            impl #rt::Typed for #view<'_> {
                fn type_code() -> #rt::TypeCode {
                    <#path as #rt::Typed>::type_code()
                }

                fn describe(enclosing: &mut #rt::Enclosing) -> #rt::TypeCode {
                    <#path as #rt::Typed>::describe(enclosing)
                }
            }
        }
    });
    quote! {
        impl #rt::Typed for #path {
            fn type_code() -> #rt::TypeCode {
                static CODE: ::std::sync::OnceLock<#rt::TypeCode> = ::std::sync::OnceLock::new();
                let build = || <Self as #rt::Typed>::describe(&mut ::core::default::Default::default());
                #rt::TypeCode::shared(CODE.get_or_init(build))
            }

            fn describe(#enclosing: &mut #rt::Enclosing) -> #rt::TypeCode {
                #build
            }
        }
        #view
    }
}

/// A label as a number.
fn number(label: &Value) -> Literal {
    Literal::i128_unsuffixed(match label {
        Value::Boolean(value) => (*value).into(),
        Value::Char(value) | Value::WChar(value) => u32::from(*value).into(),
        Value::Integer(value) => *value,
        Value::Enumerator { ordinal, .. } => (*ordinal).into(),
        other => unreachable!("no label: {other:?}"),
    })
}
