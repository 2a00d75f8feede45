//! Structs, and the members that they inherit (clause 7.4.13).

use std::collections::HashMap;

use super::Resolver;
use super::scope::Entity;
use crate::ast::{self, Name};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{ConstantValue, DefinitionId, DefinitionKind, Member, Struct, Type};

/// Limit of what all structs inherit together, in members without comments.
const MOST_INHERITED: usize = 50_000;

/// Octets of names, comments and defaults that count as one more member.
const OCTETS_PER_MEMBER: usize = 64;

impl Resolver<'_> {
    pub(super) fn structure(&mut self, structure: &ast::Struct, doc: &str) -> Option<DefinitionId> {
        let empty = DefinitionKind::Struct(Struct::default());
        let base = structure.base.as_ref().and_then(|name| self.base_struct(name));
        let id = self.begin(
            &structure.name,
            empty,
            |kind| matches!(kind, DefinitionKind::Struct(_)),
            doc,
        )?;
        let own = self.within(id, &structure.name, structure.end, |this| {
            let members = structure.members.iter();
            members
                .flat_map(|member| this.members(member))
                .collect::<Vec<_>>()
        });
        let mut members = base.map_or(Vec::new(), |base| self.members_of(base).to_vec());
        let inherited = members.len();
        self.append_own(&mut members, own, base);
        if let DefinitionKind::Struct(structure) = self.kind_mut(id) {
            (structure.base, structure.inherited) = (base, inherited);
            structure.members = members;
        }
        self.finish(id);
        Some(id)
    }

    /// The struct that a name denotes, also through a typedef. It has to be complete: no struct inherits from
    /// itself.
    fn base_struct(&mut self, name: &Name) -> Option<DefinitionId> {
        let entity = self.lookup(name)?;
        let Entity::Definition(id) = entity else {
            self.wrong_kind(name, entity, "a struct");
            return None;
        };
        let id = match self.spec.resolve_aliases(&Type::Ref(id)) {
            Type::Ref(id) => *id,
            _ => id,
        };
        match &self.spec[id].kind {
            DefinitionKind::Struct(_) if self.complete[id.0 as usize] => {}
            DefinitionKind::Struct(_) => {
                let (message, first) = (
                    format!("the base `{}` is not complete here", self.spec[id].name),
                    self.spec[id].span,
                );
                self.report(
                    Diagnostic::new(Code::IncompleteType, name.span(), message)
                        .with_label(first, "declared here")
                        .with_help("define the base above what inherits from it, and outside of it"),
                );
                return None;
            }
            // The inside of a template instance is unknown.
            DefinitionKind::Accepted(_) => return None,
            _ => {
                self.wrong_kind(name, entity, "a struct");
                return None;
            }
        }
        let octets = |member: &Member| {
            let default = match &member.default {
                Some(ConstantValue::String(text) | ConstantValue::WString(text)) => text.len(),
                _ => 0,
            };
            member.name.len() + member.doc.len() + default
        };
        let members = self.members_of(id).iter();
        let inherited: usize = members.map(|member| 1 + octets(member) / OCTETS_PER_MEMBER).sum();
        self.extents.inherited += inherited;
        if self.extents.inherited > MOST_INHERITED {
            let message = format!("structs inherit more than {MOST_INHERITED} members in all");
            self.report(
                Diagnostic::new(Code::LimitExceeded, name.span(), message)
                    .with_help(format!("add a member of type `{}` instead", self.spec[id].name)),
            );
            self.extents.inherited -= inherited;
            return None;
        }
        Some(id)
    }

    fn members_of(&self, id: DefinitionId) -> &[Member] {
        match &self.spec[id].kind {
            DefinitionKind::Struct(structure) => &structure.members,
            _ => &[],
        }
    }

    /// Appends a struct's own members, whose names differ from those that it inherits by more than case.
    fn append_own(&mut self, members: &mut Vec<Member>, own: Vec<Member>, base: Option<DefinitionId>) {
        let Some(base) = base else {
            return members.extend(own);
        };
        let inherited: HashMap<_, _> = members
            .iter()
            .map(|member| (member.name.to_lowercase(), (member.name.clone(), member.span)))
            .collect();
        for member in own {
            let Some((name, first)) = inherited.get(&member.name.to_lowercase()) else {
                members.push(member);
                continue;
            };
            let base = &self.spec[base].name;
            let (code, message) = match *name == member.name {
                true => (
                    Code::Redefinition,
                    format!("`{name}` is a member of the base `{base}` already"),
                ),
                false => (
                    Code::CaseClash,
                    format!(
                        "`{}` and `{name}` of the base `{base}` differ only in case",
                        member.name
                    ),
                ),
            };
            self.report(
                Diagnostic::new(code, member.span, message)
                    .with_label(*first, "the inherited member")
                    .with_help("rename one of them: a struct has the members of its base, too"),
            );
        }
    }
}
