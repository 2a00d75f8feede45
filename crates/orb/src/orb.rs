use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use punctual_cdr::Ior;
use punctual_giop::{IiopAddress, IiopProfile, ObjectUrl, Version};
use punctual_os::{PiMutex, SchedulingClass, scheduling};
use punctual_poa::{IdMap, ObjectKey, ObjectTable, SlotId, Slots};
use punctual_sched::{LinearMapping, PriorityMapping};
use punctual_stub::{Interface, ObjectRef, OrbContext, Servant, Target};
use punctual_transport::Address;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    Current, Limits, OrbError, Poa, ResolveError, ThreadPoolBuilder,
    client::{Endpoints, Located, Reference},
    current,
    lane::{self, Lane},
    poa::PoaCore,
    server::{ActiveObject, Demultiplexed},
    threadpool::PoolCore,
};

/// An object request broker: makes references usable, serves objects.
///
/// Cloning shares it. When the last clone is dropped, it is shut down; references and adapters alone do not keep it up.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual_orb::Orb;
///
/// let server = Orb::builder().build()?;
/// let pool = server.threadpool().build()?;
/// let poa = server.root_poa().child("numbers").threadpool(&pool).build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
/// # use punctual_stub::Interface;
/// let ior = doubler.as_object().to_ior();
///
/// let client = Orb::builder().build()?;
/// let doubler: DoublerRef = client.resolve(&ior)?;
/// assert_eq!(doubler.twice(21)?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Orb {
    handle: Arc<Handle>,
}

struct Handle {
    core: Arc<OrbCore>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.core.shut_down();
    }
}

