//! Object adapters and their public operations.

mod bound;
mod builder;
mod destroy;
mod manager;
mod notices;
mod object;
mod reference;
mod servants;
mod tree;

pub use self::{
    builder::PoaBuilder,
    manager::PoaManager,
    object::ObjectBuilder,
    reference::ReferenceBuilder,
    servants::{AdapterActivator, Etherealized, ServantActivator, ServantLocator},
};

use std::sync::Arc;

use punctual_cdr::Ior;
use punctual_os::Scheduling;
use punctual_stub::{Interface, ObjectRef, Skeleton};
use punctual_types::Priority;

use crate::{
    OrbError, client::Reference, orb_core::OrbCore, poa_state::core::PoaCore, pools::unstarted_servers,
};

/// An object adapter: activates servants as objects, under its policies. `PortableServer::POA`,
/// `RTPortableServer::POA`.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::Orb;
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
        Self::of(orb, &orb.root)
    }

    pub(crate) fn of(orb: &Arc<OrbCore>, core: &Arc<PoaCore>) -> Self {
        Self {
            orb: Arc::clone(orb),
            core: Arc::clone(core),
        }
    }

    /// Returns a builder for a child adapter with this name.
    ///
    /// A child inherits no policy from its parent. Unset policies come from the ORB, then from the defaults.
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

    /// Returns a builder that activates `servant`, with an object id and a priority if they are set.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let doubler: DoublerRef = poa.object(Doubler).id("doubler").activate()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn object<S: Send + Sync + 'static>(&self, servant: S) -> ObjectBuilder<'_, S> {
        ObjectBuilder::new(self, servant)
    }

    /// Activates `servant` under an id that the adapter chooses; the same as `object(servant).activate()`.
    ///
    /// # Errors
    /// The errors of [`ObjectBuilder::activate`].
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
        self.object(servant).activate()
    }

    /// Returns a builder for a reference to an object that need not be active.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::DoublerRef;
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().reference().create()?;
    /// assert!(doubler.twice(21).is_err(), "no servant yet");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn reference(&self) -> ReferenceBuilder<'_> {
        ReferenceBuilder::new(self)
    }

    /// Queries whether threads serve requests to objects of this adapter: those of its pool, or, if it has
    /// none, threads that have called [`crate::Orb::run`].
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// assert!(!orb.root_poa().is_served(), "no thread has called `orb.run()`");
    /// let pool = orb.threadpool().threads(1).build()?;
    /// assert!(orb.root_poa().child("served").threadpool(&pool).build()?.is_served());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn is_served(&self) -> bool {
        !unstarted_servers::has(&self.core.pool)
    }

    /// Returns the scheduling that threads of this adapter's ORB have at a CORBA priority:
    /// [`Orb::thread_scheduling`](crate::Orb::thread_scheduling).
    ///
    /// ```
    /// # mod punctual { pub use {punctual_os::*, punctual_types::*}; }
    /// # use punctual_orb::Orb;
    /// use punctual::{Priority, SchedulingClass};
    ///
    /// let scheduling = Orb::builder().build()?.root_poa().thread_scheduling();
    /// assert_eq!(scheduling(Priority::MAX).map(|threads| threads.class), Some(SchedulingClass::Fifo));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn thread_scheduling(&self) -> impl Fn(Priority) -> Option<Scheduling> + Clone + Send + Sync + use<> {
        self.orb.thread_scheduling()
    }

    /// Returns the id of the object to which a reference of this adapter refers.
    ///
    /// # Errors
    /// [`OrbError::NotActive`] if the reference does not belong to this adapter.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// let doubler: DoublerRef = poa.object(Doubler).id("doubler").activate()?;
    /// assert_eq!(poa.id_of(&doubler)?, b"doubler");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn id_of<R: Interface>(&self, reference: &R) -> Result<Vec<u8>, OrbError> {
        let key = self.object_key(reference)?;
        let id = self.orb.objects.id_in(&self.core, &key);
        id.ok_or(OrbError::NotActive)
    }

    /// Deactivates an object: no further request reaches it, and its servant is dropped after the last
    /// request.
    ///
    /// Outside an upcall, this waits for the requests that the object is executing, for at most
    /// [`crate::Limits::deactivation`], and drops the servant. Inside an upcall, it does not wait. A servant
    /// that is still in use is dropped when an object is activated or deactivated later, or when the ORB is
    /// shut down. In an adapter with a servant activator, a thread of its pool instead calls
    /// [`ServantActivator::etherealize`] as soon as the last request has been answered.
    ///
    /// # Errors
    /// [`OrbError::NotActive`] if this adapter has no such object; [`OrbError::StillInUse`] if the object is
    /// still executing a request when the wait ends; [`OrbError::WrongPolicy`] if it has no active objects
    /// ([`PoaBuilder::servant_locator`], [`PoaBuilder::only_default_servant`]).
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// use punctual::SystemExceptionKind;
    ///
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// orb.root_poa().deactivate(&doubler)?;
    /// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::ObjectNotExist);
    /// assert!(matches!(orb.root_poa().deactivate(&doubler), Err(OrbError::NotActive)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn deactivate<R: Interface>(&self, reference: &R) -> Result<(), OrbError> {
        self.core.check_retention()?;
        let key = self.object_key(reference)?;
        self.orb.objects.deactivate(&self.core, &key)
    }

    fn object_key<R: Interface>(&self, reference: &R) -> Result<Vec<u8>, OrbError> {
        let mut profiles = reference.as_object().ior().profiles.iter();
        let configuration = &self.orb.configuration;
        let profile = profiles.find_map(|profile| configuration.decode_profile(profile)?.ok());
        Ok(profile.ok_or(OrbError::NotActive)?.object_key)
    }

    fn bind<R: Interface>(&self, ior: Ior) -> Result<R, OrbError> {
        let reference = Reference::new(&self.orb.client, ior).map_err(OrbError::Reference)?;
        Ok(R::from_object(ObjectRef::new(reference)))
    }
}
