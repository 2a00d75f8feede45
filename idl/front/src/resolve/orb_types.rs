//! The types of module `CORBA` that belong to the ORB itself (CORBA 3.3 part 1, 8.11; part 2, 9.3.5).
//!
//! The files of other ORBs declare them as `native` types or pseudo interfaces, or use them undeclared.

use super::Resolver;
use super::repository_id::Identity;
use super::scope::{Entity, ScopeId};
use crate::ast::{self, Body, Ident, Name};
use crate::hir::{Definition, DefinitionId, DefinitionKind, Native, ScopedName, Type, Typedef};

const MODULE: &str = "CORBA";
const TYPE_CODE: &str = "TypeCode";
const PRINCIPAL: &str = "Principal";

impl Resolver<'_> {
    /// Declares a type of the ORB for a `native` type or interface of its name in module `CORBA`. Of a body,
    /// only exceptions are read: operations are not called through messages. `false`: it is no such
    /// declaration.
    pub(super) fn declare_orb_type(&mut self, name: &Ident, body: Option<&Body>, doc: &str) -> bool {
        let Some(kind) = orb_type(&name.name).filter(|_| self.is_orb_module(self.current)) else {
            return false;
        };
        let earlier = self.declared_here(name).and_then(|(entity, _)| match entity {
            Entity::Definition(id) => is_same(&self.spec[id].kind, &kind).then_some(id),
            _ => None,
        });
        let declared = earlier.or_else(|| self.define(name, kind, doc));
        if let (Some(id), Some(body)) = (declared, body) {
            let has_exceptions = matches!(self.spec[id].kind, DefinitionKind::Native(_));
            let is_read =
                |item: &&ast::Definition| matches!(item.kind, ast::DefinitionKind::Exception { .. });
            self.within(id, name, body.end, |this| {
                let exceptions = body.definitions.iter().filter(is_read).filter(|_| has_exceptions);
                exceptions.for_each(|exception| this.definition(exception));
            });
        }
        true
    }

    /// The type of the ORB that a name denotes where nothing declares it.
    pub(super) fn undeclared_orb_type(&mut self, name: &Name) -> Option<Type> {
        let (last, qualifier) = name.parts.split_last()?;
        let kind = orb_type(&last.name)?;
        let is_undeclared = match qualifier {
            [] => !name.absolute && self.is_in_orb_module() && !self.is_visible(last),
            [module] if &*module.name == MODULE => match self.meaning_of_module(module, name.absolute) {
                None => true,
                Some(Entity::Definition(id)) => self.scope_of[id.0 as usize].is_some_and(|scope| {
                    let names = &self.scopes[scope.0].names;
                    self.is_orb_module(scope) && !names.contains_key(&last.name.to_lowercase())
                }),
                Some(_) => false,
            },
            _ => false,
        };
        is_undeclared.then(|| match kind {
            DefinitionKind::Typedef(typedef) => typedef.target,
            native => Type::Ref(self.undeclared_type_code(last, native)),
        })
    }

    /// The definition of a `CORBA::TypeCode` that no file declares: in no scope, the same for all uses.
    fn undeclared_type_code(&mut self, name: &Ident, native: DefinitionKind) -> DefinitionId {
        if let Some(known) = self.undeclared_type_code {
            return known;
        }
        let id = self.next_id();
        let definition = Definition {
            id,
            parent: None,
            name: TYPE_CODE.to_owned(),
            scoped_name: ScopedName(vec![MODULE.to_owned(), TYPE_CODE.to_owned()]),
            repository_id: String::new(),
            doc: String::new(),
            span: name.span,
            kind: native,
        };
        self.add(definition, Identity::new("omg.org/CORBA"));
        self.undeclared_type_code = Some(id);
        id
    }

    fn meaning_of_module(&self, name: &Ident, absolute: bool) -> Option<Entity> {
        let key = name.name.to_lowercase();
        let start = if absolute { ScopeId::GLOBAL } else { self.current };
        let entry = self
            .outwards(start)
            .find_map(|scope| self.scopes[scope.0].names.get(&key));
        entry.map(|entry| entry.entity)
    }

    /// Whether the current scope is module `CORBA` or inside it.
    fn is_in_orb_module(&self) -> bool {
        self.outwards(self.current).any(|scope| self.is_orb_module(scope))
    }

    fn is_orb_module(&self, scope: ScopeId) -> bool {
        self.scopes[scope.0].owner.is_some_and(|owner| {
            let owner = &self.spec[owner];
            matches!(owner.kind, DefinitionKind::Module(_)) && owner.scoped_name.0 == [MODULE]
        })
    }
}

/// Type that a name in module `CORBA` stands for; a principal is sent as its octets.
fn orb_type(name: &str) -> Option<DefinitionKind> {
    match name {
        TYPE_CODE => Some(DefinitionKind::Native(Native::default())),
        PRINCIPAL => Some(DefinitionKind::Typedef(Typedef {
            target: Type::Sequence {
                element: Box::new(Type::Octet),
                bound: None,
            },
            inner: None,
        })),
        _ => None,
    }
}

fn is_same(one: &DefinitionKind, other: &DefinitionKind) -> bool {
    match (one, other) {
        (DefinitionKind::Native(_), DefinitionKind::Native(_)) => true,
        (DefinitionKind::Typedef(one), DefinitionKind::Typedef(other)) => one.target == other.target,
        _ => false,
    }
}