impl Orb {
    /// Starts an ORB.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn builder() -> OrbBuilder {
        OrbBuilder {
            listen: None,
            limits: Limits::default(),
            mapping: None,
            class: SchedulingClass::Fifo,
            lock_memory: true,
            call_timeout: None,
        }
    }

    /// The adapter that is there from the start. Its objects are transient, have ids that it chooses, and are served by the
    /// threads that call [`Self::run`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// assert_eq!(doubler.twice(3)?, 6, "calls within the ORB need no thread of it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn root_poa(&self) -> Poa {
        Poa::root(self.core())
    }

    /// Starts a pool of threads.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().threads(2).build()?;
    /// assert_eq!(pool.statistics().len(), 1, "one lane");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn threadpool(&self) -> ThreadPoolBuilder {
        ThreadPoolBuilder::new(self.core())
    }

    /// The calling thread's priority.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_types::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// orb.current().set_priority(Priority::MIN)?;
    /// assert_eq!(orb.current().priority()?, Priority::MIN);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn current(&self) -> Current<'_> {
        Current::new(self.core())
    }

    /// Makes the object reachable as `corbaloc:iiop:1.2@HOST:PORT/NAME`, HOST and PORT being those the ORB listens at, and
    /// returns that text.
    ///
    /// A client that resolves it gets the object's whole reference, endpoints of lanes and policies included. A name
    /// published before is replaced. NAME may be any text without a NUL; what URLs do not allow is escaped.
    ///
    /// # Errors
    /// [`OrbError::Listen`] where the ORB was not listening yet and cannot.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let url = orb.publish("Doubler", &doubler)?;
    /// assert!(url.starts_with("corbaloc:iiop:1.2@127.0.0.1:"));
    /// assert!(url.ends_with("/Doubler"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn publish<R: Interface>(&self, name: &str, reference: &R) -> Result<String, OrbError> {
        let core = self.core();
        core.default_lane().listen(&core.listen_address())?;
        let ior = Arc::new(reference.as_object().ior().clone());
        core.published.lock().insert(name.as_bytes().into(), ior);
        let (host, port) = core.default_lane().address().ok_or(OrbError::ShutDown)?;
        let address = IiopAddress {
            version: Version::V1_2,
            host: host.to_owned(),
            port,
        };
        Ok(ObjectUrl::Corbaloc {
            addresses: vec![address],
            key: name.as_bytes().to_vec(),
        }
        .to_string())
    }

    /// Turns `IOR:` or `corbaloc:` text into a reference, asking the object where it is and what it supports.
    ///
    /// An `IOR:` is taken at its word where it names the interface asked for; any other object is asked.
    ///
    /// # Errors
    /// As [`ResolveError`] says; a server that cannot be reached is [`ResolveError::Call`] with TRANSIENT or TIMEOUT.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, ResolveError};
    /// # struct TrackerRef(ObjectRef);
    /// # use punctual_stub::{Interface, ObjectRef};
    /// # impl Interface for TrackerRef {
    /// #     const REPOSITORY_ID: &'static str = "IDL:radar/Tracker:1.0";
    /// #     const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];
    /// #     fn from_object(object: ObjectRef) -> Self { Self(object) }
    /// #     fn as_object(&self) -> &ObjectRef { &self.0 }
    /// # }
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let ior = doubler.as_object().to_ior();
    /// assert_eq!(orb.resolve::<DoublerRef>(&ior)?, doubler);
    /// assert!(matches!(orb.resolve::<TrackerRef>(&ior), Err(ResolveError::WrongInterface { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve<R: Interface>(&self, text: &str) -> Result<R, ResolveError> {
        let object = self.resolve_object(text)?;
        object.narrow()?.ok_or_else(|| ResolveError::WrongInterface {
            wanted: R::REPOSITORY_ID,
            found: object.ior().type_id.clone(),
        })
    }

    /// As [`Self::resolve`], without asking for an interface. An `IOR:` is not asked anything.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let object = orb.resolve_object(&doubler.as_object().to_ior())?;
    /// assert_eq!(object.ior().type_id, "IDL:Doubler:1.0");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve_object(&self, text: &str) -> Result<ObjectRef, ResolveError> {
        let (ior, complete) = match text.parse::<ObjectUrl>()? {
            ObjectUrl::Ior(ior) => (ior, true),
            ObjectUrl::Corbaloc { addresses, key } => (corbaloc_reference(&addresses, &key)?, false),
            ObjectUrl::Rir { name } => return Err(ResolveError::UnknownInitialReference(name)),
        };
        if ior.is_nil() {
            return Err(ResolveError::Nil);
        }
        let reference = Reference::new(self.core(), ior)?;
        if complete {
            return Ok(ObjectRef::new(Arc::new(reference)));
        }
        match reference.locate_once()? {
            Located::Here => Ok(ObjectRef::new(Arc::new(reference))),
            Located::There(ior) => Ok(ObjectRef::new(Arc::new(Reference::new(self.core(), ior)?))),
            Located::Nowhere => {
                let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::TARGET_KEY_UNKNOWN);
                Err(SystemException::new(kind, minor, Completion::No).into())
            }
        }
    }

    /// Serves the objects of adapters without a thread pool of their own on the calling thread, until the ORB is shut down.
    ///
    /// Several threads may call it. Returns when the threads of all pools have ended as well.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// use std::thread;
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let url = orb.publish("Doubler", &doubler)?;
    /// let client = Orb::builder().build()?;
    /// let result = thread::scope(|scope| {
    ///     scope.spawn(|| orb.run());
    ///     let result = client.resolve::<DoublerRef>(&url).map(|doubler| doubler.twice(3));
    ///     orb.shutdown();
    ///     result
    /// });
    /// assert_eq!(result??, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self) {
        let core = self.core();
        lane::work(core.default_lane(), core);
        core.end();
    }

    /// Ends the ORB: upcalls under way are finished, nothing further is accepted or sent. Returns at once; also inside an upcall.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// use punctual_types::{Minor, SystemExceptionKind};
    ///
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// orb.shutdown();
    /// let error = doubler.twice(3).unwrap_err();
    /// assert_eq!((error.kind, error.minor), (SystemExceptionKind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown(&self) {
        self.core().shut_down();
    }

    /// As [`Self::shutdown`], and waits for all threads, without a deadline: an upcall that does not end is waited for.
    ///
    /// Fails inside an upcall, which would wait for itself, with BAD_INV_ORDER.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().threads(2).build()?;
    /// orb.shutdown_and_wait()?;
    /// assert!(orb.threadpool().build().is_err(), "it is over");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_and_wait(&self) -> Result<(), SystemException> {
        if current::is_in_upcall() {
            let minor = Minor::OMG_WOULD_DEADLOCK;
            return Err(SystemException::new(
                SystemExceptionKind::BadInvOrder,
                minor,
                Completion::No,
            ));
        }
        self.core().shut_down();
        self.core().end();
        Ok(())
    }

    fn core(&self) -> &Arc<OrbCore> {
        &self.handle.core
    }
}

/// Makes an [`Orb`].
///
/// ```
/// use std::time::Duration;
///
/// use punctual_orb::{Limits, Orb};
/// use punctual_os::SchedulingClass;
///
/// let orb = Orb::builder()
///     .listen("iiop://localhost")
///     .limits(Limits::default())
///     .scheduling_class(SchedulingClass::RoundRobin)
///     .lock_memory(false)
///     .call_timeout(Duration::from_secs(2))
///     .build()?;
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub struct OrbBuilder {
    listen: Option<String>,
    limits: Limits,
    mapping: Option<Box<dyn PriorityMapping>>,
    class: SchedulingClass,
    lock_memory: bool,
    call_timeout: Option<Duration>,
}

