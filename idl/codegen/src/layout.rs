//! Sizes of types in memory: they decide which arrays and which members are boxed, and which operations need
//! much stack.
//!
//! They are close to what the compiler chooses on a 64-bit machine, and need not equal it.

use std::ops::Range;

use crate::model::{Basic, Layout, Member, Model, Shape, State, Type, TypeId};

/// Octets above which an array is not held in place, but boxed or lent, and above which a struct is large.
const LARGE: u64 = 4096;
/// The same, for the rows of an array, so that an array of several dimensions is one block of memory.
const LONG_ROW: u64 = 4 * LARGE;
/// Rules for the members of a struct: all are in place, or those of more octets are boxed. First, boxes are
/// for what a user makes as a whole and what takes more than a cache line; nothing as small as a box has one.
const BOXING: [Boxing; 6] = [
    Boxing::above(u64::MAX),
    Boxing {
        constructed_only: true,
        ..Boxing::above(64)
    },
    Boxing::above(64),
    Boxing::above(32),
    Boxing::above(16),
    Boxing::above(POINTER.size),
];
/// The rule for structs that fit with none of these: their members are in parts with a box each.
const IN_PARTS: Boxing = Boxing::above(64);
/// Octets of a part, unless there would be more than [`MOST_PARTS`].
const PART: u64 = 1024;
/// Members are found through all parts before theirs: the compiler follows 128 levels at most, and needs
/// several for each part to find out whether a type is `Send`.
const MOST_PARTS: u64 = 24;
/// Levels of recursive types that a decoder enters at most.
const MAX_LEVELS: u64 = 64;
/// Functions that hold a value of a recursive type: those that decode it, count its level, and decode the
/// sequence whose element it is.
const COPIES_OF_A_LEVEL: u64 = 3;

const POINTER: Layout = scalar(8);
/// Object references and values: pointers to what has one of several types.
const REFERENCE: Layout = Layout {
    size: 2 * POINTER.size,
    ..POINTER
};

const fn scalar(size: u64) -> Layout {
    Layout {
        size,
        alignment: size,
    }
}

/// A rule for the members of a struct that are boxed, and lent in its lent form.
#[derive(Clone, Copy)]
struct Boxing {
    /// Octets above which they are.
    above: u64,
    /// Only structs, unions and arrays are.
    constructed_only: bool,
}

/// A member, or the state of a base.
#[derive(Clone, Copy)]
struct Part {
    layout: Layout,
    /// Whether it is a struct, a union or an array.
    is_constructed: bool,
}

impl Boxing {
    const fn above(octets: u64) -> Self {
        Self {
            above: octets,
            constructed_only: false,
        }
    }

    /// The first rule with which a struct, exception or state takes at most [`LARGE`], in its owned and its
    /// lent form.
    fn in_one(members: impl Iterator<Item = Part> + Clone) -> Option<Self> {
        let fits = |rule: &&Self| rule.size(members.clone()) <= LARGE;
        BOXING.iter().find(fits).copied()
    }

    fn of(members: impl Iterator<Item = Part> + Clone) -> Self {
        Self::in_one(members).unwrap_or(IN_PARTS)
    }

    fn boxes(self, part: Part) -> bool {
        part.layout.size > self.above && (part.is_constructed || !self.constructed_only)
    }

    fn layout(self, part: Part) -> Layout {
        if self.boxes(part) { POINTER } else { part.layout }
    }

