//! Bitmasks and bitsets.

use punctual_idl::hir;

use super::{Lowering, docs, documentation};
use crate::{
    model::{Bitfield, Bitmask, Bitset, Flag, Type},
    names::{Scope, screaming_snake, snake},
};

impl Lowering<'_> {
    pub(super) fn bitmask(&self, definition: &hir::Definition, item: &hir::Bitmask) -> Bitmask {
        let mut scope = Scope::default();
        let flags = item.flags.iter().map(|flag| Flag {
            docs: documentation(&flag.doc, format!("{}::{}", definition.scoped_name, flag.name)),
            name: scope.claim(&screaming_snake(&flag.name)),
            position: flag.position,
        });
        Bitmask {
            docs: docs(definition, "bitmask"),
            attributes: self.attributes(definition),
            id: self.types[&definition.id],
            flags: flags.collect(),
            holder: self.ty(&item.holder),
        }
    }

    pub(super) fn bitset(&self, definition: &hir::Definition, item: &hir::Bitset) -> Bitset {
        let mut scope = Scope::default();
        let fields = item.fields.iter().map(|field| Bitfield {
            docs: documentation(&field.doc, format!("{}::{}", definition.scoped_name, field.name)),
            name: scope.claim(&snake(&field.name)),
            of: match self.ty(&field.ty) {
                Type::Basic(basic) => basic,
                other => unreachable!("values of bit fields are integers, not {other:?}"),
            },
            offset: field.offset,
            width: field.width,
        });
        Bitset {
            docs: docs(definition, "bitset"),
            attributes: self.attributes(definition),
            id: self.types[&definition.id],
            fields: fields.collect(),
            holder: self.ty(&item.holder),
        }
    }
}
