//! The builder of an adapter: its policies, checked when it is built.

use std::{any::Any, sync::Arc};

use punctual_poa::{IdAssignment, Lifespan};
use punctual_sched::PriorityTransform;
use punctual_stub::{Servant, UserPolicies};
use punctual_transport::ProtocolPolicy;
use punctual_types::{Priority, PriorityBand};

use super::{Poa, bound::Bound, notices};
use crate::{
    AnyServant, InvalidPolicy, OnExcess, OrbError, Peers, PoaManager, PriorityModel, QueueLimits,
    ServantActivator, ServantLocator, ThreadPool,
    config::limits::checked_queue_limits,
    orb_core::OrbCore,
    poa_state::{
        adapter_policies::PoaPolicies,
        core::PoaCore,
        default_servant::DefaultServant,
        defaults::PoaDefaults,
        manager::ManagerCore,
        request_processing::{RequestProcessing, ServantSource},
    },
    pools::{
        accepted_priorities::AcceptedPriorities,
        info::{DEFAULT_POOL, PoolInfo},
    },
};

/// Builder of a [`Poa`], from [`Poa::child`].
///
/// It sets the policies of `PortableServer` and `RTPortableServer`. IdUniquenessPolicy and
/// ImplicitActivationPolicy have no setting: [`Poa::object`] takes a servant by value (UNIQUE_ID) or as an
/// [`AnyServant`] (MULTIPLE_ID), and nothing is activated implicitly.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{OnExcess, Orb, Priority, PriorityModel};
///
/// let orb = Orb::builder().build()?;
/// let (low, high) = (Priority::MIN, Priority::new(20_000)?);
/// let pool = orb.threadpool().lane(low, 1).lane(high, 1).build()?;
/// let poa = orb
///     .root_poa()
///     .child("tracks")
///     .threadpool(&pool)
///     .priority_model(PriorityModel::ClientPropagated { default: low })
///     .highest_priority(high)
///     .on_excess(OnExcess::Clamp)
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PoaBuilder {
    parent: Poa,
    name: String,
    policies: PoaDefaults,
    lifespan: Lifespan,
    ids: IdAssignment,
    redispatch: Option<QueueLimits>,
    server_protocols: ProtocolPolicy,
    client_protocols: ProtocolPolicy,
    processing: Processing,
    user_policies: UserPolicies,
}

/// Settings for the processing of requests.
#[derive(Default)]
struct Processing {
    manager: Option<Arc<ManagerCore>>,
    single_thread: bool,
    source: Source,
}

impl Processing {
    /// Returns the settings for an adapter that uses this pool, and its source of servants.
    fn of_pool(self, pool: u32) -> (RequestProcessing, Source) {
        let mut processing = RequestProcessing::new(pool, self.manager.unwrap_or_else(ManagerCore::new));
        processing.retains = !matches!(self.source, Source::OnlyDefaultServant(_) | Source::Locator(_));
        processing.single_thread = self.single_thread.then(Arc::default);
        (processing, self.source)
    }
}

/// Source of servants: RequestProcessingPolicy and ServantRetentionPolicy.
#[derive(Default)]
enum Source {
    #[default]
    ActiveObjects,
    DefaultServant(AnyServant),
    OnlyDefaultServant(AnyServant),
    Activator(Arc<dyn ServantActivator>),
    Locator(Arc<dyn ServantLocator>),
}

impl PoaBuilder {
    pub(super) fn new(parent: Poa, name: &str) -> Self {
        Self {
            parent,
            name: name.to_owned(),
            policies: PoaDefaults::default(),
            lifespan: Lifespan::default(),
            ids: IdAssignment::default(),
            redispatch: None,
            server_protocols: ProtocolPolicy::default(),
            client_protocols: ProtocolPolicy::default(),
            processing: Processing::default(),
            user_policies: UserPolicies::default(),
        }
    }