impl OrbBuilder {
    /// Where it listens: `iiop://HOST:PORT`. Default: `iiop://localhost:0`, opened when the first object needs it.
    ///
    /// Lanes listen at free ports of the same host.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Orb, OrbError};
    /// let first = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let doubler: DoublerRef = first.root_poa().activate(Doubler)?;
    /// let url = first.publish("Doubler", &doubler)?;
    /// let address = url.trim_start_matches("corbaloc:iiop:1.2@").trim_end_matches("/Doubler");
    /// let second = Orb::builder().listen(&format!("iiop://{address}")).build();
    /// assert!(matches!(second, Err(OrbError::Listen { .. })), "the first one is there");
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn listen(mut self, endpoint: &str) -> Self {
        self.listen = Some(endpoint.to_owned());
        self
    }

    /// The limits in force.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::{Limits, Orb};
    /// use punctual_types::{Minor, SystemExceptionKind};
    ///
    /// let mut limits = Limits::default();
    /// limits.max_nested_calls = 0;
    /// let orb = Orb::builder().limits(limits).build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let error = doubler.twice(3).unwrap_err();
    /// assert_eq!((error.kind, error.minor), (SystemExceptionKind::ImpLimit, Minor::NESTING_OF_CALLS_TOO_DEEP));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How CORBA priorities become native ones. Default: linear over the scheduling class.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_sched::LinearMapping;
    /// use punctual_types::Priority;
    ///
    /// // Leaves the native priorities above 80 to others.
    /// let orb = Orb::builder().priority_mapping(LinearMapping::new(1..=80)).build()?;
    /// orb.current().set_priority(Priority::MAX)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn priority_mapping(mut self, mapping: impl PriorityMapping + 'static) -> Self {
        self.mapping = Some(Box::new(mapping));
        self
    }

    /// The scheduling class of pools and of threads that set a priority. Default: SCHED_FIFO.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_os::SchedulingClass;
    ///
    /// let orb = Orb::builder().scheduling_class(SchedulingClass::Other).build()?;
    /// assert!(!orb.threadpool().build()?.is_realtime());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn scheduling_class(mut self, class: SchedulingClass) -> Self {
        self.class = class;
        self
    }

    /// Whether to lock the process's memory when it first asks for real-time scheduling, where that is allowed. Default: yes.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// // For a process with more memory than may be locked.
    /// let orb = Orb::builder().lock_memory(false).build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn lock_memory(mut self, lock: bool) -> Self {
        self.lock_memory = lock;
        self
    }

    /// The deadline of each call, counted from its start, unless its reference has another; TIMEOUT when it passes.
    ///
    /// Default: none, so a call waits for ever for a server that is connected and does not answer. A call to an object of the
    /// same ORB runs on the calling thread, and no deadline ends it.
    ///
    /// ```
    /// # use punctual_orb::{Orb, ResolveError};
    /// use std::{net::TcpListener, time::Duration};
    ///
    /// use punctual_types::SystemExceptionKind;
    ///
    /// // Lets connect, and never answers.
    /// let silent = TcpListener::bind("127.0.0.1:0")?;
    /// let url = format!("corbaloc::127.0.0.1:{}/Tracker", silent.local_addr()?.port());
    /// let orb = Orb::builder().call_timeout(Duration::from_millis(20)).build()?;
    /// match orb.resolve_object(&url) {
    ///     Err(ResolveError::Call(late)) => assert_eq!(late.kind, SystemExceptionKind::Timeout),
    ///     _ => unreachable!("nobody answers"),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = Some(timeout);
        self
    }

    /// Makes the ORB. Fails where the endpoint is malformed or taken.
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError};
    /// let error = Orb::builder().listen("localhost:2809").build().err().expect("it has no scheme");
    /// assert!(error.to_string().contains("write `iiop://HOST:PORT`"));
    /// ```
    pub fn build(self) -> Result<Orb, OrbError> {
        let listen = self.listen.as_deref().map(str::parse::<Address>).transpose()?;
        let name = String::from("default");
        let lane = Lane::new(name, DEFAULT_POOL, None, None, &self.limits)?;
        if let Some(address) = &listen {
            lane.listen(address)?;
        }
        let (objects, slots) = ObjectTable::new();
        let pool = Arc::new(PoolCore::default_pool(lane));
        let core = Arc::new_cyclic(|own| OrbCore {
            own: Weak::clone(own),
            boot: RandomState::new().build_hasher().finish(),
            limits: self.limits,
            mapping: self.mapping.unwrap_or_else(|| {
                // Threads in the ordinary class have no priority to map to; calls carry the CORBA one all the same.
                let class = if self.class == SchedulingClass::Other {
                    SchedulingClass::Fifo
                } else {
                    self.class
                };
                Box::new(LinearMapping::new(scheduling::priority_range(class)))
            }),
            scheduling_class: self.class,
            lock_memory: self.lock_memory,
            call_timeout: self.call_timeout,
            listen,
            endpoints: Endpoints::default(),
            objects,
            activation: PiMutex::new(Activation {
                slots,
                dying: Vec::new(),
            }),
            ids: PiMutex::new(IdMap::default()),
            published: PiMutex::new(HashMap::new()),
            root: Arc::new(PoaCore::root(Arc::clone(&pool))),
            default_pool: pool,
            pools: PiMutex::new(Vec::new()),
            shut_down: AtomicBool::new(false),
        });
        Ok(Orb {
            handle: Arc::new(Handle { core }),
        })
    }
}

