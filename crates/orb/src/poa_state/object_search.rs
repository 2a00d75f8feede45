//! The way to an object that is not active: adapter activators, servant managers, default servants.

use std::sync::Arc;

use punctual_cdr::Ior;
use punctual_poa::{InFlight, ObjectKey};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    Declined, PriorityModel,
    poa_state::{
        adapter_path::names,
        core::PoaCore,
        objects::Objects,
        request_processing::{Incarnate, MakeAdapter, ServantSource},
        servant_manager_turn::NoTurn,
    },
    server::{ActiveObject, Demultiplexed},
};

/// Result of [`Objects::search`].
pub(crate) enum Search<'t> {
    /// The object or one that stands in for it, and the priority model of the requested one.
    Object(InFlight<'t, ActiveObject>, Option<PriorityModel>),
    Forward(Ior),
    /// The manager of this adapter, which has the object or would have to make its adapter, is not active.
    NotActive(Arc<PoaCore>),
    /// The object's last incarnation has not ended yet, or its servant manager or adapter activator has to
    /// return from another call first.
    Ending,
    Failed(SystemException),
}

impl<'t> Search<'t> {
    fn of(object: InFlight<'t, ActiveObject>) -> Self {
        let model = object.model;
        Self::Object(object, model)
    }
}

impl Objects {
    /// Searches for an object that [`Self::demultiplex`] did not find. Calls user code if an adapter has a
    /// servant activator, or one above it an adapter activator; bounded work otherwise.
    ///
    /// Source: CORBA 3.3 part 1, 15.2.4 and 15.3.
    #[cold]
    pub(crate) fn search(&self, key: &[u8]) -> Search<'_> {
        if self.is_adapter_ending(key) {
            let (kind, minor) = (SystemExceptionKind::Transient, Minor::OMG_ADAPTER_DESTROYED);
            return Search::Failed(SystemException::new(kind, minor, Completion::No));
        }
        let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key).filter(|_| self.may_search(key))
        else {
            return Search::Failed(self.missing(key, Minor::TARGET_KEY_UNKNOWN));
        };
        if let Some(poa) = self.source_of(adapter.path) {
            return self.ask(&poa, key, id);
        }
        match self.activate_adapters(key, adapter.path) {
            Ok(true) => self.search_again(key),
            Ok(false) => Search::Failed(self.missing(key, Minor::TARGET_KEY_UNKNOWN)),
            Err(NotMade::NotActive(poa)) => Search::NotActive(poa),
            Err(NotMade::Later) => Search::Ending,
            Err(NotMade::Failed(exception)) => Search::Failed(exception),
        }
    }

    /// Returns whether the object with this key, which is not active, might be served: by a servant for
    /// objects that are not active, in an adapter that an activator would be asked to make, or later, while
    /// the server starts. Calls no user code, so that locating an object costs little and changes nothing.
    pub(crate) fn might_serve(&self, key: &[u8]) -> bool {
        self.serves_without_object(key)
            || self.would_make_adapter(key)
            || self.may_come(key)
            || self.is_adapter_ending(key)
    }

    /// Returns whether the object's adapter is being destroyed.
    fn is_adapter_ending(&self, key: &[u8]) -> bool {
        match ObjectKey::parse(key).filter(|_| self.issued(key) != Some(false) && self.is_short(key)) {
            Some(ObjectKey::Named { adapter, .. }) => self.adapters.ending.covers(adapter.path),
            Some(ObjectKey::Slot { slot, .. }) => self.adapters.ending_slots.contains(slot),
            None => false,
        }
    }

    fn would_make_adapter(&self, key: &[u8]) -> bool {
        match ObjectKey::parse(key).filter(|_| self.may_search(key)) {
            Some(ObjectKey::Named { adapter, .. }) => self.maker_of(adapter.path).is_some(),
            _ => false,
        }
    }

    /// Returns the adapter with a source of servants that has this path.
    fn source_of(&self, path: &[u8]) -> Option<Arc<PoaCore>> {
        let poa = self.adapters.managed.get(path)?;
        poa.processing.source.get().is_some().then_some(poa)
    }

    /// Returns the adapter whose activator makes the next adapter on the way to this path; `None` if all
    /// exist, or nothing makes it.
    fn maker_of(&self, path: &[u8]) -> Option<Arc<PoaCore>> {
        let mut poa = self.root()?;
        for name in names(std::str::from_utf8(path).ok()?) {
            let Some(child) = poa.child(&name) else {
                let makes = poa.processing.adapter_activator.lock().is_some();
                return makes.then_some(poa);
            };
            poa = child;
        }
        None
    }

    fn serves_without_object(&self, key: &[u8]) -> bool {
        let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key).filter(|_| self.may_search(key))
        else {
            return false;
        };
        self.adapters.managed.get(adapter.path).is_some_and(|poa| {
            poa.processing.source.get().is_some()
                && poa.adapter(self.boot()) == adapter
                && poa.check_identity(Some(id)).is_ok()
        })
    }

    /// Why there is no object with this key: the server makes it later, perhaps, or never.
    fn missing(&self, key: &[u8], minor: Minor) -> SystemException {
        if self.may_come(key) {
            let (kind, minor) = (SystemExceptionKind::Transient, Minor::SERVER_STARTING);
            return SystemException::new(kind, minor, Completion::No);
        }
        unknown(minor)
    }

    /// Adapter whose manager decides about requests for the object with this key: the object's own, or the
    /// one whose activator would make it.
    pub(crate) fn holder(&self, key: &[u8]) -> Option<Arc<PoaCore>> {
        if let Demultiplexed::Object(object) = self.demultiplex(key) {
            return Some(Arc::clone(&object.poa));
        }
        match ObjectKey::parse(key).filter(|_| self.may_search(key))? {
            ObjectKey::Named { adapter, .. } => self
                .source_of(adapter.path)
                .or_else(|| self.maker_of(adapter.path)),
            ObjectKey::Slot { .. } => None,
        }
    }

    fn may_search(&self, key: &[u8]) -> bool {
        !self.adapters.managed.is_empty() && self.issued(key) != Some(false) && self.is_short(key)
    }

    /// Searches again after adapters have been created.
    fn search_again(&self, key: &[u8]) -> Search<'_> {
        if let Demultiplexed::Object(object) = self.demultiplex(key) {
            return Search::of(object);
        }
        let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key) else {
            return Search::Failed(unknown(Minor::TARGET_KEY_UNKNOWN));
        };
        match self.adapters.managed.get(adapter.path) {
            Some(poa) => self.ask(&poa, key, id),
            None => Search::Failed(unknown(Minor::TARGET_KEY_UNKNOWN)),
        }
    }

    fn ask(&self, poa: &Arc<PoaCore>, key: &[u8], id: &[u8]) -> Search<'_> {
        if !poa.processing.is_active() {
            return Search::NotActive(Arc::clone(poa));
        }
        // Another lifespan, or an id that the adapter did not make.
        let Some(source) = poa
            .processing
            .source
            .get()
            .filter(|_| self.serves_without_object(key))
        else {
            return Search::Failed(unknown(Minor::TARGET_KEY_UNKNOWN));
        };
        match source {
            ServantSource::StandIn(slot) => match self.enter(*slot) {
                Some(object) => Search::Object(object, poa.model(poa.declared(id))),
                None => Search::Failed(unknown(Minor::TARGET_KEY_UNKNOWN)),
            },
            ServantSource::Activator(_) if self.is_ending(key) => Search::Ending,
            ServantSource::Activator(activator) => self.incarnate(poa, activator, key, id),
        }
    }

    fn incarnate(
        &self,
        poa: &Arc<PoaCore>,
        activator: &Arc<dyn Incarnate>,
        key: &[u8],
        id: &[u8],
    ) -> Search<'_> {
        let turn = match self.enter_turn(&poa.processing.servant_turn, &[]) {
            Ok(turn) => turn,
            Err(NoTurn::Later) => return Search::Ending,
            Err(NoTurn::Recursion) => return Search::Failed(recursion()),
        };
        let incarnated = turn.call(|| {
            // Another thread may have been faster, or `etherealize` has not been called yet.
            if matches!(self.demultiplex(key), Demultiplexed::Object(_)) || self.is_ending(key) {
                return Ok(());
            }
            let servant = activator.incarnate(id)?;
            poa.check_servant(&servant)?;
            let activated = self.activate(Some(id), poa, servant, poa.declared(id));
            activated.map_err(|_| Declined::from(failed()))?;
            Ok(())
        });
        drop(turn);
        match incarnated {
            None => Search::Failed(failed()),
            Some(Err(Declined::Forward(object))) => Search::Forward(object.ior().clone()),
            Some(Err(Declined::Exception(exception))) => Search::Failed(exception),
            Some(Ok(())) => match self.demultiplex(key) {
                Demultiplexed::Object(object) => Search::of(object),
                _ if self.is_ending(key) => Search::Ending,
                _ => Search::Failed(unknown(Minor::TARGET_KEY_UNKNOWN)),
            },
        }
    }

    /// Has the adapters of this path made that do not exist. `false`: it exists already. The activator of an
    /// adapter whose manager is not active is not called.
    ///
    /// Source: CORBA 3.3 part 1, 15.3.2 (processing states), 15.3.3.
    fn activate_adapters(&self, key: &[u8], path: &[u8]) -> Result<bool, NotMade> {
        let (Some(root), Ok(path)) = (self.root(), std::str::from_utf8(path)) else {
            return Err(unknown(Minor::ADAPTER_NOT_FOUND).into());
        };
        let (mut poa, mut made) = (root, false);
        for name in names(path) {
            if let Some(child) = poa.child(&name) {
                poa = child;
                continue;
            }
            let activator = poa.processing.adapter_activator.lock().clone();
            let Some(activator) = activator else {
                return Err(self.missing(key, Minor::ADAPTER_NOT_FOUND).into());
            };
            if !poa.processing.is_active() {
                return Err(NotMade::NotActive(poa));
            }
            match self.make_adapter(&poa, &*activator, &name)? {
                false => return Err(unknown(Minor::ADAPTER_NOT_FOUND).into()),
                true => made = true,
            }
            poa = poa
                .child(&name)
                .ok_or_else(|| unknown(Minor::ADAPTER_NOT_FOUND))?;
        }
        Ok(made)
    }
}

