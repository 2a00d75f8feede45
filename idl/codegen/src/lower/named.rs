//! Second pass: Rust name and module of every definition.

use punctual_idl::hir::{self, DefinitionId, DefinitionKind, InterfaceFlavour};

use super::{Lowering, Names};
use quote::quote;

use crate::{
    model::{Model, ModulePath, Shape, State, Type, TypeId},
    names::{Scope, screaming_snake, snake, upper_camel},
};

/// Modules of the definitions of one scope.
#[derive(Default)]
pub(super) struct Modules {
    /// Path of the generated modules.
    pub own: ModulePath,
    /// Path of the included modules, if other code declares them.
    pub external: Option<ModulePath>,
}

impl Lowering<'_> {
    /// The module of other code that declares what this IDL module contains.
    pub(super) fn external(&self, scoped_name: &[String]) -> Option<ModulePath> {
        let scoped_name = scoped_name.join("::");
        let mut given = self.settings.external.iter();
        let (_, path) = given.find(|(name, _)| *name == scoped_name)?;
        let parsed: syn::Path =
            syn::parse_str(path).unwrap_or_else(|error| panic!("external path `{path}`: {error}"));
        Some(ModulePath {
            external: Some(quote!(#parsed)),
            names: Vec::new(),
        })
    }

    /// The Rust module of a definition.
    fn module_of<'m>(&self, definition: &hir::Definition, modules: &'m Modules) -> &'m ModulePath {
        let is_external = !is_module(definition) && self.specification.is_included(definition);
        let external = modules.external.as_ref().filter(|_| is_external);
        external.unwrap_or(&modules.own)
    }

    /// The module of other code for what a definition contains: for an IDL module, the one given for it, or
    /// one in that of the enclosing module. What other definitions contain is where they are.
    fn external_inside(&self, id: DefinitionId, enclosing: &Modules, name: &str) -> Option<ModulePath> {
        let definition = self.definition(id);
        if !is_module(definition) {
            return None;
        }
        let given = self.external(&definition.scoped_name.0);
        given.or_else(|| Some(enclosing.external.as_ref()?.join(name)))
    }

    /// Names the definitions of one scope in source order, including nested ones.
    pub(super) fn name(&mut self, ids: &[DefinitionId], modules: &Modules, scope: &mut Scope) {
        for &id in ids {
            let definition = self.definition(id);
            let idl = definition.name.clone();
            let mut names = Names {
                module: self.module_of(definition, modules).clone(),
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
                DefinitionKind::Bitmask(_) => {
                    names.name = scope.claim_tuple(&upper_camel(&idl));
                    Vec::new()
                }
                DefinitionKind::ValueBox(value) => {
                    names.name = scope.claim_tuple(&upper_camel(&idl));
                    names.scope = scope.claim_module(&snake(&idl));
                    value.nested.clone()
                }
                _ => self.specification.children(id).to_vec(),
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
                let parts = self.model.part_names(type_id, &upper_camel(&idl), scope);
                let has_reference = is_interface && !is_local;
                let reference = has_reference.then(|| scope.claim(&format!("{}Ref", upper_camel(&idl))));
                let named = &mut self.model.types[type_id.0];
                named.module = names.module.clone();
                named.name = reference.unwrap_or_else(|| names.name.clone());
                named.view = view;
                named.parts = parts;
            }
            if !inside.is_empty() {
                let external = self.external_inside(id, modules, &names.scope);
                let own = names.module.join(&names.scope);
                self.name(&inside, &Modules { own, external }, &mut names.inside);
            }
            self.names.insert(id, names);
        }
    }
}

impl Model {
    /// Names of the parts that the members of a type are in.
    fn part_names(&self, id: TypeId, name: &str, scope: &mut Scope) -> Vec<String> {
        let parts = match &self.named(id).shape {
            Shape::Struct(members) => self.parts_of(None, members),
            Shape::Value(State::Members { base, members }) => self.parts_of(*base, members),
            _ => Vec::new(),
        };
        let numbers = 1..=parts.len();
        numbers
            .map(|number| scope.claim(&format!("{name}Part{number}")))
            .collect()
    }
}

fn is_module(definition: &hir::Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Module(_))
}
