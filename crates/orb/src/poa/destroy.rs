//! The end of an adapter, and whether any uses a thread pool.

use std::sync::{Arc, atomic::Ordering};

use super::{Poa, PoaCore};
use crate::{OrbError, orb_core::OrbCore, threadpool::PoolCore};

impl Poa {
    /// Ends the adapter, the ones below it, and their objects: no further request reaches them, and the name is free again.
    ///
    /// Servants are dropped as [`Self::deactivate`] says: here and now, after the upcalls they are in; inside an upcall later.
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
        if Arc::ptr_eq(&self.core, &self.orb.root_poa()) {
            return Err(OrbError::WrongPolicy(
                "the root adapter ends with its ORB: use `Orb::shutdown`",
            ));
        }
        self.orb.destroy(&self.core);
        Ok(())
    }
}

impl PoaCore {
    pub(crate) fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// Lets nobody add objects or adapters any more; returns the adapters below.
    pub(crate) fn close(&self) -> Vec<Arc<Self>> {
        let children = self.children.lock();
        self.destroyed.store(true, Ordering::Release);
        children.clone()
    }

    /// Forgets an adapter somewhere below this one.
    pub(crate) fn remove_below(&self, poa: &Arc<Self>) {
        let children = {
            let mut children = self.children.lock();
            children.retain(|child| !Arc::ptr_eq(child, poa));
            children.clone()
        };
        children.iter().for_each(|child| child.remove_below(poa));
    }

    /// This one and its descendants.
    fn visit(self: &Arc<Self>, look: &mut dyn FnMut(&Arc<Self>)) {
        look(self);
        self.children.lock().iter().for_each(|child| child.visit(look));
    }

    /// The names of this one and its descendants, as far as they use the pool.
    fn users(self: &Arc<Self>, pool: &Arc<PoolCore>) -> Vec<String> {
        let mut users = Vec::new();
        self.visit(&mut |poa| {
            if Arc::ptr_eq(&poa.pool, pool) {
                users.push(poa.path.clone());
            }
        });
        users
    }
}

impl OrbCore {
    /// Lets go of a pool that no adapter uses, and lets none use it from now on.
    pub(crate) fn remove_pool(&self, pool: &Arc<PoolCore>) -> Result<(), OrbError> {
        let root = self.root_poa();
        let refuse = |users: Vec<String>| {
            if users.is_empty() {
                Ok(())
            } else {
                Err(OrbError::PoolInUse(users.join(", ")))
            }
        };
        refuse(root.users(pool))?;
        if pool.set_destroyed(true) {
            return Err(OrbError::InvalidThreadPool);
        }
        // An adapter looks at the mark while it enters the tree: either it has seen it, or it is seen here.
        refuse(root.users(pool)).inspect_err(|_| {
            pool.set_destroyed(false);
        })?;
        self.forget_pool(pool);
        Ok(())
    }
}
