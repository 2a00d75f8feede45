//! A default servant: one that stands for all objects of an adapter which are not active.

use std::sync::Arc;

use punctual_stub::{ObjectRef, Servant, Upcall};
use punctual_types::SystemException;

use crate::poa_state::served_id::{id_of, serving_id};

/// A servant for all objects of an adapter that are not active.
pub(crate) struct DefaultServant(pub(crate) Arc<dyn Servant>);

impl Servant for DefaultServant {
    fn repository_id(&self) -> &str {
        self.0.repository_id()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.0.is_a(repository_id)
    }

    fn interface(&self) -> Option<ObjectRef> {
        self.0.interface()
    }

    fn dispatch(&self, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
        let _id = serving_id(id_of(upcall));
        self.0.dispatch(upcall)
    }
}
