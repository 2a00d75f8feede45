use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, Hasher, RandomState},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use punctual_cdr::{CdrError, Ior, TaggedComponent, TaggedProfile};
use punctual_giop::Profile;
use punctual_lane::{LaneConfig, LaneEndpoint, LaneMode, ThreadsConfig};
use punctual_os::{PiMutex, SchedulingClass, scheduling};
use punctual_poa::{ObjectKey, ObjectTable, SlotId, Slots};
use punctual_sched::{NetworkPriorityMapping, PriorityMapping};
use punctual_stub::{OrbContext, Servant, Target};
use punctual_transport::{AddressError, Protocol, ProtocolPolicy, Transports};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{
    ExpiredRequests, InvalidPolicy, Limits, OrbBuilder, OrbError, PriorityModel,
    client::{ConnectionCache, Endpoints, OrbPolicies, Reference},
    current,
    inspection::{InspectedAt, Inspection, Inspector},
    interceptors::Interceptors,
    lane::{Lane, LaneData},
    mutex::Mutexes,
    notice,
    object_ids::ObjectIds,
    poa::{PoaCore, with_priority::id_of_slot},
    poa_defaults::PoaDefaults,
    server::{ActiveObject, Demultiplexed},
    threadpool::PoolCore,
};

/// The pool of the threads that call `Orb::run`.
pub(crate) const DEFAULT_POOL: u32 = 0;

/// What lanes, references and adapters share of an ORB.
pub(crate) struct OrbCore {
    own: Weak<OrbCore>,
    /// Differs from every other ORB, earlier runs of this program included.
    boot: u64,
    pub(crate) limits: Limits,
    pub(crate) mapping: Box<dyn PriorityMapping>,
    pub(crate) network_mapping: Box<dyn NetworkPriorityMapping>,
    pub(crate) scheduling_class: SchedulingClass,
    pub(crate) lock_memory: bool,
    /// Of the ORB's scope.
    pub(crate) policies: OrbPolicies,
    /// Of calls that no lane's thread makes.
    pub(crate) connections: Arc<ConnectionCache>,
    pub(crate) transports: Transports,
    /// Where the default pool listens; lanes listen beside it.
    listen: Vec<LaneEndpoint>,
    listening: PiMutex<()>,
    pub(crate) server_protocols: ProtocolPolicy,
    pub(crate) endpoints: Endpoints,
    objects: ObjectTable<ActiveObject>,
    activation: PiMutex<Activation>,
    ids: ObjectIds,
    pub(crate) published: PiMutex<HashMap<Box<[u8]>, Arc<Ior>>>,
    /// Of all references that are made from now on.
    pub(crate) components: PiMutex<Vec<TaggedComponent>>,
    pub(crate) mutexes: Mutexes,
    pub(crate) poa_defaults: PiMutex<PoaDefaults>,
    pub(crate) interceptors: Interceptors,
    root: Arc<PoaCore>,
    default_pool: Arc<PoolCore>,
    /// Whose lanes read the replies of calls that share connections and that no lane's thread makes.
    pub(crate) reply_pool: ArcSwapOption<PoolCore>,
    pools: PiMutex<Vec<Arc<PoolCore>>>,
    /// Of the last pool that was made.
    last_pool: AtomicU32,
    shut_down: AtomicBool,
    /// Calls whose reply did not come in time.
    late_replies: AtomicU64,
    /// Where it is inspected.
    inspector: OnceLock<Inspector>,
}

/// The writing side of the object table. Never locked over user code.
struct Activation {
    slots: Slots,
    /// Slots of objects that were deactivated inside an upcall, which could not wait for the last request.
    dying: VecDeque<u32>,
}

impl Activation {
    /// Takes out one object that nobody is inside any more, if the next in turn is one.
    fn reclaim_next(&mut self, objects: &ObjectTable<ActiveObject>) -> Option<Arc<ActiveObject>> {
        let index = self.dying.pop_front()?;
        let dead = self.slots.reclaim(objects, index);
        if dead.is_none() {
            self.dying.push_back(index);
        }
        dead
    }
}

