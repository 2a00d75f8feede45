//! The table "Types by place" of `docs/mapping.md`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use crate::{
    Sides,
    model::{Basic, Member, Model, ModulePath, Shape, Type, TypeId},
    names::identifier,
};

/// Place of the emitted code, to which names are relative.
#[derive(Clone, Copy)]
pub struct Place<'m> {
    pub model: &'m Model,
    /// Path of the runtime.
    pub rt: &'m TokenStream,
    /// Sides of interfaces that are generated.
    pub sides: Sides,
    /// Enclosing Rust modules, outermost first.
    pub module: &'m [String],
}

/// How a servant gets an `in` parameter.
pub struct ServantIn {
    /// Type in the trait.
    pub declared: TokenStream,
    /// Type that the skeleton decodes.
    pub decoded: TokenStream,
    /// Whether the skeleton passes a reference to the decoded value.
    pub by_reference: bool,
}

impl<'m> Place<'m> {
    /// Path from here to an item in `module`.
    pub fn path(&self, module: &ModulePath, name: &str) -> TokenStream {
        let shared = self.module.iter().zip(&module.names);
        let (common, up) = match &module.external {
            Some(path) => (0, quote!(#path::)),
            None => {
                let common = shared.take_while(|(here, there)| here == there).count();
                let up = self.module[common..].iter().map(|_| quote!(super::));
                (common, quote!(#(#up)*))
            }
        };
        let down = module.names[common..].iter().map(|name| {
            let name = identifier(name);
            quote!(#name::)
        });
        let name = identifier(name);
        quote!(#up #(#down)* #name)
    }

    /// Path of a named type; for an interface, of its `Ref`.
    pub fn type_path(&self, id: TypeId) -> TokenStream {
        let named = self.model.named(id);
        self.path(&named.module, &named.name)
    }

    /// Type of members, elements and results: long arrays are boxed.
    pub fn owned(&self, of: &Type) -> TokenStream {
        let plain = self.plain(of);
        if self.model.is_boxed(of) {
            quote!(::std::boxed::Box<#plain>)
        } else {
            plain
        }
    }

    /// Type of a member of a struct, exception or value type.
    pub fn member(&self, member: &Member) -> TokenStream {
        if member.boxed {
            let plain = self.plain(&member.of);
            quote!(::std::boxed::Box<#plain>)
        } else {
            self.owned(&member.of)
        }
    }

    /// Type of a member of the lent form of a struct.
    pub fn lent_member(&self, member: &Member, lifetime: &TokenStream) -> TokenStream {
        let lent = self.lent(&member.of, Some(lifetime));
        if member.boxed {
            quote!(&#lifetime #lent)
        } else {
            lent
        }
    }

    /// Type of what a reference or a typedef names: like [`Self::owned`], without a box.
    pub fn plain(&self, of: &Type) -> TokenStream {
        let rt = self.rt;
        match of {
            Type::Basic(basic) => self.basic(*basic),
            Type::String { bound: None } => quote!(::std::string::String),
            Type::String { bound: Some(bound) } => {
                let bound = literal(*bound);
                quote!(#rt::BoundedString<#bound>)
            }
            Type::WString { bound: None } => quote!(#rt::WString),
            Type::WString { bound: Some(bound) } => {
                let bound = literal(*bound);
                quote!(#rt::WString<#bound>)
            }
            Type::Fixed { digits, scale } => {
                let (digits, scale) = (literal((*digits).into()), literal((*scale).into()));
                quote!(#rt::Fixed<#digits, #scale>)
            }
            Type::Sequence { element, bound } => {
                let element = self.owned(element);
                match bound.map(literal) {
                    None => quote!(::std::vec::Vec<#element>),
                    Some(bound) => quote!(#rt::BoundedSeq<#element, #bound>),
                }
            }
            Type::Map { key, value, bound } => {
                let (key, value) = (self.owned(key), self.owned(value));
                match bound.map(literal) {
                    None => quote!(::std::collections::BTreeMap<#key, #value>),
                    Some(bound) => quote!(#rt::BoundedMap<#key, #value, #bound>),
                }
            }
            Type::Array { element, length } => {
                let length = literal(*length);
                let row = self.plain(element);
                let element = match self.model.resolved(element) {
                    Type::Array { .. } if self.model.is_boxed_row(element) => quote!(::std::boxed::Box<#row>),
                    Type::Array { .. } => row,
                    _ => self.owned(element),
                };
                quote!([#element; #length])
            }
            Type::Object => quote!(::core::option::Option<#rt::ObjectRef>),
            Type::Any => quote!(#rt::Any),
            Type::TypeCode => quote!(#rt::TypeCode),
            Type::Named(id) => {
                let path = self.type_path(*id);
                match self.model.named(*id).shape {
                    Shape::Interface => quote!(::core::option::Option<#path>),
                    Shape::Abstract => quote!(::core::option::Option<#rt::Abstract<#path>>),
                    Shape::Local => quote!(::core::option::Option<::std::sync::Arc<dyn #path>>),
                    Shape::Value(_) => quote!(::core::option::Option<#rt::Shared<#path>>),
                    _ => path,
                }
            }
        }
    }

    /// Type of members and elements of lent values; `lifetime` is `'a`, or empty if elided.
    pub fn lent(&self, of: &Type, lifetime: Option<&TokenStream>) -> TokenStream {
        let rt = self.rt;
        if !self.model.has_lent_form(of) {
            return self.owned(of);
        }
        let array = self.lent_array(of, lifetime);
        if self.model.is_boxed(of) {
            return quote!(&#lifetime #array);
        }
        let inferred = quote!('_);
        let named_lifetime = lifetime.unwrap_or(&inferred);
        match self.model.resolved(of) {
            Type::String { bound: None } => quote!(&#lifetime str),
            Type::String { bound: Some(bound) } => {
                let bound = literal(*bound);
                quote!(#rt::BoundedStr<#named_lifetime, #bound>)
            }
            Type::Sequence { element, bound } => {
                let element = self.lent(element, lifetime);
                match bound.map(literal) {
                    None => quote!(&#lifetime [#element]),
                    Some(bound) => quote!(#rt::BoundedSlice<#named_lifetime, #element, #bound>),
                }
            }
            Type::Array { .. } => quote!(#array),
            Type::Any => quote!(#rt::AnyView<#named_lifetime>),
            Type::Named(id) => {
                let named = self.model.named(*id);
                let view = self.path(&named.module, &named.view);
                quote!(#view<#named_lifetime>)
            }
            Type::Basic(_)
            | Type::WString { .. }
            | Type::Map { .. }
            | Type::Fixed { .. }
            | Type::Object
            | Type::TypeCode => self.owned(of),
        }
    }

    /// Array of lent elements, without the reference to it; `None` if the type is no array.
    fn lent_array(&self, of: &Type, lifetime: Option<&TokenStream>) -> Option<TokenStream> {
        if self.model.has_fixed_elements(of) {
            return Some(self.plain(of));
        }
        let Type::Array { element, length } = self.model.resolved(of) else {
            return None;
        };
        let length = literal(*length);
        let element = match self.lent_array(element, lifetime) {
            Some(row) if self.model.is_boxed_row(element) => quote!(&#lifetime #row),
            Some(row) => row,
            None => self.lent(element, lifetime),
        };
        Some(quote!([#element; #length]))
    }

    /// Type of what an `inout` parameter and the parameters of `op_into` refer to.
    pub fn referred(&self, of: &Type) -> TokenStream {
        match self.model.resolved(of) {
            Type::Array { .. } => self.plain(of),
            _ => self.owned(of),
        }
    }

    /// Type of an `in` parameter of a `Ref`'s method.
    pub fn client_in(&self, of: &Type) -> TokenStream {
        let rt = self.rt;
        match self.model.resolved(of) {
            Type::Basic(basic) => self.basic(*basic),
            Type::String { bound: None } => quote!(&str),
            Type::Sequence { element, bound: None } if self.model.is_string(element) => {
                quote!(&[impl ::core::convert::AsRef<str>])
            }
            Type::Sequence { element, bound: None } => {
                let element = self.owned(element);
                quote!(&[#element])
            }
            Type::Object => quote!(::core::option::Option<&#rt::ObjectRef>),
            Type::Any => quote!(&#rt::Any),
            Type::TypeCode => quote!(&#rt::TypeCode),
            Type::Named(id) => {
                let path = self.type_path(*id);
                match self.model.named(*id).shape {
                    Shape::Interface => quote!(::core::option::Option<&#path>),
                    Shape::Abstract => quote!(::core::option::Option<&#rt::Abstract<#path>>),
                    Shape::Value(_) => quote!(::core::option::Option<&#rt::Shared<#path>>),
                    Shape::Enum(_) => path,
                    _ => quote!(&#path),
                }
            }
            Type::Fixed { .. } => self.owned(of),
            Type::String { .. }
            | Type::WString { .. }
            | Type::Sequence { .. }
            | Type::Map { .. }
            | Type::Array { .. } => {
                let referred = self.referred(of);
                quote!(&#referred)
            }
        }
    }

    /// Type of an `in` parameter of a servant's method.
    pub fn servant_in(&self, of: &Type) -> ServantIn {
        let owned = self.owned(of);
        if self.model.has_lent_form(of) {
            let lent = self.lent(of, None);
            return ServantIn {
                declared: lent.clone(),
                decoded: lent,
                by_reference: false,
            };
        }
        let declared = match self.model.resolved(of) {
            Type::Basic(_) | Type::Fixed { .. } | Type::Object => None,
            Type::Named(id) => match self.model.named(*id).shape {
                Shape::Enum(_) | Shape::Interface | Shape::Abstract | Shape::Local | Shape::Value(_) => None,
                _ => Some(quote!(&#owned)),
            },
            Type::Sequence { element, bound: None } => {
                let element = self.owned(element);
                Some(quote!(&[#element]))
            }
            Type::String { .. }
            | Type::WString { .. }
            | Type::Sequence { .. }
            | Type::Map { .. }
            | Type::TypeCode
            | Type::Any => Some(quote!(&#owned)),
            Type::Array { .. } => {
                let array = self.plain(of);
                Some(quote!(&#array))
            }
        };
        ServantIn {
            by_reference: declared.is_some(),
            declared: declared.unwrap_or_else(|| owned.clone()),
            decoded: owned,
        }
    }

    /// Initial value to decode into; the standard library has `Default` only for arrays up to 32.
    pub fn default_value(&self, of: &Type) -> TokenStream {
        self.default_of(of, self.model.is_boxed(of))
    }

    fn default_of(&self, of: &Type, is_boxed: bool) -> TokenStream {
        let rt = self.rt;
        let row = |element: &Type| match self.model.resolved(element) {
            Type::Array { .. } => self.default_of(element, self.model.is_boxed_row(element)),
            _ => self.default_value(element),
        };
        match self.model.resolved(of) {
            Type::Array { element, .. } if is_boxed => {
                let element = row(element);
                quote!(#rt::filled_array(#element))
            }
            Type::Array { element, .. } if self.model.has_long_array(of) => {
                let element = row(element);
                quote!(::core::array::from_fn(|_| #element))
            }
            _ => quote!(::core::default::Default::default()),
        }
    }

    pub fn basic(&self, basic: Basic) -> TokenStream {
        let rt = self.rt;
        match basic {
            Basic::Boolean => quote!(bool),
            Basic::Octet => quote!(u8),
            Basic::Int8 => quote!(i8),
            Basic::Char => quote!(char),
            Basic::Short => quote!(i16),
            Basic::UnsignedShort => quote!(u16),
            Basic::Long => quote!(i32),
            Basic::UnsignedLong => quote!(u32),
            Basic::LongLong => quote!(i64),
            Basic::UnsignedLongLong => quote!(u64),
            Basic::Float => quote!(f32),
            Basic::Double => quote!(f64),
            Basic::LongDouble => quote!(#rt::LongDouble),
            Basic::WChar => quote!(#rt::WChar),
        }
    }

    /// Name of the type parameter for servants, different from all generated types.
    pub fn servant_parameter(&self) -> Ident {
        identifier(&self.model.servant_parameter)
    }
}

fn literal(number: u64) -> Literal {
    Literal::u64_unsuffixed(number)
}
