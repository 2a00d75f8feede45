//! Second pass: Rust name and module of every definition.

use punctual_idl::hir::{DefinitionId, DefinitionKind, InterfaceFlavour};

use super::{Lowering, Names};
use crate::{
    model::Type,
    names::{Scope, screaming_snake, snake, upper_camel},
};

impl Lowering<'_> {
    /// Names the definitions of one scope in source order, including nested ones.
    pub(super) fn name(&mut self, ids: &[DefinitionId], module: &[String], scope: &mut Scope) {
        for &id in ids {
            let definition = self.definition(id);
            let idl = definition.name.clone();
            let mut names = Names {
                module: module.to_vec(),
                ..Names::default()
            };
            let inside: Vec<DefinitionId> = match &definition.kind {
                DefinitionKind::Module(module) => {
                    names.name = scope.claim_module(&snake(&idl));
                    names.scope = names.name.clone();
                    module.members.clone()
                }
                DefinitionKind::Constant(_) => {
                    names.name = scope.claim(&screaming_snake(&idl));
                    Vec::new()
                }
                DefinitionKind::Interface(interface) => {
                    names.name = scope.claim(&upper_camel(&idl));
                    names.scope = scope.claim_module(&snake(&idl));
                    interface.members.clone()
                }
                DefinitionKind::ValueType(value) => {
                    names.name = scope.claim(&upper_camel(&idl));
                    names.scope = scope.claim_module(&snake(&idl));
                    let mut claim = |what: &str| scope.claim(&format!("{}{what}", upper_camel(&idl)));
                    names.traits = [claim("Operations"), claim("Factory")];
                    value.members.clone()
                }
                DefinitionKind::ValueBox(value) => {
                    names.name = scope.claim(&upper_camel(&idl));
                    names.scope = scope.claim_module(&snake(&idl));
                    value.nested.clone()
                }
                DefinitionKind::Struct(item) => item.nested.clone(),
                DefinitionKind::Union(item) => item.nested.clone(),
                DefinitionKind::Exception(item) => item.nested.clone(),
                _ => Vec::new(),
            };
            let is_interface = self.interfaces.contains_key(&id);
            let is_local = matches!(&self.definition(id).kind, DefinitionKind::Interface(item)
                if item.flavour == InterfaceFlavour::Local);
            if names.name.is_empty() {
                names.name = scope.claim(&upper_camel(&idl));
            }
            if names.scope.is_empty() && !inside.is_empty() {
                names.scope = scope.claim_module(&snake(&idl));
            }
            if let Some(&type_id) = self.types.get(&id) {
                let is_exception = matches!(self.definition(id).kind, DefinitionKind::Exception(_));
                let is_alias = matches!(self.definition(id).kind, DefinitionKind::Typedef(_));
                let has_view = !is_interface
                    && !is_exception
                    && !is_alias
                    && self.model.has_lent_form(&Type::Named(type_id));
                let view = if has_view {
                    scope.claim(&format!("{}View", upper_camel(&idl)))
                } else {
                    String::new()
                };
                let has_reference = is_interface && !is_local;
                let reference = has_reference.then(|| scope.claim(&format!("{}Ref", upper_camel(&idl))));
                let named = &mut self.model.types[type_id.0];
                named.module = module.to_vec();
                named.name = reference.unwrap_or_else(|| names.name.clone());
                named.view = view;
            }
            if !inside.is_empty() {
                let mut path = module.to_vec();
                path.push(names.scope.clone());
                self.name(&inside, &path, &mut names.inside);
            }
            self.names.insert(id, names);
        }
    }
}
