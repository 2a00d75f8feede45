//! Servant managers and adapter activators of the user, with the adapter that calls them.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Weak},
};

use punctual_stub::{ObjectRef, Servant, Upcall};
use punctual_types::{CORBA_OBJECT, Completion, Minor, SystemException, SystemExceptionKind};

use super::Poa;
use crate::{
    AdapterActivator, AnyServant, Declined, Etherealized, ServantActivator, ServantLocator,
    orb_core::OrbCore,
    poa_state::{
        any_servant::no_object,
        core::PoaCore,
        request_processing::{Incarnate, MakeAdapter},
        served_id::{id_of, serving_id},
    },
    server::run_servant,
};

/// A user's `T`, and the adapter that is passed to it.
pub(super) struct Bound<T> {
    user: T,
    orb: Weak<OrbCore>,
    core: Weak<PoaCore>,
}

impl<T> Bound<T> {
    pub(super) fn new(user: T, orb: &Arc<OrbCore>, core: &Arc<PoaCore>) -> Self {
        let (orb, core) = (Arc::downgrade(orb), Arc::downgrade(core));
        Self { user, orb, core }
    }

    /// Returns the adapter, as long as its ORB exists.
    fn poa(&self) -> Option<Poa> {
        Some(Poa::of(&self.orb.upgrade()?, &self.core.upgrade()?))
    }
}

impl Incarnate for Bound<Arc<dyn ServantActivator>> {
    fn incarnate(&self, id: &[u8]) -> Result<AnyServant, Declined> {
        let poa = self.poa().ok_or_else(Declined::no_object)?;
        self.user.incarnate(id, &poa)
    }

    fn etherealize(&self, id: &[u8], servant: AnyServant, cleanup: bool, remaining_activations: bool) {
        let ended = Etherealized {
            poa: self.poa(),
            servant,
            cleanup,
            remaining_activations,
        };
        self.user.etherealize(id, ended);
    }
}

impl<A: AdapterActivator> MakeAdapter for Bound<A> {
    fn make(&self, name: &str) -> bool {
        self.poa()
            .is_some_and(|parent| self.user.unknown_adapter(&parent, name))
    }
}

/// Asks the locator for the servant of each request.
impl Servant for Bound<Arc<dyn ServantLocator>> {
    fn repository_id(&self) -> &str {
        CORBA_OBJECT
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == CORBA_OBJECT
    }

    fn interface(&self) -> Option<ObjectRef> {
        None
    }

    fn executes_object_operations(&self) -> bool {
        true
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let poa = self.poa().ok_or_else(no_object)?;
        let (id, operation) = (id_of(upcall), upcall.operation());
        let _id = serving_id(id);
        let found = guarded(|| self.user.preinvoke(id, &poa, operation));
        let (servant, cookie) = match found.ok_or_else(|| failed(Completion::No))? {
            Ok(found) => found,
            Err(Declined::Forward(object)) => return upcall.forward(object.ior()),
            Err(Declined::Exception(exception)) => return Err(exception),
        };
        let stacks = poa.core.check_servant(&servant);
        // A panic of the servant is an exception here.
        let result = stacks.and_then(|()| run_servant(&*servant.servant, upcall));
        match guarded(|| self.user.postinvoke(id, &poa, operation, cookie, &servant)) {
            Some(()) => result,
            // Instead of the result, CORBA 3.3 part 1, 15.3.7.2.
            None => Err(failed(
                result.map_or_else(|exception| exception.completed, |()| Completion::Yes),
            )),
        }
    }
}

/// Calls the locator; `None`: it has panicked.
fn guarded<R>(call: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

fn failed(completed: Completion) -> SystemException {
    let (kind, minor) = (SystemExceptionKind::ObjAdapter, Minor::SERVANT_MANAGER_FAILED);
    SystemException::new(kind, minor, completed)
}
