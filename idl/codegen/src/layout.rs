//! Sizes of types in memory: they decide which arrays and which members are boxed, and which operations need
//! much stack.
//!
//! They are close to what the compiler chooses on a 64-bit machine, and need not equal it.

use crate::model::{Basic, Layout, Member, Model, Shape, Type, TypeId};

/// Octets above which an array is not held in place, but boxed or lent, and above which a struct is large.
const LARGE: u64 = 4096;
/// The same, for the rows of an array, so that an array of several dimensions is one block of memory.
const LONG_ROW: u64 = 4 * LARGE;
/// Octets above which a member of a large struct is not held in place: a box pays for less than a cache line.
const SMALL_MEMBER: u64 = 64;
/// Levels of recursive types that a decoder enters at most.
const MAX_LEVELS: u64 = 64;
/// Functions that hold a value of a recursive type: those that decode it, count its level, and decode the
/// sequence whose element it is.
const COPIES_OF_A_LEVEL: u64 = 3;

const POINTER: Layout = scalar(8);

const fn scalar(size: u64) -> Layout {
    Layout {
        size,
        alignment: size,
    }
}

impl Model {
    /// Whether the type is an array that is boxed where it is owned.
    pub fn is_boxed(&self, of: &Type) -> bool {
        self.array_layout(of).is_some_and(|layout| layout.size > LARGE)
    }

    /// Whether the type is an array that is boxed even inside of an array.
    pub fn is_boxed_row(&self, of: &Type) -> bool {
        self.array_layout(of).is_some_and(|layout| layout.size > LONG_ROW)
    }

