//! An object request broker and its public operations.

mod builder;
mod initializer;
mod mutexes;
mod resolution;

use std::sync::Arc;

use punctual_any::{Any, AnyError, Typed};
use punctual_cdr::{Decode, Ior, TaggedComponent};
use punctual_giop::{ObjectUrl, UrlAddress, Version};
use punctual_os::Scheduling;
use punctual_stub::{Interface, ObjectRef, PolicyOverrides};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{
    ContractState, Current, InspectedAt, OrbError, Poa, ResolveError, SchedulerState, ThreadPool,
    ThreadPoolBuilder, ThreadPoolId, current, interception::PiCurrent, orb_core::OrbCore,
};

pub use self::{
    builder::OrbBuilder,
    initializer::{DuplicateName, OrbInitInfo, OrbInitializer},
};

/// An object request broker: makes references usable and serves objects.
///
/// Clones share one ORB. It is shut down when the last clone is dropped; references and adapters do not keep
/// it running.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use punctual::Orb;
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
    pub(crate) fn of(core: Arc<OrbCore>) -> Self {
        Self {
            handle: Arc::new(Handle { core }),
        }
    }

    /// Returns a builder for an ORB.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn builder() -> OrbBuilder {
        OrbBuilder::new()
    }

    /// Returns the root adapter. Its objects are transient, have ids that the adapter chooses, and are served
    /// by the threads that call [`Self::run`].
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

    /// Returns a builder for a thread pool.
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

    /// Destroys the pool with this id, like [`ThreadPool::destroy`]: `RTCORBA::RTORB::destroy_threadpool`.
    ///
    /// Waits without a deadline for upcalls in progress.
    ///
    /// # Errors
    /// [`OrbError::InvalidThreadPool`] if the ORB has no pool with this id, or the pool has been destroyed;
    /// otherwise the errors of [`ThreadPool::destroy`].
    ///
    /// ```
    /// # use punctual_orb::{Orb, OrbError, ThreadPoolId};
    /// let orb = Orb::builder().build()?;
    /// let id = orb.threadpool().build()?.id();
    /// orb.destroy_threadpool(id)?;
    /// assert!(matches!(orb.destroy_threadpool(id), Err(OrbError::InvalidThreadPool)));
    /// assert!(matches!(orb.destroy_threadpool(ThreadPoolId(9)), Err(OrbError::InvalidThreadPool)));
    /// # Ok::<(), OrbError>(())
    /// ```
    pub fn destroy_threadpool(&self, id: ThreadPoolId) -> Result<(), OrbError> {
        let pool = ThreadPool::find(self.core(), id);
        pool.ok_or(OrbError::InvalidThreadPool)?.destroy()
    }

    /// Sets the pool for adapters that are created from now on and set none: `RTCORBA::ThreadpoolPolicy` of
    /// the ORB.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// let orb = Orb::builder().build()?;
    /// let pool = orb.threadpool().build()?;
    /// orb.set_default_threadpool(&pool);
    /// let doubler: DoublerRef = orb.root_poa().child("numbers").build()?.activate(Doubler)?;
    ///
    /// let client = Orb::builder().build()?;
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// assert_eq!(doubler.twice(3)?, 6, "without `run`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_default_threadpool(&self, pool: &ThreadPool) {
        self.core().poa_defaults.lock().pool = Some(Arc::clone(&pool.core.info));
    }

    /// Sets the pool whose lanes read the replies to asynchronous calls, and to calls under
    /// [`crate::ConnectionMode::Shared`] that are not made by a lane thread. It replaces a pool set earlier;
    /// calls in progress stay with their lane.
    ///
    /// The reply to a call is read by the lowest lane whose priority is not below the caller's. The lanes may
    /// also serve requests; while all threads of a lane execute upcalls, its replies wait.
    ///
    /// # Errors
    /// [`OrbError::InvalidThreadPool`] if the pool belongs to another ORB or has been destroyed;
    /// [`OrbError::ThreadPool`] if a lane waits in [`crate::LaneWait::Blocking`], where no thread polls
    /// several connections.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// use std::thread;
    ///
    /// use punctual::{ConnectionMode, PolicyOverrides};
    ///
    /// let server = Orb::builder().build()?;
    /// let pool = server.threadpool().threads(4).build()?;
    /// let poa = server.root_poa().child("numbers").threadpool(&pool).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    ///
    /// let client = Orb::builder().build()?;
    /// let replies = client.threadpool().threads(1).build()?;
    /// client.set_reply_threadpool(&replies)?;
    /// client.add_policies(PolicyOverrides::new().connection_mode(ConnectionMode::Shared));
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// thread::scope(|scope| {
    ///     for value in 0..4 {
    ///         let doubler = &doubler;
    ///         scope.spawn(move || assert_eq!(doubler.twice(value), Ok(2 * value)));
    ///     }
    /// });
    /// assert_eq!(replies.statistics()[0].1.connections.shared, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_reply_threadpool(&self, pool: &ThreadPool) -> Result<(), OrbError> {
        let core = self.core();
        if pool.core.lanes.iter().any(|lane| lane.is_blocking()) {
            return Err(OrbError::ThreadPool(String::from(
                "threads that wait by `Blocking` read one connection each; let the lanes that read replies be `Polled`",
            )));
        }
        if !core.pools.contain(&pool.core) {
            return Err(OrbError::InvalidThreadPool);
        }
        core.pools.set_reply_pool(&pool.core);
        // The pool may have been destroyed in the meantime.
        if !core.pools.contain(&pool.core) {
            core.pools.remove(&pool.core);
            return Err(OrbError::InvalidThreadPool);
        }
        Ok(())
    }

    /// Sets client policies for all calls of the ORB: `ORBPolicyManager::set_policy_overrides` with
    /// ADD_OVERRIDE. Policies that are not set here remain, such as the builder's `call_timeout`;
    /// [`Self::replace_policies`] removes them.
    ///
    /// Policies of threads and references take precedence. The new policies apply to calls from now on; calls
    /// in progress keep theirs.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # use punctual_orb::Orb;
    /// use std::time::Duration;
    ///
    /// use punctual::PolicyOverrides;
    ///
    /// let timeout = Duration::from_secs(2);
    /// let orb = Orb::builder().call_timeout(timeout).build()?;
    /// orb.add_policies(PolicyOverrides::new().private_connection(true));
    /// let both = PolicyOverrides::new().roundtrip_timeout(timeout).private_connection(true);
    /// assert_eq!(orb.policies(), both);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn add_policies(&self, policies: PolicyOverrides) {
        self.core().client.policies.add(policies);
    }

    /// Sets the client policies for all calls of the ORB and removes all others, including those of the
    /// builder: `ORBPolicyManager::set_policy_overrides` with SET_OVERRIDE. See [`Self::add_policies`].
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # use punctual_orb::Orb;
    /// use std::time::Duration;
    ///
    /// use punctual::PolicyOverrides;
    ///
    /// let orb = Orb::builder().call_timeout(Duration::from_secs(2)).build()?;
    /// let private = PolicyOverrides::new().private_connection(true);
    /// orb.replace_policies(private.clone());
    /// assert_eq!(orb.policies(), private, "calls have no timeout any more");
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn replace_policies(&self, policies: PolicyOverrides) {
        self.core().client.policies.replace(policies);
    }

    /// Returns the client policies of the ORB, set by [`Self::add_policies`] or by the builder.
    ///
    /// ```
    /// # use punctual_stub as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::PolicyOverrides;
    ///
    /// assert_eq!(Orb::builder().build()?.policies(), PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn policies(&self) -> PolicyOverrides {
        self.core().client.policies.get()
    }

    /// Returns the function that this ORB's lanes use to schedule threads by CORBA priority. Its result has
    /// the scheduling class and the native priority; it is `None` if the mapping has no native priority.
    /// Services start their threads with it.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_os::*, punctual_types::*}; }
    /// # use punctual_orb::Orb;
    /// use punctual::{Priority, SchedulingClass};
    ///
    /// let scheduling = Orb::builder().build()?.thread_scheduling();
    /// assert_eq!(scheduling(Priority::MAX).map(|threads| threads.class), Some(SchedulingClass::Fifo));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn thread_scheduling(&self) -> impl Fn(Priority) -> Option<Scheduling> + Clone + Send + Sync + use<> {
        self.core().thread_scheduling()
    }

    /// Returns the priority and policies of the calling thread.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # use punctual_orb::Orb;
    /// use punctual::Priority;
    ///
    /// let orb = Orb::builder().build()?;
    /// orb.current().set_priority(Priority::MIN)?;
    /// assert_eq!(orb.current().priority()?, Priority::MIN);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn current(&self) -> Current<'_> {
        Current::new(&self.core().configuration)
    }

    /// Returns the calling thread's slots for the interceptors of this ORB.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use punctual::{Orb, interceptors::*};
    ///
    /// /// Asks for a slot.
    /// #[derive(Clone, Default)]
    /// struct OneSlot(Arc<Mutex<Option<SlotId>>>);
    ///
    /// impl OrbInitializer for OneSlot {
    ///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
    ///         *self.0.lock().unwrap() = Some(info.allocate_slot_id());
    ///     }
    /// }
    ///
    /// let one_slot = OneSlot::default();
    /// let orb = Orb::builder().initializer(&one_slot).build()?;
    /// let slot = one_slot.0.lock().unwrap().expect("the initializer has run");
    /// let current = orb.pi_current();
    /// assert!(current.get_slot(slot)?.is_none());
    /// current.set_slot(slot, Some(Arc::new(7_u32)))?;
    /// assert_eq!(current.get_slot(slot)?.unwrap().downcast_ref(), Some(&7_u32));
    ///
    /// let other = Orb::builder().build()?;
    /// assert!(other.pi_current().get_slot(slot).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn pi_current(&self) -> PiCurrent<'_> {
        PiCurrent::new(&self.core().client.interceptors.slots)
    }

    /// Publishes the object as `corbaloc:iiop:1.2@HOST:PORT/NAME`, with the host and port at which the ORB
    /// listens, and returns this URL. If the ORB does not listen for IIOP, the URL names its other protocols.
    ///
    /// A client that resolves the URL receives the complete reference of the object, including the endpoints
    /// of lanes and the policies. An object published earlier under this name is replaced. NAME may be any
    /// text without a NUL; characters that URLs do not allow are escaped.
    ///
    /// # Errors
    /// [`OrbError::Listen`] if the ORB is not listening yet and cannot start to; [`OrbError::KeyTooLong`] for
    /// a name longer than [`crate::Limits::max_object_key`].
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
        core.pools.listen()?;
        let ior = reference.as_object().ior().clone();
        core.objects.publish(name.as_bytes(), ior)?;
        let acceptors = core.pools.default_lane().acceptors();
        let urls = acceptors.iter().map(|acceptor| {
            let (scheme, address) = (acceptor.transport.scheme(), acceptor.address());
            url_address(scheme, address)
        });
        let (mut addresses, others): (Vec<_>, Vec<_>) =
            urls.partition(|address| matches!(address, UrlAddress::Iiop(_)));
        // Every ORB understands IIOP, if there is such an endpoint; the reference itself names the other
        // protocols.
        if addresses.is_empty() {
            addresses = others;
        }
        let key = name.as_bytes().to_vec();
        Ok(ObjectUrl::Corbaloc { addresses, key }.to_string())
    }

    /// Withdraws a published name: clients that resolve it get OBJECT_NOT_EXIST. References that clients have
    /// obtained remain valid. Returns `false` if nothing is published under it.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// orb.publish("Doubler", &doubler)?;
    /// assert!(orb.unpublish("Doubler"));
    /// assert!(!orb.unpublish("Doubler"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unpublish(&self, name: &str) -> bool {
        self.core().objects.unpublish(name.as_bytes())
    }

    /// Adds a component to every profile of the references that the ORB creates from now on. It replaces a
    /// component with the same tag that was added earlier. Clients that do not know the tag ignore the
    /// component.
    ///
    /// Corresponds to `PortableInterceptor::IORInfo::add_ior_component`; the ORB's own components are not
    /// affected.
    ///
    /// ```
    /// # use punctual_cdr as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// use punctual::TaggedComponent;
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let rack = TaggedComponent { tag: 0x5241_434b, data: vec![0, 7] };
    /// orb.add_ior_component(rack.clone());
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let profile = &doubler.as_object().ior().profiles[0].data;
    /// assert!(profile.windows(4).any(|octets| octets == rack.tag.to_ne_bytes()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_ior_component(&self, component: TaggedComponent) {
        self.core().objects.add_component(component);
    }

    /// Converts text to a reference of type `R`.
    ///
    /// | text | result |
    /// |---|---|
    /// | `IOR:0001…` | this reference |
    /// | `corbaloc::host:port/Key` | the object that the server has published under the key |
    /// | `corbaname::host:port/Key#radar/track.1` | the object to which this naming context binds the name; without a key, `NameService`, without a port, 2809 |
    /// | `corbaloc:rir:/Name`, `corbaname:rir:#radar` | an [initial reference](OrbBuilder::initial_reference), and a name in the context that is the initial reference `NameService` |
    /// | `file:///path` | the text in a file of this host, such as an `IOR:` |
    ///
    /// An `IOR:` that names the interface of `R` causes no request. Otherwise requests query the object's
    /// location and whether it supports the interface, each until
    /// [`Limits::resolve_timeout`](crate::Limits::resolve_timeout), and no longer than calls of the thread.
    ///
    /// # Errors
    /// See [`ResolveError`]; if the server cannot be reached, the error is [`ResolveError::Call`] with
    /// TRANSIENT or TIMEOUT.
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
        let narrowed = object.narrow().map_err(ResolveError::from);
        let other = || ResolveError::WrongInterface {
            text: String::new(),
            wanted: R::REPOSITORY_ID,
            found: object.ior().type_id.clone(),
        };
        let narrowed = narrowed.and_then(|narrowed| narrowed.ok_or_else(other));
        narrowed.map_err(|error| error.of(text))
    }

    /// Decodes the value of an `any` that may contain object references; they become references of this ORB.
    /// [`Any::get`] decodes all other values.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_any::Any;
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::{Interface, ObjectRef};
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let object = Some(doubler.as_object().clone());
    /// let any = Any::new(&object)?;
    /// let error = any.get::<Option<ObjectRef>>().unwrap_err();
    /// assert!(error.to_string().contains("Orb::extract"), "which ORB is to call it?");
    /// assert_eq!(orb.extract::<Option<ObjectRef>>(&any)?, object);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`Any::get`].
    pub fn extract<T: Typed + for<'a> Decode<'a>>(&self, any: &Any) -> Result<T, AnyError> {
        let context = self.core().client.context();
        any.view().with_context(&context).get()
    }

    /// Converts text to a reference like [`Self::resolve`], but does not check the interface. An `IOR:`
    /// causes no request.
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
        resolution::resolved(self.core(), text).map_err(|error| error.of(text))
    }

    /// Makes a reference usable that a program has kept in its encoded form. Causes no request. If this ORB
    /// cannot use any of its profiles, calls fail, and it can be passed on, as in arguments and results.
    ///
    /// # Errors
    /// [`ResolveError::Nil`]; [`ResolveError::Call`] for one that names more addresses than
    /// [`crate::Limits::max_endpoints`].
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// let orb = Orb::builder().build()?;
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let kept = doubler.as_object().ior().clone();
    /// assert_eq!(orb.object_of(kept)?, *doubler.as_object());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn object_of(&self, ior: Ior) -> Result<ObjectRef, ResolveError> {
        resolution::kept(self.core(), ior)
    }

    /// Serves the objects of adapters without a thread pool on the calling thread until the ORB is shut down.
    ///
    /// Call it when all adapters and objects exist: from then on, requests for persistent objects that do not
    /// exist are answered with OBJECT_NOT_EXIST; before, with TRANSIENT ([`crate::Limits::startup`]).
    ///
    /// Several threads may call this method. It returns only after the threads of all pools have ended as
    /// well.
    ///
    /// Before a thread calls it, these objects can only be reached through their own ORB. Calls from other
    /// ORBs in the process wait for it until their timeout. Without a timeout they wait for 5 s and fail with
    /// BAD_INV_ORDER ([`Minor::NOT_SERVED`]).
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
        core.pools.start_default();
        core.objects.end_startup();
        core.pools.default_lane().work_on_calling_thread(&core.dispatcher);
        core.end();
    }

    /// Shuts the ORB down: upcalls in progress finish, nothing further is accepted or sent. Returns
    /// immediately and may be called inside an upcall.
    ///
    /// ```
    /// # use punctual_types as punctual;
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// use punctual::{Minor, SystemExceptionKind};
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

    /// Shuts the ORB down like [`Self::shutdown`] and waits for all its threads. The wait has no deadline: if
    /// an upcall does not end, neither does the wait.
    ///
    /// Fails with BAD_INV_ORDER inside an upcall, which would wait for itself.
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

    /// Returns the address of inspection; `None` if inspection is off. [`OrbBuilder::inspection`] has an
    /// example.
    pub fn inspected_at(&self) -> Option<InspectedAt> {
        self.core().inspected_at()
    }

    /// Shows a contract of adaptive quality of service in inspection, beside the lanes, until `state` returns
    /// `None`. The inspection thread calls `state`; without inspection, it is never called. `Contract::show`
    /// of `punctual-qos` uses this method.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::{ContractState, Inspection, Orb};
    ///
    /// let orb = Orb::builder().inspection(Inspection::new()).build()?;
    /// orb.inspect_contract(|| {
    ///     Some(ContractState {
    ///         contract: "image".to_owned(),
    ///         region: "coarse".to_owned(),
    ///         transitions: 1,
    ///         evaluations: 5,
    ///         conditions: vec![("latency_ms".to_owned(), Some(70.0))],
    ///     })
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inspect_contract(&self, state: impl Fn() -> Option<ContractState> + Send + Sync + 'static) {
        if self.core().is_inspected() {
            self.core().contracts.add(state);
        }
    }

    /// Shows a scheduler of operations in inspection, beside the lanes, until `state` returns `None`. The
    /// inspection thread calls it; without inspection, it is never called. `ScheduledDispatcher::show` and
    /// `SchedulerServant::show` of `punctual-scheduling` use this.
    ///
    /// ```
    /// # use punctual_orb as punctual;
    /// use punctual::{Inspection, Orb, SchedulerState, SchedulerStatistics};
    ///
    /// let orb = Orb::builder().inspection(Inspection::new()).build()?;
    /// orb.inspect_scheduler(|| {
    ///     Some(SchedulerState {
    ///         scheduler: "radar".to_owned(),
    ///         strategy: "MUF".to_owned(),
    ///         statistics: SchedulerStatistics::default(),
    ///     })
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inspect_scheduler(&self, state: impl Fn() -> Option<SchedulerState> + Send + Sync + 'static) {
        if self.core().is_inspected() {
            self.core().schedulers.add(state);
        }
    }

    pub(crate) fn core(&self) -> &Arc<OrbCore> {
        &self.handle.core
    }
}

/// Converts one of the ORB's addresses to its form in `corbaloc:` URLs.
fn url_address(scheme: &str, address: &str) -> UrlAddress {
    if scheme == "iiop" {
        let url = format!("corbaloc:iiop:1.2@{address}").parse();
        if let Ok(ObjectUrl::Corbaloc { mut addresses, .. }) = url {
            return addresses.remove(0);
        }
    }
    UrlAddress::Other {
        protocol: scheme.to_owned(),
        version: Version::V1_2,
        address: address.to_owned(),
    }
}
