//! Servants for objects that are not active, and adapters that do not exist yet: what their users implement.

use std::sync::Arc;

use punctual_stub::{ObjectRef, Servant, Skeleton, servant};
use punctual_types::SystemException;

use super::Poa;

/// A servant of any interface: what an adapter gets for its default servant, and from servant managers. Copies
/// are the same servant, so that one can serve several objects (IdUniquenessPolicy MULTIPLE_ID).
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_orb::AnyServant;
///
/// let servant = AnyServant::new::<DoublerRef, _>(Doubler);
/// assert_eq!(servant.repository_id(), "IDL:Doubler:1.0");
/// ```
#[derive(Clone)]
pub struct AnyServant {
    pub(crate) servant: Arc<dyn Servant>,
    pub(crate) values_on_stack: usize,
}

impl AnyServant {
    /// The servant `implementation` of the interface of `R`.
    pub fn new<R, S>(implementation: S) -> Self
    where
        R: Skeleton<S> + 'static,
        S: Send + Sync + 'static,
    {
        Self {
            servant: servant::<R, S>(implementation),
            values_on_stack: R::VALUES_ON_STACK,
        }
    }

    /// Returns the id of its interface.
    pub fn repository_id(&self) -> &'static str {
        self.servant.repository_id()
    }
}

/// Makes objects of an adapter active when they are first called: `PortableServer::ServantActivator`, with
/// RequestProcessingPolicy USE_SERVANT_MANAGER and ServantRetentionPolicy RETAIN.
///
/// Its operations run on the thread that serves the request, one at a time for each adapter. [`Self::incarnate`]
/// must not call an object that needs a servant manager itself: OBJ_ADAPTER.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_orb::{AnyServant, Declined, Orb, Poa, ServantActivator};
///
/// struct Sensors;
///
/// impl ServantActivator for Sensors {
///     fn incarnate(&self, id: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
///         match id {
///             b"radar" => Ok(AnyServant::new::<DoublerRef, _>(Doubler)),
///             _ => Err(Declined::no_object()),
///         }
///     }
/// }
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("sensors").user_ids().servant_activator(Sensors).build()?;
/// let radar: DoublerRef = poa.reference().id("radar").create()?;
/// assert_eq!(radar.twice(4).unwrap(), 8);
/// let sonar: DoublerRef = poa.reference().id("sonar").create()?;
/// assert!(sonar.twice(4).is_err());
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub trait ServantActivator: Send + Sync + 'static {
    /// Returns the servant for the object with this id.
    ///
    /// # Errors
    /// What the caller gets in place of a result.
    fn incarnate(&self, id: &[u8], poa: &Poa) -> Result<AnyServant, Declined>;

    /// The servant of this object is being dropped, because the object was deactivated or, with `cleanup`, its
    /// adapter destroyed. Runs where servants are dropped: see [`Poa::deactivate`].
    fn etherealize(&self, _id: &[u8], _cleanup: bool) {}
}

/// Why a [`ServantActivator`] gives no servant.
#[derive(Clone, Debug)]
pub enum Declined {
    /// The object is elsewhere: `PortableServer::ForwardRequest`, LOCATION_FORWARD.
    Forward(ObjectRef),
    /// The caller gets this exception.
    Exception(SystemException),
}

impl Declined {
    /// There is no object with this id: OBJECT_NOT_EXIST.
    pub fn no_object() -> Self {
        Self::Exception(crate::server::no_object())
    }
}

impl From<SystemException> for Declined {
    fn from(exception: SystemException) -> Self {
        Self::Exception(exception)
    }
}

/// Finds the servant of each single request: `PortableServer::ServantLocator`, with RequestProcessingPolicy
/// USE_SERVANT_MANAGER and ServantRetentionPolicy NON_RETAIN.
///
/// Its operations run on the thread that serves the request, at the request's priority. Several requests may be
/// in them at the same time.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// # use punctual_orb::{AnyServant, Orb, Poa, ServantLocator};
/// use punctual_types::SystemException;
///
/// struct Fresh;
///
/// impl ServantLocator for Fresh {
///     fn preinvoke(&self, _: &[u8], _: &Poa, _: &str) -> Result<(AnyServant, u64), SystemException> {
///         Ok((AnyServant::new::<DoublerRef, _>(Doubler), 0))
///     }
/// }
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("fresh").user_ids().servant_locator(Fresh).build()?;
/// let any: DoublerRef = poa.reference().id("any").create()?;
/// assert_eq!(any.twice(4).unwrap(), 8);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub trait ServantLocator: Send + Sync + 'static {
    /// Returns the servant for a request to the object with this id, and a number of its own choice that
    /// [`Self::postinvoke`] gets (the cookie).
    ///
    /// # Errors
    /// The exception that the caller gets in place of a result.
    fn preinvoke(&self, id: &[u8], poa: &Poa, operation: &str) -> Result<(AnyServant, u64), SystemException>;

    /// The request has ended, whether with a result, an exception or a panic.
    fn postinvoke(&self, _id: &[u8], _poa: &Poa, _operation: &str, _cookie: u64, _servant: &AnyServant) {}
}

/// Makes adapters when one of their objects is first called: `PortableServer::AdapterActivator`, from
/// [`Poa::set_adapter_activator`].
pub trait AdapterActivator: Send + Sync + 'static {
    /// Makes the child `name` of `parent`, and returns whether it has. The request then goes on to it.
    ///
    /// Runs on the thread that serves the request, one at a time for each parent.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool;
}

impl Poa {
    /// Sets the activator of adapters below this one, in place of an earlier one.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// use punctual_orb::{AdapterActivator, AnyServant, Orb, Poa};
    ///
    /// struct Regions;
    ///
    /// impl AdapterActivator for Regions {
    ///     fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
    ///         let servant = AnyServant::new::<DoublerRef, _>(Doubler);
    ///         let region = parent.child(name).user_ids().default_servant(servant);
    ///         name == "north" && region.build().is_ok()
    ///     }
    /// }
    ///
    /// let orb = Orb::builder().build()?;
    /// orb.root_poa().set_adapter_activator(Regions);
    /// assert!(orb.root_poa().find("north").is_some());
    /// assert!(orb.root_poa().find("south").is_none());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn set_adapter_activator(&self, activator: impl AdapterActivator) {
        self.core.orb.get_or_init(|| Arc::downgrade(&self.orb));
        *self.core.processing.adapter_activator.lock() = Some(Arc::new(activator));
        self.orb.objects.manage(&self.core);
    }

    /// Returns the child of this name, which the adapter activator makes if it does not exist.
    pub fn find(&self, name: &str) -> Option<Self> {
        if self.core.child(name).is_none() {
            let activator = self.core.processing.adapter_activator.lock().clone()?;
            self.core
                .processing
                .manage(|| activator.unknown_adapter(self, name))
                .filter(|made| *made)?;
        }
        Some(Self::of(&self.orb, &self.core.child(name)?))
    }

    /// Returns its name; that of the root adapter is empty.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let radar = orb.root_poa().child("sensors").build()?.child("radar").build()?;
    /// assert_eq!(radar.name(), "radar");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn name(&self) -> &str {
        let path = self.core.path.as_str();
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }

    /// Returns the adapters directly below this one.
    pub fn children(&self) -> Vec<Self> {
        let children = self.core.children.lock();
        children.iter().map(|child| Self::of(&self.orb, child)).collect()
    }
}
