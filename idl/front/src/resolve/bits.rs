//! Bitmasks and bitsets of IDL 4.2 (clause 7.4.13.4.3).

use super::Resolver;
use super::arithmetic::Target;
use super::convert::integer_target;
use super::scope::Entity;
use crate::ast;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{Bitfield, Bitmask, Bitset, DefinitionId, DefinitionKind, Flag, Type};
use crate::source::Span;

/// Bits of the longest integer.
const MOST_BITS: u32 = 64;
/// Bits of a bitmask without `@bit_bound`.
const DEFAULT_BITS: u32 = 32;

impl Resolver<'_> {
    pub(super) fn bitmask(&mut self, bitmask: &ast::Bitmask, doc: &str) -> Option<DefinitionId> {
        let bits = bitmask.bits.unwrap_or(DEFAULT_BITS);
        if !(1..=MOST_BITS).contains(&bits) {
            self.bad_bits(
                bitmask.name.span,
                format!("a bitmask cannot have {bits} bits"),
                "use 1 to 64",
            );
        }
        let holder = holder(bits);
        let empty = DefinitionKind::Bitmask(Bitmask {
            holder: holder.clone(),
            flags: Vec::new(),
        });
        let id = self.define(&bitmask.name, empty, doc)?;
        let flags = self.within(id, &bitmask.name, bitmask.end, |this| {
            let mut flags: Vec<Flag> = Vec::new();
            for listed in &bitmask.flags {
                let next = flags.last().map_or(0, |last| last.position + 1);
                let position = listed.position.unwrap_or(next);
                if position >= bits.min(MOST_BITS) {
                    let message = format!("bit {position} does not exist: there are {bits}");
                    this.bad_bits(
                        listed.name.span,
                        message,
                        "raise `@bit_bound`, which is 32 by default",
                    );
                } else if flags.iter().any(|flag| flag.position == position) {
                    let message = format!("bit {position} is another flag already");
                    this.bad_bits(listed.name.span, message, "give it another `@position`");
                } else if this.declare(&listed.name, Entity::Member) {
                    flags.push(Flag {
                        name: listed.name.name.to_string(),
                        doc: listed.doc.clone(),
                        span: listed.name.span,
                        position,
                    });
                }
            }
            flags
        });
        *self.kind_mut(id) = DefinitionKind::Bitmask(Bitmask { holder, flags });
        Some(id)
    }

    pub(super) fn bitset(&mut self, bitset: &ast::Bitset, doc: &str) -> Option<DefinitionId> {
        let base = bitset.base.as_ref().and_then(|name| self.base_bitset(name));
        let (mut bits, inherited) = base.map_or((0, Vec::new()), |base| (base.bits, base.fields));
        let empty = Bitset {
            holder: Type::Octet,
            bits,
            fields: Vec::new(),
        };
        let id = self.define(&bitset.name, DefinitionKind::Bitset(empty), doc)?;
        let fields = self.within(id, &bitset.name, bitset.end, |this| {
            let mut fields = inherited;
            for declared in &bitset.fields {
                let Some((width, ty)) = this.bitfield(declared) else {
                    continue;
                };
                // Without a name, the bits are not used.
                bits += width * u32::from(declared.names.is_empty());
                for name in &declared.names {
                    let taken = fields
                        .iter()
                        .any(|field| field.name.eq_ignore_ascii_case(&name.name));
                    if taken {
                        let message = format!("`{}` is a field already", name.name);
                        this.report(
                            Diagnostic::new(Code::Redefinition, name.span, message)
                                .with_help("rename one of them"),
                        );
                    } else if this.declare(name, Entity::Member) {
                        fields.push(Bitfield {
                            name: name.name.to_string(),
                            doc: declared.doc.clone(),
                            span: name.span,
                            offset: bits,
                            width,
                            ty: ty.clone(),
                        });
                    }
                    bits = bits.saturating_add(width);
                }
            }
            fields
        });
        if bits > MOST_BITS {
            let message = format!("the fields of `{}` take {bits} bits", bitset.name.name);
            self.bad_bits(bitset.name.span, message, "at most 64 are possible: divide it");
        }
        *self.kind_mut(id) = DefinitionKind::Bitset(Bitset {
            holder: holder(bits),
            bits,
            fields,
        });
        Some(id)
    }

    fn base_bitset(&mut self, name: &ast::Name) -> Option<Bitset> {
        let entity = self.lookup(name)?;
        if let Entity::Definition(id) = entity
            && let DefinitionKind::Bitset(base) = &self.spec[id].kind
        {
            return Some(base.clone());
        }
        self.wrong_kind(name, entity, "a bitset");
        None
    }

    /// Number of bits of a field, and type of its values.
    fn bitfield(&mut self, declared: &ast::Bitfield) -> Option<(u32, Type)> {
        let width = self.evaluate_integer(&declared.width, Target::unsigned(64))?;
        let (most, is_none) = (i128::from(MOST_BITS), width == 0);
        let width = u32::try_from(width)
            .ok()
            .filter(|width| (1..=MOST_BITS).contains(width));
        let Some(width) = width else {
            let message = format!("a bit field has 1 to {most} bits");
            let help = if is_none {
                "give it a bit, or leave it out"
            } else {
                "divide it into several fields"
            };
            self.bad_bits(declared.width.span, message, help);
            return None;
        };
        let Some(spec) = &declared.ty else {
            return Some((width, if width == 1 { Type::Boolean } else { holder(width) }));
        };
        let resolved = self.type_spec(spec)?;
        let ty = self.spec.resolve_aliases(&resolved).clone();
        let room = match &ty {
            Type::Boolean => Some(1),
            Type::Octet | Type::Int8 => Some(8),
            Type::Short | Type::UShort => Some(16),
            Type::Long | Type::ULong => Some(32),
            other => integer_target(other).map(|_| 64),
        };
        if room.is_none_or(|room| room < width) {
            let message = format!("values of this type have no {width} bits");
            self.bad_bits(
                spec.span,
                message,
                "use `boolean`, or an integer type that is long enough",
            );
            return None;
        }
        Some((width, ty))
    }

    fn bad_bits(&mut self, span: Span, message: String, help: &str) {
        self.report(Diagnostic::new(Code::BadBits, span, message).with_help(help));
    }
}

/// The shortest unsigned integer with this many bits.
fn holder(bits: u32) -> Type {
    match bits {
        0..=8 => Type::Octet,
        9..=16 => Type::UShort,
        17..=32 => Type::ULong,
        _ => Type::ULongLong,
    }
}
