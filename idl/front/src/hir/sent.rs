//! Places where values are sent, and types that consist of others that cannot be.

use super::{Definition, DefinitionId, DefinitionKind, InterfaceFlavour, Specification, Type};
use crate::source::Span;

impl Specification {
    /// Finds each place where values of a type are sent that satisfies `is_such` or contains one that does:
    /// in operations and attributes of interfaces that are not local, in the state of value types, and in
    /// boxes. The text names the place.
    pub(crate) fn sent_with(&self, is_such: impl Fn(&Definition) -> bool) -> Vec<(Span, String)> {
        let such = self.with_parts(is_such);
        let is_such = |ty: &Type| named(ty).is_some_and(|id| such[id.0 as usize]);
        let mut found: Vec<(Span, String)> = Vec::new();
        for definition in &self.definitions {
            match &definition.kind {
                DefinitionKind::Interface(interface) if interface.flavour != InterfaceFlavour::Local => {
                    for operation in &interface.operations {
                        if is_such(&operation.result) {
                            found.push((operation.span, format!("the result of `{}`", operation.name)));
                        }
                        let parameters = operation.parameters.iter().filter(|of| is_such(&of.ty));
                        found.extend(parameters.map(|of| (of.span, format!("the parameter `{}`", of.name))));
                        let raised = operation.raises.iter().filter(|id| such[id.0 as usize]);
                        let raised = raised.map(|id| &self[*id].name);
                        found.extend(raised.map(|name| (operation.span, format!("the exception `{name}`"))));
                    }
                    for attribute in &interface.attributes {
                        if is_such(&attribute.ty) {
                            found.push((attribute.span, format!("the attribute `{}`", attribute.name)));
                        }
                        let raised = attribute.get_raises.iter().chain(&attribute.set_raises);
                        let raised = raised.filter(|id| such[id.0 as usize]);
                        let raised = raised.map(|id| &self[*id].name);
                        found.extend(raised.map(|name| (attribute.span, format!("the exception `{name}`"))));
                    }
                }
                DefinitionKind::ValueType(value) => {
                    let state = value.state.iter().filter(|(_, of)| is_such(&of.ty));
                    found.extend(state.map(|(_, of)| (of.span, format!("the state member `{}`", of.name))));
                }
                DefinitionKind::ValueBox(boxed) if is_such(&boxed.content) => {
                    found.push((definition.span, format!("the content of `{}`", definition.name)));
                }
                _ => {}
            }
        }
        found
    }

    /// Returns whether each definition satisfies `is_such`, or contains one that does.
    fn with_parts(&self, is_such: impl Fn(&Definition) -> bool) -> Vec<bool> {
        let mut such = vec![false; self.definitions.len()];
        let mut open = Vec::new();
        let mut parents: Vec<Vec<DefinitionId>> = vec![Vec::new(); self.definitions.len()];
        for definition in &self.definitions {
            for part in parts(&definition.kind) {
                parents[part.0 as usize].push(definition.id);
            }
            if is_such(definition) {
                open.push(definition.id);
            }
        }
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut such[id.0 as usize], true) {
                open.append(&mut parents[id.0 as usize]);
            }
        }
        such
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
        .filter_map(named)
}

/// Returns the named type at the end of sequences and arrays.
fn named(mut ty: &Type) -> Option<DefinitionId> {
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
