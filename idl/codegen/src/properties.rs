//! Properties of types that determine the mapping: fixed or variable, references, recursion, minimum size.

use crate::model::{Basic, Model, NamedType, Shape, Type, TypeId};

/// Longest array with `Default` in the standard library.
const LONGEST_DEFAULT_ARRAY: u64 = 32;

impl Model {
    /// The type with this id.
    pub fn named(&self, id: TypeId) -> &NamedType {
        &self.types[id.0]
    }

    /// The type behind all typedefs.
    pub fn resolved<'t>(&'t self, of: &'t Type) -> &'t Type {
        match of {
            Type::Named(id) => match &self.named(*id).shape {
                Shape::Alias(aliased) => self.resolved(aliased),
                _ => of,
            },
            _ => of,
        }
    }

    /// Whether the type is an unbounded string.
    pub fn is_string(&self, of: &Type) -> bool {
        matches!(self.resolved(of), Type::String { bound: None })
    }

    /// Whether the type has a fixed length: numbers, enums, and structs, unions and arrays of these.
    pub fn is_fixed(&self, of: &Type) -> bool {
        !self.any(of, &mut Vec::new(), &mut |part| match part {
            Type::String { .. } | Type::Sequence { .. } | Type::Object => true,
            Type::Named(id) => matches!(self.named(*id).shape, Shape::Interface),
            Type::Basic(_) | Type::Array { .. } => false,
        })
    }

    /// Whether servants get it lent: variable, but without references, which own resources and cannot be in
    /// an arena.
    pub fn has_lent_form(&self, of: &Type) -> bool {
        !self.is_fixed(of) && !self.has_reference(of)
    }

    /// Whether the type contains object references.
    pub fn has_reference(&self, of: &Type) -> bool {
        self.any(of, &mut Vec::new(), &mut |part| match part {
            Type::Object => true,
            Type::Named(id) => matches!(self.named(*id).shape, Shape::Interface),
            _ => false,
        })
    }

    /// Whether the type contains itself, through sequences.
    pub fn is_recursive(&self, id: TypeId) -> bool {
        let mut seen = Vec::new();
        self.parts(id).iter().any(|part| {
            self.any(
                part,
                &mut seen,
                &mut |part| matches!(part, Type::Named(other) if *other == id),
            )
        })
    }

    /// Whether the type is or directly contains an array without `Default` in the standard library.
    pub fn has_long_array(&self, of: &Type) -> bool {
        match self.resolved(of) {
            Type::Array { element, length } => {
                *length > LONGEST_DEFAULT_ARRAY || self.has_long_array(element)
            }
            _ => false,
        }
    }

    /// Whether a result of this type has an `op_into` form: it is variable and not a reference.
    pub fn is_worth_reusing(&self, of: &Type) -> bool {
        let is_reference = match self.resolved(of) {
            Type::Object => true,
            Type::Named(id) => matches!(self.named(*id).shape, Shape::Interface),
            _ => false,
        };
        !self.is_fixed(of) && !is_reference
    }

    /// Minimum of octets on the wire, without padding.
    pub fn min_size(&self, of: &Type) -> u64 {
        match of {
            Type::Basic(basic) => match basic {
                Basic::Boolean | Basic::Octet | Basic::Char => 1,
                Basic::Short | Basic::UnsignedShort => 2,
                Basic::Long | Basic::UnsignedLong | Basic::Float => 4,
                Basic::LongLong | Basic::UnsignedLongLong | Basic::Double => 8,
                Basic::LongDouble => 16,
            },
            Type::String { .. } | Type::Sequence { .. } => 4,
            Type::Array { element, length } => self.min_size(element).saturating_mul(*length),
            Type::Object => REFERENCE,
            Type::Named(id) => self.min_size_of(*id),
        }
    }

    /// Like [`Self::min_size`], for a type id.
    pub fn min_size_of(&self, id: TypeId) -> u64 {
        *self
            .named(id)
            .min_size
            .get_or_init(|| match &self.named(id).shape {
                Shape::Alias(aliased) => self.min_size(aliased),
                Shape::Enum(_) => 4,
                Shape::Interface => REFERENCE,
                Shape::Struct(members) => members
                    .iter()
                    .fold(0, |sum, member| sum.saturating_add(self.min_size(member))),
                Shape::Union {
                    discriminator,
                    members,
                    may_be_empty,
                } => {
                    let least = members
                        .iter()
                        .map(|member| self.min_size(member))
                        .min()
                        .unwrap_or(0);
                    self.min_size(discriminator)
                        .saturating_add(if *may_be_empty { 0 } else { least })
                }
            })
    }

    fn parts(&self, id: TypeId) -> &[Type] {
        match &self.named(id).shape {
            Shape::Alias(aliased) => std::slice::from_ref(aliased),
            Shape::Struct(members) | Shape::Union { members, .. } => members,
            Shape::Enum(_) | Shape::Interface => &[],
        }
    }

    /// Whether the type or any part of it satisfies `wanted`.
    fn any(&self, of: &Type, seen: &mut Vec<TypeId>, wanted: &mut impl FnMut(&Type) -> bool) -> bool {
        if wanted(of) {
            return true;
        }
        match of {
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.any(element, seen, wanted),
            Type::Named(id) if !seen.contains(id) => {
                seen.push(*id);
                self.parts(*id).iter().any(|part| self.any(part, seen, wanted))
            }
            _ => false,
        }
    }
}

/// Minimum of octets of a reference: the lengths of type id and profiles.
const REFERENCE: u64 = 8;