    /// Octets that all parts take.
    fn size(self, parts: impl Iterator<Item = Part>) -> u64 {
        parts.fold(0, |sum, part| sum.saturating_add(self.layout(part).size))
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

    /// The members of each part of a struct, exception or state that is larger than [`LARGE`] although all
    /// members of more than 8 octets are boxed; none if it is not.
    pub fn parts_of(&self, base: Option<TypeId>, members: &[Type]) -> Vec<Range<usize>> {
        let base = base.map(|base| self.base_part(base));
        let members = members.iter().map(|member| self.part(member));
        if Boxing::in_one(members.clone().chain(base)).is_some() {
            return Vec::new();
        }
        let limit = IN_PARTS.size(members.clone()).div_ceil(MOST_PARTS).max(PART);
        let (mut parts, mut begin, mut size) = (Vec::new(), 0, 0_u64);
        let count = members.len();
        for (index, member) in members.enumerate() {
            let member = IN_PARTS.layout(member).size;
            if size.saturating_add(member) > limit && index > begin {
                parts.push(begin..index);
                (begin, size) = (index, 0);
            }
            size = size.saturating_add(member);
        }
        parts.push(begin..count);
        parts
    }

    /// Whether some of these members are boxed because what contains them is large.
    pub fn boxes_some(&self, members: &[Type]) -> bool {
        let rule = self.boxing(members);
        members.iter().any(|member| rule.boxes(self.part(member)))
    }

    /// Marks the members that are boxed, and returns whether the state of the base is.
    pub fn box_members(&self, base: Option<TypeId>, members: &mut [Member]) -> bool {
        let base = base.map(|base| self.base_part(base));
        let parts = members.iter().map(|member| self.part(&member.of));
        let rule = Boxing::of(parts.chain(base));
        for member in members {
            member.boxed = rule.boxes(self.part(&member.of));
        }
        base.is_some_and(|base| rule.boxes(base))
    }

    fn boxing(&self, members: &[Type]) -> Boxing {
        Boxing::of(members.iter().map(|member| self.part(member)))
    }

    fn part(&self, of: &Type) -> Part {
        let is_constructed = match self.resolved(of) {
            Type::Array { .. } => true,
            Type::Named(id) => matches!(self.named(*id).shape, Shape::Struct(_) | Shape::Union { .. }),
            _ => false,
        };
        Part {
            layout: self.layout(of),
            is_constructed,
        }
    }

    /// The state of a value type as a part of a derived one.
    fn base_part(&self, id: TypeId) -> Part {
        let layout = Layout {
            size: self.facts[id.0].state,
            ..POINTER
        };
        Part {
            layout,
            is_constructed: true,
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
            Type::Object => REFERENCE,
            // The lent form of an `any`, which is the larger one.
            Type::Any => Layout {
                size: 18 * POINTER.size,
                ..POINTER
            },
            Type::TypeCode => Layout {
                size: 6 * POINTER.size,
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

    /// Octets of the state of a value type with these bases' states computed: as a struct, and with the boxed
    /// states of its bases, with which it is on the stack while it is decoded.
    pub(crate) fn state_sizes(&self, state: &State) -> (u64, u64) {
        let (base, members) = match state {
            State::Box(content) => return (self.size(content), self.size(content)),
            State::Members { base, members } => (base, members),
        };
        let base = base.map(|base| (self.base_part(base), self.facts[base.0].whole_state));
        let parts = members.iter().map(|member| self.part(member));
        let parts = parts.chain(base.map(|(part, _)| part));
        let rule = Boxing::of(parts.clone());
        let size = match Boxing::in_one(parts.clone()) {
            Some(rule) => rule.size(parts),
            None => base.map_or(0, |(part, _)| rule.layout(part).size) + PART,
        };
        let boxed = base.map_or(0, |(part, whole)| whole.saturating_sub(rule.layout(part).size));
        (size, size.saturating_add(boxed))
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

    /// Octets that are on the stack while a value of a named type is made.
    fn made(&self, id: TypeId) -> u64 {
        let is_in_parts = matches!(&self.named(id).shape, Shape::Struct(members)
            if !self.parts_of(None, members).is_empty());
        self.facts[id.0].layout.size + if is_in_parts { PART } else { 0 }
    }

    /// Computes [`Self::decoding`] of the types of a cycle, or of one type, from that of all others.
    pub(crate) fn cycle_decoding(&self, cycle: &[usize], is_recursive: bool) -> u64 {
        let own = cycle.iter().filter(|id| {
            let shape = &self.types[**id].shape;
            matches!(shape, Shape::Struct(_) | Shape::Union { .. })
        });
        let own = own.fold(0_u64, |sum, id| sum.saturating_add(self.made(TypeId(*id))));
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
            Shape::Abstract => Layout {
                size: 3 * POINTER.size,
                ..POINTER
            },
            Shape::Interface | Shape::Local | Shape::Value(_) | Shape::Native => REFERENCE,
            Shape::Struct(members) => {
                let parts = members.iter().map(|member| self.part(member));
                match Boxing::in_one(parts.clone()) {
                    Some(rule) => around(rule.size(parts.clone()), parts.map(|part| rule.layout(part))),
                    None => POINTER,
                }
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