impl Objects {
    /// Has the activator of `poa` make a child, unless it exists. Returns whether it does.
    pub(crate) fn make_adapter(
        &self,
        poa: &PoaCore,
        activator: &dyn MakeAdapter,
        name: &str,
    ) -> Result<bool, NotMade> {
        let turn = self
            .enter_turn(&poa.processing.adapter_turn, name.as_bytes())
            .map_err(|reason| match reason {
                NoTurn::Later => NotMade::Later,
                NoTurn::Recursion => recursion().into(),
            })?;
        // Another thread may have been faster.
        let made = turn.call(|| poa.child(name).is_some() || activator.make(name));
        made.ok_or_else(|| failed().into())
    }

    /// Whether a request for the object with this key, which has just been held, should still be.
    pub(crate) fn is_held(&self, key: &[u8]) -> bool {
        let holds = |poa: Arc<PoaCore>| poa.processing.manager.holds().is_some();
        self.is_ending(key) || self.holder(key).is_some_and(holds) || self.awaits_turn(key)
    }

    /// Whether the object needs a servant manager or adapter activator that is in a call: its end releases
    /// the requests that are held.
    fn awaits_turn(&self, key: &[u8]) -> bool {
        if matches!(self.demultiplex(key), Demultiplexed::Object(_)) {
            return false;
        }
        let Some(ObjectKey::Named { adapter, .. }) = ObjectKey::parse(key).filter(|_| self.may_search(key))
        else {
            return false;
        };
        match self.source_of(adapter.path) {
            Some(poa) => poa.processing.servant_turn.await_end(),
            None => self
                .maker_of(adapter.path)
                .is_some_and(|poa| poa.processing.adapter_turn.await_end()),
        }
    }
}

