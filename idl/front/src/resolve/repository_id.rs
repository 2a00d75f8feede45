//! Repository ids, prefixes and versions (CORBA 3.3, 14.7; IDL 3.5, 7.4.9).

use std::collections::HashMap;

use super::Resolver;
use super::scope::{Entity, path};
use crate::ast::{Ident, Name};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::hir::{DefinitionId, DefinitionKind, ScopedName};
use crate::source::Span;
use crate::token::{EventKind, PragmaName};

/// Parts of a definition's repository id, until all are known.
///
/// An id is `IDL:`, the prefix, the scoped name with slashes, `:` and the version. The prefix in force is
/// that of the last `#pragma prefix` in the file or scope; an included file begins without one and restores
/// the former one. Inside a module, the pragma also replaces the module's name: only names of inner scopes
/// follow it (14.7.5).
#[derive(Debug, Clone, Default)]
pub(super) struct Identity {
    /// Text before its name at its first declaration: the prefix in force, then the names of scopes.
    prefix: String,
    /// Prefix set by `typeprefix`, also for its contents.
    type_prefix: Option<(String, Span)>,
    version: Option<(String, Span)>,
    /// Complete id, set by `typeid` or `#pragma ID`.
    explicit: Option<(String, Span)>,
    /// The explicit ids and versions of its operations and attributes.
    exports: Vec<(Entity, Identity)>,
}

impl Identity {
    pub fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            ..Self::default()
        }
    }

    /// Builds an id; `name` may have several parts after `prefix`.
    fn id(&self, prefix: &str, name: &[String]) -> String {
        if let Some((id, _)) = &self.explicit {
            return id.clone();
        }
        let version = self.version.as_ref().map_or("1.0", |(version, _)| version);
        format!("IDL:{}:{version}", path(prefix, &name.join("/")))
    }
}