    /// Sets the thread pool of the adapter's objects. Default: the ORB's default pool; if none is set, the
    /// threads that call `Orb::run`.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().build()?;
    /// let poa = orb.root_poa().child("numbers").threadpool(&pool).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    ///
    /// let client = Orb::builder().build()?;
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// doubler.twice(3)?;
    /// let (_, lane) = pool.statistics()[0];
    /// assert_eq!(lane.requests, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threadpool(mut self, pool: &ThreadPool) -> Self {
        self.policies.pool = Some(Arc::clone(&pool.core.info));
        self
    }

    /// Sets the priority model, which determines the priority of requests. Default: the ORB's, else none, in
    /// which case requests run at the priority of the pool. A pool with lanes requires a model.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, OrbError, PriorityModel};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
    /// let poa = |name: &str| orb.root_poa().child(name).threadpool(&pool);
    /// assert!(matches!(poa("none").build(), Err(OrbError::InvalidPolicy { .. })));
    /// poa("declared").priority_model(PriorityModel::ServerDeclared(Priority::MAX)).build()?;
    /// // No lane has this priority.
    /// let between = PriorityModel::ServerDeclared(Priority::new(100)?);
    /// let undeclared = poa("between").priority_model(between).build();
    /// assert!(matches!(undeclared, Err(OrbError::InvalidPolicy { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_model(mut self, model: PriorityModel) -> Self {
        self.policies.model = Some(model);
        self
    }

    /// Divides the priorities into bands, each with its own connections:
    /// `RTCORBA::PriorityBandedConnectionPolicy`.
    ///
    /// References state the bands, and clients use the band that contains their priority. With lanes,
    /// a request goes to a lane whose priority is in its band: the lane of its own priority, else the most
    /// urgent one below it, else the first one. Default: the ORB's, else none.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{InvalidPolicy, Orb, OrbError, PriorityModel};
    /// use punctual::{Priority, PriorityBand};
    ///
    /// let orb = Orb::builder().build()?;
    /// let middle = Priority::new(16_000)?;
    /// let pool = orb.threadpool().lane(middle, 1).lane(Priority::MAX, 1).build()?;
    /// let upper = PriorityBand::new(Priority::new(16_001)?, Priority::MAX);
    /// let bands = [PriorityBand::new(Priority::MIN, middle), upper];
    /// let poa = |name: &str| {
    ///     let model = PriorityModel::ClientPropagated { default: middle };
    ///     orb.root_poa().child(name).threadpool(&pool).priority_model(model)
    /// };
    /// poa("banded").priority_bands(bands).build()?;
    /// // No lane would serve the lower one.
    /// let low = PriorityBand::new(Priority::MIN, Priority::new(100)?);
    /// let error = poa("low").priority_bands([low, upper]).build().err().expect("no lane");
    /// let OrbError::InvalidPolicy { conflict, .. } = error else { panic!("{error}") };
    /// let InvalidPolicy::BandWithoutLane(band) = conflict else { panic!("{conflict}") };
    /// assert_eq!(band, low);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_bands(mut self, bands: impl IntoIterator<Item = PriorityBand>) -> Self {
        self.policies.bands = Some(bands.into_iter().collect());
        self
    }

    /// Sets a function that changes the priorities that arrive with requests, and those that leave with calls
    /// of its servants. Default: the ORB's, else none.
    ///
    /// Only propagated priorities of clients are changed on arrival, after the check against the highest
    /// accepted priority. If the transform refuses, the request or call fails with INTERNAL.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_sched::*, punctual_types::*}; }
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, PriorityModel};
    /// use punctual::{Priority, PriorityTransform, SystemExceptionKind};
    ///
    /// /// Only objects whose ids begin with `fast` may be called at priorities above 100.
    /// struct Gate;
    ///
    /// impl PriorityTransform for Gate {
    ///     fn inbound(&self, priority: Priority, id: &[u8]) -> Option<Priority> {
    ///         (priority.value() <= 100 || id.starts_with(b"fast")).then_some(priority)
    ///     }
    ///
    ///     fn outbound(&self, priority: Priority, _id: &[u8]) -> Option<Priority> {
    ///         Some(priority)
    ///     }
    /// }
    ///
    /// let orb = Orb::builder().build()?;
    /// let poa = orb
    ///     .root_poa()
    ///     .child("numbers")
    ///     .user_ids()
    ///     .priority_model(PriorityModel::ClientPropagated { default: Priority::MIN })
    ///     .highest_priority(Priority::MAX)
    ///     .priority_transform(Gate)
    ///     .build()?;
    /// let fast: DoublerRef = poa.object(Doubler).id("fast doubler").activate()?;
    /// let slow: DoublerRef = poa.object(Doubler).id("doubler").activate()?;
    /// orb.current().set_priority(Priority::MAX)?;
    /// assert_eq!(fast.twice(3)?, 6);
    /// assert_eq!(slow.twice(3).unwrap_err().kind, SystemExceptionKind::Internal);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_transform(mut self, transform: impl PriorityTransform + 'static) -> Self {
        self.policies.transform = Some(Arc::new(transform));
        self
    }

    /// Adds a policy of a user-defined type, which interceptors read
    /// ([`IorInfo::policy`](crate::interceptors::IorInfo::policy),
    /// [`ServerRequestInfo::policy`](crate::interceptors::ServerRequestInfo::policy)). It replaces a policy
    /// of the same type.
    pub fn policy(mut self, policy: impl Any + Send + Sync) -> Self {
        self.user_policies.set(policy);
        self
    }

    /// Sets the highest priority that these peers may propagate. The first rule of the adapter that includes
    /// a peer applies, then those of the ORB, then [`Self::highest_priority`]. [`Peers`] has an example.
    pub fn accept_priorities(mut self, peers: Peers, up_to: Priority) -> Self {
        self.policies.accepted.push((peers, up_to));
        self
    }

    /// Sets the highest priority that a client may propagate; [`OnExcess`] has an example. Calls within the
    /// ORB are not checked.
    ///
    /// Default: the ORB's, else the highest priority in the server's configuration: that of the bands, else
    /// of the lanes, else of the pool's `default_priority` and the model's default. If that would be 0, an
    /// adapter with the client-propagated model requires this setting or [`Self::accept_priorities`].
    pub fn highest_priority(mut self, priority: Priority) -> Self {
        self.policies.highest_accepted = Some(priority);
        self
    }

    /// Sets the action on requests above the highest accepted priority. Default: the ORB's, else they are
    /// refused. [`OnExcess`] has an example.
    pub fn on_excess(mut self, action: OnExcess) -> Self {
        self.policies.on_excess = Some(action);
        self
    }

    /// Redispatches requests that arrive at the wrong lane to the right one, as long as they fit into its
    /// queue under these limits.
    ///
    /// A lane is wrong for a request if its priority differs from the propagated priority (within
    /// [`Self::highest_priority`], so a forged priority gains nothing) or from the declared one. Without this
    /// setting, and if the queue is full, such requests run in the lane at which they arrived, at its
    /// priority; [`crate::LaneStatistics::misdirected`] counts them in any case. Each redispatched request
    /// costs a copy and a wake-up of a thread in the other lane, by an additional `eventfd`. Lanes that wait
    /// in [`crate::LaneWait::Blocking`] do not redispatch.
    ///
    /// An invalid limit fails in [`Self::build`] with [`OrbError::QueueWithoutRoom`].
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::{Orb, OrbError, PriorityModel, QueueLimits};
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
    /// let limits = QueueLimits { requests: 16, octets: 64 << 10 };
    /// let poa = orb
    ///     .root_poa()
    ///     .child("tracks")
    ///     .threadpool(&pool)
    ///     .priority_model(PriorityModel::ClientPropagated { default: Priority::MAX })
    ///     .redispatch(limits)
    ///     .build()?;
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn redispatch(mut self, limits: QueueLimits) -> Self {
        self.redispatch = Some(limits);
        self
    }

    /// Sets `RTCORBA::ServerProtocolPolicy` (42): the protocols that the adapter's references name, in order
    /// of preference. Default: the ORB's.
    ///
    /// The properties of connections are set on the ORB; see `OrbBuilder::server_protocols`.
    ///
    /// ```
    /// # use punctual_giop as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// # use punctual_stub::Interface;
    /// use punctual::{Protocol, ProtocolPolicy};
    ///
    /// let orb = Orb::builder().listen("iiop://localhost").listen("uiop://").build()?;
    /// let local = ProtocolPolicy::new([Protocol::UIOP]);
    /// let poa = orb.root_poa().child("local").server_protocols(local).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    /// let profiles = &doubler.as_object().ior().profiles;
    /// assert_eq!((profiles.len(), profiles[0].tag), (1, Protocol::UIOP.profile_tag));
    ///
    /// let unknown = ProtocolPolicy::new([Protocol::tagged(77)]);
    /// let poa = orb.root_poa().child("unknown").server_protocols(unknown).build();
    /// assert!(matches!(poa, Err(OrbError::InvalidPolicy { .. })), "nothing listens for it");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn server_protocols(mut self, protocols: ProtocolPolicy) -> Self {
        self.server_protocols = protocols;
        self
    }

    /// Sets `RTCORBA::ClientProtocolPolicy` (43), which references state to clients: the protocols that they
    /// may use, in order of preference. Default: none, so clients choose. A client that sets such a policy
    /// itself receives INV_POLICY.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_giop::*, punctual_types::*}; }
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// use punctual::{Protocol, ProtocolPolicy, SystemExceptionKind};
    ///
    /// let server = Orb::builder().listen("iiop://localhost").build()?;
    /// let tcp = ProtocolPolicy::new([Protocol::IIOP]);
    /// let poa = server.root_poa().child("tcp").client_protocols(tcp.clone()).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    /// let client = Orb::builder().client_protocols(tcp).build()?;
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// assert_eq!(doubler.twice(3).unwrap_err().kind, SystemExceptionKind::InvPolicy);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn client_protocols(mut self, protocols: ProtocolPolicy) -> Self {
        self.client_protocols = protocols;
        self
    }

    /// Makes the adapter's objects persistent: the same adapter name and object id refer to them after a
    /// restart of the ORB.
    ///
    /// References remain valid only if the addresses remain the same: give the pool of the adapter a fixed
    /// address with [`ThreadPoolBuilder::listen`](crate::ThreadPoolBuilder::listen), or use the ORB's default
    /// pool and [`OrbBuilder::listen`](crate::OrbBuilder::listen) with a port.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").persistent().user_ids().build()?;
    /// let doubler: DoublerRef = poa.object(Doubler).id("doubler").activate()?;
    /// assert_eq!(doubler.twice(3)?, 6);
    /// // An id that the ORB chooses would not be the same in the next run.
    /// let names = orb.root_poa().child("names").persistent().build();
    /// assert!(matches!(names, Err(OrbError::InvalidPolicy { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn persistent(mut self) -> Self {
        self.lifespan = Lifespan::Persistent;
        self
    }

    /// Lets the user choose the ids of the adapter's objects.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let poa = orb.root_poa().child("numbers").user_ids().build()?;
    /// assert!(poa.object(Doubler).id([0, 1, 2]).activate::<DoublerRef>().is_ok());
    /// assert!(matches!(poa.activate::<DoublerRef, _>(Doubler), Err(OrbError::WrongPolicy(_))));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn user_ids(mut self) -> Self {
        self.ids = IdAssignment::User;
        self
    }

    /// Sets a manager shared with other adapters of this ORB. Default: a manager of its own, which is active.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let first = orb.root_poa().child("first").build()?;
    /// let second = orb.root_poa().child("second").manager(&first.manager()).build()?;
    /// first.manager().discard()?;
    /// assert_eq!(second.manager().state(), first.manager().state());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn manager(mut self, manager: &PoaManager) -> Self {
        self.processing.manager = Some(Arc::clone(&manager.core));
        self
    }

    /// Executes the adapter's requests one after the other, however many threads its pool has: ThreadPolicy
    /// SINGLE_THREAD_MODEL. A servant may still call objects of the adapter in the same ORB. Default:
    /// ORB_CTRL_MODEL.
    ///
    /// Threads wait for each other on a lock that inherits priority. For MAIN_THREAD_MODEL, use the ORB's
    /// default pool and call `Orb::run` on the main thread only.
    pub fn single_thread(mut self) -> Self {
        self.processing.single_thread = true;
        self
    }

    /// Sets a servant for all objects that are not active: RequestProcessingPolicy USE_DEFAULT_SERVANT with
    /// ServantRetentionPolicy RETAIN. The servant reads the id of the object from `Current::object_id`. It
    /// replaces another default servant, or a servant manager.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{AnyServant, Orb};
    /// let orb = Orb::builder().build()?;
    /// let servant = AnyServant::new::<DoublerRef, _>(Doubler);
    /// let poa = orb.root_poa().child("files").user_ids().default_servant(servant).build()?;
    /// let file: DoublerRef = poa.reference().id("/etc/hosts").create()?;
    /// assert_eq!(file.twice(4).unwrap(), 8);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn default_servant(mut self, servant: AnyServant) -> Self {
        self.processing.source = Source::DefaultServant(servant);
        self
    }

    /// Sets a servant for all objects: USE_DEFAULT_SERVANT with NON_RETAIN. Like [`Self::default_servant`],
    /// but the adapter has no active objects: activating and deactivating an object is refused.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{AnyServant, Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// let servant = AnyServant::new::<DoublerRef, _>(Doubler);
    /// let poa = orb.root_poa().child("rows").user_ids().only_default_servant(servant).build()?;
    /// let row: DoublerRef = poa.reference().id("17").create()?;
    /// assert_eq!(row.twice(4).unwrap(), 8);
    /// let activated = poa.object(Doubler).id("18").activate::<DoublerRef>();
    /// assert!(matches!(activated, Err(OrbError::WrongPolicy(_))));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn only_default_servant(mut self, servant: AnyServant) -> Self {
        self.processing.source = Source::OnlyDefaultServant(servant);
        self
    }

    /// Sets an activator, which activates objects when they are first called: USE_SERVANT_MANAGER with
    /// RETAIN. It replaces a default servant or locator.
    pub fn servant_activator(mut self, activator: impl ServantActivator) -> Self {
        self.processing.source = Source::Activator(Arc::new(activator));
        self
    }

    /// Sets a locator, which finds a servant for each request: USE_SERVANT_MANAGER with NON_RETAIN. It
    /// replaces a default servant or activator; the adapter has no active objects.
    pub fn servant_locator(mut self, locator: impl ServantLocator) -> Self {
        self.processing.source = Source::Locator(Arc::new(locator));
        self
    }

    /// Creates the adapter. Fails if the name is taken, empty or too long, or if policies contradict each
    /// other.
    ///
    /// Source: Real-time CORBA 1.2, the rules for policies in `create_POA` as TAO checks them, for the
    /// policies that exist here.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let orb = Orb::builder().build()?;
    /// assert!(orb.root_poa().child("radar").build().is_ok());
    /// assert_eq!(orb.root_poa().child("radar/north").build()?.name(), "radar/north");
    /// let nameless = orb.root_poa().child("").build();
    /// assert!(matches!(nameless, Err(OrbError::AdapterName(_))));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn build(self) -> Result<Poa, OrbError> {
        let orb = self.parent.orb;
        let invalid = |conflict| OrbError::InvalidPolicy {
            of: format!("adapter `{}`", self.name),
            conflict,
        };
        let defaults = orb.poa_defaults.lock().clone();
        let pool = self.policies.pool.or(defaults.pool);
        let pool = pool.unwrap_or_else(|| Arc::clone(&orb.pools.default_pool().info));
        let model = self.policies.model.or(defaults.model);
        let bands = self.policies.bands.or(defaults.bands);
        let lanes: Vec<_> = pool.priorities().collect();
        InvalidPolicy::check(model, bands.as_deref(), pool.with_lanes.then_some(&lanes)).map_err(invalid)?;
        if self.lifespan == Lifespan::Persistent && self.ids == IdAssignment::System {
            return Err(invalid(InvalidPolicy::PersistentSystemIds));
        }
        let redispatch = self.redispatch.map(checked_queue_limits).transpose()?;
        pool.check_protocols(&self.server_protocols).map_err(invalid)?;
        let server_protocols = if self.server_protocols.protocols().is_empty() {
            orb.configuration.server_protocols.clone()
        } else {
            self.server_protocols
        };
        if let Some(priority) = model.map(PriorityModel::server_priority)
            && orb.configuration.mapping.to_native(priority).is_none()
        {
            return Err(OrbError::PriorityUnmappable(priority));
        }
        let bands = bands.unwrap_or_default();
        let mut rules = self.policies.accepted;
        rules.extend(defaults.accepted);
        let explicit = self.policies.highest_accepted.or(defaults.highest_accepted);
        let others = explicit.unwrap_or_else(|| highest_named(model, &bands, &pool));
        let nothing_accepted = explicit.is_none() && rules.is_empty() && others == Priority::MIN;
        if nothing_accepted
            && !pool.with_lanes
            && bands.is_empty()
            && matches!(model, Some(PriorityModel::ClientPropagated { .. }))
        {
            return Err(invalid(InvalidPolicy::NothingAccepted));
        }
        let accepted = AcceptedPriorities {
            rules,
            others,
            on_excess: self.policies.on_excess.or(defaults.on_excess).unwrap_or_default(),
        };
        let policies = Arc::new(PoaPolicies {
            lifespan: self.lifespan,
            ids: self.ids,
            model,
            bands,
            accepted,
            transform: self.policies.transform.or(defaults.transform),
            redispatch,
            server_protocols,
            client_protocols: self.client_protocols,
            user: self.user_policies,
        });
        pool.add_policies(&policies);
        let (processing, source) = self.processing.of_pool(pool.id);
        let core = self
            .parent
            .core
            .add_child(&self.name, |path| PoaCore::new(path, policies, pool, processing))?;
        let interceptors = &orb.dispatcher.interceptors;
        let components = interceptors.establish_components(&core);
        let _ = core.ior_components.set(components);
        notices::unless_priority_set(&core);
        notices::unless_default_served(&core);
        notices::unless_port_fixed(&core);
        if let Some(limits) = redispatch
            && core.pool.with_lanes
            && let Some(pool) = orb.pools.get(core.pool.id)
        {
            pool.lanes.iter().for_each(|lane| lane.provide_queue(limits));
        }
        install(source, &orb, &core).inspect_err(|_| orb.objects.destroy(&orb.root, &core))?;
        Ok(Poa { orb, core })
    }
}