/// Why an adapter has not been made.
pub(crate) enum NotMade {
    /// The manager of this adapter, whose activator makes it, is not active.
    NotActive(Arc<PoaCore>),
    /// The activator has to return from another call first.
    Later,
    Failed(SystemException),
}

impl From<SystemException> for NotMade {
    fn from(exception: SystemException) -> Self {
        Self::Failed(exception)
    }
}

/// Why requests of the adapter are not served now.
#[cold]
pub(crate) fn not_serving(poa: &PoaCore) -> SystemException {
    let (kind, minor) = match poa.processing.manager.state() {
        crate::PoaManagerState::Discarding => (SystemExceptionKind::Transient, Minor::OMG_REQUEST_DISCARDED),
        crate::PoaManagerState::Inactive => (SystemExceptionKind::ObjAdapter, Minor::ADAPTER_INACTIVE),
        _ => (SystemExceptionKind::Transient, Minor::HELD_REQUESTS_FULL),
    };
    SystemException::new(kind, minor, Completion::No)
}

fn unknown(minor: Minor) -> SystemException {
    SystemException::new(SystemExceptionKind::ObjectNotExist, minor, Completion::No)
}

fn failed() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::ObjAdapter, Minor::SERVANT_MANAGER_FAILED);
    SystemException::new(kind, minor, Completion::No)
}

fn recursion() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::ObjAdapter, Minor::SERVANT_MANAGER_RECURSION);
    SystemException::new(kind, minor, Completion::No)
}
