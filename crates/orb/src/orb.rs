//! The ORB as its users hold it.

mod builder;
mod initializer;
mod mutexes;

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_any::{Any, AnyError, Typed};
use punctual_cdr::{Decode, Endian, Ior, TaggedComponent};
use punctual_giop::{IiopAddress, ObjectUrl, Profile, UrlAddress, UrlError, Version};
use punctual_os::Scheduling;
use punctual_stub::{Interface, ObjectRef, PolicyOverrides};
use punctual_types::{Completion, Detail, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{
    ContractState, Current, InspectedAt, OrbError, Poa, ResolveError, ThreadPool, ThreadPoolBuilder,
    ThreadPoolId,
    client::{Located, Reference, swap_call_deadline},
    current,
    interception::PiCurrent,
    orb_core::OrbCore,
    unserved,
};

pub use self::{
    builder::OrbBuilder,
    initializer::{DuplicateName, OrbInitInfo, OrbInitializer},
};

/// An object request broker: makes references usable, serves objects.
///
/// Cloning shares it. When the last clone is dropped, it is shut down; references and adapters alone do not
/// keep it up.
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
    pub(crate) fn of(core: Arc<OrbCore>) -> Self {
        Self {
            handle: Arc::new(Handle { core }),
        }
    }

    /// Starts an ORB.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// let orb = Orb::builder().build()?;
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn builder() -> OrbBuilder {
        OrbBuilder::new()
    }

    /// The adapter that is there from the start. Its objects are transient, have ids that it chooses, and are
    /// served by the threads that call [`Self::run`].
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

    /// Ends a pool by its id, as [`ThreadPool::destroy`] does: `RTCORBA::RTORB::destroy_threadpool`.
    ///
    /// Waits without a deadline for upcalls under way.
    ///
    /// # Errors
    /// [`OrbError::InvalidThreadPool`] where the ORB has no pool of this id, or no longer; and as
    /// [`ThreadPool::destroy`].
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

    /// Makes this the pool of adapters whose builders name none and that are made from now on:
    /// `RTCORBA::ThreadpoolPolicy` at the ORB.
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

    /// Makes this the pool whose lanes read the replies of calls under [`crate::ConnectionMode::Shared`] that
    /// no lane's thread makes, and of asynchronous calls, in place of one set before. Calls under way stay
    /// with the lane that they began with.
    ///
    /// A caller's reply is read by the lowest lane that is not below the caller's priority. The lanes may
    /// serve requests as well; while all threads of one are in upcalls, its replies wait.
    ///
    /// # Errors
    /// [`OrbError::InvalidThreadPool`] where it belongs to another ORB or has been destroyed;
    /// [`OrbError::ThreadPool`] where a lane waits by [`crate::LaneWait::Blocking`], in which nobody looks at
    /// several connections.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// use std::thread;
    ///
    /// use punctual_orb::ConnectionMode;
    /// use punctual_stub::PolicyOverrides;
    ///
    /// let server = Orb::builder().build()?;
    /// let pool = server.threadpool().threads(4).build()?;
    /// let poa = server.root_poa().child("numbers").threadpool(&pool).build()?;
    /// let doubler: DoublerRef = poa.activate(Doubler)?;
    ///
    /// let client = Orb::builder().build()?;
    /// let replies = client.threadpool().threads(1).build()?;
    /// client.set_reply_threadpool(&replies)?;
    /// client.set_policies(PolicyOverrides::new().connection_mode(ConnectionMode::Shared));
    /// let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
    /// thread::scope(|scope| {
    ///     for value in 0..4 {
    ///         let doubler = &doubler;
    ///         scope.spawn(move || assert_eq!(doubler.twice(value), Ok(2 * value)));
    ///     }
    /// });
    /// assert_eq!(replies.statistics()[0].1.shared_connections, 1);
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
        // It may have been destroyed meanwhile.
        if !core.pools.contain(&pool.core) {
            core.pools.remove(&pool.core);
            return Err(OrbError::InvalidThreadPool);
        }
        Ok(())
    }

    /// Sets the client policies of all calls of the ORB, `ORBPolicyManager::set_policy_overrides`, in place
    /// of those set before.
    ///
    /// Threads and references that set policies themselves go before them. They hold for calls from now on;
    /// calls under way are not changed.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use std::time::Duration;
    ///
    /// use punctual_stub::PolicyOverrides;
    ///
    /// let orb = Orb::builder().call_timeout(Duration::from_secs(2)).build()?;
    /// let patient = PolicyOverrides::new().roundtrip_timeout(None);
    /// orb.set_policies(patient.clone());
    /// assert_eq!(orb.policies(), patient);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn set_policies(&self, policies: PolicyOverrides) {
        self.core().client.policies.set(policies);
    }

    /// What was set last by [`Self::set_policies`] or at first by the builder.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_stub::PolicyOverrides;
    ///
    /// assert_eq!(Orb::builder().build()?.policies(), PolicyOverrides::new());
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn policies(&self) -> PolicyOverrides {
        self.core().client.policies.get()
    }

    /// Returns the scheduling of threads by CORBA priority, as this ORB's lanes have it: its class, and the
    /// native priority under its mapping. `None`: the mapping has none. Services start their threads with it.
    ///
    /// ```
    /// # use punctual_orb::Orb;
    /// use punctual_os::SchedulingClass;
    /// use punctual_types::Priority;
    ///
    /// let scheduling = Orb::builder().build()?.thread_scheduling();
    /// assert_eq!(scheduling(Priority::MAX).map(|threads| threads.class), Some(SchedulingClass::Fifo));
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn thread_scheduling(&self) -> impl Fn(Priority) -> Option<Scheduling> + Clone + Send + Sync + use<> {
        let configuration = Arc::clone(&self.core().configuration);
        move |priority| configuration.scheduling(configuration.scheduling_class, priority)
    }

    /// The calling thread's priority and policies.
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
        Current::new(&self.core().configuration)
    }

    /// The slots that the calling thread has for this ORB's interceptors.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    ///
    /// use punctual_orb::{Orb, interceptors::*};
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

    /// Makes the object reachable as `corbaloc:iiop:1.2@HOST:PORT/NAME`, HOST and PORT being those the ORB
    /// listens at, and returns that text. Of an ORB that does not listen over IIOP it names the other
    /// protocols.
    ///
    /// A client that resolves it gets the object's whole reference, endpoints of lanes and policies included.
    /// A name published before is replaced. NAME may be any text without a NUL; what URLs do not allow is
    /// escaped.
    ///
    /// # Errors
    /// [`OrbError::Listen`] where the ORB was not listening yet and cannot; [`OrbError::KeyTooLong`] for a
    /// name that is longer than [`crate::Limits::max_object_key`].
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
        // What every ORB understands, if there is such a thing; the reference itself names the others.
        if addresses.is_empty() {
            addresses = others;
        }
        let key = name.as_bytes().to_vec();
        Ok(ObjectUrl::Corbaloc { addresses, key }.to_string())
    }

    /// Adds a component to every profile of the references that the ORB makes from now on, in place of one
    /// with this tag that was added before. Clients that do not know it pass over it.
    ///
    /// As `PortableInterceptor::IORInfo::add_ior_component`; the ORB's own components are not touched.
    ///
    /// ```
    /// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
    /// # use doubler::{Doubler, DoublerRef};
    /// # use punctual_orb::Orb;
    /// # use punctual_stub::Interface;
    /// use punctual_cdr::TaggedComponent;
    /// use punctual_giop::IiopProfile;
    ///
    /// let orb = Orb::builder().listen("iiop://127.0.0.1").build()?;
    /// let rack = TaggedComponent { tag: 0x5241_434b, data: vec![0, 7] };
    /// orb.add_ior_component(rack.clone());
    /// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
    /// let profile = IiopProfile::decode(&doubler.as_object().ior().profiles[0])?;
    /// assert!(profile.components.contains(&rack));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_ior_component(&self, component: TaggedComponent) {
        self.core().objects.add_component(component);
    }

    /// Turns `IOR:` or `corbaloc:` text into a reference, asking the object where it is and what it supports.
    ///
    /// An `IOR:` is taken at its word where it names the interface asked for; any other object is asked.
    ///
    /// # Errors
    /// As [`ResolveError`] says; a server that cannot be reached is [`ResolveError::Call`] with TRANSIENT or
    /// TIMEOUT.
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
        let narrowed = object
            .narrow()
            .map_err(|error| ResolveError::from(error).of(text))?;
        narrowed.ok_or_else(|| ResolveError::WrongInterface {
            wanted: R::REPOSITORY_ID,
            found: object.ior().type_id.clone(),
        })
    }

    /// Decodes the value of an `any` that may contain object references, which this ORB is to call;
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
    /// assert!(any.get::<Option<ObjectRef>>().is_err(), "which ORB is to call it?");
    /// assert_eq!(orb.extract::<Option<ObjectRef>>(&any)?, object);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Any::get`].
    pub fn extract<T: Typed + for<'a> Decode<'a>>(&self, any: &Any) -> Result<T, AnyError> {
        let context = self.core().client.context();
        any.view().with_context(&context).get()
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
        self.resolved(text).map_err(|error| error.of(text))
    }

    fn resolved(&self, text: &str) -> Result<ObjectRef, ResolveError> {
        let mut name = Vec::new();
        let (ior, complete) = match text.parse::<ObjectUrl>()? {
            ObjectUrl::Ior(ior) => (ior, true),
            ObjectUrl::Corbaloc { addresses, key } => match published_here(self.core(), &addresses, &key) {
                Some(published) => (published, true),
                None => {
                    let reference = corbaloc_reference(self.core(), &addresses, &key)?;
                    name = key;
                    (reference, false)
                }
            },
            ObjectUrl::Rir { name } => return Err(ResolveError::UnknownInitialReference(name)),
        };
        if ior.is_nil() {
            return Err(ResolveError::Nil);
        }
        let reference = Reference::new(&self.core().client, ior)?;
        if complete {
            return Ok(ObjectRef::new(reference));
        }
        let located = within(self.core().configuration.limits.resolve_timeout, || {
            reference.locate_once()
        });
        match located? {
            Located::Here => Ok(ObjectRef::new(reference)),
            Located::There(ior) => Ok(ObjectRef::new(Reference::new(&self.core().client, ior)?)),
            Located::Nowhere => {
                let (kind, minor) = (SystemExceptionKind::ObjectNotExist, Minor::NOTHING_PUBLISHED);
                let exception = SystemException::new(kind, minor, Completion::No);
                Err(exception.with_detail(&Detail::key(&name)).into())
            }
        }
    }

    /// Serves the objects of adapters without a thread pool of their own on the calling thread, until the ORB
    /// is shut down.
    ///
    /// Call it when all adapters and objects exist: requests for persistent objects that do not are answered
    /// with OBJECT_NOT_EXIST from then on, and with TRANSIENT before ([`crate::Limits::startup`]).
    ///
    /// Several threads may call it. Returns when the threads of all pools have ended as well.
    ///
    /// Before a thread calls it, such objects are reached only through their own ORB. Calls of other ORBs in
    /// the process wait for it: until their timeouts, and without one for 5 s, after which they fail with
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
        unserved::remove(&core.pools.default_pool().info);
        core.objects.end_startup();
        core.pools.default_lane().work_on_calling_thread(&core.dispatcher);
        core.end();
    }

    /// Ends the ORB: upcalls under way are finished, nothing further is accepted or sent. Returns at once;
    /// also inside an upcall.
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

    /// As [`Self::shutdown`], and waits for all threads, without a deadline: an upcall that does not end is
    /// waited for.
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

    /// Where it can be looked into; `None` where that is off. [`crate::Inspection`] has an example.
    pub fn inspected_at(&self) -> Option<InspectedAt> {
        self.core().inspected_at()
    }

    /// Shows a contract of adaptive quality of service in inspection, beside the lanes, until `state` returns
    /// `None`. The inspection thread calls it; without inspection, nobody does. `Contract::show` of
    /// `punctual-qos` uses this.
    ///
    /// ```
    /// use punctual_orb::{ContractState, Inspection, Orb};
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

    pub(crate) fn core(&self) -> &Arc<OrbCore> {
        &self.handle.core
    }
}

