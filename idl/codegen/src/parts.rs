//! Structs, exceptions and states of very many members: these are in parts with a box each, of which each
//! leads to the next one, so that no value of them is ever on a stack as a whole.

use std::ops::Range;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::{
    constants,
    docs::doc,
    model::{Documentation, Member, TypeId},
    names::{Scope, identifier},
    types::Place,
};

/// Statements from which on they are divided into functions: without optimisation, the temporary values of
/// each statement have a place of their own on the stack.
pub const GROUP: usize = 32;

/// A struct, exception or state, and how its members are held.
pub struct Held<'m> {
    pub docs: &'m Documentation,
    pub attributes: &'m TokenStream,
    pub id: TypeId,
    pub members: Vec<(TokenStream, &'m Member)>,
    /// The members of each part; empty if all are in the struct itself.
    pub parts: &'m [Range<usize>],
}

impl Held<'_> {
    /// Whether its members are in parts.
    pub fn is_in_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// The name of the member that leads to the next part.
    fn rest(&self) -> Ident {
        let names = self.members.iter().map(|(_, member)| member.name.as_str());
        identifier(&Scope::without(names).claim("rest"))
    }

    fn part_names(&self, place: &Place<'_>) -> Vec<Ident> {
        let parts = &place.model.named(self.id).parts;
        parts.iter().map(|name| identifier(name)).collect()
    }

    /// The type with its parts, `Clone` and `Default`; `base` is a member before them.
    pub fn definition(&self, place: &Place<'_>, base: Option<&Base>) -> TokenStream {
        let (docs, attributes, rest) = (self.docs.tokens(), self.attributes, self.rest());
        let name = identifier(&place.model.named(self.id).name);
        let base_member = base.map(|Base { name, of, .. }| {
            quote!(/** The state of the base. */ pub #name: #of,)
        });
        if !self.is_in_parts() {
            let members = self.fields(place, 0..self.members.len());
            let defaults = self.members.iter().map(|(_, member)| {
                let (name, value) = (identifier(&member.name), constants::default(place, member));
                quote!(#name: #value,)
            });
            let base_default = base.map(|Base { name, value, .. }| quote!(#name: #value,));
            return quote! {
                #docs
                #attributes
                #[derive(Clone, Debug, PartialEq)]
                pub struct #name { #base_member #members }

                impl ::core::default::Default for #name {
                    fn default() -> Self {
                        Self { #base_default #(#defaults)* }
                    }
                }
            };
        }
        let parts = self.part_names(place);
        let first = &parts[0];
        let next = parts[1..].iter().map(Some).chain([None]);
        let definitions = self.parts.iter().zip(&parts).zip(next);
        let definitions =
            definitions.map(|((range, part), next)| self.part(place, range.clone(), part, next));
        let to_first = to_next(&name, first, &rest);
        let constructors = self.constructors(place, &name, base);
        quote! {
            #docs
            #attributes
            #[derive(Debug, PartialEq)]
            pub struct #name { #base_member #rest: ::std::boxed::Box<#first> }
            #to_first
            #constructors
            #(#definitions)*
        }
    }

    fn part(
        &self,
        place: &Place<'_>,
        range: Range<usize>,
        part: &Ident,
        next: Option<&Ident>,
    ) -> TokenStream {
        let (attributes, rest) = (self.attributes, self.rest());
        let name = &place.model.named(self.id).name;
        let docs = doc(&format!(
            "Members of [`{name}`], which dereferences to them: one part of its memory."
        ));
        let members = self.fields(place, range);
        let to_next = next.map(|next| to_next(part, next, &rest));
        let next = next.map(|next| quote!(#rest: ::std::boxed::Box<#next>,));
        quote! {
            #docs
            #attributes
            #[derive(Debug, PartialEq)]
            pub struct #part { #members #next }
            #to_next
        }
    }

    /// The members in this range as they are declared.
    pub fn fields(&self, place: &Place<'_>, range: Range<usize>) -> TokenStream {
        let members = self.members[range].iter().map(|(visibility, member)| {
            let (docs, name, of) = (
                member.docs.tokens(),
                identifier(&member.name),
                place.member(member),
            );
            let attributes = &member.attributes;
            quote!(#docs #attributes #visibility #name: #of,)
        });
        quote!(#(#members)*)
    }

    fn constructors(&self, place: &Place<'_>, name: &Ident, base: Option<&Base>) -> TokenStream {
        let rest = self.rest();
        let held: Vec<_> = (1..=self.parts.len())
            .map(|part| format_ident!("part{part}"))
            .collect();
        let (first, others) = held.split_first().expect("at least one part");
        let before = &held[..others.len()];
        let clones = self.made(place, |part, member| {
            let (part, member) = (&held[part], identifier(&member.name));
            quote!(::core::clone::Clone::clone(&#part.#member))
        });
        let defaults = self.made(place, |_, member| constants::default(place, member));
        let (base_clone, base_default) = base
            .map(|Base { name, value, .. }| {
                (
                    quote!(#name: ::core::clone::Clone::clone(&self.#name),),
                    quote!(#name: #value,),
                )
            })
            .unzip();
        quote! {
            impl ::core::clone::Clone for #name {
                fn clone(&self) -> Self {
                    let #first = &*self.#rest;
                    #(let #others = &*#before.#rest;)*
                    #clones
                    Self { #base_clone #rest }
                }
            }

            impl ::core::default::Default for #name {
                fn default() -> Self {
                    #defaults
                    Self { #base_default #rest }
                }
            }
        }
    }

    /// Makes the parts, the last one first.
    fn made(&self, place: &Place<'_>, value: impl Fn(usize, &Member) -> TokenStream) -> TokenStream {
        let (rt, rest, names) = (place.rt, self.rest(), self.part_names(place));
        let parts = self
            .parts
            .iter()
            .zip(&names)
            .enumerate()
            .rev()
            .map(|(index, (range, part))| {
                let members = self.members[range.clone()].iter().map(|(_, member)| {
                    let (name, value) = (identifier(&member.name), value(index, member));
                    quote!(#name: #value,)
                });
                let next = (index + 1 < names.len()).then(|| quote!(#rest,));
                quote!(let #rest = #rt::boxed(|| #part { #(#members)* #next });)
            });
        quote!(#(#parts)*)
    }

    /// Statements for all members of `value`, a reference, each with the place of a member.
    pub fn each(
        &self,
        place: &Place<'_>,
        with: &With,
        value: &TokenStream,
        statement: impl Fn(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let names: Vec<_> = self
            .members
            .iter()
            .map(|(_, member)| identifier(&member.name))
            .collect();
        if !self.is_in_parts() {
            let name = identifier(&place.model.named(self.id).name);
            return with.grouped(place, &name, value, &names, statement);
        }
        let (rest, lent) = (self.rest(), with.lent());
        let mut before = value.clone();
        let parts = self
            .parts
            .iter()
            .zip(self.part_names(place))
            .map(|(range, part)| {
                let value = quote!(value);
                let statements = with.grouped(place, &part, &value, &names[range.clone()], &statement);
                let before = std::mem::replace(&mut before, value);
                quote!(let value = #lent *#before.#rest; #statements)
            });
        quote!(#(#parts)*)
    }

    /// Octets of all parts.
    pub fn octets(&self, place: &Place<'_>) -> TokenStream {
        let parts = self.part_names(place);
        quote!(#(::core::mem::size_of::<#parts>())+*)
    }
}

/// The state of a base as a member.
pub struct Base {
    pub name: Ident,
    pub of: TokenStream,
    /// Its default.
    pub value: TokenStream,
}

/// Use of the members of a struct by the statements for them.
pub enum With {
    /// An encoder.
    Encoder,
    /// A decoder, and the members to be changed.
    Decoder,
    /// Only the members to be changed; the statements cannot fail.
    Nothing,
}

impl With {
    fn lent(&self) -> TokenStream {
        match self {
            Self::Encoder => quote!(&),
            Self::Decoder | Self::Nothing => quote!(&mut),
        }
    }

    /// Statements for these members of `value`, in functions if there are many.
    fn grouped(
        &self,
        place: &Place<'_>,
        of: &Ident,
        value: &TokenStream,
        members: &[Ident],
        statement: impl Fn(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let (rt, lent) = (place.rt, self.lent());
        let (coder, coder_type) = match self {
            Self::Encoder => (quote!(encoder), quote!(#rt::Encoder<'_>)),
            Self::Decoder => (quote!(decoder), quote!(#rt::Decoder<'a>)),
            Self::Nothing => (quote!(), quote!()),
        };
        if members.len() <= GROUP || matches!(self, Self::Nothing) {
            let statements = members.iter().map(|member| statement(quote!(#value.#member)));
            return quote!(#(#statements)*);
        }
        let groups = members.chunks(GROUP).map(|members| {
            let statements = members.iter().map(|member| statement(quote!(value.#member)));
            quote! {
                let group = |
                    value: #lent #of,
                    #coder: &mut #coder_type,
                | -> ::core::result::Result<(), #rt::CdrError> {
                    #(#statements)*
                    Ok(())
                };
                group(#value, #coder)?;
            }
        });
        quote!(#(#groups)*)
    }
}

/// Decodes the members of a struct in their order.
pub fn decoded(place: &Place<'_>, members: &[Ident]) -> TokenStream {
    let rt = place.rt;
    if members.len() <= GROUP {
        return quote!(Ok(Self { #(#members: #rt::Decode::decode(decoder)?,)* }));
    }
    {
        let locals: Vec<_> = (0..members.len())
            .map(|index| format_ident!("member{index}"))
            .collect();
        let groups = locals.chunks(GROUP).map(|members| {
            let decoded = members.iter().map(|_| quote!(#rt::Decode::decode(decoder)?));
            quote! {
                let group = |decoder: &mut #rt::Decoder<'a>| -> ::core::result::Result<_, #rt::CdrError> {
                    Ok((#(#decoded,)*))
                };
                let (#(#members,)*) = group(decoder)?;
            }
        });
        quote!(#(#groups)* Ok(Self { #(#members: #locals,)* }))
    }
}

/// A type dereferences to the next part.
fn to_next(of: &Ident, next: &Ident, rest: &Ident) -> TokenStream {
    quote! {
        impl ::core::ops::Deref for #of {
            type Target = #next;

            fn deref(&self) -> &#next {
                &self.#rest
            }
        }

        impl ::core::ops::DerefMut for #of {
            fn deref_mut(&mut self) -> &mut #next {
                &mut self.#rest
            }
        }
    }
}
