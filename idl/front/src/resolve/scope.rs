//! Scopes and their declarations (clause 7.5.1).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Resolver;
use crate::ast::Ident;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::DefinitionId;
use crate::source::Span;

/// The index of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(pub usize);

impl ScopeId {
    pub const GLOBAL: Self = Self(0);
}

/// Meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    Definition(DefinitionId),
    Enumerator {
        enumeration: DefinitionId,
        ordinal: u32,
    },
    /// Operation of an interface or value type, with its index.
    Operation(DefinitionId, usize),
    Attribute(DefinitionId, usize),
    Member,
    Parameter,
    /// A declaration with a reported error.
    Broken,
}

/// The names that are declared and used in one scope. Keys are lower case: names collide regardless of case.
pub(super) struct Scope {
    pub parent: Option<ScopeId>,
    /// `None` for the global scope.
    pub owner: Option<DefinitionId>,
    /// The scope's own name, which nothing directly in it may have.
    pub name: Option<(Rc<str>, Span)>,
    /// The scopes of the direct bases of an interface or value type.
    pub bases: Vec<ScopeId>,
    pub names: HashMap<String, Entry>,
    /// Meanings of unqualified names from outside at their first use here; they keep these meanings.
    pub uses: HashMap<String, Entry>,
    /// Imports without effect: the scope declares these names itself, further below.
    pub imported_below: HashSet<String>,
}

#[derive(Clone)]
pub(super) struct Entry {
    pub name: Rc<str>,
    pub span: Span,
    pub entity: Entity,
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
            imported_below: HashSet::new(),
        }
    }
}

impl Resolver<'_> {
    /// Runs a function in the scope of a definition, which is created if necessary. `end` is the closing
    /// token.
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
        let prefix = path(self.prefix(), &name.name);
        self.prefixes.push(prefix);
        let result = body(self);
        self.events_until(end);
        self.prefixes.pop();
        self.current = outside;
        result
    }

    /// Runs a function in a new scope without a definition, such as that of an operation's parameters.
    pub(super) fn within_unnamed<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let owner = self.scopes[self.current.0].owner;
        let scope = self.new_scope(owner, None);
        let outside = std::mem::replace(&mut self.current, scope);
        let result = body(self);
        self.current = outside;
        result
    }

    pub(super) fn note_import(&mut self, name: &str) {
        self.scopes[self.current.0].imported_below.insert(name.to_owned());
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

    /// Declaration of a name in the current scope, regardless of case, and its place.
    pub(super) fn declared_here(&self, name: &Ident) -> Option<(Entity, Span)> {
        let entry = self.scopes[self.current.0].names.get(&name.name.to_lowercase())?;
        Some((entry.entity, entry.span))
    }

    /// Declares a name in the current scope; `false`, with a diagnostic, if it clashes.
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
                    .here("declared here")
                    .with_label(used.span, "first used here")
                    .with_help(format!("rename it, or qualify the other one: `{}`", self.absolute(used)))
            })
            };
        // The name still has one meaning if the clash is with one of another scope.
        let is_declared = clash.as_ref().is_none_or(|clash| clash.code.can_be_warning());
        clash.into_iter().for_each(|clash| self.report(clash));
        if is_declared {
            let entry = Entry {
                name: Rc::clone(&name.name),
                span: name.span,
                entity,
            };
            self.scopes[self.current.0].names.insert(key, entry);
        }
        is_declared
    }

    /// Absolute name of what an entry denotes.
    pub(super) fn absolute(&self, entry: &Entry) -> String {
        match entry.entity {
            Entity::Definition(id) => format!("::{}", self.spec[id].scoped_name),
            // An enumerator belongs to the scope around its enumeration; an operation, to its interface.
            Entity::Enumerator { enumeration, .. } => match self.spec[enumeration].parent {
                Some(parent) => format!("::{}::{}", self.spec[parent].scoped_name, entry.name),
                None => format!("::{}", entry.name),
            },
            Entity::Operation(owner, _) | Entity::Attribute(owner, _) => {
                format!("::{}::{}", self.spec[owner].scoped_name, entry.name)
            }
            _ => format!("::{}", entry.name),
        }
    }

    /// Reports a different case in a declaration that continues an earlier one.
    pub(super) fn check_case(&mut self, name: &Ident, earlier: DefinitionId) {
        let definition = &self.spec[earlier];
        if *definition.name != *name.name {
            let message = format!("`{}` and `{}` differ only in case", name.name, definition.name);
            let span = definition.span;
            self.report(
                Diagnostic::new(Code::CaseClash, name.span, message)
                    .with_label(span, "first declared here")
                    .with_help("spell both equally, or rename one of them"),
            );
        }
    }
}

/// Returns the name in a repository id: a prefix, a slash if necessary, and a name.
pub(super) fn path(prefix: &str, name: &str) -> String {
    let slash = if prefix.is_empty() || prefix.ends_with('/') {
        ""
    } else {
        "/"
    };
    format!("{prefix}{slash}{name}")
}