/// An address of ours as it stands in `corbaloc:`.
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

/// Makes calls that end after this time at the latest.
fn within<R>(timeout: Duration, calls: impl FnOnce() -> R) -> R {
    let end = Instant::now() + timeout;
    let before = swap_call_deadline(Some(end));
    let _restored = scopeguard::guard(before, |before| {
        swap_call_deadline(before);
    });
    if before.is_some_and(|before| before < end) {
        swap_call_deadline(before);
    }
    calls()
}

/// Scheme, version and address of an address in a URL.
fn parts(url: &UrlAddress) -> (&str, Version, Cow<'_, str>) {
    match url {
        UrlAddress::Iiop(IiopAddress { version, host, port }) => {
            let (open, close) = if host.contains(':') { ("[", "]") } else { ("", "") };
            ("iiop", *version, format!("{open}{host}{close}:{port}").into())
        }
        UrlAddress::Other {
            protocol,
            version,
            address,
        } => (protocol, *version, address.into()),
    }
}

/// The reference that this ORB itself has published under the key. It needs no thread that serves.
fn published_here(core: &OrbCore, addresses: &[UrlAddress], key: &[u8]) -> Option<Ior> {
    let listens = |url: &UrlAddress| {
        let (scheme, _, address) = parts(url);
        let transport = core.configuration.transports.with_scheme(scheme);
        transport.is_some_and(|transport| core.pools.are_reached_at(transport.profile_tag(), &address))
    };
    let published = addresses.iter().any(listens).then(|| core.objects.published(key));
    Some(Ior::clone(&*published.flatten()?))
}

