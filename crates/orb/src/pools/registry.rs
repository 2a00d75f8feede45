//! Thread pools of an ORB.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use arc_swap::ArcSwapOption;
use punctual_lane::LaneEndpoint;
use punctual_os::PiMutex;
use punctual_transport::Transport;
use punctual_types::Priority;

use crate::{
    OrbError,
    client::is_same_address,
    pools::{
        info::{DEFAULT_POOL, LaneInfo, PoolInfo},
        lane::Lane,
        unstarted_servers,
    },
};

/// Thread pools of an ORB.
pub(crate) struct Pools {
    default: Arc<PoolCore>,
    others: PiMutex<Vec<Arc<PoolCore>>>,
    /// Pool whose lanes read the replies of shared calls of threads that serve no lane.
    reply: ArcSwapOption<PoolCore>,
    /// Endpoints of the default pool; lanes listen beside them.
    endpoints: Vec<LaneEndpoint>,
    listening: PiMutex<()>,
    last_id: AtomicU32,
    shut_down: AtomicBool,
    /// Whether the default pool has objects, and no thread has called `Orb::run`.
    unserved: AtomicBool,
}

/// Thread pool with its lanes.
pub(crate) struct PoolCore {
    pub(crate) info: Arc<PoolInfo>,
    /// Lanes, the lowest priority first; the one lane of a pool without lanes.
    pub(crate) lanes: Vec<Arc<Lane>>,
    /// Whether every thread runs in the real-time class that it was configured with.
    pub(crate) realtime: bool,
}

impl Pools {
    pub(crate) fn new(default: Arc<PoolCore>, endpoints: Vec<LaneEndpoint>) -> Self {
        Self {
            default,
            others: PiMutex::new(Vec::new()),
            reply: ArcSwapOption::empty(),
            endpoints,
            listening: PiMutex::new(()),
            last_id: AtomicU32::new(DEFAULT_POOL),
            shut_down: AtomicBool::new(false),
            unserved: AtomicBool::new(false),
        }
    }

    /// Pool of the threads that call `Orb::run`.
    pub(crate) fn default_pool(&self) -> &Arc<PoolCore> {
        &self.default
    }

    pub(crate) fn default_lane(&self) -> &Arc<Lane> {
        &self.default.lanes[0]
    }

    /// All pools, the default one first.
    pub(crate) fn all(&self) -> Vec<Arc<PoolCore>> {
        let mut pools = vec![Arc::clone(&self.default)];
        pools.extend(self.others.lock().iter().cloned());
        pools
    }

    /// Pool with this id, unless it has been destroyed or is the default one.
    pub(crate) fn get(&self, id: u32) -> Option<Arc<PoolCore>> {
        let pools = self.others.lock();
        pools.iter().find(|pool| pool.info.id == id).cloned()
    }

    /// Lanes of the pool with this number.
    pub(crate) fn lanes_of(&self, id: u32) -> Vec<Arc<Lane>> {
        let pool = if id == DEFAULT_POOL {
            Some(Arc::clone(&self.default))
        } else {
            self.get(id)
        };
        pool.map_or_else(Vec::new, |pool| pool.lanes.clone())
    }

    /// Returns the lane whose thread does work for the adapters of a pool that no request waits for: the
    /// lowest of this pool, or of another one if it has no threads.
    pub(crate) fn lane_for_upkeep(&self, id: u32) -> Option<Arc<Lane>> {
        if id == DEFAULT_POOL && !unstarted_servers::has(&self.default.info) {
            return Some(Arc::clone(self.default_lane()));
        }
        let others = self.others.lock();
        let own = others.iter().find(|pool| pool.info.id == id);
        own.or(others.first())?.lanes.first().cloned()
    }

    /// Lets the lanes of all pools serve the requests that they hold.
    pub(crate) fn release_held(&self) {
        for pool in self.all() {
            pool.lanes.iter().for_each(|lane| lane.release_held());
        }
    }

    pub(crate) fn contain(&self, pool: &Arc<PoolCore>) -> bool {
        self.others.lock().iter().any(|other| Arc::ptr_eq(other, pool))
    }

    /// Returns the id of a pool in the making.
    pub(crate) fn new_id(&self) -> u32 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn add(&self, pool: &Arc<PoolCore>) {
        self.others.lock().push(Arc::clone(pool));
        // The ORB may have been shut down meanwhile.
        if self.are_shut_down() {
            pool.stop();
        }
    }

    pub(crate) fn remove(&self, pool: &Arc<PoolCore>) {
        self.others.lock().retain(|other| !Arc::ptr_eq(other, pool));
        let reply = self.reply.load();
        if reply.as_ref().is_some_and(|own| Arc::ptr_eq(own, pool)) {
            self.reply.store(None);
        }
    }

