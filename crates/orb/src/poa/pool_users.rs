//! Whether adapters use a thread pool.

use std::sync::Arc;

use super::PoaCore;
use crate::{OrbError, orb_core::OrbCore, threadpool::PoolCore};

impl PoaCore {
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
