//! Servants for objects that are not active, and adapters that do not exist yet: what their users implement.

use super::Poa;
use crate::{AnyServant, Declined};

/// Makes objects of an adapter active when they are first called: `PortableServer::ServantActivator`, with
/// RequestProcessingPolicy USE_SERVANT_MANAGER and ServantRetentionPolicy RETAIN.
///
/// Its operations run on the thread that serves the request, one at a time for each adapter.
/// [`Self::incarnate`] must not call an object that needs a servant manager itself: OBJ_ADAPTER.
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
    /// The exception that the caller gets instead of a result.
    fn incarnate(&self, id: &[u8], poa: &Poa) -> Result<AnyServant, Declined>;

    /// The servant of this object is being dropped, because the object was deactivated or, with `cleanup`,
    /// its adapter destroyed. Runs where servants are dropped: see [`Poa::deactivate`].
    fn etherealize(&self, _id: &[u8], _cleanup: bool) {}
}

/// Finds the servant of each single request: `PortableServer::ServantLocator`, with RequestProcessingPolicy
/// USE_SERVANT_MANAGER and ServantRetentionPolicy NON_RETAIN.
///
/// Its operations run on the thread that serves the request, at the request's priority. Several requests may
/// be in them at the same time.
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
    fn postinvoke(&self, _id: &[u8], _poa: &Poa, _operation: &str, _cookie: u64, _servant: &AnyServant) {}
}

/// Makes adapters when one of their objects is first called: `PortableServer::AdapterActivator`, from
/// [`Poa::set_adapter_activator`].
///
/// ```
/// use punctual_orb::{AdapterActivator, Orb, Poa};
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
    /// Creates the child `name` of `parent`, and returns whether it did. The request then continues to it.
    ///
    /// Runs on the thread that serves the request, one at a time for each parent.
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool;
}
