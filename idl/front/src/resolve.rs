//! Resolution: names, types, constants and repository ids (clauses 7.4 and 7.5).
//!
//! IDL declares before use, so one pass in source order suffices. Pragmas take effect at their place in that
//! order.

mod annotation;
mod arithmetic;
mod bits;
mod constant;
mod convert;
mod extent;
mod fixed;
mod interface;
mod local;
mod lookup;
mod orb_types;
mod repository_id;
mod scope;
mod structure;
mod types;
mod union;
mod value;

use std::collections::HashSet;

use crate::Limits;
use crate::ast;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::findings::Findings;
use crate::hir::{
    Accepted, Constant, Definition, DefinitionId, DefinitionKind, Interface, InterfaceFlavour, Module,
    Native, ScopedName, Specification, Type,
};
use crate::token::Event;
use extent::Extents;
use repository_id::Identity;
use scope::{Entity, Scope, ScopeId};

/// Resolves the definitions of a specification. Invalid ones are omitted from the result.
pub(crate) fn resolve<'a>(
    definitions: &[ast::Definition],
    events: &'a [Event],
    limits: &'a Limits,
    findings: Findings<'a>,
) -> (Specification, Findings<'a>) {
    let mut resolver = Resolver {
        limits,
        spec: Specification::default(),
        scopes: vec![Scope::global()],
        current: ScopeId::GLOBAL,
        scope_of: Vec::new(),
        complete: Vec::new(),
        without_incomplete_parts: HashSet::new(),
        extents: Extents::default(),
        listed_twice: HashSet::new(),
        identities: Vec::new(),
        events,
        next_event: 0,
        undeclared_type_code: None,
        prefixes: vec![String::new()],
        findings,
    };
    resolver.definitions(definitions);
    resolver.events_until(usize::MAX);
    resolver.remove_forward_declarations();
    resolver.check_forward_declarations();
    resolver.check_local_types();
    resolver.assign_repository_ids();
    resolver.check_explicit_ids();
    (resolver.spec, resolver.findings)
}

struct Resolver<'a> {
    limits: &'a Limits,
    spec: Specification,
    scopes: Vec<Scope>,
    current: ScopeId,
    /// Scope of each definition.
    scope_of: Vec<Option<ScopeId>>,
    /// Whether each definition is complete: not only declared forward, and not being defined.
    complete: Vec<bool>,
    /// Types whose elements and members are known to be complete.
    without_incomplete_parts: HashSet<DefinitionId>,
    extents: Extents,
    /// Containers that list a forward declaration and its definition; `None`: the global scope.
    listed_twice: HashSet<Option<DefinitionId>>,
    /// Parts of each definition's repository id.
    identities: Vec<Identity>,
    events: &'a [Event],
    next_event: usize,
    /// The definition behind uses of a `CORBA::TypeCode` that no file declares.
    undeclared_type_code: Option<DefinitionId>,
    /// Prefixes of the open files and scopes, the current one last.
    prefixes: Vec<String>,
    findings: Findings<'a>,
}