    /// Whether values with these members are too large to hold all of them in place.
    pub fn is_large<'t>(&self, mut members: impl Iterator<Item = &'t Type>) -> bool {
        let size = members.try_fold(0_u64, |sum, member| sum.checked_add(self.size(member)));
        size.is_none_or(|size| size > LARGE)
    }

    /// Whether a member of this type is boxed where a large value contains it: a struct, union or array that
    /// is not small.
    pub fn is_boxed_in_large(&self, of: &Type) -> bool {
        let is_constructed = match self.resolved(of) {
            Type::Array { .. } => true,
            Type::Named(id) => matches!(self.named(*id).shape, Shape::Struct(_) | Shape::Union { .. }),
            _ => false,
        };
        is_constructed && self.size(of) > SMALL_MEMBER
    }

    /// Whether a value with these members is large, and some of them are boxed for this reason.
    pub fn boxes_some(&self, members: &[Type]) -> bool {
        self.is_large(members.iter()) && members.iter().any(|member| self.is_boxed_in_large(member))
    }

    /// Marks the members that are boxed.
    pub fn box_members(&self, members: &mut [Member]) {
        let is_large = self.is_large(members.iter().map(|member| &member.of));
        for member in members {
            member.boxed = is_large && self.is_boxed_in_large(&member.of);
        }
    }

    /// Octets that a value takes, without what it has on the heap.
    pub fn size(&self, of: &Type) -> u64 {
        self.layout(of).size
    }

    /// Layout of a value, without what it has on the heap.
    pub fn layout(&self, of: &Type) -> Layout {
        match of {
            Type::Basic(Basic::Boolean | Basic::Octet | Basic::Int8) => scalar(1),
            Type::Basic(Basic::Short | Basic::UnsignedShort) => scalar(2),
            Type::Basic(Basic::Char | Basic::WChar | Basic::Long | Basic::UnsignedLong | Basic::Float) => {
                scalar(4)
            }
            Type::Basic(Basic::LongLong | Basic::UnsignedLongLong | Basic::Double) => scalar(8),
            Type::Basic(Basic::LongDouble) => scalar(16),
            Type::Fixed { .. } => scalar(16),
            Type::String { .. } | Type::WString { .. } | Type::Sequence { .. } | Type::Map { .. } => Layout {
                size: 3 * POINTER.size,
                ..POINTER
            },
            Type::Object => POINTER,
            // Type code and octets; the lent form is of about this size.
            Type::Any | Type::TypeCode => Layout {
                size: 16 * POINTER.size,
                ..POINTER
            },
            Type::Array { .. } if self.is_boxed(of) => POINTER,
            Type::Array { .. } => self.array_layout(of).unwrap_or_default(),
            Type::Named(id) => self.facts[id.0].layout,
        }
    }

    /// Layout of an array in place; `None` if the type is none.
    fn array_layout(&self, of: &Type) -> Option<Layout> {
        let Type::Array { element, length } = self.resolved(of) else {
            return None;
        };
        let element = match self.array_layout(element) {
            Some(row) if row.size > LONG_ROW => POINTER,
            Some(row) => row,
            None => self.layout(element),
        };
        Some(Layout {
            size: element.size.saturating_mul(*length),
            ..element
        })
    }

    /// Layouts of the members of a struct, as boxes if it is large and they are not small.
    fn member_layouts<'t>(&'t self, members: &'t [Type]) -> impl Iterator<Item = Layout> + 't {
        let is_large = self.is_large(members.iter());
        members.iter().map(move |member| match self.layout(member) {
            _ if is_large && self.is_boxed_in_large(member) => POINTER,
            layout => layout,
        })
    }

    /// Octets that the members of a struct take.
    pub(crate) fn members_size(&self, members: &[Type]) -> u64 {
        let layouts = self.member_layouts(members);
        layouts.fold(0, |sum, layout| sum.saturating_add(layout.size))
    }

    /// Octets of all values of which the functions that decode this type, one inside the other, hold a copy
    /// each: it, an element of it, a member of that element.
    pub fn decoding(&self, of: &Type) -> u64 {
        match of {
            Type::Sequence { element, .. } | Type::Map { value: element, .. } => {
                self.decoding(element).saturating_add(self.size(element))
            }
            Type::Array { element, .. } => {
                let in_place = if self.is_boxed(of) { 0 } else { self.size(of) };
                self.decoding(element).saturating_add(in_place)
            }
            Type::Named(id) => self.facts[id.0].decoding,
            _ => 0,
        }
    }

    /// Computes [`Self::decoding`] of the types of a cycle, or of one type, from that of all others.
    pub(crate) fn cycle_decoding(&self, cycle: &[usize], is_recursive: bool) -> u64 {
        let own = cycle.iter().filter(|id| {
            let shape = &self.types[**id].shape;
            matches!(shape, Shape::Struct(_) | Shape::Union { .. })
        });
        let own = own.fold(0_u64, |sum, id| sum.saturating_add(self.facts[*id].layout.size));
        // Of the cycle itself, nothing is known yet.
        let parts = cycle.iter().flat_map(|id| self.parts(TypeId(*id)));
        let inside = parts.map(|part| self.decoding(part)).max().unwrap_or(0);
        own.saturating_mul(copies_of_levels(is_recursive))
            .saturating_add(inside)
    }

    /// Computes the layout of a named type from those of its parts.
    pub(crate) fn shape_layout(&self, id: TypeId) -> Layout {
        match &self.named(id).shape {
            Shape::Alias(aliased) => self.layout(aliased),
            Shape::Enum(_) => scalar(4),
            Shape::Interface | Shape::Local => POINTER,
            Shape::Abstract => Layout {
                size: 3 * POINTER.size,
                ..POINTER
            },
            Shape::Value(_) | Shape::Native => Layout {
                size: 2 * POINTER.size,
                ..POINTER
            },
            Shape::Struct(members) => {
                let layouts = self.member_layouts(members);
                around(self.members_size(members), layouts)
            }
            Shape::Union {
                discriminator,
                members,
                ..
            } => {
                let largest = members.iter().map(|member| self.size(member)).max();
                let discriminators = 2 * self.size(discriminator);
                let layouts = members.iter().chain([discriminator]);
                around(
                    largest.unwrap_or(0).saturating_add(discriminators),
                    layouts.map(|member| self.layout(member)),
                )
            }
        }
    }
}

/// How many copies of a value are on the stack while it is decoded.
pub(crate) fn copies_of_levels(is_recursive: bool) -> u64 {
    if is_recursive {
        MAX_LEVELS * COPIES_OF_A_LEVEL
    } else {
        1
    }
}

/// Layout of a type around its parts, whose size is rounded up to the largest alignment.
fn around(size: u64, parts: impl Iterator<Item = Layout>) -> Layout {
    let alignment = parts.map(|part| part.alignment).max().unwrap_or(1);
    Layout {
        size: size.checked_next_multiple_of(alignment).unwrap_or(size),
        alignment,
    }
}
