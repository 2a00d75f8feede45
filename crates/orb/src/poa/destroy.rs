//! The end of an adapter, and whether any uses a thread pool.

use std::sync::Arc;

use super::Poa;
use crate::OrbError;

impl Poa {
    /// Ends the adapter, the ones below it, and their objects: no further request reaches them, and the name
    /// is free again.
    ///
    /// Servants are dropped as [`Self::deactivate`] says: here and now, after the upcalls they are in; inside
    /// an upcall later.
    ///
    /// Fails with [`OrbError::WrongPolicy`] for the root adapter, which ends with its ORB.
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
        if Arc::ptr_eq(&self.core, &self.orb.root) {
            return Err(OrbError::WrongPolicy(
                "the root adapter ends with its ORB: use `Orb::shutdown`",
            ));
        }
        let destroyed = self.core.paths();
        self.orb.objects.destroy(&self.orb.root, &self.core);
        if !destroyed.is_empty() {
            for interceptor in &self.orb.dispatcher.interceptors.ior {
                interceptor.adapters_destroyed(&destroyed);
            }
        }
        Ok(())
    }
}
