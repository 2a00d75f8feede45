//! Servant of an iterator over the bindings of a context.

use std::{
    sync::{Arc, Weak},
    time::Instant,
};

use punctual::{
    AnyServant, Declined, Minor, Poa, ServantLocator, SystemException, SystemExceptionKind,
    naming::NameComponent,
};

use crate::{
    core::Core,
    idl::cos_naming::{Binding, BindingIterator, BindingIteratorRef},
    iterators::{Id, Place},
    refusal::Refusal,
    tree::ContextNumber,
};

impl Core {
    /// Makes an iterator over the bindings of a context behind this one.
    pub(crate) fn iterate(
        &self,
        context: ContextNumber,
        after: Option<NameComponent>,
    ) -> Result<BindingIteratorRef, Refusal> {
        let place = Place {
            context,
            after,
            used: Instant::now(),
        };
        let limits = &self.limits;
        let id = self
            .iterators
            .lock()
            .add(place, limits.iterators, limits.iterator_idle)?;
        let reference = self.adapters().iterators.reference().id(id).create();
        reference.map_err(|_| Refusal::system(SystemExceptionKind::ObjAdapter))
    }
}

/// Finds the servant of an iterator.
pub(crate) struct IteratorLocator(pub(crate) Weak<Core>);

impl ServantLocator for IteratorLocator {
    fn preinvoke(&self, id: &[u8], _: &Poa, _: &str) -> Result<(AnyServant, u64), Declined> {
        let core = self.0.upgrade().ok_or_else(Declined::no_object)?;
        let id = Id::try_from(id).map_err(|_| Declined::no_object())?;
        match core.iterators.lock().get(&id, core.limits.iterator_idle) {
            Some(_) => {}
            None => return Err(Declined::no_object()),
        }
        Ok((AnyServant::new::<BindingIteratorRef, _>(Iterator { core, id }), 0))
    }
}

/// An iterator for the time of a request.
struct Iterator {
    core: Arc<Core>,
    id: Id,
}

impl Iterator {
    fn next(&self, count: usize) -> Result<Vec<Binding>, Refusal> {
        let idle = self.core.limits.iterator_idle;
        // Held meanwhile: two requests at a time get different bindings.
        let mut iterators = self.core.iterators.lock();
        let place = iterators.get(&self.id, idle).ok_or_else(Refusal::gone)?;
        let (bindings, rest) = self.core.batch(place.context, place.after.as_ref(), count);
        place.used = Instant::now();
        if let Some(Binding { binding_name, .. }) = bindings.last() {
            let last = binding_name.first();
            place.after = last.map(|one| NameComponent::new(&*one.id, &*one.kind));
        }
        debug_assert!(rest.is_none() || rest == Some(place.after.clone()));
        Ok(bindings)
    }
}

impl BindingIterator for Iterator {
    fn next_one(&self) -> Result<(bool, Binding), SystemException> {
        let mut bindings = self.next(1)?;
        let binding = bindings.pop();
        Ok((binding.is_some(), binding.unwrap_or_default()))
    }

    fn next_n(&self, how_many: u32) -> Result<(bool, Vec<Binding>), SystemException> {
        if how_many == 0 {
            return Err(Refusal::minor(Minor::NAMING_NO_NUMBER).into());
        }
        let bindings = self.next(how_many as usize)?;
        Ok((!bindings.is_empty(), bindings))
    }

    fn destroy(&self) -> Result<(), SystemException> {
        let removed = self.core.iterators.lock().remove(&self.id);
        removed.map(drop).ok_or_else(|| Refusal::gone().into())
    }
}
