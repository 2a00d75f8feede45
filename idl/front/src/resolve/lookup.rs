//! Name lookup (clauses 7.5.2 and 7.5.3).

use std::collections::HashSet;
use std::rc::Rc;

use super::Resolver;
use super::scope::{Entity, Entry, ScopeId};
use crate::ast::{Ident, Name};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionId, DefinitionKind, Type};
use crate::suggest::{did_you_mean, nearest, word_of_idl};
use crate::token::TYPE_KEYWORDS;

impl Resolver<'_> {
    /// Resolves a name from the current scope, where it keeps this meaning. `None` has been reported.
    pub(super) fn lookup(&mut self, name: &Name) -> Option<Entity> {
        let (first, last) = (name.parts.first()?, name.parts.last()?);
        let start = if name.absolute {
            ScopeId::GLOBAL
        } else {
            self.current
        };
        let entity = self.lookup_outwards(start, first, last, name.absolute)?;
        if !name.absolute {
            self.note_use(first, entity);
        }
        self.lookup_rest(name, entity)
    }

    /// Resolves what follows the first part of a name.
    fn lookup_rest(&mut self, name: &Name, mut entity: Entity) -> Option<Entity> {
        let (mut through, rest) = name.parts.split_first()?;
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
            entity = match self.find_in(scope, part, false) {
                Some(entity) => entity,
                None => {
                    let message = format!("`{}` is not declared in `{}`", part.name, through.name);
                    let error = Diagnostic::new(Code::UnknownName, part.span, message);
                    self.report_unknown(error, |this| {
                        let candidates = this.scopes[scope.0].names.values().map(|entry| &*entry.name);
                        did_you_mean(&part.name, candidates)
                            .or_else(|| this.qualified_suggestion(part))
                            .unwrap_or("check the spelling, and that it is declared above".into())
                    });
                    return None;
                }
            };
            through = part;
        }
        Some(entity)
    }

    /// Finds `name`, the first part of a qualified name that ends with `last`.
    fn lookup_outwards(
        &mut self,
        start: ScopeId,
        name: &Ident,
        last: &Ident,
        absolute: bool,
    ) -> Option<Entity> {
        let mut at = Some(start);
        while let Some(scope) = at {
            if let Some(entity) = self.find_in(scope, name, !absolute) {
                return Some(entity);
            }
            at = self.scopes[scope.0].parent;
        }
        let place = if absolute {
            "in the global scope"
        } else {
            "here or in an enclosing scope"
        };
        let message = format!("`{}` is not declared {place}", name.name);
        let error = Diagnostic::new(Code::UnknownName, name.span, message);
        self.report_unknown(error, |this| {
            let below = this.is_imported_below(start, &name.name).then(|| {
                let name = &name.name;
                format!("`{name}` is declared below, and `import` does not change that: move it up")
            });
            below
                .or_else(|| word_of_idl(&name.name))
                .or_else(|| {
                    let candidates = this.names_outwards(start);
                    let keywords = TYPE_KEYWORDS.iter().copied().chain(["void"]);
                    did_you_mean(&name.name, candidates.chain(keywords))
                })
                .or_else(|| this.qualified_suggestion(last))
                .unwrap_or("declare it above this place, or include the file that declares it".into())
        });
        None
    }

    fn is_imported_below(&self, start: ScopeId, name: &str) -> bool {
        self.outwards(start)
            .any(|scope| self.scopes[scope.0].imported_below.contains(name))
    }

    /// The names of a scope and of those around it.
    fn names_outwards(&self, start: ScopeId) -> impl Iterator<Item = &str> {
        let names = |scope: ScopeId| self.scopes[scope.0].names.values();
        self.outwards(start)
            .flat_map(move |scope| names(scope).map(|entry| &*entry.name))
    }

    /// A scope and those around it.
    pub(super) fn outwards(&self, start: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(start), |scope| self.scopes[scope.0].parent)
    }

    /// Reports an unknown name. A suggestion takes a comparison with every name: it is only searched if it
    /// is shown.
    fn report_unknown(&mut self, mut error: Diagnostic, help: impl FnOnce(&Self) -> String) {
        if self.findings.will_report(&error) {
            error.help = Some(help(self));
        }
        self.report(error);
    }

    /// Whether an unqualified name has a meaning here.
    pub(super) fn is_visible(&self, name: &Ident) -> bool {
        let key = name.name.to_lowercase();
        let mut at = Some(self.current);
        while let Some(scope) = at {
            if !self.find_entries(scope, &key).is_empty() {
                return true;
            }
            at = self.scopes[scope.0].parent;
        }
        false
    }

    /// A definition of that name, or of nearly that name, somewhere else.
    fn qualified_suggestion(&self, name: &Ident) -> Option<String> {
        let definitions = || self.spec.definitions.iter();
        let same = definitions().find(|definition| *definition.name == *name.name);
        if let Some(found) = same {
            return Some(format!("did you mean `::{}`?", found.scoped_name));
        }
        let enumerator = definitions().find_map(|definition| match &definition.kind {
            DefinitionKind::Enum(found) => {
                let found = found.enumerators.iter().find(|of| *of.name == *name.name)?;
                let scope = definition.scoped_name.0.split_last()?.1;
                Some(
                    scope
                        .iter()
                        .chain([&found.name])
                        .fold(String::new(), |all, part| all + "::" + part),
                )
            }
            _ => None,
        });
        if let Some(enumerator) = enumerator {
            return Some(format!("did you mean `{enumerator}`?"));
        }
        let names = definitions().map(|definition| definition.name.as_str());
        let near = nearest(&name.name, names)?;
        let found = definitions().find(|definition| definition.name == near)?;
        Some(format!("did you mean `::{}`?", found.scoped_name))
    }

    /// Finds a name in a scope and, for an interface or value type, in its bases. `outwards`: one that is not
    /// found is searched in the enclosing scopes.
    fn find_in(&mut self, scope: ScopeId, name: &Ident, outwards: bool) -> Option<Entity> {
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
        if first.name == name.name {
            return Some(first.entity);
        }
        let hidden = outwards.then(|| self.hidden_by_case(scope, &key, name)).flatten();
        let help = match &hidden {
            Some(hidden) => format!(
                "rename that one, or qualify the one that is meant: `{}`",
                self.absolute(hidden)
            ),
            None => format!("write `{}`: the case must be the same everywhere", first.name),
        };
        let message = format!("`{}` is declared as `{}`", name.name, first.name);
        self.report(
            Diagnostic::new(Code::WrongCase, name.span, message)
                .with_label(first.span, "declared here")
                .with_help(help),
        );
        // One error for one mistake: the meaning is the intended one.
        Some(hidden.unwrap_or(first.clone()).entity)
    }

    /// The entry of an enclosing scope whose name has the same case, which one of another case hides.
    fn hidden_by_case(&self, scope: ScopeId, key: &str, name: &Ident) -> Option<Entry> {
        let enclosing = std::iter::successors(self.scopes[scope.0].parent, |at| self.scopes[at.0].parent);
        let mut entries = enclosing.flat_map(|scope| self.find_entries(scope, key));
        entries.find(|entry| entry.name == name.name)
    }

    /// The entry of a scope or, if it has none, those of its bases; an entry hides those of its scope's
    /// bases.
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

    /// Records the meaning of a name that comes from outside the current scope.
    fn note_use(&mut self, name: &Ident, entity: Entity) {
        let key = name.name.to_lowercase();
        let mut at = self.current;
        loop {
            let scope = &mut self.scopes[at.0];
            let Some(parent) = scope.parent.filter(|_| !scope.names.contains_key(&key)) else {
                return;
            };
            scope.uses.entry(key.clone()).or_insert_with(|| Entry {
                name: Rc::clone(&name.name),
                span: name.span,
                entity,
            });
            // Its potential scope extends to the end of the outermost scope around it that is no module.
            if self.is_module_scope(at) || self.is_module_scope(parent) {
                return;
            }
            at = parent;
        }
    }

    fn is_module_scope(&self, scope: ScopeId) -> bool {
        match self.scopes[scope.0].owner {
            None => true,
            Some(owner) => matches!(self.spec[owner].kind, DefinitionKind::Module(_)),
        }
    }

    fn scope_of_entity(&self, entity: Entity) -> Option<ScopeId> {
        match entity {
            Entity::Definition(id) => self.scope_of[id.0 as usize],
            _ => None,
        }
    }

    /// Whether the contents are unknown: every name in it is assumed to exist.
    pub(super) fn is_opaque(&self, entity: Entity) -> bool {
        match entity {
            Entity::Definition(id) => matches!(self.spec[id].kind, DefinitionKind::Accepted(_)),
            Entity::Broken => true,
            _ => false,
        }
    }

    /// Whether a type is imported, or otherwise without known contents.
    pub(super) fn is_unknown(&self, ty: &Type) -> bool {
        matches!(ty, Type::Ref(id) if self.is_opaque(Entity::Definition(*id)))
    }

    fn is_enum(&self, entity: Entity) -> bool {
        matches!(entity, Entity::Definition(id) if matches!(self.spec[id].kind, DefinitionKind::Enum(_)))
    }

    /// Reports that a name denotes something that is not permitted in its place.
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
            DefinitionKind::Bitmask(_) => "a bitmask",
            DefinitionKind::Bitset(_) => "a bitset",
            DefinitionKind::Typedef(_) => "a typedef",
            DefinitionKind::Constant(_) => "a constant",
            DefinitionKind::Exception(_) => "an exception",
            DefinitionKind::Native(_) => "a native type",
            DefinitionKind::ValueType(value) if value.is_event => "an event type",
            DefinitionKind::ValueType(value) if value.is_abstract => "an abstract value type",
            DefinitionKind::ValueType(_) => "a value type",
            DefinitionKind::ValueBox(_) => "a boxed value type",
            DefinitionKind::Accepted(accepted) => accepted.construct,
        }
    }
}
