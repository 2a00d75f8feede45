//! Scopes and the lookup of names (clauses 7.5.1 to 7.5.3).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Resolver;
use crate::ast::{Ident, Name};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionId, DefinitionKind};
use crate::source::Span;
use crate::suggest::did_you_mean;

/// The index of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub usize);

impl ScopeId {
    pub const GLOBAL: Self = Self(0);
}

/// What a name denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    Definition(DefinitionId),
    Enumerator {
        enumeration: DefinitionId,
        ordinal: u32,
    },
    /// By interface or value type, and number in it.
    Operation(DefinitionId, usize),
    Attribute(DefinitionId, usize),
    Member,
    Parameter,
    /// Something whose declaration is wrong and reported.
    Broken,
}

/// The names that are declared and used in one scope. Keys are lower case: names collide regardless of case.
pub(super) struct Scope {
    pub parent: Option<ScopeId>,
    /// `None` for the global scope.
    pub owner: Option<DefinitionId>,
    /// The scope's own name, which nothing directly in it may have.
    name: Option<(Rc<str>, Span)>,
    /// The scopes of the direct bases of an interface or value type.
    pub bases: Vec<ScopeId>,
    names: HashMap<String, Entry>,
    /// What unqualified names from outside meant when they were used here: they keep that meaning.
    uses: HashMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    name: Rc<str>,
    span: Span,
    entity: Entity,
}

impl Scope {
    pub fn global() -> Self {
        Self {
            parent: None,
            owner: None,
            name: None,
            bases: Vec::new(),
            names: HashMap::new(),
            uses: HashMap::new(),
        }
    }
}

