//! The end of an adapter, and whether any uses a thread pool.

use std::sync::Arc;

use super::{Poa, PoaCore};
use crate::{OrbError, current, orb_core::OrbCore, threadpool::PoolCore};

impl Poa {
    /// Ends the adapter, its children and all their objects: no further request reaches them, and their servants are dropped.
    ///
    /// Waits, without a deadline, for the requests that are inside. Its name is free then.
    ///
    /// # Errors
    /// [`OrbError::InUpcall`] inside an upcall, which would wait for itself; [`OrbError::NotActive`] where it has been destroyed
    /// before; [`OrbError::WrongPolicy`] for the root adapter, which ends with its ORB.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    /// poa.destroy()?;
    /// assert!(doubler.twice(21).is_err(), "it does not exist");
    /// assert!(poa.activate::<DoublerRef, _>(Doubler).is_err(), "nor does its adapter");
    /// orb.root_poa().child("numbers").build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn destroy(&self) -> Result<(), OrbError> {
        if current::is_in_upcall() {
            return Err(OrbError::InUpcall);
        }
        let root = self.orb.root_poa();
        if Arc::ptr_eq(&root, &self.core) {
            return Err(OrbError::WrongPolicy("the root adapter ends with its ORB"));
        }
        if !root.remove(&self.core) {
            return Err(OrbError::NotActive);
        }
        let mut gone = Vec::new();
        self.core.visit(&mut |poa| gone.push(Arc::clone(poa)));
        self.orb.deactivate_all(&gone);
        Ok(())
    }
}

impl PoaCore {
    /// Takes an adapter out of this one's descendants; from now on nothing is activated in it.
    fn remove(&self, poa: &Arc<PoaCore>) -> bool {
        let mut children = self.children.lock();
        if let Some(place) = children.iter().position(|child| Arc::ptr_eq(child, poa)) {
            children.remove(place);
            return true;
        }
        children.iter().any(|child| child.remove(poa))
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