/// Sets the manager and the source of servants of an adapter.
fn install(source: Source, orb: &Arc<OrbCore>, core: &Arc<PoaCore>) -> Result<(), OrbError> {
    core.processing.manager.add(&core.processing.serving_pool);
    if let Some(limits) = core.processing.manager.holds() {
        orb.provide_held(core.pool_id(), limits)?;
    }
    let stand_in: Arc<dyn Servant> = match source {
        Source::ActiveObjects => return Ok(()),
        Source::Activator(activator) => {
            let limits = checked_queue_limits(orb.objects.held_while_ending)?;
            orb.provide_held(core.pool_id(), limits)?;
            let activator = Arc::new(Bound::new(activator, orb, core));
            core.processing
                .source
                .get_or_init(|| ServantSource::Activator(activator));
            orb.objects.manage(core);
            return Ok(());
        }
        Source::DefaultServant(any) | Source::OnlyDefaultServant(any) => {
            let AnyServant {
                servant,
                values_on_stack,
            } = any;
            core.pool.check_stacks(servant.repository_id(), values_on_stack)?;
            Arc::new(DefaultServant(servant))
        }
        Source::Locator(locator) => Arc::new(Bound::new(locator, orb, core)),
    };
    orb.ensure_listening(core)?;
    let slot = orb.objects.activate_stand_in(core, stand_in)?;
    core.processing
        .source
        .get_or_init(|| ServantSource::StandIn(slot));
    orb.objects.manage(core);
    Ok(())
}

/// Returns the highest priority in the configuration of an adapter, as an estimate of the priorities of its
/// requests.
fn highest_named(model: Option<PriorityModel>, bands: &[PriorityBand], pool: &PoolInfo) -> Priority {
    if let Some(highest) = bands.iter().map(|band| band.high).max() {
        return highest;
    }
    if pool.with_lanes {
        return pool.highest;
    }
    let default = (pool.id != DEFAULT_POOL).then_some(pool.highest);
    default
        .max(model.map(PriorityModel::server_priority))
        .unwrap_or_default()
}
