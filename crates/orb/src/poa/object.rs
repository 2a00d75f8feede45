//! Activating objects.

use punctual_stub::Skeleton;
use punctual_types::Priority;

use super::Poa;
use crate::{AnyServant, OrbError, poa_core::agreed_priority};

/// Object in the making; from [`Poa::object`].
///
/// Source: `activate_object`, `activate_object_with_id` of `PortableServer::POA`, and
/// `activate_object_with_priority`,
/// `activate_object_with_id_and_priority` of `RTPortableServer::POA`.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{Orb, OrbError, Priority, PriorityModel};
///
/// let orb = Orb::builder().build()?;
/// let declared = PriorityModel::ServerDeclared(Priority::MIN);
/// let poa = orb.root_poa().child("numbers").user_ids().priority_model(declared).build()?;
/// let urgent: DoublerRef = poa.object(Doubler).id("doubler").priority(Priority::MAX).activate()?;
/// let again = poa.object(Doubler).id("doubler").activate::<DoublerRef>();
/// assert!(matches!(again, Err(OrbError::PriorityTaken { .. } | OrbError::AlreadyActive)));
/// # Ok::<(), OrbError>(())
/// ```
#[must_use = "`activate` makes the object"]
pub struct ObjectBuilder<'p, S> {
    poa: &'p Poa,
    servant: S,
    id: Option<Vec<u8>>,
    priority: Option<Priority>,
}

impl<'p, S: Send + Sync + 'static> ObjectBuilder<'p, S> {
    pub(super) fn new(poa: &'p Poa, servant: S) -> Self {
        Self {
            poa,
            servant,
            id: None,
            priority: None,
        }
    }

    /// Sets the id of the object (any octets). A reference that was made with this id before becomes usable.
    /// Default: the adapter chooses the id.
    pub fn id(mut self, id: impl AsRef<[u8]>) -> Self {
        self.id = Some(id.as_ref().to_owned());
        self
    }

    /// Sets the object's own priority. Default: that of the adapter's priority model.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Makes the servant an object, and returns a reference to it. The type of the reference states the
    /// interface.
    ///
    /// # Errors
    /// - [`OrbError::WrongPolicy`] if the adapter has no active objects
    ///   ([`crate::PoaBuilder::servant_locator`], [`crate::PoaBuilder::only_default_servant`]), if it chooses
    ///   ids and has made no reference with this one, if it expects an id and none is set, or if a priority
    ///   is set and the adapter's model is not SERVER_DECLARED;
    /// - [`OrbError::AlreadyActive`] if the id is taken, [`OrbError::PriorityTaken`] if a reference to the
    ///   object has another priority;
    /// - [`OrbError::PriorityNotServed`] and [`OrbError::PriorityUnmappable`] if no lane or band has the
    ///   priority, or the mapping has no native one;
    /// - [`OrbError::StackTooSmall`] if an operation of the interface has values that are too large for the
    ///   stacks of the adapter's pool;
    /// - [`OrbError::Full`], [`OrbError::ShutDown`], [`OrbError::AdapterDestroyed`], and [`OrbError::Listen`]
    ///   if this is the first object of the threads that call `Orb::run` and the endpoint is taken.
    pub fn activate<R: Skeleton<S> + 'static>(self) -> Result<R, OrbError> {
        let Self {
            poa,
            servant: implementation,
            id,
            priority,
        } = self;
        let id = id.as_deref();
        poa.core.check_identity(id)?;
        poa.core.pool.check_stacks(R::REPOSITORY_ID, R::VALUES_ON_STACK)?;
        if let Some(priority) = priority {
            poa.core.check_priority(&poa.orb.configuration, priority)?;
        }
        let priority = agreed_priority(priority, id.and_then(|id| poa.core.declared(id)))?;
        // The default pool listens when the first object needs it.
        poa.orb.ensure_listening(&poa.core)?;
        poa.core.check_retention()?;
        let servant = AnyServant::new::<R, S>(implementation);
        let ior = poa.orb.objects.activate(id, &poa.core, servant, priority)?;
        poa.bind(ior)
    }
}
