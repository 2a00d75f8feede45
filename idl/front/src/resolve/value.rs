//! Value types and event types (clause 7.4.10).

use std::collections::HashSet;

use super::Resolver;
use super::scope::Entity;
use crate::ast::{self, Ident, TypeSpec};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionId, DefinitionKind, InterfaceFlavour, Type, ValueBox, ValueType};
use crate::source::Span;

impl Resolver<'_> {
    pub(super) fn value(&mut self, value: &ast::Value, doc: &str) {
        let same: fn(&DefinitionKind) -> bool = match (value.is_abstract, value.is_event) {
            (false, false) => |kind| is_value(kind, false, false),
            (false, true) => |kind| is_value(kind, false, true),
            (true, false) => |kind| is_value(kind, true, false),
            (true, true) => |kind| is_value(kind, true, true),
        };
        let mut empty = ValueType {
            is_abstract: value.is_abstract,
            is_custom: value.is_custom,
            is_truncatable: value.is_truncatable,
            is_event: value.is_event,
            is_forward: value.body.is_none(),
            ..ValueType::default()
        };
        let Some(body) = &value.body else {
            self.forward(&value.name, DefinitionKind::ValueType(empty), same, doc);
            return;
        };
        empty.bases = self.value_bases(value);
        for name in &value.supports {
            match self.base_interface(name) {
                Some((base, _)) if empty.supports.contains(&base) => self.duplicate_base(name),
                Some((base, _)) => empty.supports.push(base),
                None => {}
            }
        }
        self.check_supports(value, &empty);
        if value.is_custom && value.is_truncatable {
            self.report(
                Diagnostic::new(
                    Code::BadBase,
                    value.name.span,
                    format!(
                        "the custom value type `{}` cannot be truncatable",
                        value.name.name
                    ),
                )
                .with_help("remove `custom` or `truncatable`"),
            );
        }
        let bases: Vec<DefinitionId> = empty.bases.iter().chain(&empty.supports).copied().collect();
        let Some(id) = self.begin(&value.name, DefinitionKind::ValueType(empty), same, doc) else {
            return;
        };
        self.export_body(id, &value.name, &bases, body);
        self.check_state(id);
    }

    /// A value type supports one interface that is not abstract, derived from those of its bases.
    fn check_supports(&mut self, value: &ast::Value, resolved: &ValueType) {
        let is_concrete = |id: &DefinitionId| {
            let interface = self.spec.interface(*id);
            interface.is_some_and(|interface| interface.flavour != InterfaceFlavour::Abstract)
        };
        let own: Vec<_> = resolved.supports.iter().copied().filter(is_concrete).collect();
        if own.len() > 1 {
            let message = format!(
                "`{}` supports {} interfaces that are not abstract",
                value.name.name,
                own.len()
            );
            let help = "support one, derived from the others, or make the others abstract";
            return self.bad_value(value.name.span, message, help);
        }
        let mut inherited: Vec<DefinitionId> = Vec::new();
        let mut seen = HashSet::new();
        let mut open = resolved.bases.clone();
        while let Some(base) = open.pop() {
            if let DefinitionKind::ValueType(base) = &self.spec[base].kind {
                inherited.extend(base.supports.iter().filter(|id| is_concrete(id)));
                open.extend(base.bases.iter().filter(|base| seen.insert(**base)));
            }
        }
        inherited.dedup();
        // Without an own one, the most derived of the inherited ones counts.
        let missing = |own: DefinitionId| {
            let derived = self.spec.all_bases(own);
            inherited
                .iter()
                .copied()
                .find(|id| *id != own && !derived.contains(id))
        };
        let clash = match own.first() {
            Some(own) => missing(*own).map(|missing| (*own, missing)),
            None if inherited.iter().any(|one| missing(*one).is_none()) => None,
            None => inherited.first().and_then(|one| Some((*one, missing(*one)?))),
        };
        if let Some((own, missing)) = clash {
            let message = format!(
                "`{}` supports `{}`, which is not derived from `{}` of its base",
                value.name.name, self.spec[own].name, self.spec[missing].name
            );
            let help = "derive the interface from the one that the base supports";
            self.bad_value(value.name.span, message, help);
        }
    }

    /// Abstract value types have no state and no factories; nothing has the name of a base's state.
    fn check_state(&mut self, id: DefinitionId) {
        let DefinitionKind::ValueType(value) = &self.spec[id].kind else {
            return;
        };
        let mut found = Vec::new();
        if value.is_abstract {
            let state = value
                .state
                .iter()
                .map(|(_, member)| (member.span, &member.name, "state"));
            let factories = value.factories.iter();
            let factories = factories.map(|factory| (factory.span, &factory.name, "a factory"));
            found.extend(state.chain(factories).map(|(span, name, what)| {
                let message = format!("the abstract value type has {what}, `{name}`");
                (span, message, "remove it, or `abstract`")
            }));
        }
        let mut inherited: HashSet<String> = HashSet::new();
        let mut seen = HashSet::new();
        let mut open = value.bases.clone();
        while let Some(base) = open.pop() {
            if let DefinitionKind::ValueType(base) = &self.spec[base].kind {
                inherited.extend(base.state.iter().map(|(_, member)| member.name.to_lowercase()));
                open.extend(base.bases.iter().filter(|base| seen.insert(**base)));
            }
        }
        let state = value.state.iter().map(|(_, member)| (&member.name, member.span));
        let operations = value.operations.iter().map(|of| (&of.name, of.span));
        let attributes = value.attributes.iter().map(|of| (&of.name, of.span));
        // Until the end, a forward declaration is listed as well.
        let mut listed = HashSet::new();
        let members = value.members.iter().filter(|id| listed.insert(**id));
        let members = members.map(|id| &self.spec[*id]);
        let members = members.map(|member| (&member.name, member.span));
        for (name, span) in state.chain(operations).chain(attributes).chain(members) {
            if inherited.contains(&name.to_lowercase()) {
                let message = format!("`{name}` is state of a base already");
                found.push((span, message, "rename it"));
            }
        }
        for (span, message, help) in found {
            self.bad_value(span, message, help);
        }
    }

    fn bad_value(&mut self, span: Span, message: String, help: &str) {
        self.report(Diagnostic::new(Code::BadValueType, span, message).with_help(help));
    }

    fn value_bases(&mut self, value: &ast::Value) -> Vec<DefinitionId> {
        let mut bases: Vec<DefinitionId> = Vec::new();
        for (position, name) in value.bases.iter().enumerate() {
            let Some(entity) = self.lookup(name) else {
                continue;
            };
            let Entity::Definition(id) = entity else {
                self.wrong_kind(name, entity, "a value type");
                continue;
            };
            // A base may be named through a typedef.
            let id = match self.spec.resolve_aliases(&Type::Ref(id)) {
                Type::Ref(id) => *id,
                _ => id,
            };
            let (is_abstract, is_event, is_custom) = match &self.spec[id].kind {
                DefinitionKind::ValueType(base) => (base.is_abstract, base.is_event, base.is_custom),
                DefinitionKind::Accepted(_) => continue,
                _ => {
                    self.wrong_kind(name, entity, "a value type");
                    continue;
                }
            };
            let problem = if !self.complete[id.0 as usize] {
                Some((
                    Code::IncompleteType,
                    "the base is not defined yet",
                    "define the base above what inherits from it",
                ))
            } else if is_event && !value.is_event {
                Some((
                    Code::BadBase,
                    "only an event type inherits from an event type",
                    "make this an `eventtype`",
                ))
            } else if is_abstract && position == 0 && value.is_truncatable {
                Some((
                    Code::BadBase,
                    "an abstract value type has no state to which a value could be truncated",
                    "put a base with state first, or remove `truncatable`",
                ))
            } else if is_abstract {
                None
            } else if is_custom && !value.is_custom && !value.is_abstract {
                Some((
                    Code::BadValueType,
                    "only a custom value type inherits from a custom one",
                    "make this one `custom`, too",
                ))
            } else if value.is_abstract {
                Some((
                    Code::BadBase,
                    "an abstract value type inherits from abstract ones only",
                    "make the base abstract, or remove `abstract` here",
                ))
            } else if position > 0 {
                Some((
                    Code::BadBase,
                    "only the first base can have state",
                    "put this base first",
                ))
            } else {
                None
            };
            if let Some((code, message, help)) = problem {
                let first = self.spec[id].span;
                self.report(
                    Diagnostic::new(code, name.span(), message)
                        .with_label(first, "the base is declared here")
                        .with_help(help),
                );
            } else if bases.contains(&id) {
                self.duplicate_base(name);
            } else {
                bases.push(id);
            }
        }
        bases
    }

    pub(super) fn state_member(&mut self, public: bool, member: &ast::Member) {
        let Some(owner) = self.scopes[self.current.0].owner else {
            return;
        };
        let members = self.members(member);
        if let DefinitionKind::ValueType(value) = self.kind_mut(owner) {
            value
                .state
                .extend(members.into_iter().map(|member| (public, member)));
        }
    }

    pub(super) fn value_box(&mut self, name: &Ident, ty: &TypeSpec, doc: &str) {
        let empty = ValueBox {
            content: Type::Void,
            nested: Vec::new(),
        };
        let Some(id) = self.define(name, DefinitionKind::ValueBox(empty), doc) else {
            return;
        };
        let content = self.within(id, name, name.at, |this| this.type_spec(ty));
        let boxes_value = |content: &Type| match self.spec.resolve_aliases(content) {
            Type::Ref(id) => matches!(
                self.spec[*id].kind,
                DefinitionKind::ValueType(_) | DefinitionKind::ValueBox(_)
            ),
            _ => false,
        };
        if content.as_ref().is_some_and(boxes_value) {
            self.report(
                Diagnostic::new(Code::WrongKindOfName, ty.span, "a value type cannot be boxed")
                    .with_help("use the value type itself"),
            );
        }
        if let (DefinitionKind::ValueBox(boxed), Some(content)) = (self.kind_mut(id), content) {
            boxed.content = content;
        }
    }
}

fn is_value(kind: &DefinitionKind, is_abstract: bool, is_event: bool) -> bool {
    matches!(kind, DefinitionKind::ValueType(value)
        if value.is_abstract == is_abstract && value.is_event == is_event)
}
