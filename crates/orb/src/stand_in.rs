//! Servants that stand for many objects: a default servant, and what a servant locator finds.

use std::{cell::RefCell, sync::Arc};

use punctual_poa::ObjectKey;
use punctual_stub::{Servant, Upcall};
use punctual_types::{CORBA_OBJECT, SystemException};

use crate::{AnyServant, Poa, ServantLocator, server::run_servant};

/// A servant for all objects of an adapter that are not active.
pub(crate) struct DefaultServant(pub(crate) Arc<dyn Servant>);

impl Servant for DefaultServant {
    fn repository_id(&self) -> &'static str {
        self.0.repository_id()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.0.is_a(repository_id)
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let _id = during(id_of(upcall));
        self.0.dispatch(upcall)
    }
}

/// Asks a locator for the servant of each request.
pub(crate) struct LocatedServant {
    pub(crate) locator: Arc<dyn ServantLocator>,
    /// The adapter, as long as its ORB exists.
    pub(crate) poa: Box<dyn Fn() -> Option<Poa> + Send + Sync>,
    /// Whether the stacks of the adapter's threads suffice for a servant.
    pub(crate) check: Box<dyn Fn(&AnyServant) -> Result<(), SystemException> + Send + Sync>,
}

impl Servant for LocatedServant {
    fn repository_id(&self) -> &'static str {
        CORBA_OBJECT
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == CORBA_OBJECT
    }

    fn executes_object_operations(&self) -> bool {
        true
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let poa = (self.poa)().ok_or_else(crate::server::no_object)?;
        let (id, operation) = (id_of(upcall), upcall.operation());
        let _id = during(id);
        let (servant, cookie) = self.locator.preinvoke(id, &poa, operation)?;
        // Also if the servant panics: it is caught above.
        let _after = scopeguard::guard((), |()| {
            self.locator.postinvoke(id, &poa, operation, cookie, &servant);
        });
        (self.check)(&servant)?;
        run_servant(&*servant.servant, upcall)
    }
}

/// Id of the object that the calling thread serves through a stand-in.
pub(crate) fn current_id() -> Option<Vec<u8>> {
    SERVED.with_borrow(Clone::clone)
}

thread_local!(static SERVED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) });

fn during(id: &[u8]) -> impl Drop + use<> {
    let before = SERVED.replace(Some(id.to_vec()));
    scopeguard::guard(before, |before| {
        SERVED.replace(before);
    })
}

fn id_of<'m>(upcall: &Upcall<'m, '_>) -> &'m [u8] {
    match upcall.object_key().and_then(ObjectKey::parse) {
        Some(ObjectKey::Named { id, .. }) => id,
        _ => &[],
    }
}
