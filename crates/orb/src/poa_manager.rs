//! The state that adapters of one manager share: whether requests are served, held, discarded or refused.
//!
//! The state is not on the path of a request: while it is not ACTIVE, the adapters state that no pool serves
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

/// What the adapters of a [`PoaManager`](crate::PoaManager) do with requests:
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
    /// They serve them. The state of a new manager.
    Active,
    /// They keep them, within these limits for each lane, until the manager is active. TRANSIENT without
    /// room.
    Holding(QueueLimits),
    /// They refuse them with TRANSIENT.
    Discarding,
    /// They refuse them with OBJ_ADAPTER, for ever.
    Inactive,
}

/// Pool whose lanes serve the requests of an adapter: its own, while the adapter's manager is active.
pub(crate) struct ServingPool {
    own: u32,
    now: AtomicU32,
}

/// Number of no thread pool.
const NO_POOL: u32 = u32::MAX;

impl ServingPool {
    /// Of an adapter with this pool, which is served.
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
    /// An active one.
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(PiMutex::new(Managed {
            state: PoaManagerState::Active,
            adapters: Vec::new(),
        })))
    }

    /// A number that no other manager has at the same time.
    pub(crate) fn id(&self) -> usize {
        ptr::from_ref(self) as usize
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
    pub(crate) fn add(&self, adapter: &Arc<ServingPool>) {
        let mut managed = self.0.lock();
        managed.adapters.retain(|other| other.strong_count() > 0);
        managed.adapters.push(Arc::downgrade(adapter));
        adapter.follow(managed.state);
    }

    /// Changes the state. `false`: it is INACTIVE, which is final.
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

    /// Pools of its adapters, each once.
    pub(crate) fn pools(&self) -> Vec<u32> {
        let managed = self.0.lock();
        let adapters = managed.adapters.iter().filter_map(Weak::upgrade);
        let mut pools: Vec<_> = adapters.map(|adapter| adapter.own).collect();
        pools.sort_unstable();
        pools.dedup();
        pools
    }
}