impl Resolver<'_> {
    pub(super) fn prefix(&self) -> &str {
        self.prefixes.last().map_or("", String::as_str)
    }

    /// Applies the pragmas before a token.
    pub(super) fn events_until(&mut self, token: usize) {
        while let Some(event) = self.events.get(self.next_event).filter(|event| event.at <= token) {
            self.next_event += 1;
            match &event.kind {
                // Included inside a module, its definitions are still the module's.
                EventKind::EnterFile => {
                    let owner = self.scopes[self.current.0].owner;
                    let scope = owner.map(|owner| self.spec[owner].scoped_name.0.join("/"));
                    self.prefixes.push(scope.unwrap_or_default());
                }
                EventKind::LeaveFile => {
                    // A file that closes a scope opened by another file does not remove the last prefix.
                    if self.prefixes.len() > 1 {
                        self.prefixes.pop();
                    }
                }
                EventKind::Prefix(prefix) => {
                    self.check_prefix(prefix, event.span);
                    if let Some(present) = self.prefixes.last_mut() {
                        present.clone_from(prefix);
                    }
                }
                EventKind::Id { name, id } => {
                    if let Some(entity) = self.lookup_pragma_name(name) {
                        self.set_explicit_id(entity, id, event.span);
                    }
                }
                EventKind::Version { name, version } => {
                    if let Some(entity) = self.lookup_pragma_name(name) {
                        self.set_version(entity, version, event.span);
                    }
                }
            }
        }
    }

    fn check_prefix(&mut self, prefix: &str, span: Span) {
        if prefix.contains([':', ' ']) || prefix.starts_with('/') {
            let message = format!("malformed prefix `{prefix}`");
            self.report(
                Diagnostic::new(Code::BadRepositoryId, span, message)
                    .with_help("a prefix is a name such as `example.org`, without colons and blanks"),
            );
        }
    }

    fn lookup_pragma_name(&mut self, name: &PragmaName) -> Option<Entity> {
        let parts = name.parts.iter().map(|(name, span)| Ident {
            name: name.clone(),
            span: *span,
            at: 0,
        });
        let name = Name {
            absolute: name.absolute,
            parts: parts.collect(),
        };
        let entity = self.lookup(&name)?;
        if matches!(
            entity,
            Entity::Definition(_) | Entity::Operation(..) | Entity::Attribute(..)
        ) {
            return Some(entity);
        }
        self.wrong_kind(&name, entity, "a definition, an operation or an attribute");
        None
    }

    /// Returns the identity of a definition, an operation or an attribute.
    fn identity(&mut self, entity: Entity) -> Option<&mut Identity> {
        match entity {
            Entity::Definition(id) => self.identities.get_mut(id.0 as usize),
            Entity::Operation(id, _) | Entity::Attribute(id, _) => {
                let exports = &mut self.identities.get_mut(id.0 as usize)?.exports;
                let at = match exports.iter().position(|(export, _)| *export == entity) {
                    Some(at) => at,
                    None => {
                        exports.push((entity, Identity::default()));
                        exports.len() - 1
                    }
                };
                Some(&mut exports[at].1)
            }
            _ => None,
        }
    }

    fn set_explicit_id(&mut self, entity: Entity, id: &str, span: Span) {
        let idl_version = id
            .strip_prefix("IDL:")
            .map(|body| body.rsplit_once(':').map(|(_, version)| version));
        let well_formed = id.split_once(':').is_some_and(|(format, _)| !format.is_empty())
            && idl_version.is_none_or(|version| version.is_some_and(is_version));
        if !well_formed {
            let message = format!("malformed repository id `{id}`");
            return self.report(Diagnostic::new(Code::BadRepositoryId, span, message).with_help(
                "the usual form is `IDL:prefix/Module/Name:1.0`; any other begins with `FORMAT:`",
            ));
        }
        let Some(identity) = self.identity(entity) else {
            return;
        };
        match &identity.explicit {
            Some((earlier, first)) if earlier != id => {
                let (message, first) = (format!("the repository id is already `{earlier}`"), *first);
                self.conflict(span, message, first);
            }
            _ => identity.explicit = Some((id.to_owned(), span)),
        }
    }

    fn set_version(&mut self, entity: Entity, version: &str, span: Span) {
        if !is_version(version) {
            let message = format!("malformed version `{version}`");
            return self.report(
                Diagnostic::new(Code::BadRepositoryId, span, message)
                    .with_help("a version is two numbers with a point: `1.2`"),
            );
        }
        let Some(identity) = self.identity(entity) else {
            return;
        };
        match (&identity.version, &identity.explicit) {
            (Some((earlier, first)), _) if earlier != version => {
                let (message, first) = (format!("the version is already {earlier}"), *first);
                self.conflict(span, message, first);
            }
            (_, Some((id, first))) if !id.ends_with(&format!(":{version}")) => {
                let (message, first) = (
                    format!("the whole repository id is already given as `{id}`"),
                    *first,
                );
                self.conflict(span, message, first);
            }
            _ => identity.version = Some((version.to_owned(), span)),
        }
    }

    fn conflict(&mut self, span: Span, message: String, first: Span) {
        self.report(
            Diagnostic::new(Code::RepositoryIdConflict, span, message)
                .with_label(first, "set here")
                .with_help("remove one of the two"),
        );
    }

    /// `typeid`
    pub(super) fn type_id(&mut self, name: &Name, id: &str, span: Span) {
        let Some(entity) = self.lookup(name) else { return };
        match entity {
            Entity::Definition(_) | Entity::Operation(..) | Entity::Attribute(..) => {
                self.set_explicit_id(entity, id, span);
            }
            _ => self.wrong_kind(name, entity, "a definition, an operation or an attribute"),
        }
    }

    /// `typeprefix`
    pub(super) fn type_prefix(&mut self, name: &Name, prefix: &str, span: Span) {
        let Some(entity) = self.lookup(name) else { return };
        let Entity::Definition(id) = entity else {
            return self.wrong_kind(name, entity, "a scope");
        };
        // A struct or union is a scope as well, but its members have no repository ids.
        let has_ids = matches!(
            self.spec[id].kind,
            DefinitionKind::Module(_)
                | DefinitionKind::Interface(_)
                | DefinitionKind::ValueType(_)
                | DefinitionKind::Accepted(_)
        );
        if !has_ids {
            return self.wrong_kind(name, entity, "a module, interface or value type");
        }
        self.check_prefix(prefix, span);
        let identity = &mut self.identities[id.0 as usize];
        match &identity.type_prefix {
            Some((earlier, first)) if earlier != prefix => {
                let (message, first) = (format!("the prefix is already `{earlier}`"), *first);
                self.conflict(span, message, first);
            }
            _ => identity.type_prefix = Some((prefix.to_owned(), span)),
        }
    }

    /// A forward-declared definition has one repository id throughout (14.7.8). A module may be reopened
    /// under another prefix, which its new definitions then have.
    pub(super) fn check_same_prefix(&mut self, id: DefinitionId, name: &Ident) {
        let earlier = &self.identities[id.0 as usize];
        if earlier.prefix == self.prefix() || earlier.explicit.is_some() || earlier.type_prefix.is_some() {
            return;
        }
        let shown = |prefix: &str| match prefix {
            "" => "no prefix".to_owned(),
            prefix => format!("the prefix `{prefix}`"),
        };
        let message = format!(
            "`{}` is declared with {} here and with {} before",
            name.name,
            shown(self.prefix()),
            shown(&earlier.prefix)
        );
        let first = self.spec[id].span;
        self.report(
            Diagnostic::new(Code::RepositoryIdConflict, name.span, message)
                .with_label(first, "first declared here")
                .with_help("put the same `#pragma prefix` before both; every file sets its own"),
        );
    }

    /// Refuses a type or exception whose id is set by `typeid` or `#pragma ID` and that of another one.
    pub(super) fn check_explicit_ids(&mut self) {
        let mut first_with: HashMap<&str, DefinitionId> = HashMap::new();
        let mut found = Vec::new();
        for definition in &self.spec.definitions {
            let has_none = matches!(
                definition.kind,
                DefinitionKind::Module(_)
                    | DefinitionKind::Constant(_)
                    | DefinitionKind::Native(_)
                    | DefinitionKind::Accepted(_)
            );
            if has_none {
                continue;
            }
            let id = definition.repository_id.as_str();
            let first = *first_with.entry(id).or_insert(definition.id);
            let explicit = |of: DefinitionId| self.identities[of.0 as usize].explicit.as_ref();
            let Some((_, span)) = explicit(definition.id).or(explicit(first)) else {
                continue;
            };
            if first != definition.id {
                let (one, other) = (&self.spec[first], definition);
                let message = format!(
                    "`{}` and `{}` have the same repository id `{id}`",
                    one.scoped_name, other.scoped_name
                );
                found.push((*span, message, one.span, other.span));
            }
        }
        for (span, message, one, other) in found {
            self.report(
                Diagnostic::new(Code::RepositoryIdConflict, span, message)
                    .with_label(one, "one of them")
                    .with_label(other, "the other one")
                    .with_help("give each an id of its own: receivers tell types apart by it"),
            );
        }
    }

    /// Gives every definition, operation and attribute its id.
    pub(super) fn assign_repository_ids(&mut self) {
        // A container precedes its contents, so its `typeprefix` is known in time.
        let mut type_prefixes: Vec<Option<String>> = Vec::with_capacity(self.spec.definitions.len());
        for (index, definition) in self.spec.definitions.iter_mut().enumerate() {
            let identity = &self.identities[index];
            let own = identity.type_prefix.as_ref().map(|(prefix, _)| prefix.clone());
            let inherited = || {
                definition
                    .parent
                    .and_then(|parent| type_prefixes.get(parent.0 as usize)?.clone())
            };
            let type_prefix = own.or_else(inherited);
            definition.repository_id = id_of(
                identity,
                type_prefix.as_deref(),
                &identity.prefix,
                &definition.scoped_name,
            );
            type_prefixes.push(type_prefix);

            let none = Identity::default();
            let export = |entity| {
                identity
                    .exports
                    .iter()
                    .find(|(export, _)| *export == entity)
                    .map_or(&none, |(_, found)| found)
            };
            let id = definition.id;
            let (operations, attributes) = match &mut definition.kind {
                DefinitionKind::Interface(interface) => {
                    (&mut interface.operations, &mut interface.attributes)
                }
                DefinitionKind::ValueType(value) => (&mut value.operations, &mut value.attributes),
                _ => continue,
            };
            // Until now, the id holds the operation's own prefix.
            for (number, operation) in operations.iter_mut().enumerate() {
                let identity = export(Entity::Operation(id, number));
                let own = std::mem::take(&mut operation.repository_id);
                let type_prefix = type_prefixes[index].as_deref();
                operation.repository_id = id_of(identity, type_prefix, &own, &operation.scoped_name);
            }
            for (number, attribute) in attributes.iter_mut().enumerate() {
                let identity = export(Entity::Attribute(id, number));
                let own = std::mem::take(&mut attribute.repository_id);
                let type_prefix = type_prefixes[index].as_deref();
                attribute.repository_id = id_of(identity, type_prefix, &own, &attribute.scoped_name);
            }
        }
    }
}

/// `typeprefix` precedes the whole scoped name, `prefix` the last part of it.
fn id_of(identity: &Identity, type_prefix: Option<&str>, prefix: &str, name: &ScopedName) -> String {
    match type_prefix {
        Some(type_prefix) => identity.id(type_prefix, &name.0),
        None => identity.id(prefix, &name.0[name.0.len() - 1..]),
    }
}

fn is_version(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.')
        .is_some_and(|(major, minor)| number(major) && number(minor))
}
