//! The parts of an ORB, and how they are put together, shut down and ended.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, OnceLock},
};

use punctual_inspect::{
    ContractState, InspectedAt, Inspection, Inspector, LaneSnapshot, SchedulerState, Shown, Snapshot,
};
use punctual_lane::{LaneConfig, LaneEndpoint, LaneMode, SocketOptions, ThreadsConfig};
use punctual_os::{PiMutex, Scheduling};
use punctual_transport::{Protection, Protocol, Transports};
use punctual_types::Priority;

use crate::{
    ExpiredRequests, InvalidPolicy, OrbError, QueueLimits,
    client::{ClientCore, ClientParts, ConnectionCache},
    config::{
        configuration::Configuration,
        initial_references::InitialReferences,
        settings::{MappingSetting, OrbSettings},
    },
    mutex::Mutexes,
    notice,
    poa_state::{core::PoaCore, defaults::PoaDefaults, etherealization::ObjectUpkeep, objects::Objects},
    pools::{
        info::{DEFAULT_POOL, check_protocols},
        lane::Lane,
        lane_data::LaneData,
        registry::{PoolCore, Pools},
        unstarted_servers,
    },
    server::{DeferredReplies, RequestDispatcher},
};

/// Parts of an ORB. Each part knows only those that it needs.
pub(crate) struct OrbCore {
    pub(crate) configuration: Arc<Configuration>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) client: Arc<ClientCore>,
    pub(crate) dispatcher: Arc<RequestDispatcher>,
    pub(crate) mutexes: Mutexes,
    pub(crate) poa_defaults: PiMutex<PoaDefaults>,
    pub(crate) root: Arc<PoaCore>,
    pub(crate) initial_references: InitialReferences,
    inspector: OnceLock<Inspector>,
    /// Schedulers that inspection shows beside the lanes.
    pub(crate) schedulers: Shown<SchedulerState>,
    pub(crate) contracts: Shown<ContractState>,
}

impl OrbCore {
    /// An ORB with these settings. Fails if the endpoint is malformed or taken.
    pub(crate) fn new(
        settings: OrbSettings,
        initial_references: InitialReferences,
    ) -> Result<Arc<Self>, OrbError> {
        let mut transports = Transports::standard();
        for transport in &settings.transports {
            transports.add(Arc::clone(transport));
        }
        let endpoints = default_endpoints(&transports, &settings)?;
        let inspector = open_inspector(settings.inspection.as_ref())?;
        let listens = !settings.listen.is_empty();
        let configuration = Arc::new(Configuration {
            mapping: match settings.mapping {
                MappingSetting::Standard(mapping) => {
                    mapping.over(Configuration::mapped_range(settings.class))
                }
                MappingSetting::Own(mapping) => mapping,
            },
            limits: settings.limits,
            network_mapping: settings.network_mapping,
            scheduling_class: settings.class,
            lock_memory: settings.lock_memory,
            transports,
            server_protocols: settings.server_protocols,
            bidirectional: settings.bidirectional,
            value_factories: settings.value_factories,
        });
        let lane = default_lane(&configuration, inspector.is_some())?;
        if listens {
            lane.listen(&endpoints)?;
        }
        let pool = Arc::new(PoolCore::default_pool(lane, endpoints.clone()));
        unstarted_servers::add(&pool.info);
        let root = PoaCore::root(Arc::clone(&pool.info), configuration.server_protocols.clone());
        let root = Arc::new(root);
        root.processing.manager.add(&root.processing.serving_pool);
        let pools = Arc::new(Pools::new(pool, endpoints));
        let objects = Arc::new(Objects::new(
            RandomState::new().build_hasher().finish(),
            &configuration.limits,
            settings.native_code_set,
        ));
        objects.set_root(&root);
        ObjectUpkeep::connect(&objects, &pools);
        let interceptors = Arc::new(settings.interceptors);
        let components = interceptors.establish_components(&root);
        let _ = root.ior_components.set(components);
        let parts = ClientParts {
            configuration: Arc::clone(&configuration),
            objects: Arc::clone(&objects),
            pools: Arc::clone(&pools),
            interceptors: Arc::clone(&interceptors),
        };
        let client = ClientCore::new(parts, settings.policies);
        let dispatcher = RequestDispatcher {
            configuration: Arc::clone(&configuration),
            objects: Arc::clone(&objects),
            interceptors,
            orb: client.context(),
        };
        let core = Arc::new(Self {
            configuration,
            objects,
            pools,
            client,
            dispatcher: Arc::new(dispatcher),
            mutexes: Mutexes::default(),
            poa_defaults: PiMutex::new(settings.poa_defaults),
            root,
            initial_references,
            inspector: inspector.map_or_else(OnceLock::new, OnceLock::from),
            schedulers: Shown::default(),
            contracts: Shown::default(),
        });
        core.start_inspector()?;
        Ok(core)
    }

