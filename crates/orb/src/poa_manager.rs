//! State shared by the adapters of one manager: requests are served, held, discarded or refused.
//!
//! The path of a request does not read this state: adapters that are not ACTIVE state that no pool serves
//! them, which the path checks anyway.

use std::{
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

use punctual_lane::QueueLimits;
use punctual_os::PiMutex;

/// Processing state of the adapters of a [`PoaManager`](crate::PoaManager):
/// `PortableServer::POAManager::State`.
///
/// ```
/// use punctual_orb::{Orb, PoaManagerState};
///
/// let orb = Orb::builder().build()?;
/// let poa = orb.root_poa().child("numbers").build()?;
/// assert_eq!(poa.manager().state(), PoaManagerState::Active);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PoaManagerState {
    /// Requests are served. The initial state.
    Active,
    /// Requests are held, within these limits for each lane, until the manager is active. Requests beyond the
    /// limits are refused with TRANSIENT.
    Holding(QueueLimits),
    /// Requests are refused with TRANSIENT.
    Discarding,
    /// Requests are refused with OBJ_ADAPTER; this state is final.
    Inactive,
}

/// Pool whose lanes serve the requests of an adapter: the adapter's pool while its manager is active, else
/// none.
pub(crate) struct ServingPool {
    own: u32,
    now: AtomicU32,
}

/// Id that no thread pool has.
const NO_POOL: u32 = u32::MAX;

impl ServingPool {
    /// Creates the state of an active adapter with this pool.
    pub(crate) fn new(own: u32) -> Arc<Self> {
        let now = AtomicU32::new(own);
        Arc::new(Self { own, now })
    }

    #[inline(always)]
    pub(crate) fn now(&self) -> u32 {
        self.now.load(Ordering::Relaxed)
    }

    fn follow(&self, state: PoaManagerState) {
        let pool = match state {
            PoaManagerState::Active => self.own,
            _ => NO_POOL,
        };
        self.now.store(pool, Ordering::SeqCst);
    }
}

/// State of the adapters that share a manager.
pub(crate) struct ManagerCore(PiMutex<Managed>);

struct Managed {
    state: PoaManagerState,
    adapters: Vec<Weak<ServingPool>>,
}

impl ManagerCore {
    /// Creates a manager in the active state.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(PiMutex::new(Managed {
            state: PoaManagerState::Active,
            adapters: Vec::new(),
        })))
    }

    /// Returns a number that no other manager has at the same time.
    pub(crate) fn id(&self) -> usize {
        ptr::from_ref(self) as usize
    }

    pub(crate) fn state(&self) -> PoaManagerState {
        self.0.lock().state
    }

    /// Returns the limits within which requests are currently held; `None` in other states.
    pub(crate) fn holds(&self) -> Option<QueueLimits> {
        match self.state() {
            PoaManagerState::Holding(limits) => Some(limits),
            _ => None,
        }
    }

    /// Adds an adapter, which follows the state from now on.
    pub(crate) fn add(&self, adapter: &Arc<ServingPool>) {
        let mut managed = self.0.lock();
        managed.adapters.retain(|other| other.strong_count() > 0);
        managed.adapters.push(Arc::downgrade(adapter));
        adapter.follow(managed.state);
    }

    /// Changes the state. Returns `false` if it is INACTIVE, which is final.
    pub(crate) fn set(&self, state: PoaManagerState) -> bool {
        let mut managed = self.0.lock();
        if managed.state == PoaManagerState::Inactive {
            return state == PoaManagerState::Inactive;
        }
        managed.state = state;
        let adapters = managed.adapters.iter().filter_map(Weak::upgrade);
        adapters.for_each(|adapter| adapter.follow(state));
        true
    }

    /// Returns the pools of its adapters, each once.
    pub(crate) fn pools(&self) -> Vec<u32> {
        let managed = self.0.lock();
        let adapters = managed.adapters.iter().filter_map(Weak::upgrade);
        let mut pools: Vec<_> = adapters.map(|adapter| adapter.own).collect();
        pools.sort_unstable();
        pools.dedup();
        pools
    }
}