impl Resolver<'_> {
    /// Does something in the scope of a definition, which is made if need be. `end` is the token that closes it.
    pub(super) fn within<T>(
        &mut self,
        id: DefinitionId,
        name: &Ident,
        end: usize,
        body: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let scope = match self.scope_of[id.0 as usize] {
            Some(scope) => scope,
            None => {
                let scope = self.new_scope(Some(id), Some(name));
                self.scope_of[id.0 as usize] = Some(scope);
                scope
            }
        };
        let outside = std::mem::replace(&mut self.current, scope);
        let prefix = self.prefix().to_owned();
        self.prefixes.push(prefix);
        let result = body(self);
        self.events_until(end);
        self.prefixes.pop();
        self.current = outside;
        result
    }

    /// Does something in a scope of its own that has no definition, such as that of an operation's parameters.
    pub(super) fn within_unnamed<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let owner = self.scopes[self.current.0].owner;
        let scope = self.new_scope(owner, None);
        let outside = std::mem::replace(&mut self.current, scope);
        let result = body(self);
        self.current = outside;
        result
    }

    fn new_scope(&mut self, owner: Option<DefinitionId>, name: Option<&Ident>) -> ScopeId {
        self.scopes.push(Scope {
            parent: Some(self.current),
            owner,
            name: name.map(|name| (Rc::clone(&name.name), name.span)),
            ..Scope::global()
        });
        ScopeId(self.scopes.len() - 1)
    }

    /// What a name is declared as in the present scope, whatever its case, and where.
    pub(super) fn declared_here(&self, name: &Ident) -> Option<(Entity, Span)> {
        let entry = self.scopes[self.current.0].names.get(&name.name.to_lowercase())?;
        Some((entry.entity, entry.span))
    }

    /// Declares a name in the present scope; `false`, with a diagnostic, if it clashes.
    pub(super) fn declare(&mut self, name: &Ident, entity: Entity) -> bool {
        let key = name.name.to_lowercase();
        let scope = &self.scopes[self.current.0];
        let clash =
            if let Some(earlier) = scope.names.get(&key) {
                Some(if earlier.name == name.name {
                    Diagnostic::new(
                        Code::Redefinition,
                        name.span,
                        format!("`{}` is already declared", name.name),
                    )
                    .here("declared again here")
                    .with_label(earlier.span, "first declared here")
                    .with_help("rename one of them, or put it into a module of its own")
                } else {
                    let message = format!("`{}` and `{}` differ only in case", name.name, earlier.name);
                    Diagnostic::new(Code::CaseClash, name.span, message)
                        .with_label(earlier.span, "first declared here")
                        .with_help("names in one scope must differ by more than case: rename one of them")
                })
            } else if let Some((own, span)) = scope
                .name
                .as_ref()
                .filter(|(own, _)| own.eq_ignore_ascii_case(&name.name))
            {
                let message = format!(
                    "`{}` has the name of the scope that encloses it, `{own}`",
                    name.name
                );
                Some(
                    Diagnostic::new(Code::NameOfEnclosingScope, name.span, message)
                        .with_label(*span, "the enclosing scope")
                        .with_help("rename one of them"),
                )
            } else {
                scope.uses.get(&key).filter(|used| used.entity != entity).map(|used| {
                let message = if used.name == name.name {
                    format!("`{}` has been used in this scope with another meaning", name.name)
                } else {
                    format!(
                        "`{}` differs only in case from `{}`, which this scope uses with another meaning",
                        name.name, used.name
                    )
                };
                Diagnostic::new(Code::RedefinedAfterUse, name.span, message)
                    .with_label(used.span, "used here")
                    .with_help(format!("rename it, or qualify the other one: `::{}`", used.name))
            })
            };
        match clash {
            Some(clash) => {
                self.report(clash);
                false
            }
            None => {
                let entry = Entry {
                    name: Rc::clone(&name.name),
                    span: name.span,
                    entity,
                };
                self.scopes[self.current.0].names.insert(key, entry);
                true
            }
        }
    }

    /// Makes a clash of case an error where a declaration continues an earlier one.
    pub(super) fn check_case(&mut self, name: &Ident, earlier: DefinitionId) {
        let definition = &self.spec[earlier];
        if *definition.name != *name.name {
            let message = format!("`{}` and `{}` differ only in case", name.name, definition.name);
            let span = definition.span;
            self.report(
                Diagnostic::new(Code::CaseClash, name.span, message)
                    .with_label(span, "first declared here")
                    .with_help("spell both alike, or rename one of them"),
            );
        }
    }

    /// Finds what a name denotes, seen from the present scope. `None` is reported already.
    pub(super) fn lookup(&mut self, name: &Name) -> Option<Entity> {
        let (first, rest) = name.parts.split_first()?;
        let start = if name.absolute {
            ScopeId::GLOBAL
        } else {
            self.current
        };
        let mut entity = self.lookup_outwards(start, first, name.absolute)?;
        if !name.absolute {
            self.note_use(first, entity);
        }
        let mut through = first;
        for part in rest {
            if self.is_opaque(entity) {
                return Some(entity);
            }
            let Some(scope) = self.scope_of_entity(entity) else {
                let mut diagnostic = Diagnostic::new(
                    Code::NotAScope,
                    through.span,
                    format!(
                        "`{}` contains no names: `{}` cannot be found in it",
                        through.name, part.name
                    ),
                );
                if let Entity::Definition(id) = entity {
                    diagnostic = diagnostic.with_label(self.spec[id].span, "declared here");
                }
                let help = if matches!(entity, Entity::Enumerator { .. }) || self.is_enum(entity) {
                    "enumerators belong to the scope around the enumeration: leave its name out"
                } else {
                    "only modules, interfaces, value types and constructed types contain names"
                };
                self.report(diagnostic.with_help(help));
                return None;
            };
            entity = match self.find_in(scope, part) {
                Some(entity) => entity,
                None => {
                    let candidates = self.scopes[scope.0].names.values().map(|entry| &*entry.name);
                    let help = did_you_mean(&part.name, candidates);
                    let message = format!("`{}` is not declared in `{}`", part.name, through.name);
                    let mut diagnostic = Diagnostic::new(Code::UnknownName, part.span, message);
                    diagnostic.help = help.or(Some(
                        "check the spelling, and that it is declared above this place".into(),
                    ));
                    self.report(diagnostic);
                    return None;
                }
            };
            through = part;
        }
        Some(entity)
    }

    fn lookup_outwards(&mut self, start: ScopeId, name: &Ident, absolute: bool) -> Option<Entity> {
        let mut at = Some(start);
        while let Some(scope) = at {
            if let Some(entity) = self.find_in(scope, name) {
                return Some(entity);
            }
            at = self.scopes[scope.0].parent;
        }
        let mut candidates = Vec::new();
        let mut at = Some(start);
        while let Some(scope) = at {
            candidates.extend(
                self.scopes[scope.0]
                    .names
                    .values()
                    .map(|entry| Rc::clone(&entry.name)),
            );
            at = self.scopes[scope.0].parent;
        }
        let place = if absolute {
            "in the global scope"
        } else {
            "here or in an enclosing scope"
        };
        let mut diagnostic = Diagnostic::new(
            Code::UnknownName,
            name.span,
            format!("`{}` is not declared {place}", name.name),
        );
        diagnostic.help = did_you_mean(&name.name, candidates.iter().map(|name| &**name))
            .or_else(|| self.qualified_suggestion(name))
            .or(Some(
                "declare it above this place, or include the file that declares it".into(),
            ));
        self.report(diagnostic);
        None
    }

    /// A definition of that name somewhere else.
    fn qualified_suggestion(&self, name: &Ident) -> Option<String> {
        let found = self
            .spec
            .definitions
            .iter()
            .find(|definition| *definition.name == *name.name)?;
        Some(format!("did you mean `{}`?", found.scoped_name))
    }

    /// Finds a name in a scope and, for an interface or value type, in its bases.
    fn find_in(&mut self, scope: ScopeId, name: &Ident) -> Option<Entity> {
        let key = name.name.to_lowercase();
        let found = self.find_entries(scope, &key);
        let (first, others) = found.split_first()?;
        if let Some(other) = others.iter().find(|other| other.entity != first.entity) {
            let message = format!("`{}` is inherited with several meanings", name.name);
            self.report(
                Diagnostic::new(Code::AmbiguousName, name.span, message)
                    .with_label(first.span, "one of them")
                    .with_label(other.span, "another one")
                    .with_help("qualify it with the name of the interface that is meant"),
            );
        }
        if first.name != name.name {
            let message = format!("`{}` is declared as `{}`", name.name, first.name);
            self.report(
                Diagnostic::new(Code::WrongCase, name.span, message)
                    .with_label(first.span, "declared here")
                    .with_help(format!(
                        "write `{}`: the case must be the same everywhere",
                        first.name
                    )),
            );
        }
        Some(first.entity)
    }

    /// The entry of a scope or, if it has none, those of its bases; an entry hides those of its scope's bases.
    fn find_entries(&self, scope: ScopeId, key: &str) -> Vec<Entry> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut open = vec![scope];
        while let Some(scope) = open.pop() {
            if !seen.insert(scope) {
                continue;
            }
            match self.scopes[scope.0].names.get(key) {
                Some(entry) => found.push(entry.clone()),
                None => open.extend(self.scopes[scope.0].bases.iter().rev()),
            }
        }
        found
    }

    /// Remembers the meaning of a name that comes from outside the present scope.
    fn note_use(&mut self, name: &Ident, entity: Entity) {
        let key = name.name.to_lowercase();
        let scope = &mut self.scopes[self.current.0];
        if scope.parent.is_some() && !scope.names.contains_key(&key) {
            scope.uses.entry(key).or_insert_with(|| Entry {
                name: Rc::clone(&name.name),
                span: name.span,
                entity,
            });
        }
    }

    fn scope_of_entity(&self, entity: Entity) -> Option<ScopeId> {
        match entity {
            Entity::Definition(id) => self.scope_of[id.0 as usize],
            _ => None,
        }
    }

    /// Whether nothing is known about the inside of something: what is looked up in it is taken as found.
    fn is_opaque(&self, entity: Entity) -> bool {
        match entity {
            Entity::Definition(id) => matches!(self.spec[id].kind, DefinitionKind::Accepted(_)),
            Entity::Broken => true,
            _ => false,
        }
    }

    fn is_enum(&self, entity: Entity) -> bool {
        matches!(entity, Entity::Definition(id) if matches!(self.spec[id].kind, DefinitionKind::Enum(_)))
    }

    /// Reports that a name denotes something else than what can stand in its place.
    pub(super) fn wrong_kind(&mut self, name: &Name, entity: Entity, expected: &str) {
        let (found, declared) = match entity {
            Entity::Broken => return,
            Entity::Definition(id) => (self.describe(id), Some(self.spec[id].span)),
            Entity::Enumerator { .. } => ("an enumerator", None),
            Entity::Operation(..) => ("an operation", None),
            Entity::Attribute(..) => ("an attribute", None),
            Entity::Member => ("a member", None),
            Entity::Parameter => ("a parameter", None),
        };
        let last = name.parts.last().map_or("", |part| &part.name);
        let mut diagnostic = Diagnostic::new(
            Code::WrongKindOfName,
            name.span(),
            format!("`{last}` is {found}, not {expected}"),
        )
        .here(format!("{expected} is needed here"))
        .with_help(format!("name {expected} here"));
        if let Some(span) = declared {
            diagnostic = diagnostic.with_label(span, "declared here");
        }
        self.report(diagnostic);
    }

    /// A definition's kind with its article.
    pub(super) fn describe(&self, id: DefinitionId) -> &'static str {
        match &self.spec[id].kind {
            DefinitionKind::Module(_) => "a module",
            DefinitionKind::Interface(_) => "an interface",
            DefinitionKind::Struct(_) => "a struct",
            DefinitionKind::Union(_) => "a union",
            DefinitionKind::Enum(_) => "an enum",
            DefinitionKind::Typedef(_) => "a typedef",
            DefinitionKind::Constant(_) => "a constant",
            DefinitionKind::Exception(_) => "an exception",
            DefinitionKind::Native => "a native type",
            DefinitionKind::ValueType(_) => "a value type",
            DefinitionKind::ValueBox(_) => "a boxed value type",
            DefinitionKind::Accepted(accepted) => accepted.construct,
        }
    }
}
