//! Activating objects.

use punctual_cdr::Ior;
use punctual_stub::{Interface, Skeleton};
use punctual_types::Priority;

use super::Poa;
use crate::{AnyServant, OrbError, poa_state::core::agreed_priority};

/// Builder of an object, from [`Poa::object`].
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

    /// Sets the id of the object (any octets). A reference that was created with this id before becomes
    /// usable. Default: the adapter chooses the id.
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
    ///   ids itself and has created no reference with this id, if it expects an id and none is set, or if a
    ///   priority is set and the adapter's model is not SERVER_DECLARED;
    /// - [`OrbError::AlreadyActive`] if the id is taken, [`OrbError::PriorityTaken`] if a reference to the
    ///   object has another priority;
    /// - [`OrbError::PriorityNotServed`] and [`OrbError::PriorityUnmappable`] if no lane or band has the
    ///   priority, or the mapping has no native one;
    /// - [`OrbError::StackTooSmall`] if an operation of the interface has values that are too large for the
    ///   stacks of the adapter's pool;
    /// - [`OrbError::Full`], [`OrbError::ShutDown`], [`OrbError::AdapterDestroyed`], and [`OrbError::Listen`]
    ///   if this is the first object of the threads that call `Orb::run` and the endpoint is taken.
    pub fn activate<R: Skeleton<S> + 'static>(self) -> Result<R, OrbError> {
        let (poa, servant) = (self.poa, AnyServant::new::<R, S>(self.servant));
        let ior = place(poa, servant, self.id.as_deref(), self.priority)?;
        poa.bind(ior)
    }
}

impl ObjectBuilder<'_, AnyServant> {
    /// Makes an object that shares its servant with other objects, and returns a reference to it: several
    /// activations of one servant, IdUniquenessPolicy MULTIPLE_ID. The type of the reference is the servant's
    /// interface, or one of its bases.
    ///
    /// Copies of the servant are equivalent. The servant is dropped with its last object and its last copy.
    ///
    /// # Errors
    /// Those of [`Self::activate`]; [`OrbError::WrongInterface`] if the servant does not support the
    /// interface of the reference.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use punctual::{AnyServant, Orb};
    ///
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let servant = AnyServant::new::<DoublerRef, _>(Doubler);
    /// let [one, other]: [DoublerRef; 2] = [
    ///     poa.object(servant.clone()).id("one").activate_shared()?,
    ///     poa.object(servant).id("other").activate_shared()?,
    /// ];
    /// assert_ne!(one, other);
    /// assert_eq!(one.twice(2)?, other.twice(2)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn activate_shared<R: Interface>(self) -> Result<R, OrbError> {
        let Self {
            poa,
            servant,
            id,
            priority,
        } = self;
        if !servant.servant.is_a(R::REPOSITORY_ID) {
            return Err(OrbError::WrongInterface {
                servant: servant.repository_id().to_owned(),
                reference: R::REPOSITORY_ID,
            });
        }
        poa.bind(place(poa, servant, id.as_deref(), priority)?)
    }
}

/// Activates the servant, and returns the reference.
fn place(
    poa: &Poa,
    servant: AnyServant,
    id: Option<&[u8]>,
    priority: Option<Priority>,
) -> Result<Ior, OrbError> {
    poa.core.check_identity(id)?;
    poa.core
        .pool
        .check_stacks(servant.repository_id(), servant.values_on_stack)?;
    if let Some(priority) = priority {
        poa.core.check_priority(&poa.orb.configuration, priority)?;
    }
    let priority = agreed_priority(priority, id.and_then(|id| poa.core.declared(id)))?;
    // The default pool listens when the first object needs it.
    poa.orb.ensure_listening(&poa.core)?;
    poa.core.check_retention()?;
    poa.orb.objects.activate(id, &poa.core, servant, priority)
}
