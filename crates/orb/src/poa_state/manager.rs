//! State shared by the adapters of one manager: requests are served, held, discarded or refused.
//!
//! The path of a request does not read this state: adapters that are not ACTIVE state that no pool serves
//! them, which the path checks anyway.

use std::{
    ptr,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Instant,
};

use punctual_lane::QueueLimits;
use punctual_os::{PiCondvar, PiMutex, condvar::TimedOut};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

/// Processing state of the adapters of a [`PoaManager`](crate::PoaManager):
/// `PortableServer::POAManager::State`.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{Orb, PoaManagerState};
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
    /// Requests are held, within these limits for each lane, until the manager is active; so are as many
    /// collocated calls, whose callers wait. Requests beyond the limits are refused with TRANSIENT.
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
        // With the entry of the object before, this is ordered against a change of state: who changes it
        // either sees the request in the object, or the request sees the change. It costs nothing on x86-64.
        self.now.load(Ordering::SeqCst)
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
pub(crate) struct ManagerCore {
    managed: PiMutex<Managed>,
    /// Whether one of its adapters has an adapter activator: it then decides about requests for adapters that
    /// do not exist, which arrive at the lanes of any pool.
    makes_adapters: AtomicBool,
    /// Whether it has ended the objects of adapters with a servant activator.
    ended_objects: AtomicBool,
    /// State for collocated callers.
    changed: PiCondvar,
}

struct Managed {
    state: PoaManagerState,
    adapters: Vec<Weak<ServingPool>>,
    /// Collocated callers that wait.
    waiting: usize,
}

impl ManagerCore {
    /// Creates a manager in the active state.
    pub(crate) fn new() -> Arc<Self> {
        let managed = PiMutex::new(Managed {
            state: PoaManagerState::Active,
            adapters: Vec::new(),
            waiting: 0,
        });
        let changed = PiCondvar::new();
        Arc::new(Self {
            managed,
            makes_adapters: AtomicBool::new(false),
            ended_objects: AtomicBool::new(false),
            changed,
        })
    }

    /// Notes that one of its adapters has an adapter activator.
    pub(crate) fn note_adapter_activator(&self) {
        self.makes_adapters.store(true, Ordering::SeqCst);
    }

    /// Notes that it ends the objects of adapters with a servant activator.
    pub(crate) fn note_end_of_objects(&self) {
        self.ended_objects.store(true, Ordering::SeqCst);
    }

    pub(crate) fn has_ended_objects(&self) -> bool {
        self.ended_objects.load(Ordering::SeqCst)
    }

    pub(crate) fn makes_adapters(&self) -> bool {
        self.makes_adapters.load(Ordering::SeqCst)
    }

    /// Returns a number that no other manager has at the same time.
    pub(crate) fn id(&self) -> usize {
        ptr::from_ref(self) as usize
    }

    pub(crate) fn state(&self) -> PoaManagerState {
        self.managed.lock().state
    }

    /// Returns the limits within which requests are currently held; `None` in other states.
    pub(crate) fn holds(&self) -> Option<QueueLimits> {
        match self.state() {
            PoaManagerState::Holding(limits) => Some(limits),
            _ => None,
        }
    }

    /// Waits on a collocated caller's thread while requests are held, until `is_over`, which is called under
    /// the lock, and again after [`Self::wake`].
    ///
    /// Fails with TIMEOUT after the deadline (`None`: the wait has none), and with TRANSIENT if as many
    /// callers wait as the limits permit requests.
    pub(crate) fn wait_while_holding(
        &self,
        deadline: Option<Instant>,
        is_over: impl Fn() -> bool,
    ) -> Result<(), SystemException> {
        let mut managed = self.managed.lock();
        match managed.state {
            PoaManagerState::Holding(limits) if managed.waiting < limits.requests => {}
            PoaManagerState::Holding(_) => {
                let (kind, minor) = (SystemExceptionKind::Transient, Minor::HELD_REQUESTS_FULL);
                return Err(SystemException::new(kind, minor, Completion::No));
            }
            _ => return Ok(()),
        }
        managed.waiting += 1;
        let held = |managed: &mut Managed| matches!(managed.state, PoaManagerState::Holding(_)) && !is_over();
        let timed_out = match deadline {
            None => {
                self.changed.wait_while(&mut managed, held);
                TimedOut(false)
            }
            Some(deadline) => self.changed.wait_while_until(&mut managed, deadline, held),
        };
        managed.waiting -= 1;
        if timed_out.0 {
            let (kind, minor) = (SystemExceptionKind::Timeout, Minor::REQUEST_TIMED_OUT);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        Ok(())
    }

    /// Has the callers in [`Self::wait_while_holding`] check whether their wait is over.
    pub(crate) fn wake(&self) {
        // A caller that has checked before is waiting once this lock has been acquired.
        drop(self.managed.lock());
        self.changed.notify_all();
    }

    /// Adds an adapter, which follows the state from now on.
    pub(crate) fn add(&self, adapter: &Arc<ServingPool>) {
        let mut managed = self.managed.lock();
        managed.adapters.retain(|other| other.strong_count() > 0);
        managed.adapters.push(Arc::downgrade(adapter));
        adapter.follow(managed.state);
    }

    /// Changes the state. Returns `false` if it is INACTIVE, which is final.
    pub(crate) fn set(&self, state: PoaManagerState) -> bool {
        let mut managed = self.managed.lock();
        if managed.state == PoaManagerState::Inactive {
            return state == PoaManagerState::Inactive;
        }
        managed.state = state;
        let adapters = managed.adapters.iter().filter_map(Weak::upgrade);
        adapters.for_each(|adapter| adapter.follow(state));
        drop(managed);
        self.changed.notify_all();
        true
    }

    /// Returns the pools of its adapters, each once.
    pub(crate) fn pools(&self) -> Vec<u32> {
        let managed = self.managed.lock();
        let adapters = managed.adapters.iter().filter_map(Weak::upgrade);
        let mut pools: Vec<_> = adapters.map(|adapter| adapter.own).collect();
        pools.sort_unstable();
        pools.dedup();
        pools
    }
}