const DEFAULT_POOL: u32 = 0;

/// What lanes, references and adapters share of an ORB.
pub(crate) struct OrbCore {
    own: Weak<OrbCore>,
    /// Differs from every other ORB, earlier runs of this program included.
    boot: u64,
    pub(crate) limits: Limits,
    pub(crate) mapping: Box<dyn PriorityMapping>,
    pub(crate) scheduling_class: SchedulingClass,
    pub(crate) lock_memory: bool,
    pub(crate) call_timeout: Option<Duration>,
    listen: Option<Address>,
    pub(crate) endpoints: Endpoints,
    objects: ObjectTable<ActiveObject>,
    activation: PiMutex<Activation>,
    /// Objects whose keys name them; lanes look in it for those only.
    ids: PiMutex<IdMap>,
    published: PiMutex<HashMap<Box<[u8]>, Arc<Ior>>>,
    root: Arc<PoaCore>,
    default_pool: Arc<PoolCore>,
    pools: PiMutex<Vec<Arc<PoolCore>>>,
    shut_down: AtomicBool,
}

/// The writing side of the object table. Never locked over user code.
struct Activation {
    slots: Slots,
    /// Slots of objects that were deactivated inside an upcall, which could not wait for the last request.
    dying: Vec<u32>,
}

impl OrbCore {
    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down.load(Ordering::Relaxed)
    }

    pub(crate) fn root_poa(&self) -> Arc<PoaCore> {
        Arc::clone(&self.root)
    }

    pub(crate) fn default_pool(&self) -> Arc<PoolCore> {
        Arc::clone(&self.default_pool)
    }

    fn default_lane(&self) -> &Lane {
        &self.default_pool.lanes[0]
    }

    pub(crate) fn add_pool(&self, pool: &Arc<PoolCore>) {
        self.pools.lock().push(Arc::clone(pool));
        // It may have been shut down meanwhile.
        if self.is_shut_down() {
            pool.stop();
        }
    }

    pub(crate) fn listen_host(&self) -> &str {
        self.listen.as_ref().map_or(LOCAL, |address| &address.host)
    }

    fn listen_address(&self) -> Address {
        self.listen.clone().unwrap_or_else(|| Address {
            host: LOCAL.to_owned(),
            port: 0,
        })
    }

    /// Opens the acceptor of the default pool if the adapter's objects are reached through it.
    pub(crate) fn ensure_listening(&self, poa: &PoaCore) -> Result<(), OrbError> {
        if self.is_shut_down() {
            return Err(OrbError::ShutDown);
        }
        if poa.pool_id() == DEFAULT_POOL {
            self.default_lane().listen(&self.listen_address())
        } else {
            Ok(())
        }
    }

    /// Whether the profile's object is one of this ORB's.
    pub(crate) fn owns(&self, profile: &IiopProfile) -> bool {
        match ObjectKey::parse(&profile.object_key) {
            None => false,
            Some(key) => match key.boot() {
                Some(boot) => boot == self.boot,
                None => self.listens_at(&profile.host, profile.port),
            },
        }
    }

    fn listens_at(&self, host: &str, port: u16) -> bool {
        let is_there =
            |pool: &Arc<PoolCore>| pool.lanes.iter().any(|lane| lane.address() == Some((host, port)));
        is_there(&self.default_pool) || self.pools.lock().iter().any(is_there)
    }

    /// Finds what an object key leads to. O(1); takes a lock, for two hashes, only for keys that name their object.
    pub(crate) fn demultiplex(&self, key: &[u8]) -> Demultiplexed<'_> {
        let slot = match ObjectKey::parse(key) {
            Some(key) if key.boot().is_some_and(|boot| boot != self.boot) => None,
            Some(ObjectKey::Slot { slot, .. }) => Some(slot),
            Some(ObjectKey::Named { adapter, id }) => self.ids.lock().get(adapter.path, id),
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
    ) -> Result<Ior, OrbError> {
        self.bury();
        let mut ior = Ior::default();
        let mut activation = self.activation.lock();
        let adapter = poa.adapter(self.boot);
        if id.is_some_and(|id| self.ids.lock().get(adapter.path, id).is_some()) {
            return Err(OrbError::AlreadyActive);
        }
        let slot = activation.slots.activate(&self.objects, |slot| {
            let key = poa.object_key(self.boot, slot, id);
            ior = poa
                .reference(servant.repository_id(), key)
                .map_err(OrbError::Reference)?;
            Ok::<_, OrbError>(Arc::new(ActiveObject {
                servant,
                poa: Arc::clone(poa),
                ior: ior.clone(),
            }))
        })?;
        let slot = slot.ok_or(OrbError::Full)?;
        if let Some(id) = id {
            self.ids.lock().insert(adapter.path, id, slot);
        }
        Ok(ior)
    }

    pub(crate) fn deactivate(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Result<(), OrbError> {
        let slot = self.forget(poa, key).ok_or(OrbError::NotActive)?;
        if current::is_in_upcall() {
            self.activation.lock().dying.push(slot.index);
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

    /// Lets no further request in.
    fn forget(&self, poa: &Arc<PoaCore>, key: &[u8]) -> Option<SlotId> {
        let mut activation = self.activation.lock();
        let slot = match ObjectKey::parse(key)? {
            ObjectKey::Slot { boot, slot } => (boot == self.boot).then_some(slot)?,
            ObjectKey::Named { adapter, id } => self.ids.lock().get(adapter.path, id)?,
        };
        if !Arc::ptr_eq(&self.objects.enter(slot)?.poa, poa)
            || !activation.slots.deactivate(&self.objects, slot)
        {
            return None;
        }
        if let Some(ObjectKey::Named { adapter, id }) = ObjectKey::parse(key) {
            self.ids.lock().remove(adapter.path, id);
        }
        Some(slot)
    }

    /// Drops the servants of objects that were deactivated inside upcalls, as far as nobody is inside them any more.
    fn bury(&self) {
        if current::is_in_upcall() {
            return;
        }
        let mut dead = Vec::new();
        let mut activation = self.activation.lock();
        let Activation { slots, dying } = &mut *activation;
        dying.retain(|index| match slots.reclaim(&self.objects, *index) {
            Some(object) => {
                dead.push(object);
                false
            }
            None => true,
        });
        drop(activation);
        drop(dead);
    }

    fn shut_down(&self) {
        if !self.shut_down.swap(true, Ordering::AcqRel) {
            self.default_pool.stop();
            self.pools.lock().iter().for_each(|pool| pool.stop());
        }
    }

    /// Waits for the threads of all pools and drops all servants. Not inside an upcall.
    fn end(&self) {
        let pools = self.pools.lock().clone();
        pools.iter().for_each(|pool| pool.join());
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
        Ok(Arc::new(Reference::new(&core, ior)?))
    }
}

/// The ORB as references and decoders carry it.
pub(crate) fn context_of(core: &Arc<OrbCore>) -> OrbContext {
    OrbContext(Arc::clone(core) as Arc<dyn punctual_stub::Orb>)
}

const LOCAL: &str = "localhost";

/// A reference with nothing but addresses and a key: enough to ask the object for its real one.
fn corbaloc_reference(addresses: &[IiopAddress], key: &[u8]) -> Result<Ior, SystemException> {
    let profiles: Result<Vec<_>, _> = addresses
        .iter()
        .map(|address| {
            let IiopAddress { version, host, port } = address.clone();
            IiopProfile {
                version,
                host,
                port,
                object_key: key.to_vec(),
                components: Vec::new(),
            }
            .encode()
        })
        .collect();
    let profiles = profiles.map_err(|error| error.system_exception(Completion::No))?;
    Ok(Ior {
        type_id: String::new(),
        profiles,
    })
}
