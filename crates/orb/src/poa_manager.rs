//! The state that adapters of one manager share: whether their requests are served, held, discarded or refused.
//!
//! The state is not on the path of a request: while it is not ACTIVE, the adapters state that no pool serves them,
//! which the path checks anyway.

use std::sync::{Arc, Weak, atomic::Ordering};

use punctual_lane::QueueLimits;
use punctual_os::PiMutex;

use crate::{PoaManagerState, poa_core::PoaCore};

/// State of the adapters that share a manager.
pub(crate) struct ManagerCore(PiMutex<Managed>);

struct Managed {
    state: PoaManagerState,
    adapters: Vec<Weak<PoaCore>>,
}

impl ManagerCore {
    /// An active one.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(PiMutex::new(Managed {
            state: PoaManagerState::Active,
            adapters: Vec::new(),
        })))
    }

    pub(crate) fn state(&self) -> PoaManagerState {
        self.0.lock().state
    }

    /// Limits within which requests are held now.
    pub(crate) fn holds(&self) -> Option<QueueLimits> {
        match self.state() {
            PoaManagerState::Holding(limits) => Some(limits),
            _ => None,
        }
    }

    /// Adds an adapter, which follows the state from now on.
    pub(crate) fn add(&self, poa: &Arc<PoaCore>) {
        let mut managed = self.0.lock();
        managed.adapters.retain(|other| other.strong_count() > 0);
        managed.adapters.push(Arc::downgrade(poa));
        announce(poa, managed.state);
    }

    /// Changes the state. `false`: it is INACTIVE, which is final.
    pub(crate) fn set(&self, state: PoaManagerState) -> bool {
        let mut managed = self.0.lock();
        if managed.state == PoaManagerState::Inactive {
            return state == PoaManagerState::Inactive;
        }
        managed.state = state;
        let adapters = managed.adapters.iter().filter_map(Weak::upgrade);
        adapters.for_each(|poa| announce(&poa, state));
        true
    }

    pub(crate) fn adapters(&self) -> Vec<Arc<PoaCore>> {
        self.0.lock().adapters.iter().filter_map(Weak::upgrade).collect()
    }
}

fn announce(poa: &PoaCore, state: PoaManagerState) {
    let pool = match state {
        PoaManagerState::Active => poa.pool_id(),
        _ => NO_POOL,
    };
    poa.processing.serving_pool.store(pool, Ordering::SeqCst);
}

/// Number of no thread pool.
const NO_POOL: u32 = u32::MAX;