impl Resolver<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.findings.add(diagnostic);
    }

    fn definitions(&mut self, definitions: &[ast::Definition]) {
        let mut imports = definitions
            .iter()
            .filter_map(ast::Definition::imported)
            .peekable();
        let declared: HashSet<&str> = match imports.peek() {
            None => HashSet::new(),
            Some(_) => definitions
                .iter()
                .filter_map(ast::Definition::scope_name)
                .collect(),
        };
        for definition in definitions {
            // An import of what is declared below has no effect.
            match definition.imported().filter(|name| declared.contains(name)) {
                Some(name) => self.note_import(name),
                None => self.definition(definition),
            }
        }
    }

    fn definition(&mut self, definition: &ast::Definition) {
        let doc = &definition.doc;
        match &definition.kind {
            ast::DefinitionKind::Module { name, body } => self.module(name, body, doc),
            ast::DefinitionKind::Interface(interface) => {
                if !self.declare_orb_type(&interface.name, interface.body.as_ref(), doc) {
                    self.interface(interface, doc);
                }
            }
            ast::DefinitionKind::Value(value) => self.value(value, doc),
            ast::DefinitionKind::ValueBox { name, ty } => self.value_box(name, ty, doc),
            ast::DefinitionKind::Constant { name, ty, value } => self.constant(name, ty, value, doc),
            ast::DefinitionKind::Typedef {
                annotations,
                ty,
                declarators,
            } => self.typedef(annotations, ty, declarators, doc),
            ast::DefinitionKind::Constructed(ty) => {
                self.constructed(ty, doc);
            }
            ast::DefinitionKind::ForwardStruct(name) => self.forward_struct(name, doc),
            ast::DefinitionKind::ForwardUnion(name) => self.forward_union(name, doc),
            ast::DefinitionKind::Exception { name, members, end } => self.exception(name, members, *end, doc),
            ast::DefinitionKind::Native(name) => {
                if !self.declare_orb_type(name, None, doc) {
                    self.define(name, DefinitionKind::Native(Native::default()), doc);
                }
            }
            ast::DefinitionKind::Operation(operation) => self.operation(operation, doc),
            ast::DefinitionKind::Attribute(attribute) => self.attribute(attribute, doc),
            ast::DefinitionKind::StateMember { public, member } => self.state_member(*public, member),
            ast::DefinitionKind::TypeId { name, id, span } => self.type_id(name, id, *span),
            ast::DefinitionKind::TypePrefix { name, prefix, span } => self.type_prefix(name, prefix, *span),
            ast::DefinitionKind::Accepted { construct, name } => self.accepted(construct, name, doc),
        }
    }

    /// Adds a definition to the arena and to the current scope; after a clash of names, it is not part of the
    /// specification.
    fn define(&mut self, name: &ast::Ident, kind: DefinitionKind, doc: &str) -> Option<DefinitionId> {
        self.events_until(name.at);
        let id = self.next_id();
        if !self.declare(name, Entity::Definition(id)) {
            return None;
        }
        let parent = self.scopes[self.current.0].owner;
        let identity = Identity::new(self.prefix());
        self.add(
            Definition {
                id,
                parent,
                name: name.name.to_string(),
                scoped_name: self.scoped_name(name),
                repository_id: String::new(),
                doc: doc.to_owned(),
                span: name.span,
                kind,
            },
            identity,
        );
        self.attach(parent, id);
        Some(id)
    }

    /// Adds a definition to the arena.
    fn add(&mut self, definition: Definition, identity: Identity) {
        let last_typedef = match &definition.kind {
            DefinitionKind::Typedef(typedef) => self.spec.last_typedef(&typedef.target),
            _ => None,
        };
        self.spec
            .last_typedefs
            .push(last_typedef.unwrap_or(definition.id));
        self.spec.definitions.push(definition);
        self.scope_of.push(None);
        self.complete.push(true);
        self.identities.push(identity);
    }

    fn next_id(&self) -> DefinitionId {
        DefinitionId(self.spec.definitions.len() as u32)
    }

    fn scoped_name(&self, name: &ast::Ident) -> ScopedName {
        let mut parts = match self.scopes[self.current.0].owner {
            Some(owner) => self.spec[owner].scoped_name.0.clone(),
            None => Vec::new(),
        };
        parts.push(name.name.to_string());
        ScopedName(parts)
    }

    fn kind_mut(&mut self, id: DefinitionId) -> &mut DefinitionKind {
        &mut self.spec.definitions[id.0 as usize].kind
    }

    /// Adds a definition to its container.
    fn attach(&mut self, parent: Option<DefinitionId>, id: DefinitionId) {
        let Some(parent) = parent else {
            return self.spec.roots.push(id);
        };
        match self.kind_mut(parent) {
            DefinitionKind::Module(module) => module.members.push(id),
            DefinitionKind::Interface(interface) => interface.members.push(id),
            DefinitionKind::ValueType(value) => value.members.push(id),
            DefinitionKind::Struct(structure) => structure.nested.push(id),
            DefinitionKind::Union(union) => union.nested.push(id),
            DefinitionKind::Exception(exception) => exception.nested.push(id),
            DefinitionKind::ValueBox(boxed) => boxed.nested.push(id),
            DefinitionKind::Accepted(accepted) => accepted.members.push(id),
            DefinitionKind::Native(native) => native.nested.push(id),
            DefinitionKind::Enum(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::Bitset(_)
            | DefinitionKind::Typedef(_)
            | DefinitionKind::Constant(_) => {}
        }
    }

    /// Lists what was declared forward at the place of its definition as well.
    fn attach_again(&mut self, id: DefinitionId) {
        let parent = self.spec[id].parent;
        self.attach(parent, id);
        self.listed_twice.insert(parent);
    }

    /// Removes forward declarations from their containers, where the definitions are listed as well.
    fn remove_forward_declarations(&mut self) {
        for parent in std::mem::take(&mut self.listed_twice) {
            let list = match parent {
                None => &mut self.spec.roots,
                Some(parent) => match self.kind_mut(parent) {
                    DefinitionKind::Module(module) => &mut module.members,
                    DefinitionKind::Interface(interface) => &mut interface.members,
                    DefinitionKind::ValueType(value) => &mut value.members,
                    _ => continue,
                },
            };
            let mut seen = HashSet::new();
            list.reverse();
            list.retain(|listed| seen.insert(*listed));
            list.reverse();
        }
    }

    fn module(&mut self, name: &ast::Ident, body: &ast::Body, doc: &str) {
        self.events_until(name.at);
        let id = match self.declared_here(name) {
            Some((Entity::Definition(id), _)) if matches!(self.spec[id].kind, DefinitionKind::Module(_)) => {
                self.reopen(id, name, doc);
                Some(id)
            }
            _ => self.define(name, DefinitionKind::Module(Module::default()), doc),
        };
        let Some(id) = id else { return };
        self.within(id, name, body.end, |this| this.definitions(&body.definitions));
    }

    fn reopen(&mut self, id: DefinitionId, name: &ast::Ident, doc: &str) {
        self.check_case(name, id);
        let definition = &mut self.spec.definitions[id.0 as usize];
        if !doc.is_empty() {
            if !definition.doc.is_empty() {
                definition.doc.push_str("\n\n");
            }
            definition.doc.push_str(doc);
        }
    }

    fn constant(&mut self, name: &ast::Ident, ty: &ast::TypeSpec, value: &ast::Expr, doc: &str) {
        let resolved = match &ty.kind {
            // The value determines the digits.
            ast::TypeKind::Fixed(None) => Some(Type::Fixed {
                digits: 31,
                scale: 31,
            }),
            _ => self.type_spec(ty),
        };
        let Some(resolved) = resolved else {
            return;
        };
        let Some((ty, value)) = self.evaluate_constant(value, &resolved, ty.span) else {
            // Its uses are no additional errors.
            self.declare(name, Entity::Broken);
            return;
        };
        self.define(name, DefinitionKind::Constant(Constant { ty, value }), doc);
    }

    fn accepted(&mut self, construct: &'static str, name: &ast::Ident, doc: &str) {
        // Components and homes may be declared forward, and an import repeats the name of what it imports.
        let here = self.declared_here(name).map(|(entity, _)| entity);
        let again = matches!(here, Some(Entity::Definition(id))
            if matches!(self.spec[id].kind, DefinitionKind::Accepted(_)));
        let is_known = || construct == "import" && (here.is_some() || self.is_defined(&name.name));
        if !again && !is_known() {
            let members = Vec::new();
            self.define(
                name,
                DefinitionKind::Accepted(Accepted { construct, members }),
                doc,
            );
        }
    }

    /// Whether something has this scoped name.
    fn is_defined(&self, scoped_name: &str) -> bool {
        let mut scope = Some(ScopeId::GLOBAL);
        scoped_name.split("::").all(|part| {
            let entry = scope.and_then(|scope| self.scopes[scope.0].names.get(&part.to_lowercase()));
            scope = match entry.map(|entry| entry.entity) {
                Some(Entity::Definition(id)) => self.scope_of[id.0 as usize],
                _ => None,
            };
            entry.is_some_and(|entry| *entry.name == *part)
        })
    }

    fn check_forward_declarations(&mut self) {
        for index in 0..self.spec.definitions.len() {
            if self.complete[index] {
                continue;
            }
            let definition = &self.spec.definitions[index];
            let (span, name) = (definition.span, definition.scoped_name.to_string());
            let (code, help) = match definition.kind {
                DefinitionKind::Struct(_) | DefinitionKind::Union(_) => (
                    Code::NeverDefined,
                    "define it in the same module, or include the file that does",
                ),
                DefinitionKind::Interface(Interface {
                    flavour: InterfaceFlavour::Local,
                    ..
                }) => (
                    Code::OnlyDeclared,
                    "there are no objects of it here: include the file that defines it",
                ),
                DefinitionKind::ValueType(_) => (
                    Code::OnlyDeclared,
                    "there are no values of it here: include the file that defines it",
                ),
                _ => (
                    Code::OnlyDeclared,
                    "its references can be passed on; to call it, include the file that defines it",
                ),
            };
            self.report(
                Diagnostic::new(
                    code,
                    span,
                    format!("`{name}` is declared forward but never defined"),
                )
                .here("declared here")
                .with_help(help),
            );
        }
    }
}
