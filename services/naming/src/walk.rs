//! The way of a name through contexts, here and on other servers. Source: Naming Service 1.3, 2.3.

use std::sync::Arc;

use punctual::{
    Completion, Interface, Minor, SystemException, SystemExceptionKind,
    naming::{Name, NameComponent, NameError},
};

use crate::{
    NamingLimits,
    core::{Core, counted},
    idl::cos_naming::{NameComponentView, NamingContextRef, naming_context::NotFoundReason},
    refusal::Refusal,
    tree::{Bound, ContextNumber},
};

/// Where the last component of a name is to be bound or looked up.
pub(crate) enum Walked<'n> {
    Here(ContextNumber, &'n NameComponent),
    Elsewhere(Elsewhere<'n>),
}

/// A context of another server on the way.
pub(crate) struct Elsewhere<'n> {
    context: NamingContextRef,
    /// The name from the component on that is bound to the context.
    from_context: &'n [NameComponent],
}

impl Core {
    /// Takes over a name within the limits. A longer one gets IMP_LIMIT, one without components InvalidName.
    pub(crate) fn name(&self, name: &[NameComponentView<'_>]) -> Result<Vec<NameComponent>, Refusal> {
        if name.is_empty() {
            return Err(Refusal::InvalidName);
        }
        let limits = &self.limits;
        let is_long = |one: &NameComponentView<'_>| one.id.len() + one.kind.len() > limits.component;
        if name.len() > limits.components {
            return Err(self.limit(Minor::NAMING_TOO_MANY_COMPONENTS));
        }
        if name.iter().any(is_long) {
            return Err(self.limit(Minor::NAMING_COMPONENT_TOO_LONG));
        }
        let components = name.iter().map(|one| NameComponent::new(one.id, one.kind));
        Ok(components.collect())
    }

    /// Parses a name within the same limits.
    pub(crate) fn parsed(&self, text: &str) -> Result<Name, Refusal> {
        let NamingLimits {
            components,
            component,
            ..
        } = self.limits;
        Name::parse_within(text, components, component).map_err(|error| match error {
            NameError::TooManyComponents { .. } => self.limit(Minor::NAMING_TOO_MANY_COMPONENTS),
            NameError::ComponentTooLong { .. } => self.limit(Minor::NAMING_COMPONENT_TOO_LONG),
            _ => Refusal::InvalidName,
        })
    }

    /// Follows all components but the last one.
    pub(crate) fn walk<'n>(
        &self,
        start: ContextNumber,
        name: &'n [NameComponent],
    ) -> Result<Walked<'n>, Refusal> {
        let (last, way) = name.split_last().ok_or(Refusal::InvalidName)?;
        let tree = self.tree.lock();
        let mut context = start;
        for (index, component) in way.iter().enumerate() {
            let not_found = |reason| Refusal::NotFound(reason, name[index..].to_vec());
            let bound = tree.get(context, component);
            let bound = bound.ok_or_else(|| not_found(NotFoundReason::MissingNode))?;
            match &**bound {
                Bound::Object(_) => return Err(not_found(NotFoundReason::NotContext)),
                Bound::Own(next) if tree.has(*next) => context = *next,
                // It has been destroyed.
                Bound::Own(_) => return Err(not_found(NotFoundReason::NotContext)),
                Bound::Foreign(_) => {
                    let bound = Arc::clone(bound);
                    // Making a reference usable takes time, and memory that can fail.
                    drop(tree);
                    let Bound::Foreign(ior) = &*bound else {
                        return Err(not_found(NotFoundReason::NotContext));
                    };
                    let object = self.orb.object_of(ior.clone()).map_err(SystemException::from)?;
                    return Ok(Walked::Elsewhere(Elsewhere {
                        context: NamingContextRef::from_object(object),
                        from_context: &name[index..],
                    }));
                }
            }
        }
        match tree.has(context) {
            true => Ok(Walked::Here(context, last)),
            false => Err(Refusal::gone()),
        }
    }

    /// Calls a context of another server with the rest of the name, within the limits.
    ///
    /// If it cannot be reached, or too many requests wait for others, the caller gets CannotProceed, with
    /// which it can continue there itself. If the call may have changed something (`changes`), it gets the
    /// system exception instead.
    pub(crate) fn call<R, E: Into<Refusal>>(
        &self,
        elsewhere: &Elsewhere<'_>,
        changes: bool,
        call: impl FnOnce(&NamingContextRef, &[NameComponent]) -> Result<R, E>,
    ) -> Result<R, Refusal> {
        let Elsewhere {
            context,
            from_context,
        } = elsewhere;
        let rest = &from_context[1..];
        let cannot_proceed = || Refusal::CannotProceed(context.clone(), rest.to_vec());
        let Some(_counted) = counted(&self.foreign_calls, self.limits.foreign_calls) else {
            return Err(cannot_proceed());
        };
        let timed = context.as_object().with_timeout(self.limits.foreign_timeout);
        let called = call(&NamingContextRef::from_object(timed), rest);
        called.map_err(|error| match error.into() {
            Refusal::System(exception) if is_no_context(&exception) => {
                Refusal::NotFound(NotFoundReason::NotContext, from_context.to_vec())
            }
            Refusal::System(exception) if changes && exception.completed != Completion::No => {
                Refusal::System(exception)
            }
            Refusal::System(_) => cannot_proceed(),
            other => other,
        })
    }
}

/// Whether the object answers, and is none, or no context.
fn is_no_context(exception: &SystemException) -> bool {
    use SystemExceptionKind as Kind;
    matches!(exception.kind, Kind::ObjectNotExist | Kind::BadOperation)
}
