//! Destruction of an adapter, and the check whether any adapter uses a thread pool.

use std::sync::Arc;

use super::Poa;
use crate::OrbError;

impl Poa {
    /// Destroys the adapter, its descendants and their objects: no further request reaches them, and the name
    /// becomes available again. Requests that a manager holds get OBJECT_NOT_EXIST.
    ///
    /// Outside an upcall, this waits for the upcalls in progress as [`Self::deactivate`] does. Until it
    /// returns, requests for objects of these adapters get TRANSIENT (OMG 4), and no adapter activator is
    /// called for the name; afterwards they get OBJECT_NOT_EXIST, unless an adapter with this name has the
    /// objects again (CORBA 3.3 part 1, 15.3.9).
    ///
    /// Servants are dropped as with [`Self::deactivate`]: immediately after the upcalls in progress; inside
    /// an upcall, later. Servant activators learn of the end of each object, with
    /// [`Etherealized::cleanup`](crate::Etherealized::cleanup).
    ///
    /// Fails with [`OrbError::WrongPolicy`] for the root adapter, which exists as long as its ORB.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let sensors = orb.root_poa().child("sensors").build()?;
    /// let radar = sensors.child("radar").build()?;
    /// let doubler: DoublerRef = radar.activate(Doubler)?;
    /// sensors.destroy()?;
    /// assert!(doubler.twice(21).is_err());
    /// assert!(matches!(radar.activate::<DoublerRef, _>(Doubler), Err(OrbError::AdapterDestroyed)));
    /// let again = orb.root_poa().child("sensors").build()?;
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn destroy(&self) -> Result<(), OrbError> {
        self.destroy_tree(true)
    }

    /// Destroys the adapter and its descendants as [`Self::destroy`] does, but servant activators do not
    /// learn of the end of their objects: `destroy` without `etherealize_objects`.
    ///
    /// # Errors
    /// Those of [`Self::destroy`].
    pub fn destroy_without_etherealize(&self) -> Result<(), OrbError> {
        self.destroy_tree(false)
    }

    fn destroy_tree(&self, etherealize: bool) -> Result<(), OrbError> {
        if Arc::ptr_eq(&self.core, &self.orb.root) {
            return Err(OrbError::WrongPolicy(
                "the root adapter ends with its ORB: use `Orb::shutdown`",
            ));
        }
        let adapters = self.core.subtree();
        if !etherealize {
            adapters
                .iter()
                .for_each(|poa| poa.processing.stop_etherealizing());
        }
        self.orb.objects.destroy(&self.orb.root, &self.core);
        for poa in &adapters {
            poa.processing.manager.wake();
        }
        // Requests for adapters that its activator would have made arrive at the lanes of any pool.
        self.orb.pools.release_held();
        let destroyed: Vec<_> = adapters.iter().map(|poa| poa.path.clone()).collect();
        if !destroyed.is_empty() {
            for interceptor in &self.orb.dispatcher.interceptors.ior {
                interceptor.adapters_destroyed(&destroyed);
            }
        }
        Ok(())
    }
}
