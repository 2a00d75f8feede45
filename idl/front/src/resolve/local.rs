//! Local interfaces: what cannot be sent must not be part of what is (clause 7.4.6).

use super::Resolver;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionId, DefinitionKind, InterfaceFlavour, Type};
use crate::source::Span;

impl Resolver<'_> {
    /// Reports local types in operations and attributes of interfaces that are not local, in the state of
    /// value types, and in boxes.
    pub(super) fn check_local_types(&mut self) {
        let local = self.local_types();
        let is_local = |ty: &Type| names(ty).is_some_and(|id| local[id.0 as usize]);
        let mut found: Vec<(Span, String)> = Vec::new();
        for definition in &self.spec.definitions {
            match &definition.kind {
                DefinitionKind::Interface(interface) if interface.flavour != InterfaceFlavour::Local => {
                    for operation in &interface.operations {
                        if is_local(&operation.result) {
                            found.push((operation.span, format!("the result of `{}`", operation.name)));
                        }
                        let parameters = operation.parameters.iter().filter(|of| is_local(&of.ty));
                        found.extend(parameters.map(|of| (of.span, format!("the parameter `{}`", of.name))));
                        let raised = operation.raises.iter().filter(|id| local[id.0 as usize]);
                        let raised = raised.map(|id| &self.spec[*id].name);
                        found.extend(raised.map(|name| (operation.span, format!("the exception `{name}`"))));
                    }
                    for attribute in &interface.attributes {
                        if is_local(&attribute.ty) {
                            found.push((attribute.span, format!("the attribute `{}`", attribute.name)));
                        }
                        let raised = attribute.get_raises.iter().chain(&attribute.set_raises);
                        let raised = raised.filter(|id| local[id.0 as usize]);
                        let raised = raised.map(|id| &self.spec[*id].name);
                        found.extend(raised.map(|name| (attribute.span, format!("the exception `{name}`"))));
                    }
                }
                DefinitionKind::ValueType(value) => {
                    let state = value.state.iter().filter(|(_, of)| is_local(&of.ty));
                    found.extend(state.map(|(_, of)| (of.span, format!("the state member `{}`", of.name))));
                }
                DefinitionKind::ValueBox(boxed) if is_local(&boxed.content) => {
                    found.push((definition.span, format!("the content of `{}`", definition.name)));
                }
                _ => {}
            }
        }
        for (span, what) in found {
            self.report(
                Diagnostic::new(Code::LocalType, span, format!("{what} is of a local type"))
                    .here("a local object cannot be sent")
                    .with_help("make the interface `local` that has it here, or use another type"),
            );
        }
    }

    /// Returns whether each definition is a local interface, or contains one.
    fn local_types(&self) -> Vec<bool> {
        let definitions = &self.spec.definitions;
        let mut local = vec![false; definitions.len()];
        let mut open = Vec::new();
        let mut parents: Vec<Vec<DefinitionId>> = vec![Vec::new(); definitions.len()];
        for definition in definitions {
            for part in parts(&definition.kind) {
                parents[part.0 as usize].push(definition.id);
            }
            if matches!(&definition.kind, DefinitionKind::Interface(interface)
                if interface.flavour == InterfaceFlavour::Local)
            {
                open.push(definition.id);
            }
        }
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut local[id.0 as usize], true) {
                open.append(&mut parents[id.0 as usize]);
            }
        }
        local
    }
}

/// Returns the named types of which a type consists.
fn parts(kind: &DefinitionKind) -> impl Iterator<Item = DefinitionId> {
    let (alias, members, cases) = match kind {
        DefinitionKind::Typedef(typedef) => (Some(&typedef.target), &[][..], &[][..]),
        DefinitionKind::Struct(structure) => (None, &structure.members[..], &[][..]),
        DefinitionKind::Exception(exception) => (None, &exception.members[..], &[][..]),
        DefinitionKind::Union(union) => (None, &[][..], &union.cases[..]),
        _ => (None, &[][..], &[][..]),
    };
    let members = members.iter().chain(cases.iter().map(|case| &case.member));
    alias
        .into_iter()
        .chain(members.map(|member| &member.ty))
        .filter_map(names)
}

/// Returns the named type at the end of sequences and arrays.
fn names(mut ty: &Type) -> Option<DefinitionId> {
    loop {
        match ty {
            Type::Sequence { element, .. }
            | Type::Array { element, .. }
            | Type::Map { value: element, .. } => ty = element,
            Type::Ref(id) => return Some(*id),
            _ => return None,
        }
    }
}
