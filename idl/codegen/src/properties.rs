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
        let Type::Named(id) = of else { return of };
        match self.facts[id.0].last_alias.map(|last| &self.named(last).shape) {
            Some(Shape::Alias(target)) => target,
            _ => of,
        }
    }

    /// Whether the type is an unbounded string.
    pub fn is_string(&self, of: &Type) -> bool {
        matches!(self.resolved(of), Type::String { bound: None })
    }

    /// Whether the type has a fixed length and its values are held in place: numbers, enums, and structs,
    /// unions and short arrays of these.
    pub fn is_fixed(&self, of: &Type) -> bool {
        match of {
            Type::Basic(_) | Type::Fixed { .. } => true,
            Type::String { .. }
            | Type::WString { .. }
            | Type::Sequence { .. }
            | Type::Map { .. }
            | Type::Object
            | Type::TypeCode
            | Type::Any => false,
            Type::Array { .. } => !self.is_boxed(of) && self.has_fixed_elements(of),
            Type::Named(id) => !self.facts[id.0].variable,
        }
    }

    /// Whether the type is an array whose elements are held in place, however many there are.
    pub fn has_fixed_elements(&self, of: &Type) -> bool {
        let Type::Array { element, .. } = self.resolved(of) else {
            return false;
        };
        match self.resolved(element) {
            Type::Array { .. } => !self.is_boxed_row(element) && self.has_fixed_elements(element),
            _ => self.is_fixed(element),
        }
    }

    /// Whether servants get it lent: variable, but without references and parts, which own resources and
    /// cannot be in an arena.
    pub fn has_lent_form(&self, of: &Type) -> bool {
        !self.is_fixed(of) && !self.has_reference(of) && !self.has_parts(of)
    }

    /// Whether the type is or contains a struct whose members are in parts with a box each.
    pub fn has_parts(&self, of: &Type) -> bool {
        match of {
            Type::Sequence { element, .. }
            | Type::Array { element, .. }
            | Type::Map { value: element, .. } => self.has_parts(element),
            Type::Named(id) => self.facts[id.0].in_parts,
            _ => false,
        }
    }

    /// Whether the type contains what is always owned: object references, values of value types, wide text,
    /// maps, type codes.
    pub fn has_reference(&self, of: &Type) -> bool {
        match of {
            Type::Basic(_) | Type::String { .. } | Type::Fixed { .. } | Type::Any => false,
            Type::WString { .. } | Type::Map { .. } | Type::TypeCode => true,
            Type::Sequence { element, .. } | Type::Array { element, .. } => self.has_reference(element),
            Type::Object => true,
            Type::Named(id) => self.facts[id.0].reference,
        }
    }

    /// Whether the type is or contains a local interface or a native type, so that its values are never
    /// encoded.
    pub fn is_local(&self, of: &Type) -> bool {
        match of {
            Type::Sequence { element, .. }
            | Type::Array { element, .. }
            | Type::Map { value: element, .. } => self.is_local(element),
            Type::Named(id) => self.facts[id.0].local,
            _ => false,
        }
    }

    /// Whether the type contains itself, through sequences.
    pub fn is_recursive(&self, id: TypeId) -> bool {
        self.facts[id.0].recursive
    }

    /// Whether the type is or directly contains an array without `Default` in the standard library.
    pub fn has_long_array(&self, of: &Type) -> bool {
        match self.resolved(of) {
            Type::Array { element, length } => {
                *length > LONGEST_DEFAULT_ARRAY || self.is_boxed(of) || self.has_long_array(element)
            }
            _ => false,
        }
    }

    /// Whether a result of this type has an `op_into` form: it is variable or an array, and not a
    /// reference.
    pub fn is_worth_reusing(&self, of: &Type) -> bool {
        let is_reference = match self.resolved(of) {
            Type::Object => true,
            Type::Named(id) => matches!(
                self.named(*id).shape,
                Shape::Interface | Shape::Abstract | Shape::Local | Shape::Value(_) | Shape::Native
            ),
            _ => false,
        };
        let is_array = matches!(self.resolved(of), Type::Array { .. });
        is_array || !self.is_fixed(of) && !is_reference
    }

    /// Minimum of octets on the wire, without padding.
    pub fn min_size(&self, of: &Type) -> u64 {
        match of {
            Type::Basic(basic) => match basic {
                Basic::Boolean | Basic::Octet | Basic::Int8 | Basic::Char | Basic::WChar => 1,
                Basic::Short | Basic::UnsignedShort => 2,
                Basic::Long | Basic::UnsignedLong | Basic::Float => 4,
                Basic::LongLong | Basic::UnsignedLongLong | Basic::Double => 8,
                Basic::LongDouble => 16,
            },
            Type::String { .. }
            | Type::WString { .. }
            | Type::Sequence { .. }
            | Type::Map { .. }
            | Type::TypeCode
            | Type::Any => 4,
            Type::Fixed { digits, .. } => u64::from(*digits) / 2 + 1,
            Type::Array { element, length } => self.min_size(element).saturating_mul(*length),
            Type::Object => REFERENCE,
            Type::Named(id) => self.min_size_of(*id),
        }
    }

    /// Like [`Self::min_size`], for a type id.
    pub fn min_size_of(&self, id: TypeId) -> u64 {
        self.facts[id.0].min_size
    }

    /// Computes [`Self::min_size_of`] from that of the parts.
    pub(crate) fn shape_min_size(&self, id: TypeId) -> u64 {
        match &self.named(id).shape {
            Shape::Alias(aliased) => self.min_size(aliased),
            Shape::Enum(_) => 4,
            Shape::Interface => REFERENCE,
            Shape::Local | Shape::Native => 0,
            // The boolean of one without the null value behind it.
            Shape::Abstract => 5,
            // The null value.
            Shape::Value(_) => 4,
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
        }
    }

    /// The types of which a type directly consists.
    pub(crate) fn parts(&self, id: TypeId) -> &[Type] {
        match &self.named(id).shape {
            Shape::Alias(aliased) => std::slice::from_ref(aliased),
            Shape::Struct(members) | Shape::Union { members, .. } => members,
            Shape::Enum(_)
            | Shape::Interface
            | Shape::Abstract
            | Shape::Local
            | Shape::Value(_)
            | Shape::Native => &[],
        }
    }
}

/// Minimum of octets of a reference: the lengths of type id and profiles.
const REFERENCE: u64 = 8;