    fn start_inspector(self: &Arc<Self>) -> Result<(), OrbError> {
        let Some(inspector) = self.inspector.get() else {
            return Ok(());
        };
        let weak = Arc::downgrade(self);
        let started = inspector.start(Box::new(move || Some(weak.upgrade()?.snapshot())));
        started.map_err(|source| OrbError::Thread {
            name: Inspector::THREAD.to_owned(),
            source,
        })
    }

    /// Scheduling of the threads of lanes by their CORBA priority.
    pub(crate) fn thread_scheduling(
        &self,
    ) -> impl Fn(Priority) -> Option<Scheduling> + Clone + Send + Sync + use<> {
        let configuration = Arc::clone(&self.configuration);
        move |priority| configuration.scheduling(configuration.scheduling_class, priority)
    }

    /// Counters of all lanes and of the client side.
    fn snapshot(&self) -> Snapshot {
        let pools = self.pools.all();
        let lanes = pools.iter().flat_map(|pool| {
            pool.lanes.iter().map(|lane| LaneSnapshot {
                pool: pool.info.id,
                name: lane.name().to_owned(),
                priority: lane.priority().map(Priority::value),
                scheduling: lane.scheduling(),
                realtime: pool.realtime,
                statistics: lane.statistics(),
                connections: lane.data.by_band.counts().collect(),
                times: lane.service_times().map(Into::into).unwrap_or_default(),
            })
        });
        let lanes = lanes.collect();
        let caches = pools
            .iter()
            .flat_map(|pool| &pool.lanes)
            .map(|lane| &lane.data.calls);
        let mut client_connections: Vec<(_, usize)> = Vec::new();
        for cache in caches.chain([&self.client.connections]) {
            for (counted, open) in cache.by_band.counts() {
                match client_connections.iter_mut().find(|(known, _)| *known == counted) {
                    Some((_, sum)) => *sum += open,
                    None => client_connections.push((counted, open)),
                }
            }
        }
        Snapshot {
            lanes,
            client_connections,
            late_replies: self.client.late_replies(),
            schedulers: self.schedulers.states(),
            contracts: self.contracts.states(),
        }
    }

    /// Whether requests are timed.
    pub(crate) fn is_inspected(&self) -> bool {
        self.inspector.get().is_some()
    }

    pub(crate) fn inspected_at(&self) -> Option<InspectedAt> {
        self.inspector.get().map(Inspector::place)
    }

    /// Opens the acceptors of the default pool if the adapter's objects are reached through it. Fails if the
    /// adapter's pool is that of a client that cannot listen.
    pub(crate) fn ensure_listening(&self, poa: &PoaCore) -> Result<(), OrbError> {
        if self.pools.are_shut_down() {
            return Err(OrbError::ShutDown);
        }
        if poa.is_destroyed() {
            return Err(OrbError::AdapterDestroyed);
        }
        let is_without_endpoints = || poa.pool.lanes.iter().all(|lane| lane.acceptors.is_empty());
        if poa.pool_id() == DEFAULT_POOL || is_without_endpoints() {
            self.pools.listen()
        } else {
            Ok(())
        }
    }

    /// Provides memory for held requests at the lanes of a pool.
    pub(crate) fn provide_held(&self, pool: u32, limits: QueueLimits) -> Result<(), OrbError> {
        for lane in self.pools.lanes_of(pool) {
            lane.provide_held(limits)?;
        }
        Ok(())
    }

    /// Lets the lanes of a pool serve the requests that they hold.
    pub(crate) fn release_held(&self, pool: u32) {
        self.pools
            .lanes_of(pool)
            .iter()
            .for_each(|lane| lane.release_held());
    }