    /// Pool whose lanes read replies for threads that serve no lane.
    pub(crate) fn reply_pool(&self) -> arc_swap::Guard<Option<Arc<PoolCore>>> {
        self.reply.load()
    }

    pub(crate) fn set_reply_pool(&self, pool: &Arc<PoolCore>) {
        self.reply.store(Some(Arc::clone(pool)));
    }

    /// Endpoints beside those of the default pool for a lane of this name; none if no transport of them can
    /// listen, as in a client over TLS.
    pub(crate) fn endpoints_beside(&self, lane: &str) -> Vec<LaneEndpoint> {
        if !self.endpoints.iter().any(LaneEndpoint::can_listen) {
            return Vec::new();
        }
        self.endpoints
            .iter()
            .map(|endpoint| endpoint.for_lane(lane))
            .collect()
    }

    /// Opens the acceptors of the default pool, unless they are open.
    pub(crate) fn listen(&self) -> Result<(), OrbError> {
        // Threads that activate their first objects at the same time would take each other's endpoints for
        // those of another process.
        let _turn = self.listening.lock();
        self.default_lane().listen(&self.endpoints)?;
        let unserved = unstarted_servers::has(&self.default.info);
        self.unserved.store(unserved, Ordering::Relaxed);
        Ok(())
    }

    /// A thread serves the default pool from now on.
    pub(crate) fn start_default(&self) {
        let _turn = self.listening.lock();
        unstarted_servers::remove(&self.default.info);
        self.unserved.store(false, Ordering::Relaxed);
    }

    /// Returns whether the default pool has objects, and no thread has called `Orb::run`.
    #[inline]
    pub(crate) fn have_unserved_objects(&self) -> bool {
        self.unserved.load(Ordering::Relaxed)
    }

    /// Returns whether a lane of any pool listens at this address.
    pub(crate) fn listen_at(&self, tag: u32, address: &str) -> bool {
        let listens = |pool: &Arc<PoolCore>| pool.info.listens_at(tag, address);
        listens(&self.default) || self.others.lock().iter().any(listens)
    }

    /// Returns whether a lane of any pool listens at this address, or at another name of it on this host.
    pub(crate) fn are_reached_at(&self, tag: u32, address: &str) -> bool {
        let is_ours = |transport: &dyn Transport, own: &str| {
            transport.profile_tag() == tag && is_same_address(own, address)
        };
        self.all().iter().any(|pool| pool.info.is_reached_at(is_ours))
    }

    pub(crate) fn are_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::Relaxed)
    }

    /// Stops all pools. `false`: they had been stopped before.
    pub(crate) fn shut_down(&self) -> bool {
        if self.shut_down.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.default.stop();
        unstarted_servers::remove(&self.default.info);
        self.others.lock().iter().for_each(|pool| pool.stop());
        true
    }

    /// Waits for the threads of all pools. Must not be called by one of them.
    pub(crate) fn join(&self) {
        let pools = self.others.lock().clone();
        pools.iter().for_each(|pool| pool.join());
    }
}

impl PoolCore {
    /// Pool of the threads that call `Orb::run`: one lane without priority and without its own threads.
    pub(crate) fn default_pool(lane: Lane, endpoints: Vec<LaneEndpoint>) -> Self {
        let lanes = vec![Arc::new(lane)];
        let info = PoolInfo::new(DEFAULT_POOL, false, Priority::MAX, infos(&lanes), endpoints);
        Self {
            info: Arc::new(info),
            lanes,
            realtime: false,
        }
    }

    pub(crate) fn stop(&self) {
        self.lanes.iter().for_each(|lane| lane.stop());
    }

    /// Waits for the threads to end. Must not be called by one of them.
    pub(crate) fn join(&self) {
        self.lanes.iter().for_each(|lane| lane.join());
    }

    /// Returns the lane whose threads read the replies of callers of this priority: the lowest one that is
    /// not below it.
    pub(crate) fn lane_for_reply(&self, priority: Priority) -> Option<&Arc<Lane>> {
        self.lanes.iter().find(|lane| lane.waits_at() >= priority)
    }
}

/// Lanes as adapters know them.
pub(crate) fn infos(lanes: &[Arc<Lane>]) -> Vec<LaneInfo> {
    let info = |lane: &Arc<Lane>| LaneInfo {
        priority: lane.priority(),
        stack_bytes: lane.stack_bytes(),
        acceptors: Arc::clone(lane.acceptors()),
    };
    lanes.iter().map(info).collect()
}
