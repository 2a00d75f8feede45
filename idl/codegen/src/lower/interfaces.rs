//! Interfaces: attributes become operations; inherited operations become methods of the `Ref`.

use std::collections::HashMap;

use punctual_idl::hir::{self, DefinitionId, DefinitionKind, InterfaceFlavour};

use super::{Lowering, Names, docs, documentation};
use crate::{
    interface::RETURNED,
    model::{Documentation, Interface, InterfaceId, Method, Mode, Operation, Parameter, Type},
    names::{Scope, snake, upper_camel},
};

/// Operations and attributes of an interface.
enum Declared<'i> {
    Operation(&'i hir::Operation),
    Attribute(&'i hir::Attribute),
}

impl Lowering<'_> {
    /// Fills the model's interfaces, bases before derived ones.
    pub(super) fn lower_interfaces(&mut self) {
        let mut done: HashMap<InterfaceId, Interface> = HashMap::new();
        for definition in &self.specification.definitions {
            if let DefinitionKind::Interface(_) = definition.kind {
                self.lower_interface(definition.id, &mut done);
            }
        }
        let mut interfaces: Vec<_> = done.into_iter().collect();
        interfaces.sort_by_key(|(id, _)| id.0);
        self.model.interfaces = interfaces.into_iter().map(|(_, interface)| interface).collect();
    }

    fn lower_interface(&self, id: DefinitionId, done: &mut HashMap<InterfaceId, Interface>) {
        let own_id = self.interfaces[&id];
        if done.contains_key(&own_id) {
            return;
        }
        let definition = self.definition(id);
        let DefinitionKind::Interface(idl) = &definition.kind else {
            return;
        };
        idl.bases
            .iter()
            .for_each(|base| self.lower_interface(*base, done));
        let bases: Vec<InterfaceId> = idl.bases.iter().map(|base| self.interfaces[base]).collect();
        let mut all_bases: Vec<InterfaceId> = Vec::new();
        for base in &bases {
            for inherited in done[base].all_bases.iter().chain([base]) {
                if !all_bases.contains(inherited) {
                    all_bases.push(*inherited);
                }
            }
        }
        let names = self.names[&id].clone();
        let mut operations = self.operations(idl, &names, &all_bases, done);
        if idl.flavour == InterfaceFlavour::Plain {
            let interface = definition.scoped_name.to_string();
            operations
                .iter_mut()
                .for_each(|operation| operation.deferred = self.is_deferred(&interface, operation));
        }
        let methods = self.methods(own_id, &operations, &all_bases, done);
        let reference = self.types[&id];
        let interface = Interface {
            docs: docs(definition, "interface"),
            reference,
            module: names.module,
            name: names.name,
            scope: names.scope,
            scoped_name: definition.scoped_name.to_string(),
            repository_id: definition.repository_id.clone(),
            bases,
            all_bases,
            operations,
            methods,
            items: self.items(&idl.members),
            values: match idl.flavour {
                InterfaceFlavour::Abstract => self.values_with(id),
                _ => Vec::new(),
            },
        };
        done.insert(own_id, interface);
    }

    /// Whether its servants answer it later.
    fn is_deferred(&self, interface: &str, operation: &Operation) -> bool {
        let wire_name = operation.wire_name.as_str();
        let accessor = ["_get_", "_set_"]
            .iter()
            .find_map(|prefix| wire_name.strip_prefix(prefix));
        let own = format!("{interface}::{}", accessor.unwrap_or(wire_name));
        let mut names = self
            .settings
            .deferred
            .iter()
            .map(|name| name.trim_start_matches("::"));
        !operation.oneway && names.any(|name| name == interface || name == own)
    }

    /// Operations and attributes in source order. Their names differ from inherited ones.
    pub(super) fn operations(
        &self,
        idl: &hir::Interface,
        names: &Names,
        all_bases: &[InterfaceId],
        done: &HashMap<InterfaceId, Interface>,
    ) -> Vec<Operation> {
        let operations = idl.operations.iter().map(Declared::Operation);
        let mut declared: Vec<Declared<'_>> = operations
            .chain(idl.attributes.iter().map(Declared::Attribute))
            .collect();
        declared.sort_by_key(|declared| match declared {
            Declared::Operation(operation) => operation.span,
            Declared::Attribute(attribute) => attribute.span,
        });
        let inherited = all_bases.iter().flat_map(|base| &done[base].operations);
        let inherited =
            inherited.flat_map(|operation| [operation.name.as_str(), operation.into_name.as_str()]);
        let mut methods = Scope::without(inherited);
        let mut operations: Vec<Operation> = Vec::new();
        for declared in declared {
            match declared {
                Declared::Operation(operation) => operations.push(self.operation(operation, &mut methods)),
                Declared::Attribute(attribute) => operations.extend(self.accessors(attribute, &mut methods)),
            }
        }
        // After all names of the IDL, from which these are derived.
        let mut inside = names.inside.clone();
        for operation in &mut operations {
            if operation.has_into(&self.model) {
                operation.into_name =
                    methods.claim(&format!("{}_into", operation.name.trim_end_matches('_')));
            }
            if !operation.raises.is_empty() {
                operation.error = inside.claim(&operation.error);
            }
        }
        operations
    }

    pub(super) fn operation(&self, idl: &hir::Operation, methods: &mut Scope) -> Operation {
        let returns = (idl.result != hir::Type::Void).then(|| self.ty(&idl.result));
        // `op_into` calls the return value `result`.
        let mut scope = Scope::without(returns.iter().map(|_| RETURNED));
        let parameters = idl.parameters.iter().map(|parameter| Parameter {
            mode: match parameter.direction {
                hir::Direction::In => Mode::In,
                hir::Direction::Out => Mode::Out,
                hir::Direction::InOut => Mode::InOut,
            },
            name: scope.claim(&snake(&parameter.name)),
            of: self.ty(&parameter.ty),
        });
        let parameters: Vec<Parameter> = parameters.collect();
        Operation {
            docs: with_arguments(
                documentation(&idl.doc, idl.scoped_name.to_string()),
                idl,
                &parameters,
            ),
            wire_name: idl.name.clone(),
            name: methods.claim(&snake(&idl.name)),
            into_name: String::new(),
            oneway: idl.oneway,
            deferred: false,
            context: idl.contexts.clone(),
            parameters,
            returns,
            raises: self.raises(&idl.raises),
            error: format!("{}Error", upper_camel(&idl.name)),
        }
    }

    /// Operations of an attribute: reading, and writing unless it is readonly.
    fn accessors(&self, idl: &hir::Attribute, methods: &mut Scope) -> Vec<Operation> {
        let name = snake(&idl.name);
        let accessor = |prefix: &str, name: String, returns, parameters, raises: &[DefinitionId]| Operation {
            docs: documentation(&idl.doc, format!("attribute {}", idl.scoped_name)),
            wire_name: format!("_{prefix}_{}", idl.name),
            error: format!("{}Error", upper_camel(&name)),
            name,
            into_name: String::new(),
            oneway: false,
            deferred: false,
            context: Vec::new(),
            returns,
            parameters,
            raises: self.raises(raises),
        };
        let value: Type = self.ty(&idl.ty);
        let getter = accessor(
            "get",
            methods.claim(&name),
            Some(value.clone()),
            Vec::new(),
            &idl.get_raises,
        );
        let setter = (!idl.readonly).then(|| {
            let parameter = Parameter {
                mode: Mode::In,
                name: String::from("value"),
                of: value,
            };
            accessor(
                "set",
                methods.claim(&format!("set_{name}")),
                None,
                vec![parameter],
                &idl.set_raises,
            )
        });
        [Some(getter), setter].into_iter().flatten().collect()
    }

    fn raises(&self, ids: &[DefinitionId]) -> Vec<(crate::model::TypeId, String)> {
        let mut scope = Scope::without(["System"]);
        ids.iter()
            .map(|id| {
                (
                    self.types[id],
                    scope.claim(&upper_camel(&self.definition(*id).name)),
                )
            })
            .collect()
    }

    /// Methods of the `Ref`: like those of the traits, except for equal names of two bases.
    fn methods(
        &self,
        own_id: InterfaceId,
        own: &[Operation],
        all_bases: &[InterfaceId],
        done: &HashMap<InterfaceId, Interface>,
    ) -> Vec<Method> {
        let mut scope = Scope::default();
        let inherited = all_bases
            .iter()
            .map(|base| (*base, done[base].operations.as_slice()));
        let mut methods = Vec::new();
        for (declared_in, operations) in inherited.chain([(own_id, own)]) {
            for (index, operation) in operations.iter().enumerate() {
                methods.push(Method {
                    declared_in,
                    operation: index,
                    name: scope.claim(&operation.name),
                    into_name: String::new(),
                    async_name: String::new(),
                });
            }
        }
        let operation = |method: &Method| {
            let operations = if method.declared_in == own_id {
                own
            } else {
                &done[&method.declared_in].operations
            };
            &operations[method.operation]
        };
        for method in &mut methods {
            let operation = operation(method);
            if !operation.into_name.is_empty() {
                method.into_name = scope.claim(&operation.into_name);
            }
        }
        for method in &mut methods {
            if !operation(method).oneway {
                method.async_name = scope.claim(&format!("{}_async", method.name.trim_end_matches('_')));
            }
        }
        methods
    }
}

/// Adds the comments and annotations of parameters.
fn with_arguments(mut docs: Documentation, idl: &hir::Operation, parameters: &[Parameter]) -> Documentation {
    let described = idl.parameters.iter().zip(parameters);
    let lines: Vec<String> = described
        .filter(|(parameter, _)| !parameter.doc.trim().is_empty())
        .map(|(parameter, Parameter { name, .. })| {
            let words: Vec<&str> = parameter.doc.split_whitespace().collect();
            format!("- `{name}`: {}", words.join(" "))
        })
        .collect();
    if !lines.is_empty() {
        if docs.comment.iter().all(|line| line.trim().is_empty()) {
            docs.comment = vec![format!("IDL `{}`.", docs.idl)];
        }
        docs.comment.extend(["", "# Arguments", ""].map(String::from));
        docs.comment.extend(lines);
    }
    docs
}