    /// Removes a pool that no adapter uses.
    pub(crate) fn remove_pool(&self, pool: &Arc<PoolCore>) -> Result<(), OrbError> {
        let refuse = |users: Vec<String>| {
            if users.is_empty() {
                Ok(())
            } else {
                Err(OrbError::PoolInUse(users.join(", ")))
            }
        };
        let info = &pool.info;
        refuse(self.root.users(info))?;
        if info.set_destroyed(true) {
            return Err(OrbError::InvalidThreadPool);
        }
        // An adapter checks the mark when it enters the tree: either it has seen the mark, or it is found
        // here.
        refuse(self.root.users(info)).inspect_err(|_| {
            info.set_destroyed(false);
        })?;
        self.pools.remove(pool);
        Ok(())
    }

    pub(crate) fn shut_down(&self) {
        if !self.pools.shut_down() {
            return;
        }
        for poa in self.root.subtree() {
            poa.processing.manager.wake();
        }
        self.objects.quiescence.announce();
        if let Some(inspector) = self.inspector.get() {
            inspector.stop();
        }
    }

    /// Waits for the threads of all pools and drops all servants. Must not be called inside an upcall.
    pub(crate) fn end(&self) {
        self.pools.join();
        if let Some(inspector) = self.inspector.get() {
            inspector.join();
        }
        self.objects.clear();
    }
}

impl Drop for OrbCore {
    fn drop(&mut self) {
        // Servants are dropped in any case; servant activators learn of their end.
        self.objects.clear();
    }
}

fn default_lane(configuration: &Arc<Configuration>, records_service_times: bool) -> Result<Lane, OrbError> {
    let limits = &configuration.limits;
    let config = LaneConfig {
        name: String::from("default"),
        pool: DEFAULT_POOL,
        priority: None,
        waits_at: Priority::MIN,
        threads: ThreadsConfig::default(),
        mode: LaneMode::Polled,
        limits: configuration.lane_limits(),
        sockets: SocketOptions::default(),
        records_service_times,
    };
    let data = LaneData {
        calls: ConnectionCache::new(limits.max_client_connections),
        by_band: Arc::default(),
        expired_requests: ExpiredRequests::Serve,
        deferred: DeferredReplies::new(configuration),
    };
    Ok(Lane::new(config, data)?)
}

/// Opens the inspector that the builder requests, or else the environment, whose errors do not prevent the
/// start of the ORB.
fn open_inspector(settings: Option<&Inspection>) -> Result<Option<Inspector>, OrbError> {
    if let Some(settings) = settings {
        return Ok(Some(Inspector::open(settings)?));
    }
    let Some(settings) = Inspection::from_environment() else {
        return Ok(None);
    };
    let opened = settings.and_then(|settings| Inspector::open(&settings));
    Ok(opened.inspect_err(notice::not_inspected).ok())
}

/// Endpoints of the default pool: those that the user states, and otherwise one for each of the server's
/// protocols. By default that is IIOP, over TLS if the ORB requires it.
fn default_endpoints(transports: &Transports, settings: &OrbSettings) -> Result<Vec<LaneEndpoint>, OrbError> {
    let protocols = &settings.server_protocols;
    let mut endpoints = Vec::new();
    let invalid = |conflict| OrbError::InvalidPolicy {
        of: "the ORB".to_owned(),
        conflict,
    };
    for endpoint in &settings.listen {
        endpoints.push(endpoint.open_with(transports, protocols)?);
    }
    if settings.listen.is_empty() {
        let tls = transports.with_tag(Protocol::TLS.profile_tag);
        let default = match tls.and_then(|tls| tls.protection()) {
            Some(Protection {
                is_mandatory: true, ..
            }) => [Protocol::TLS],
            _ => [Protocol::IIOP],
        };
        let wanted = match protocols.protocols() {
            [] => &default[..],
            wanted => wanted,
        };
        for protocol in wanted {
            let transport = transports
                .with_tag(protocol.profile_tag)
                .ok_or_else(|| invalid(InvalidPolicy::ProtocolWithoutAcceptor))?;
            endpoints.push(LaneEndpoint::default_of(transport, protocol));
        }
    }
    let tags: Vec<_> = endpoints.iter().map(LaneEndpoint::profile_tag).collect();
    check_protocols(&tags, protocols).map_err(invalid)?;
    Ok(endpoints)
}
