//! Unions: a Rust enum with a variant for each member. See "Types in detail" in `docs/mapping.md`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::{
    constants,
    copies::{self, Lent},
    docs::doc,
    model::{Basic, Case, Shape, Type, Union, Value},
    names::identifier,
    type_codes,
    types::Place,
};

/// A union with its implementations; one with local objects or native values inside is never encoded.
pub fn generate(place: &Place<'_>, item: &Union) -> TokenStream {
    let definition = Emitter::new(place, item).definition();
    if place.model.is_local(&Type::Named(item.id)) {
        return definition;
    }
    let codec = Emitter::new(place, item).codec();
    let view = place
        .model
        .has_lent_form(&Type::Named(item.id))
        .then(|| Emitter::new(place, item).view());
    let type_code = type_codes::of_union(place, item);
    quote!(#definition #codec #type_code #view)
}

struct Emitter<'e, 'm> {
    place: &'e Place<'m>,
    item: &'e Union,
    rt: &'m TokenStream,
    /// The owned form.
    name: Ident,
    /// The discriminator's type.
    discriminator: TokenStream,
}

impl<'e, 'm> Emitter<'e, 'm> {
    fn new(place: &'e Place<'m>, item: &'e Union) -> Self {
        Self {
            place,
            item,
            rt: place.rt,
            name: identifier(&place.model.named(item.id).name),
            discriminator: place.owned(&item.discriminator),
        }
    }

    /// The enum itself, with its default.
    fn definition(&self) -> TokenStream {
        let (name, docs) = (&self.name, self.item.docs.tokens());
        let attributes = &self.item.attributes;
        let variants = self.variants(|of| self.place.owned(of));
        let default = self.default();
        quote! {
            #docs
            #attributes
            #[derive(Clone, Debug, PartialEq)]
            pub enum #name { #variants }

            impl ::core::default::Default for #name {
                fn default() -> Self {
                    #default
                }
            }
        }
    }

    fn codec(&self) -> TokenStream {
        let (rt, name) = (self.rt, &self.name);
        let encode = self.encode();
        let min_size = self.min_size();
        let decode = self.decode();
        let discriminator = &self.discriminator;
        let decode_member = self.decode_member();
        let decode_into =
            (!self.place.model.is_fixed(&Type::Named(self.item.id))).then(|| self.decode_into());
        let reset = self.item.cases.iter().map(|case| {
            let variant = identifier(&case.variant);
            let ignored = case.carries_discriminator().then(|| quote!(_,));
            quote!(Self::#variant(#ignored member) => #rt::Reset::reset(member),)
        });
        let reset_nothing = self.no_member().map(|variant| quote!(Self::#variant(_) => {}));
        quote! {
            impl #rt::Encode for #name {
                fn encode(
                    &self,
                    encoder: &mut #rt::Encoder<'_>,
                ) -> ::core::result::Result<(), #rt::CdrError> {
                    #encode
                }
            }

            impl<'a> #rt::Decode<'a> for #name {
                #min_size
                #decode
                #decode_into
            }

            impl #name {
                fn decode_member(
                    discriminator: #discriminator,
                    decoder: &mut #rt::Decoder<'_>,
                ) -> ::core::result::Result<Self, #rt::CdrError> {
                    #decode_member
                }
            }

            /// Keeps the member that is set, so that its memory can be used again.
            impl #rt::Reset for #name {
                fn reset(&mut self) {
                    match self { #(#reset)* #reset_nothing }
                }
            }
        }
    }

    fn view(&self) -> TokenStream {
        let (rt, owned) = (self.rt, &self.name);
        let view = identifier(&self.place.model.named(self.item.id).view);
        let docs = doc(&format!(
            "[`{owned}`] as lent to a servant for the time of an upcall."
        ));
        let lifetime = quote!('a);
        let variants = self.variants(|of| self.place.lent(of, Some(&lifetime)));
        let min_size = self.min_size();
        let decode = self.decode();
        let decode_member = self.decode_member();
        let discriminator = &self.discriminator;
        let copies = self.item.cases.iter().map(|case| {
            let variant = identifier(&case.variant);
            let copy = copies::owned(self.place, &case.of, &Lent::Reference(quote!(member)));
            if case.carries_discriminator() {
                quote!(Self::#variant(discriminator, member) => #owned::#variant(*discriminator, #copy),)
            } else {
                quote!(Self::#variant(member) => #owned::#variant(#copy),)
            }
        });
        let copy_nothing = self
            .no_member()
            .map(|variant| quote!(Self::#variant(discriminator) => #owned::#variant(*discriminator),));
        quote! {
            #docs
            #[derive(Clone, Debug)]
            pub enum #view<'a> { #variants }

            impl<'a> #rt::Decode<'a> for #view<'a> {
                #min_size
                #decode
            }

            impl<'a> #view<'a> {
                /// A copy that outlives the upcall.
                pub fn to_owned(&self) -> #owned {
                    match self { #(#copies)* #copy_nothing }
                }

                fn decode_member(
                    discriminator: #discriminator,
                    decoder: &mut #rt::Decoder<'a>,
                ) -> ::core::result::Result<Self, #rt::CdrError> {
                    #decode_member
                }
            }

            impl ::core::convert::From<#view<'_>> for #owned {
                fn from(view: #view<'_>) -> Self {
                    view.to_owned()
                }
            }
        }
    }

    fn variants(&self, member: impl Fn(&Type) -> TokenStream) -> TokenStream {
        let discriminator = &self.discriminator;
        let variants = self.item.cases.iter().map(|case| {
            let (docs, variant, member) = (case.docs.tokens(), identifier(&case.variant), member(&case.of));
            let discriminator = case.carries_discriminator().then(|| quote!(#discriminator,));
            quote!(#docs #variant(#discriminator #member),)
        });
        let no_member = self.no_member().map(|variant| {
            quote! {
                /// No member: the discriminator, which selects none.
                #variant(#discriminator),
            }
        });
        quote!(#(#variants)* #no_member)
    }

    /// The first member with its default.
    fn default(&self) -> TokenStream {
        let Some(first) = self.item.cases.first() else {
            let variant = self.no_member();
            return quote!(Self::#variant(::core::default::Default::default()));
        };
        let (variant, member) = (identifier(&first.variant), self.place.default_value(&first.of));
        let discriminator = first.carries_discriminator().then(|| {
            let label = match first.labels.first() {
                Some(label) => label.clone(),
                None => self.unused_label(),
            };
            let label = self.label(&label);
            quote!(#label,)
        });
        quote!(Self::#variant(#discriminator #member))
    }

    fn encode(&self) -> TokenStream {
        let rt = self.rt;
        let arms = self.item.cases.iter().map(|case| {
            let variant = identifier(&case.variant);
            if !case.carries_discriminator() {
                let label = case.labels.first().map(|label| self.label(label));
                let discriminator = &self.discriminator;
                return quote! {
                    Self::#variant(member) => {
                        let discriminator: #discriminator = #label;
                        #rt::Encode::encode(&discriminator, encoder)?;
                        #rt::Encode::encode(member, encoder)
                    }
                };
            }
            let selects_another = self.selects_another(case);
            quote! {
                Self::#variant(discriminator, member) => {
                    #selects_another
                    #rt::Encode::encode(discriminator, encoder)?;
                    #rt::Encode::encode(member, encoder)
                }
            }
        });
        let no_member = self.no_member().map(|variant| {
            let refused = self.refused(&quote!(discriminator), &self.all_labels());
            quote! {
                Self::#variant(discriminator) => {
                    #refused
                    #rt::Encode::encode(discriminator, encoder)
                }
            }
        });
        quote!(match self { #(#arms)* #no_member })
    }

    /// Statement that fails if the discriminator does not select this case.
    fn selects_another(&self, case: &Case) -> TokenStream {
        let rt = self.rt;
        if case.is_default {
            return self.refused(&quote!(discriminator), &self.labels_but_of(case));
        }
        let labels = case.labels.iter().map(|label| self.label(label));
        quote! {
            if !matches!(discriminator, #(#labels)|*) {
                return Err(encoder.error(#rt::CdrErrorKind::UnionLabelMismatch));
            }
        }
    }

    fn refused(&self, discriminator: &TokenStream, labels: &[TokenStream]) -> TokenStream {
        let rt = self.rt;
        if labels.is_empty() {
            return quote!();
        }
        quote! {
            if matches!(#discriminator, #(#labels)|*) {
                return Err(encoder.error(#rt::CdrErrorKind::UnionLabelMismatch));
            }
        }
    }

    fn decode(&self) -> TokenStream {
        let (rt, discriminator) = (self.rt, &self.discriminator);
        let body = self.nested(quote! {
            let discriminator = <#discriminator as #rt::Decode>::decode(decoder)?;
            Self::decode_member(discriminator, decoder)
        });
        quote! {
            fn decode(decoder: &mut #rt::Decoder<'a>) -> ::core::result::Result<Self, #rt::CdrError> {
                #body
            }
        }
    }

    fn decode_member(&self) -> TokenStream {
        let rt = self.rt;
        let arms = self
            .item
            .cases
            .iter()
            .filter(|case| !case.is_default)
            .map(|case| {
                let variant = identifier(&case.variant);
                let labels = case.labels.iter().map(|label| self.label(label));
                let discriminator = case.carries_discriminator().then(|| quote!(discriminator,));
                quote!(#(#labels)|* => Ok(Self::#variant(#discriminator #rt::Decode::decode(decoder)?)),)
            });
        let default = self.item.cases.iter().find(|case| case.is_default).map(|case| {
            let variant = identifier(&case.variant);
            quote!(_ => Ok(Self::#variant(discriminator, #rt::Decode::decode(decoder)?)),)
        });
        let no_member = self
            .no_member()
            .map(|variant| quote!(_ => Ok(Self::#variant(discriminator)),));
        quote!(match discriminator { #(#arms)* #default #no_member })
    }

    /// Decodes into the current member if the discriminator selects it.
    fn decode_into(&self) -> TokenStream {
        let (rt, discriminator) = (self.rt, &self.discriminator);
        let kept = self.item.cases.iter().filter(|case| !self.place.model.is_fixed(&case.of)).map(|case| {
            let variant = identifier(&case.variant);
            if !case.carries_discriminator() {
                let label = case.labels.first().map(|label| self.label(label));
                return quote!((#label, Self::#variant(member)) => #rt::Decode::decode_into(member, decoder),);
            }
            let (pattern, guard) = if case.is_default {
                let others = self.labels_but_of(case);
                let guard = (!others.is_empty()).then(|| quote!(if !matches!(discriminator, #(#others)|*)));
                (quote!(_), guard)
            } else {
                let labels = case.labels.iter().map(|label| self.label(label));
                (quote!(#(#labels)|*), None)
            };
            quote! {
                (#pattern, Self::#variant(kept, member)) #guard => {
                    *kept = discriminator;
                    #rt::Decode::decode_into(member, decoder)
                }
            }
        });
        let kept: Vec<_> = kept.collect();
        // The only member, which every discriminator selects, is always the current one.
        let is_only = kept.len() == 1 && self.item.cases.len() == 1 && self.no_member().is_none();
        let others = (!is_only).then(|| {
            quote! {
                (_, other) => {
                    *other = Self::decode_member(discriminator, decoder)?;
                    Ok(())
                }
            }
        });
        let body = self.nested(quote! {
            let discriminator = <#discriminator as #rt::Decode>::decode(decoder)?;
            match (discriminator, &mut *self) {
                #(#kept)*
                #others
            }
        });
        quote! {
            fn decode_into(
                &mut self,
                decoder: &mut #rt::Decoder<'a>,
            ) -> ::core::result::Result<(), #rt::CdrError> {
                #body
            }
        }
    }

    fn nested(&self, body: TokenStream) -> TokenStream {
        if self.place.model.is_recursive(self.item.id) {
            quote!(decoder.nested(|decoder| { #body }))
        } else {
            body
        }
    }

    fn min_size(&self) -> TokenStream {
        let size = Literal::u64_unsuffixed(self.place.model.min_size_of(self.item.id));
        quote!(const MIN_SIZE: usize = #size;)
    }

    fn no_member(&self) -> Option<Ident> {
        self.item.no_member.as_deref().map(identifier)
    }

    fn label(&self, label: &Value) -> TokenStream {
        constants::value(self.place, label)
    }

    fn all_labels(&self) -> Vec<TokenStream> {
        let labels = self.item.cases.iter().flat_map(|case| &case.labels);
        labels.map(|label| self.label(label)).collect()
    }

    fn labels_but_of(&self, case: &Case) -> Vec<TokenStream> {
        let others = self
            .item
            .cases
            .iter()
            .filter(|other| other.variant != case.variant);
        let labels = others.flat_map(|other| &other.labels);
        labels.map(|label| self.label(label)).collect()
    }

    /// First value of the discriminator that is no label: the default of a lone `default`.
    fn unused_label(&self) -> Value {
        let used: Vec<&Value> = self.item.cases.iter().flat_map(|case| &case.labels).collect();
        let candidates: Vec<Value> = match self.place.model.resolved(&self.item.discriminator) {
            Type::Basic(Basic::Boolean) => vec![Value::Boolean(false), Value::Boolean(true)],
            Type::Basic(Basic::Char) => (0..=255_u8).map(|octet| Value::Char(octet.into())).collect(),
            Type::Basic(Basic::WChar) => (0..=used.len() as u32)
                .filter_map(char::from_u32)
                .map(Value::WChar)
                .collect(),
            Type::Named(id) => match &self.place.model.named(*id).shape {
                Shape::Enum(variants) => variants
                    .iter()
                    .zip(0..)
                    .map(|(variant, ordinal)| Value::Enumerator {
                        enumeration: *id,
                        variant: variant.clone(),
                        ordinal,
                    })
                    .collect(),
                _ => Vec::new(),
            },
            // 256 values at most: fewer than any other integer type has.
            Type::Basic(Basic::Int8) => (0..=127).chain(-128..0).map(Value::Integer).collect(),
            _ => (0..=used.len() as i128).map(Value::Integer).collect(),
        };
        let unused = candidates.iter().find(|candidate| !used.contains(candidate));
        unused
            .or(candidates.first())
            .cloned()
            .unwrap_or(Value::Integer(0))
    }
}