/// A reference with nothing but addresses and a key: enough to ask the object for its real one.
///
/// Fails where the ORB has none of the protocols.
fn corbaloc_reference(core: &OrbCore, addresses: &[UrlAddress], key: &[u8]) -> Result<Ior, ResolveError> {
    let mut profiles = Vec::new();
    for url in addresses {
        let (scheme, version, address) = parts(url);
        let Some(transport) = core.configuration.transports.with_scheme(scheme) else {
            continue;
        };
        let profile = Profile {
            tag: transport.profile_tag(),
            version,
            address,
            object_key: key.to_vec(),
            components: Vec::new(),
        };
        let profile = profile.encode_with(Endian::NATIVE, |address, encoder| {
            transport.encode_address(address, encoder)
        });
        profiles.push(profile.map_err(|error| error.system_exception(Completion::No))?);
    }
    if profiles.is_empty() {
        let host_and_port = |url: &UrlAddress| match url {
            UrlAddress::Other {
                protocol, address, ..
            } => address
                .parse::<u16>()
                .ok()
                .map(|port| format!("{protocol}:{port}")),
            UrlAddress::Iiop(_) => None,
        };
        return Err(match host_and_port(&addresses[0]) {
            Some(place) => UrlError::MissingProtocol(place),
            None => UrlError::UnknownProtocol(addresses[0].to_string()),
        }
        .into());
    }
    Ok(Ior {
        type_id: String::new(),
        profiles,
    })
}
