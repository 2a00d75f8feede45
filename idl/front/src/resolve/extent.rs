//! Extents of types: how deep arrays and sequences are in each other, and how much memory an array takes.
//!
//! The extents of named types are kept when their definitions are complete, so that each is computed from
//! those of its parts alone.

use std::collections::HashMap;

use super::Resolver;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionId, DefinitionKind, Type};
use crate::source::Span;

/// Octets of an array, with all that it holds in place: half of what a message can contain.
const MOST_OCTETS: u64 = 1 << 31;
/// Octets of what is somewhere else: a pointer, a length and a capacity.
const HANDLE: u64 = 24;

/// Extent of a type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    /// Dimensions of arrays, and sequences and maps, one in the other.
    levels: usize,
    /// Octets in memory, about, without what sequences and strings hold.
    octets: u64,
}

/// Extents of what is complete.
#[derive(Default)]
pub(super) struct Extents {
    /// Extents of typedefs, structs and unions.
    types: HashMap<DefinitionId, Extent>,
    /// Members that structs have inherited so far, with long comments as further ones.
    pub(super) inherited: usize,
}

impl Resolver<'_> {
    /// Refuses a type that is nested too deeply through its typedefs, or an array that is too large.
    pub(super) fn check_extent(&mut self, ty: &Type, span: Span) -> Option<()> {
        let extent = self.extent(ty);
        if extent.levels > self.limits.nesting {
            self.nested_too_deeply(span);
            return None;
        }
        if extent.octets > MOST_OCTETS && matches!(ty, Type::Array { .. }) {
            let message = format!("the array takes more than {} GiB of memory", MOST_OCTETS >> 30);
            self.report(
                Diagnostic::new(Code::LimitExceeded, span, message)
                    .with_help("make it shorter, or use a sequence"),
            );
            return None;
        }
        Some(())
    }

    /// Reports a type with too many levels.
    pub(super) fn nested_too_deeply(&mut self, span: Span) {
        let message = format!(
            "arrays and sequences are nested more than {} levels deep",
            self.limits.nesting
        );
        self.report(
            Diagnostic::new(Code::NestingTooDeep, span, message)
                .with_help("use fewer dimensions, or a struct in between"),
        );
    }

    /// Keeps the extent of a complete type.
    pub(super) fn keep_extent(&mut self, id: DefinitionId) {
        let octets = |ty: &Type| self.extent(ty).octets;
        let extent = match &self.spec[id].kind {
            DefinitionKind::Typedef(typedef) => self.extent(&typedef.target),
            DefinitionKind::Struct(structure) => Extent {
                levels: 0,
                octets: structure
                    .members
                    .iter()
                    .map(|member| octets(&member.ty))
                    .fold(0, u64::saturating_add),
            },
            DefinitionKind::Union(union) => Extent {
                levels: 0,
                octets: union
                    .cases
                    .iter()
                    .map(|case| octets(&case.member.ty))
                    .max()
                    .unwrap_or(0)
                    .saturating_add(octets(&union.discriminator)),
            },
            _ => return,
        };
        self.extents.types.insert(id, extent);
    }

    fn extent(&self, ty: &Type) -> Extent {
        let in_place = |octets| Extent { levels: 0, octets };
        match ty {
            Type::Boolean | Type::Char | Type::Octet | Type::Int8 => in_place(1),
            Type::Short | Type::UShort => in_place(2),
            Type::Long | Type::ULong | Type::Float | Type::WChar => in_place(4),
            Type::LongLong | Type::ULongLong | Type::Double => in_place(8),
            Type::Array { element, dims } => {
                let element = self.extent(element);
                Extent {
                    levels: element.levels + dims.len(),
                    octets: dims.iter().fold(element.octets, |octets, length| {
                        octets.saturating_mul((*length).into())
                    }),
                }
            }
            Type::Sequence { element, .. } | Type::Map { value: element, .. } => Extent {
                levels: self.extent(element).levels + 1,
                octets: HANDLE,
            },
            Type::Ref(id) => match (self.extents.types.get(id), &self.spec[*id].kind) {
                (Some(extent), _) => *extent,
                (None, DefinitionKind::Enum(_)) => in_place(4),
                (None, _) => in_place(8),
            },
            _ => in_place(HANDLE),
        }
    }
}
