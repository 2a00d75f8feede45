//! Sizes of types in memory: they decide which arrays are boxed, and which operations need much stack.
//!
//! They are close to what the compiler chooses on a 64-bit machine, and need not equal it.

use crate::model::{Basic, Layout, Model, Shape, Type, TypeId};

/// Octets from which an array is not held in place, but boxed or lent.
const LONG_ARRAY: u64 = 4096;
/// The same, for the rows of an array, so that an array of several dimensions is one block of memory.
const LONG_ROW: u64 = 4 * LONG_ARRAY;

const POINTER: Layout = scalar(8);

const fn scalar(size: u64) -> Layout {
    Layout {
        size,
        alignment: size,
        nesting: 0,
    }
}

impl Model {
    /// Whether the type is an array that is boxed where it is owned.
    pub fn is_boxed(&self, of: &Type) -> bool {
        self.array_layout(of)
            .is_some_and(|layout| layout.size > LONG_ARRAY)
    }

    /// Whether the type is an array that is boxed even inside of an array.
    pub fn is_boxed_row(&self, of: &Type) -> bool {
        self.array_layout(of).is_some_and(|layout| layout.size > LONG_ROW)
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
            nesting: element.nesting + 1,
            ..element
        })
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
            Shape::Value | Shape::Native => Layout {
                size: 2 * POINTER.size,
                ..POINTER
            },
            Shape::Struct(members) => {
                let layouts = || members.iter().map(|member| self.layout(member));
                around(
                    layouts().fold(0, |sum, layout| sum.saturating_add(layout.size)),
                    layouts(),
                )
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

/// Layout of a type around its parts, whose size is rounded up to the largest alignment.
fn around(size: u64, parts: impl Iterator<Item = Layout>) -> Layout {
    let (mut alignment, mut nesting) = (1, 1);
    for part in parts {
        alignment = part.alignment.max(alignment);
        nesting = nesting.max(part.nesting + 1);
    }
    Layout {
        size: size.checked_next_multiple_of(alignment).unwrap_or(size),
        alignment,
        nesting,
    }
}