impl OrbCore {
    /// The core of an ORB with these settings. Fails where the endpoint is malformed or taken.
    pub(crate) fn new(settings: OrbBuilder) -> Result<Arc<Self>, OrbError> {
        let mut transports = Transports::standard();
        for transport in &settings.transports {
            transports.add(Arc::clone(transport));
        }
        let at_once = !settings.listen.is_empty();
        let listen = places(&transports, &settings)?;
        let name = String::from("default");
        let inspector = inspector(settings.inspection.as_ref())?;
        let config = LaneConfig {
            name,
            pool: DEFAULT_POOL,
            priority: None,
            waits_at: Priority::MIN,
            threads: ThreadsConfig::default(),
            mode: LaneMode::Polled,
            limits: settings.limits.of_lane(),
            records_service_times: inspector.is_some(),
        };
        let data = LaneData {
            calls: ConnectionCache::new(settings.limits.max_client_connections),
            by_band: Arc::default(),
            expired_requests: ExpiredRequests::Serve,
        };
        let lane = Lane::new(config, data)?;
        if at_once {
            lane.listen(&listen)?;
        }
        let (objects, slots) = ObjectTable::new();
        let pool = Arc::new(PoolCore::default_pool(lane));
        let root = Arc::new(PoaCore::root(
            Arc::clone(&pool),
            settings.server_protocols.clone(),
        ));
        let core = Arc::new_cyclic(|own| OrbCore {
            own: Weak::clone(own),
            boot: RandomState::new().build_hasher().finish(),
            connections: ConnectionCache::new(settings.limits.max_client_connections),
            policies: OrbPolicies::new(settings.policies),
            limits: settings.limits,
            mapping: settings.mapping.unwrap_or_else(|| {
                // Threads in the ordinary class have no priority to map to; calls carry the CORBA one all the same.
                let class = if settings.class == SchedulingClass::Other {
                    SchedulingClass::Fifo
                } else {
                    settings.class
                };
                settings.standard_mapping.over(scheduling::priority_range(class))
            }),
            network_mapping: settings.network_mapping,
            scheduling_class: settings.class,
            lock_memory: settings.lock_memory,
            transports,
            listen,
            listening: PiMutex::new(()),
            server_protocols: settings.server_protocols,
            endpoints: Endpoints::default(),
            objects,
            activation: PiMutex::new(Activation {
                slots,
                dying: VecDeque::new(),
            }),
            ids: ObjectIds::new(),
            published: PiMutex::new(HashMap::new()),
            components: PiMutex::new(Vec::new()),
            mutexes: Mutexes::default(),
            poa_defaults: PiMutex::new(settings.poa_defaults),
            interceptors: settings.interceptors,
            root,
            default_pool: pool,
            reply_pool: ArcSwapOption::empty(),
            pools: PiMutex::new(Vec::new()),
            last_pool: AtomicU32::new(DEFAULT_POOL),
            shut_down: AtomicBool::new(false),
            late_replies: AtomicU64::new(0),
            inspector: inspector.map_or_else(OnceLock::new, OnceLock::from),
        });
        if let Some(inspector) = core.inspector.get() {
            inspector.start(&core)?;
        }
        Ok(core)
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::Relaxed)
    }

    pub(crate) fn root_poa(&self) -> Arc<PoaCore> {
        Arc::clone(&self.root)
    }

    pub(crate) fn default_pool(&self) -> Arc<PoolCore> {
        Arc::clone(&self.default_pool)
    }

    pub(crate) fn default_lane(&self) -> &Arc<Lane> {
        &self.default_pool.lanes[0]
    }

    /// The default one first.
    pub(crate) fn all_pools(&self) -> Vec<Arc<PoolCore>> {
        let mut pools = vec![self.default_pool()];
        pools.extend(self.pools.lock().iter().cloned());
        pools
    }

    /// Whether requests are timed.
    pub(crate) fn is_inspected(&self) -> bool {
        self.inspector.get().is_some()
    }

    pub(crate) fn inspected_at(&self) -> Option<InspectedAt> {
        self.inspector.get().map(Inspector::place)
    }

    pub(crate) fn count_late_reply(&self) {
        self.late_replies.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn late_replies(&self) -> u64 {
        self.late_replies.load(Ordering::Relaxed)
    }

    pub(crate) fn add_pool(&self, pool: &Arc<PoolCore>) {
        self.pools.lock().push(Arc::clone(pool));
        // It may have been shut down meanwhile.
        if self.is_shut_down() {
            pool.stop();
        }
    }

    /// The id of a pool in the making.
    pub(crate) fn new_pool_id(&self) -> u32 {
        self.last_pool.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The pool with this id, unless it has been destroyed or is the default one.
    pub(crate) fn pool(&self, id: u32) -> Option<Arc<PoolCore>> {
        let pools = self.pools.lock();
        pools.iter().find(|pool| pool.id == id).cloned()
    }

    pub(crate) fn has_pool(&self, pool: &Arc<PoolCore>) -> bool {
        self.pools.lock().iter().any(|other| Arc::ptr_eq(other, pool))
    }

    pub(crate) fn forget_pool(&self, pool: &Arc<PoolCore>) {
        self.pools.lock().retain(|other| !Arc::ptr_eq(other, pool));
        if self
            .reply_pool
            .load()
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(own, pool))
        {
            self.reply_pool.store(None);
        }
    }

    /// A place as the user writes it.
    pub(crate) fn place(
        &self,
        endpoint: &str,
        published: Option<&str>,
    ) -> Result<LaneEndpoint, AddressError> {
        LaneEndpoint::parse(&self.transports, endpoint, published, &self.server_protocols)
    }

    /// Where a lane of this name listens, if nobody says where.
    pub(crate) fn listen_beside(&self, lane: &str) -> Vec<LaneEndpoint> {
        self.listen.iter().map(|place| place.for_lane(lane)).collect()
    }

    /// Fails where an adapter of this pool names a protocol over which not all lanes of the pool listen.
    pub(crate) fn check_server_protocols(
        &self,
        protocols: &ProtocolPolicy,
        pool: &PoolCore,
    ) -> Result<(), OrbError> {
        if pool.id == DEFAULT_POOL {
            // It may not listen yet.
            let tags: Vec<_> = self.listen.iter().map(LaneEndpoint::profile_tag).collect();
            return check_acceptors(&tags, protocols);
        }
        pool.lanes.iter().try_for_each(|lane| {
            let acceptors = lane.acceptors().iter();
            let tags: Vec<_> = acceptors
                .map(|acceptor| acceptor.transport.profile_tag())
                .collect();
            check_acceptors(&tags, protocols)
        })
    }

    /// Opens the acceptors of the default pool, unless they are open.
    pub(crate) fn listen(&self) -> Result<(), OrbError> {
        // Threads that activate their first objects at the same time would take each other's endpoints for a stranger's.
        let _turn = self.listening.lock();
        Ok(self.default_lane().listen(&self.listen)?)
    }

    /// Understands a profile; `None` where this ORB does not have its protocol.
    pub(crate) fn decode_profile(
        &self,
        profile: &TaggedProfile,
    ) -> Option<Result<Profile<String>, CdrError>> {
        let transport = self.transports.with_tag(profile.tag)?;
        Some(Profile::decode_with(profile, |decoder| {
            transport.decode_address(decoder)
        }))
    }

    /// Opens the acceptors of the default pool if the adapter's objects are reached through it.
    pub(crate) fn ensure_listening(&self, poa: &PoaCore) -> Result<(), OrbError> {
        if self.is_shut_down() {
            return Err(OrbError::ShutDown);
        }
        if poa.is_destroyed() {
            return Err(OrbError::AdapterDestroyed);
        }
        if poa.pool_id() == DEFAULT_POOL {
            self.listen()
        } else {
            Ok(())
        }
    }

    /// Whether the profile's object is one of this ORB's.
    pub(crate) fn owns(&self, profile: &Profile<String>) -> bool {
        match ObjectKey::parse(&profile.object_key) {
            None => false,
            Some(key) => match key.boot() {
                Some(boot) => boot == self.boot,
                None => self.listens_at(profile.tag, &profile.address),
            },
        }
    }

    fn listens_at(&self, tag: u32, address: &str) -> bool {
        let is_there = |pool: &Arc<PoolCore>| {
            let mut acceptors = pool.lanes.iter().flat_map(|lane| lane.acceptors());
            acceptors.any(|acceptor| acceptor.transport.profile_tag() == tag && acceptor.address() == address)
        };
        is_there(&self.default_pool) || self.pools.lock().iter().any(is_there)
    }

    /// Finds what an object key leads to. O(1); takes a lock only for keys that name their object, one of many.
    pub(crate) fn demultiplex(&self, key: &[u8]) -> Demultiplexed<'_> {
        let slot = match ObjectKey::parse(key) {
            Some(key) if key.boot().is_some_and(|boot| boot != self.boot) => None,
            Some(ObjectKey::Slot { slot, .. }) => Some(slot),
            Some(ObjectKey::Named { adapter, id }) => self.ids.get(adapter.path, id),
            None => {
                let published = self.published.lock().get(key).cloned();
                return published.map_or(Demultiplexed::Unknown, Demultiplexed::Published);
            }
        };
        slot.and_then(|slot| self.objects.enter(slot))
            .map_or(Demultiplexed::Unknown, Demultiplexed::Object)
    }

    pub(crate) fn activate(
        &self,
        id: Option<&[u8]>,
        poa: &Arc<PoaCore>,
        servant: Arc<dyn Servant>,
        priority: Option<Priority>,
    ) -> Result<Ior, OrbError> {
        self.bury();
        let mut ior = Ior::default();
        let components = self.components.lock().clone();
        let mut activation = self.activation.lock();
        if poa.is_destroyed() {
            return Err(OrbError::AdapterDestroyed);
        }
        let adapter = poa.adapter(self.boot);
        if id.is_some_and(|id| self.ids.get(adapter.path, id).is_some()) {
            return Err(OrbError::AlreadyActive);
        }
        let slot = activation.slots.activate(&self.objects, |slot| {
            let key = poa.object_key(self.boot, slot, id);
            ior = poa
                .reference(servant.repository_id(), key, poa.model(priority), &components)
                .map_err(OrbError::Reference)?;
            Ok::<_, OrbError>(Arc::new(ActiveObject {
                servant,
                model: poa.model(priority),
                transform: poa.transform(slot, id),
                poa: Arc::clone(poa),
                ior: ior.clone(),
            }))
        })?;
        let slot = slot.ok_or(OrbError::Full)?;
        if let Some(id) = id {
            self.ids.insert(adapter.path, id, slot);
        }
        Ok(ior)
    }

    /// The priority model of the object with this id in the adapter; `None` where it is not active.
    pub(crate) fn active_model(&self, poa: &PoaCore, id: &[u8]) -> Option<Option<PriorityModel>> {
        let slot = self.ids.get(poa.adapter(self.boot).path, id)?;
        self.objects.enter(slot).map(|object| object.model)
    }

    /// The id of the object with this key, where it is one of the adapter's.
    pub(crate) fn id_in(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Option<Vec<u8>> {
        match ObjectKey::parse(key)? {
            ObjectKey::Slot { boot, slot } => {
                let object = (boot == self.boot).then(|| self.objects.enter(slot))??;
                Arc::ptr_eq(&object.poa, poa).then(|| id_of_slot(slot).to_vec())
            }
            ObjectKey::Named { adapter, id } => (adapter == poa.adapter(self.boot)).then(|| id.to_vec()),
        }
    }

    /// A reference to the object with this id, whether it is active or not.
    pub(crate) fn reference(
        &self,
        poa: &PoaCore,
        repository_id: &str,
        id: &[u8],
        priority: Option<Priority>,
    ) -> Result<Ior, OrbError> {
        let adapter = poa.adapter(self.boot);
        let key = ObjectKey::Named { adapter, id }.to_octets();
        poa.reference(repository_id, key, poa.model(priority), &self.components.lock())
            .map_err(OrbError::Reference)
    }

    pub(crate) fn deactivate(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Result<(), OrbError> {
        let slot = self.forget(poa, key).ok_or(OrbError::NotActive)?;
        if current::is_in_upcall() {
            self.activation.lock().dying.push_back(slot.index);
            self.bury();
            return Ok(());
        }
        self.bury();
        loop {
            let dead = self.activation.lock().slots.reclaim(&self.objects, slot.index);
            // Dropped here, outside the lock: the servant's destructor is user code.
            if dead.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Deactivates the objects of an adapter and of those below it, as [`Self::deactivate`] does, and lets go of them.
    pub(crate) fn destroy(&self, poa: &Arc<PoaCore>) {
        for child in poa.close() {
            self.destroy(&child);
        }
        for key in self.keys_of(poa) {
            // Somebody else may have been faster.
            let _ = self.deactivate(poa, &key);
        }
        self.root.remove_below(poa);
    }

    fn keys_of(&self, poa: &Arc<PoaCore>) -> Vec<Vec<u8>> {
        // Whoever activates an object from now on sees that the adapter is closed.
        let activation = self.activation.lock();
        let key = |object: &ActiveObject| {
            let mut profiles = object.ior.profiles.iter();
            let profile = profiles.find_map(|profile| self.decode_profile(profile)?.ok());
            profile.map(|profile| profile.object_key)
        };
        let active = activation.slots.active(&self.objects);
        active
            .filter_map(|slot| self.objects.enter(slot))
            .filter(|object| Arc::ptr_eq(&object.poa, poa))
            .filter_map(|object| key(&object))
            .collect()
    }

    /// Lets no further request in.
    fn forget(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Option<SlotId> {
        let mut activation = self.activation.lock();
        let slot = match ObjectKey::parse(key)? {
            ObjectKey::Slot { boot, slot } => (boot == self.boot).then_some(slot)?,
            ObjectKey::Named { adapter, id } => self.ids.get(adapter.path, id)?,
        };
        if !Arc::ptr_eq(&self.objects.enter(slot)?.poa, poa)
            || !activation.slots.deactivate(&self.objects, slot)
        {
            return None;
        }
        if let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key) {
            self.ids.remove(adapter.path, id);
            poa.forget(id);
        }
        Some(slot)
    }

    /// Drops the servants of objects that were deactivated inside upcalls, as far as nobody is inside them any more.
    ///
    /// Inside an upcall, which somebody waits for, only as many as keep them from becoming more and more: there may be a server
    /// that activates nowhere else.
    fn bury(&self) {
        let at_most = if current::is_in_upcall() { 2 } else { usize::MAX };
        let looks = self.activation.lock().dying.len().min(at_most);
        for _ in 0..looks {
            let dead = self.activation.lock().reclaim_next(&self.objects);
            // Outside the lock: the servant's destructor is user code.
            drop(dead);
        }
    }

    pub(crate) fn shut_down(&self) {
        if !self.shut_down.swap(true, Ordering::AcqRel) {
            self.default_pool.stop();
            self.pools.lock().iter().for_each(|pool| pool.stop());
            if let Some(inspector) = self.inspector.get() {
                inspector.stop();
            }
        }
    }

    /// Waits for the threads of all pools and drops all servants. Not inside an upcall.
    pub(crate) fn end(&self) {
        let pools = self.pools.lock().clone();
        pools.iter().for_each(|pool| pool.join());
        if let Some(inspector) = self.inspector.get() {
            inspector.join();
        }
        let dead = self.activation.lock().slots.clear(&self.objects);
        drop(dead);
    }
}

impl punctual_stub::Orb for OrbCore {
    fn bind(&self, ior: Ior) -> Result<Arc<dyn Target>, SystemException> {
        let gone = || {
            let minor = Minor::OMG_ORB_SHUT_DOWN;
            SystemException::new(SystemExceptionKind::BadInvOrder, minor, Completion::No)
        };
        let core = self.own.upgrade().ok_or_else(gone)?;
        Ok(Reference::new(&core, ior)?)
    }
}

/// The ORB as references and decoders carry it.
pub(crate) fn context_of(core: &Arc<OrbCore>) -> OrbContext {
    OrbContext(Arc::clone(core) as Arc<dyn punctual_stub::Orb>)
}

/// What the builder asks for, or else the environment, which keeps no ORB from starting.
fn inspector(settings: Option<&Inspection>) -> Result<Option<Inspector>, OrbError> {
    if let Some(settings) = settings {
        return Inspector::open(settings).map(Some);
    }
    let Some(settings) = Inspection::from_environment() else {
        return Ok(None);
    };
    Ok(Inspector::open(&settings).inspect_err(notice::not_inspected).ok())
}

/// Where the default pool listens: where the user says, and otherwise over each of the server's protocols.
fn places(transports: &Transports, settings: &OrbBuilder) -> Result<Vec<LaneEndpoint>, OrbError> {
    let protocols = &settings.server_protocols;
    let mut places = Vec::new();
    for (endpoint, published) in &settings.listen {
        places.push(LaneEndpoint::parse(
            transports,
            endpoint,
            published.as_deref(),
            protocols,
        )?);
    }
    for (place, highest) in &settings.highest_at {
        places[*place].highest_priority = *highest;
    }
    if settings.listen.is_empty() {
        let default = [Protocol::IIOP];
        let wanted = match protocols.protocols() {
            [] => &default[..],
            wanted => wanted,
        };
        for protocol in wanted {
            let transport = transports
                .with_tag(protocol.profile_tag)
                .ok_or(InvalidPolicy::ProtocolWithoutAcceptor)?;
            places.push(LaneEndpoint::default_of(transport, protocol));
        }
    }
    let tags: Vec<_> = places.iter().map(LaneEndpoint::profile_tag).collect();
    check_acceptors(&tags, protocols)?;
    Ok(places)
}

/// Every protocol that references are to name needs a place to listen at.
fn check_acceptors(listening: &[u32], protocols: &ProtocolPolicy) -> Result<(), OrbError> {
    if protocols.tags().iter().all(|tag| listening.contains(tag)) {
        Ok(())
    } else {
        Err(InvalidPolicy::ProtocolWithoutAcceptor.into())
    }
}
