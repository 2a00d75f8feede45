//! Interfaces, operations and attributes (clauses 7.4.6 to 7.4.8).

use std::collections::HashMap;

use super::Resolver;
use super::scope::Entity;
use crate::ast::{self, Ident, Name};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{
    Attribute, DefinitionId, DefinitionKind, Direction, Interface, InterfaceFlavour, Operation, Parameter,
    Type,
};
use crate::source::Span;

impl Resolver<'_> {
    pub(super) fn interface(&mut self, interface: &ast::Interface, doc: &str) {
        let same: fn(&DefinitionKind) -> bool = match interface.flavour {
            InterfaceFlavour::Plain => |kind| is_interface(kind, InterfaceFlavour::Plain),
            InterfaceFlavour::Abstract => |kind| is_interface(kind, InterfaceFlavour::Abstract),
            InterfaceFlavour::Local => |kind| is_interface(kind, InterfaceFlavour::Local),
        };
        let mut empty = Interface {
            flavour: interface.flavour,
            bases: Vec::new(),
            members: Vec::new(),
            operations: Vec::new(),
            attributes: Vec::new(),
            is_forward: interface.body.is_none(),
        };
        let Some(body) = &interface.body else {
            self.forward(&interface.name, DefinitionKind::Interface(empty), same, doc);
            return;
        };
        empty.bases = self.interface_bases(interface);
        let bases = empty.bases.clone();
        let Some(id) = self.begin(&interface.name, DefinitionKind::Interface(empty), same, doc) else {
            return;
        };
        self.export_body(id, &interface.name, &bases, body);
    }

    /// Resolves the contents of an interface or value type and checks them against its bases.
    pub(super) fn export_body(
        &mut self,
        id: DefinitionId,
        name: &Ident,
        bases: &[DefinitionId],
        body: &ast::Body,
    ) {
        if self.spec.all_bases(id).len() > self.limits.bases {
            let message = format!(
                "`{}` has more than {} bases, direct and indirect",
                name.name, self.limits.bases
            );
            self.report(
                Diagnostic::new(Code::LimitExceeded, name.span, message)
                    .with_help("inherit from fewer interfaces"),
            );
            match self.kind_mut(id) {
                DefinitionKind::Interface(interface) => interface.bases.clear(),
                DefinitionKind::ValueType(value) => value.bases.clear(),
                _ => {}
            }
            return self.finish(id);
        }
        let base_scopes = bases
            .iter()
            .filter_map(|base| self.scope_of[base.0 as usize])
            .collect();
        self.within(id, name, body.end, |this| {
            let scope = this.current;
            this.scopes[scope.0].bases = base_scopes;
            this.definitions(&body.definitions);
        });
        self.check_inherited_names(id, name);
        self.check_redefined_operations(id);
        self.finish(id);
    }

    /// A type, constant, exception, enumerator or state member cannot have the name of an inherited operation
    /// or attribute.
    fn check_redefined_operations(&mut self, id: DefinitionId) {
        let mut inherited: HashMap<String, (String, Span)> = HashMap::new();
        let operations = self.spec.all_operations(id).into_iter();
        let operations = operations.map(|found| (found.interface, &found.item.scoped_name, found.item.span));
        let attributes = self.spec.all_attributes(id).into_iter();
        let attributes = attributes.map(|found| (found.interface, &found.item.scoped_name, found.item.span));
        for (owner, scoped, span) in operations.chain(attributes) {
            if owner != id {
                let key = scoped
                    .0
                    .last()
                    .map(|name| name.to_lowercase())
                    .unwrap_or_default();
                inherited.insert(key, (scoped.to_string(), span));
            }
        }
        let mut own: Vec<(&str, Span)> = Vec::new();
        for member in self.spec.children(id).iter().map(|member| &self.spec[*member]) {
            own.push((&member.name, member.span));
            if let DefinitionKind::Enum(enumeration) = &member.kind {
                own.extend(enumeration.enumerators.iter().map(|of| (&*of.name, of.span)));
            }
        }
        if let DefinitionKind::ValueType(value) = &self.spec[id].kind {
            own.extend(value.state.iter().map(|(_, member)| (&*member.name, member.span)));
        }
        let clashes: Vec<_> = own
            .into_iter()
            .filter_map(|(name, span)| {
                let (other, first) = inherited.get(&name.to_lowercase())?;
                Some((span, name.to_owned(), other.clone(), *first))
            })
            .collect();
        for (span, name, other, first) in clashes {
            self.report(
                Diagnostic::new(
                    Code::InheritedOperation,
                    span,
                    format!("`{name}` has the name of the inherited `{other}`"),
                )
                .with_label(first, format!("`{other}` is declared here"))
                .with_help("rename one of them"),
            );
        }
    }

    fn interface_bases(&mut self, interface: &ast::Interface) -> Vec<DefinitionId> {
        let mut bases: Vec<DefinitionId> = Vec::new();
        for name in &interface.bases {
            let Some((base, flavour)) = self.base_interface(name) else {
                continue;
            };
            let problem = match (interface.flavour, flavour) {
                (InterfaceFlavour::Abstract, InterfaceFlavour::Plain | InterfaceFlavour::Local) => {
                    Some("an abstract interface inherits from abstract interfaces only")
                }
                (InterfaceFlavour::Plain, InterfaceFlavour::Local) => {
                    Some("only a local interface can inherit from a local one")
                }
                _ => None,
            };
            if let Some(problem) = problem {
                let first = self.spec[base].span;
                self.report(
                    Diagnostic::new(Code::BadBase, name.span(), problem)
                        .with_label(first, "the base is declared here")
                        .with_help("change the kind of one of the two interfaces"),
                );
            } else if bases.contains(&base) {
                self.duplicate_base(name);
            } else {
                bases.push(base);
            }
        }
        bases
    }

    pub(super) fn duplicate_base(&mut self, name: &Name) {
        let last = name.parts.last().map_or("", |part| &part.name);
        self.report(
            Diagnostic::new(
                Code::DuplicateBase,
                name.span(),
                format!("`{last}` is named as a base twice"),
            )
            .with_help("name it once"),
        );
    }

    /// A name that stands for an interface with a definition.
    pub(super) fn base_interface(&mut self, name: &Name) -> Option<(DefinitionId, InterfaceFlavour)> {
        let entity = self.lookup(name)?;
        let entity = match entity {
            // A base may be named through a typedef.
            Entity::Definition(id) => match self.spec.resolve_aliases(&Type::Ref(id)) {
                Type::Ref(id) => Entity::Definition(*id),
                _ => entity,
            },
            _ => entity,
        };
        let Entity::Definition(id) = entity else {
            self.wrong_kind(name, entity, "an interface");
            return None;
        };
        let flavour = match &self.spec[id].kind {
            DefinitionKind::Interface(interface) => interface.flavour,
            // The inside of a template instance is unknown.
            DefinitionKind::Accepted(_) => return None,
            _ => {
                self.wrong_kind(name, entity, "an interface");
                return None;
            }
        };
        if !self.complete[id.0 as usize] {
            let (message, first) = (
                format!("`{}` is not defined yet", self.spec[id].name),
                self.spec[id].span,
            );
            self.report(
                Diagnostic::new(Code::IncompleteType, name.span(), message)
                    .with_label(first, "declared forward here")
                    .with_help("define the base above what inherits from it"),
            );
            return None;
        }
        Some((id, flavour))
    }

    /// Operations and attributes cannot be redefined, nor inherited twice under one name from different
    /// bases.
    fn check_inherited_names(&mut self, id: DefinitionId, name: &Ident) {
        let mut known: HashMap<String, (String, Span)> = HashMap::new();
        let mut clashes = Vec::new();
        let operations = self.spec.all_operations(id).into_iter().map(|found| {
            (
                found.interface,
                &found.item.name,
                found.item.span,
                found.item.scoped_name.to_string(),
            )
        });
        let attributes = self.spec.all_attributes(id).into_iter().map(|found| {
            (
                found.interface,
                &found.item.name,
                found.item.span,
                found.item.scoped_name.to_string(),
            )
        });
        // Own ones last, so that these are reported.
        let mut all: Vec<_> = operations.chain(attributes).collect();
        all.sort_by_key(|(owner, ..)| *owner == id);
        for (owner, item, span, scoped) in all {
            if let Some((other, first)) = known.get(&item.to_lowercase()) {
                let at = if owner == id { span } else { name.span };
                clashes.push((at, scoped, other.clone(), *first));
            } else {
                known.insert(item.to_lowercase(), (scoped, span));
            }
        }
        for (at, scoped, other, first) in clashes {
            self.report(
                Diagnostic::new(
                    Code::InheritedOperation,
                    at,
                    format!("`{scoped}` clashes with `{other}`"),
                )
                .with_label(first, format!("`{other}` is declared here"))
                .with_help("IDL has no overloading and no overriding: rename one of them"),
            );
        }
    }

    pub(super) fn operation(&mut self, operation: &ast::Operation, doc: &str) {
        self.events_until(operation.name.at);
        let Some(owner) = self.scopes[self.current.0].owner else {
            return;
        };
        let result = self.sent_type(&operation.result);
        for (context, span) in &operation.contexts {
            self.check_context_name(context, *span);
        }
        let raises = self.raises(&operation.raises);
        if operation.oneway {
            self.check_oneway(operation);
        }
        let number = match &self.spec[owner].kind {
            DefinitionKind::Interface(interface) => interface.operations.len(),
            DefinitionKind::ValueType(value) => value.operations.len(),
            _ => return,
        };
        let entity = if operation.factory {
            Entity::Member
        } else {
            Entity::Operation(owner, number)
        };
        let declared = self.declare(&operation.name, entity);
        let parameters = self.within_unnamed(|this| {
            operation
                .parameters
                .iter()
                .filter_map(|parameter| this.parameter(parameter))
                .collect()
        });
        let (true, Some(result)) = (declared, result) else {
            return;
        };
        let resolved = Operation {
            name: operation.name.name.to_string(),
            scoped_name: self.scoped_name(&operation.name),
            // Holds the prefix until ids are assigned.
            repository_id: self.prefix().to_owned(),
            doc: doc.to_owned(),
            span: operation.name.span,
            oneway: operation.oneway,
            result,
            parameters,
            raises,
            contexts: operation.contexts.iter().map(|(name, _)| name.clone()).collect(),
        };
        match self.kind_mut(owner) {
            DefinitionKind::Interface(interface) => interface.operations.push(resolved),
            DefinitionKind::ValueType(value) if operation.factory => value.factories.push(resolved),
            DefinitionKind::ValueType(value) => value.operations.push(resolved),
            _ => {}
        }
    }

    fn parameter(&mut self, parameter: &ast::Parameter) -> Option<Parameter> {
        let ty = self.sent_type(&parameter.ty);
        let declared = self.declare(&parameter.name, Entity::Parameter);
        let ty = ty.filter(|_| declared)?;
        self.annotated_default(&parameter.annotations, &ty);
        self.default_without_effect(&parameter.annotations, "a parameter");
        Some(Parameter {
            name: parameter.name.name.to_string(),
            doc: parameter.doc.clone(),
            span: parameter.name.span,
            direction: parameter.direction,
            ty,
        })
    }

    /// A name of letters, digits, periods and underscores that begins with a letter; `*` may end it.
    ///
    /// Source: IDL 3.5, 7.4.7.5.
    fn check_context_name(&mut self, name: &str, span: Span) {
        let body = name.strip_suffix('*').unwrap_or(name);
        let fine = body.starts_with(|first: char| first.is_ascii_alphabetic())
            && body
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        if !fine {
            self.report(
                Diagnostic::new(
                    Code::BadContextName,
                    span,
                    format!("\"{name}\" is not the name of a context property"),
                )
                .with_help("use letters, digits, `.` and `_`, a letter first; `*` may end it"),
            );
        }
    }

    fn check_oneway(&mut self, operation: &ast::Operation) {
        let name = &operation.name.name;
        if !matches!(operation.result.kind, ast::TypeKind::Basic(Type::Void)) {
            self.report(
                Diagnostic::new(
                    Code::OnewayNotVoid,
                    operation.result.span,
                    format!("the oneway operation `{name}` has a result"),
                )
                .with_help("a oneway call has no reply: make the result `void`, or remove `oneway`"),
            );
        }
        for parameter in operation
            .parameters
            .iter()
            .filter(|parameter| parameter.direction != Direction::In)
        {
            self.report(
                Diagnostic::new(
                    Code::OnewayDirection,
                    parameter.direction_span,
                    format!(
                        "the parameter `{}` of the oneway operation `{name}` is not `in`",
                        parameter.name.name
                    ),
                )
                .with_help("a oneway call has no reply: make the parameter `in`, or remove `oneway`"),
            );
        }
        if let Some(first) = operation.raises.first() {
            self.report(
                Diagnostic::new(
                    Code::OnewayRaises,
                    first.span(),
                    format!("the oneway operation `{name}` raises exceptions"),
                )
                .with_help("a oneway call has no reply: remove the `raises` clause, or `oneway`"),
            );
        }
    }

    fn raises(&mut self, names: &[Name]) -> Vec<DefinitionId> {
        let mut raises: Vec<DefinitionId> = Vec::new();
        for name in names {
            match self.lookup(name) {
                Some(Entity::Definition(id))
                    if matches!(self.spec[id].kind, DefinitionKind::Exception(_)) =>
                {
                    if raises.contains(&id) {
                        let message = format!("`{}` is listed twice", self.spec[id].name);
                        self.report(
                            Diagnostic::new(Code::DuplicateRaises, name.span(), message)
                                .with_help("list it once"),
                        );
                    } else {
                        raises.push(id);
                    }
                }
                Some(Entity::Definition(id)) if matches!(self.spec[id].kind, DefinitionKind::Accepted(_)) => {
                }
                Some(Entity::Broken) | None => {}
                Some(entity) => {
                    let found = match entity {
                        Entity::Definition(id) => self.describe(id),
                        _ => "something else",
                    };
                    let last = name.parts.last().map_or("", |part| &part.name);
                    self.report(
                        Diagnostic::new(
                            Code::BadRaises,
                            name.span(),
                            format!("`{last}` is {found}, not an exception"),
                        )
                        .with_help("only exceptions can be raised"),
                    );
                }
            }
        }
        raises
    }

    pub(super) fn attribute(&mut self, attribute: &ast::Attribute, doc: &str) {
        let Some(owner) = self.scopes[self.current.0].owner else {
            return;
        };
        if let Some(first) = attribute.declarators.first() {
            self.events_until(first.name.at);
        }
        let ty = self.sent_type(&attribute.ty);
        if let Some(ty) = &ty {
            self.annotated_default(&attribute.annotations, ty);
            self.default_without_effect(&attribute.annotations, "an attribute");
        }
        let get_raises = self.raises(&attribute.get_raises);
        let set_raises = self.raises(&attribute.set_raises);
        for declarator in &attribute.declarators {
            let name = &declarator.name;
            let number = match &self.spec[owner].kind {
                DefinitionKind::Interface(interface) => interface.attributes.len(),
                DefinitionKind::ValueType(value) => value.attributes.len(),
                _ => return,
            };
            let declared = self.declare(name, Entity::Attribute(owner, number));
            let (true, Some(ty)) = (declared, ty.clone()) else {
                continue;
            };
            let resolved = Attribute {
                name: name.name.to_string(),
                scoped_name: self.scoped_name(name),
                // Holds the prefix until ids are assigned.
                repository_id: self.prefix().to_owned(),
                doc: declarator.doc(doc),
                span: name.span,
                readonly: attribute.readonly,
                ty,
                get_raises: get_raises.clone(),
                set_raises: set_raises.clone(),
            };
            match self.kind_mut(owner) {
                DefinitionKind::Interface(interface) => interface.attributes.push(resolved),
                DefinitionKind::ValueType(value) => value.attributes.push(resolved),
                _ => {}
            }
        }
    }
}

fn is_interface(kind: &DefinitionKind, flavour: InterfaceFlavour) -> bool {
    matches!(kind, DefinitionKind::Interface(interface) if interface.flavour == flavour)
}
