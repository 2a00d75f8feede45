//! Servants for objects that are not active, and adapters that do not exist yet: what their users implement.

use super::Poa;
use crate::{AnyServant, Declined};

/// Activates objects of an adapter when they are first called: `PortableServer::ServantActivator`, with
/// RequestProcessingPolicy USE_SERVANT_MANAGER and ServantRetentionPolicy RETAIN.
///
/// Its operations run one at a time for each adapter. [`Self::incarnate`] runs on the thread that serves the
/// request. It may call objects that the servant managers of other adapters incarnate, but no object that
/// needs this activator: such a call gets OBJ_ADAPTER (minor 145). If two activators, each on its own thread,
/// call objects that need the other activator, at least one of these calls gets TRANSIENT (minor 146).
///
/// While `incarnate` waits for the reply to a call with [`WaitStrategy::Serving`](crate::WaitStrategy), its
/// thread serves other requests; those that need the same activator are held until it has returned. A servant
/// that calls such an object meanwhile, on this thread, gets TRANSIENT (minor 146).
///
/// For one object, incarnations follow each other: [`Self::etherealize`] is called after the last request of
/// one, and until it has returned, requests for the object wait at their lane
/// ([`Limits::held_while_ending`](crate::Limits::held_while_ending)), as collocated callers do. Inside an
/// upcall, where a collocated call could wait for itself, it gets TRANSIENT.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::{AnyServant, Declined, Orb, Poa, ServantActivator};
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
    /// The exception that the caller gets instead of a result.
    fn incarnate(&self, id: &[u8], poa: &Poa) -> Result<AnyServant, Declined>;

    /// The object with this id has ended: it was deactivated, and its last request has been completed. Called
    /// for all objects of the adapter, including those that the activator has not incarnated.
    ///
    /// Runs on the thread that deactivates, unless that is inside an upcall or has waited too long
    /// ([`Poa::deactivate`]): then on a thread of the adapter's pool, in its lowest lane, after the reply to
    /// the last request. A panic has no other effect than its message. If the ORB's last handle is dropped
    /// without [`Orb::shutdown_and_wait`](crate::Orb::shutdown_and_wait), it runs on that thread.
    fn etherealize(&self, _id: &[u8], _ended: Etherealized) {}
}

/// Data of [`ServantActivator::etherealize`] about an object that has ended.
///
/// ```
/// # use punctual_orb as punctual;
/// use std::sync::Mutex;
///
/// use punctual::{AnyServant, Declined, Etherealized, Poa, ServantActivator};
///
/// /// Uses its servants again.
/// struct Reused(Mutex<Vec<AnyServant>>);
///
/// impl ServantActivator for Reused {
///     fn incarnate(&self, _: &[u8], _: &Poa) -> Result<AnyServant, Declined> {
///         self.0.lock().unwrap().pop().ok_or_else(Declined::no_object)
///     }
///
///     fn etherealize(&self, _: &[u8], ended: Etherealized) {
///         if !ended.cleanup && !ended.remaining_activations {
///             self.0.lock().unwrap().push(ended.servant);
///         }
///     }
/// }
/// ```
#[non_exhaustive]
pub struct Etherealized {
    /// Its adapter; `None` if the ORB no longer exists.
    pub poa: Option<Poa>,
    /// Its servant, which the ORB no longer uses for this object.
    pub servant: AnyServant,
    /// Whether it ended because its adapter, its manager or the ORB did: `cleanup_in_progress`.
    pub cleanup: bool,
    /// Whether other objects of the adapter, for which this has not been called yet, have the same servant:
    /// copies of one [`AnyServant`].
    pub remaining_activations: bool,
}

/// Finds the servant for each request: `PortableServer::ServantLocator`, with RequestProcessingPolicy
/// USE_SERVANT_MANAGER and ServantRetentionPolicy NON_RETAIN.
///
/// Its operations run on the thread that serves the request, at the request's priority. They may run for
/// several requests at the same time.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// # use punctual_orb::{AnyServant, Declined, Orb, Poa, ServantLocator};
///
/// struct Fresh;
///
/// impl ServantLocator for Fresh {
///     fn preinvoke(&self, _: &[u8], _: &Poa, _: &str) -> Result<(AnyServant, u64), Declined> {
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
    /// The exception that the caller gets instead of a result, or the object to which the caller sends the
    /// request instead. The caller of a oneway request does not learn of the latter.
    fn preinvoke(&self, id: &[u8], poa: &Poa, operation: &str) -> Result<(AnyServant, u64), Declined>;

    /// The request has ended, whether with a result, an exception or a panic.
    ///
    /// If this panics, the caller gets OBJ_ADAPTER (minor 117) instead of the result; "completed" says
    /// whether the servant has returned one. If [`Self::preinvoke`] panics, it gets the same, "not
    /// completed".
    fn postinvoke(&self, _id: &[u8], _poa: &Poa, _operation: &str, _cookie: u64, _servant: &AnyServant) {}
}

/// Creates adapters when one of their objects is first called: `PortableServer::AdapterActivator`, from
/// [`Poa::set_adapter_activator`].
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{AdapterActivator, Orb, Poa};
///
/// struct Regions;
///
/// impl AdapterActivator for Regions {
///     fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
///         name.starts_with("region-") && parent.child(name).build().is_ok()
///     }
/// }
///
/// let orb = Orb::builder().build()?;
/// orb.root_poa().set_adapter_activator(Regions);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub trait AdapterActivator: Send + Sync + 'static {
    /// Creates the child `name` of `parent`, and returns whether it did. The request then continues to that
    /// adapter.
    ///
    /// Runs on the thread that serves the request, one at a time for each parent. It may search for other
    /// adapters ([`Poa::find`]) and call their objects, for which it may be called again, on the same thread;
    /// a call of an object of the adapter that it is creating gets OBJ_ADAPTER (minor 145). While it waits
    /// for the reply to a call with [`WaitStrategy::Serving`](crate::WaitStrategy), other requests that need
    /// it wait in the lane's memory for held requests, and get TRANSIENT (minor 73) if it has none.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool;
}
