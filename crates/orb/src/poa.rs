mod builder;
mod destroy;
mod with_priority;

pub use builder::PoaBuilder;

use std::sync::Arc;

use punctual_cdr::Ior;
use punctual_stub::{Interface, ObjectRef, Servant, Skeleton, servant};
use punctual_types::Priority;

use crate::{OrbError, client::Reference, orb_core::OrbCore, poa_core::PoaCore};

/// An object adapter: activates servants as objects, under its policies. `PortableServer::POA`, `RTPortableServer::POA`.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_orb::Orb;
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("numbers").build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
/// assert_eq!(doubler.twice(21)?, 42);
/// poa.deactivate(&doubler)?;
/// assert!(doubler.twice(21).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Poa {
    orb: Arc<OrbCore>,
    core: Arc<PoaCore>,
}

impl Poa {
    pub(crate) fn root(orb: &Arc<OrbCore>) -> Self {
        Self {
            orb: Arc::clone(orb),
            core: Arc::clone(&orb.root),
        }
    }

    /// Starts a child adapter of this name.
    ///
    /// As CORBA has it, a child inherits no policy from its parent: what its builder does not say is as the ORB was built, or
    /// the default.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let sensors = orb.root_poa().child("sensors").build()?;
    /// let radar = sensors.child("radar").build()?;
    /// let other = orb.root_poa().child("radar").build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn child(&self, name: &str) -> PoaBuilder {
        PoaBuilder::new(self.clone(), name)
    }

    /// Makes `servant` an object with an id that the adapter chooses, and returns a reference to it.
    ///
    /// The type of the reference says which interface it serves.
    ///
    /// # Errors
    /// [`OrbError::WrongPolicy`] where the adapter leaves ids to the user, [`OrbError::Full`], [`OrbError::ShutDown`], and
    /// [`OrbError::Listen`] where this is the first object of the threads that call `Orb::run` and the endpoint is taken.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let first: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let second: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// assert_ne!(first, second, "each has its own id");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn activate<R, S>(&self, servant: S) -> Result<R, OrbError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        self.core.check_system_ids()?;
        self.activate_servant(servant_of::<R, S>(servant), None, None)
            .map(R::from_object)
    }

    /// Makes `servant` the object with this id (any octets). Where a reference with this id was made before, it becomes good.
    ///
    /// # Errors
    /// [`OrbError::AlreadyActive`] where the id is taken, [`OrbError::WrongPolicy`] where the adapter chooses ids itself and has
    /// made no reference with this one, and those of [`Self::activate`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let doubler: DoublerRef = poa.activate_with_id("doubler", Doubler)?;
    /// let again = poa.activate_with_id::<DoublerRef, _>("doubler", Doubler);
    /// assert!(matches!(again, Err(OrbError::AlreadyActive)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn activate_with_id<R, S>(&self, id: impl AsRef<[u8]>, servant: S) -> Result<R, OrbError>
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        self.core.check_id(id.as_ref())?;
        self.activate_servant(servant_of::<R, S>(servant), Some(id.as_ref()), None)
            .map(R::from_object)
    }

    /// Ends an object: no further request reaches it, and its servant is dropped when the last one has left.
    ///
    /// Outside of upcalls this waits for them and drops the servant here. Inside one it waits for nobody: a servant whose object is
    /// still in use is dropped by whoever activates or deactivates an object later, or shuts the ORB down.
    ///
    /// Fails with [`OrbError::NotActive`] where this adapter has no such object.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual_types::SystemExceptionKind;
    ///
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// orb.root_poa().deactivate(&doubler)?;
    /// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::ObjectNotExist);
    /// assert!(matches!(orb.root_poa().deactivate(&doubler), Err(OrbError::NotActive)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn deactivate<R: Interface>(&self, reference: &R) -> Result<(), OrbError> {
        let mut profiles = reference.as_object().ior().profiles.iter();
        let profile = profiles.find_map(|profile| self.orb.configuration.decode_profile(profile)?.ok());
        let profile = profile.ok_or(OrbError::NotActive)?;
        self.orb.objects.deactivate(&self.core, &profile.object_key)
    }

    /// With the object's own priority, if it has one.
    fn activate_servant(
        &self,
        servant: Arc<dyn Servant>,
        id: Option<&[u8]>,
        priority: Option<Priority>,
    ) -> Result<ObjectRef, OrbError> {
        let declared = id.and_then(|id| self.core.declared(id));
        let priority = with_priority::agreed(priority, declared)?;
        // The default pool listens when the first object needs it.
        self.orb.ensure_listening(&self.core)?;
        let ior = self.orb.objects.activate(id, &self.core, servant, priority)?;
        self.bind(ior)
    }

    fn bind(&self, ior: Ior) -> Result<ObjectRef, OrbError> {
        let reference = Reference::new(&self.orb.client, ior).map_err(OrbError::Reference)?;
        Ok(ObjectRef::new(reference))
    }
}

fn servant_of<R, S>(implementation: S) -> Arc<dyn Servant>
where
    R: Skeleton<S> + 'static,
    S: Send + Sync + 'static,
{
    servant::<R, S>(implementation)
}
