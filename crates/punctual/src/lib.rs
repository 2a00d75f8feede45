//! Punctual is a Real-time CORBA ORB.
//!
//! A server activates servants in an object adapter and hands out references; clients make calls through
//! references. With lanes, a request of high priority shares no thread, connection or buffer with a lower
//! one. Interfaces are written in OMG IDL: `punctual-build` turns them into Rust in a build script, and
//! [`include_idl!`] includes the result.
//!
//! ```no_run
//! # // What the macro includes, written by hand for the one operation.
//! # mod punctual {
//! #     pub use ::punctual::*;
//! #     macro_rules! include_idl { ($name:literal) => { mod radar {
//! #         use punctual::rt::{Decode, Encode, *};
//! #         pub trait Tracker { fn range(&self, track: i32) -> Result<f64, SystemException>; }
//! #         pub struct TrackerRef(ObjectRef);
//! #         impl TrackerRef {
//! #             pub fn range(&self, track: i32) -> Result<f64, SystemException> {
//! #                 let mut range = 0.0;
//! #                 self.0.call::<SystemException>("range", |phase| match phase {
//! #                     Phase::Arguments(encoder) => track.encode(encoder),
//! #                     Phase::Results(decoder) => f64::decode_into(&mut range, decoder),
//! #                 })?;
//! #                 Ok(range)
//! #             }
//! #         }
//! #         impl Interface for TrackerRef {
//! #             const REPOSITORY_ID: &'static str = "IDL:radar/Tracker:1.0";
//! #             const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];
//! #             fn from_object(object: ObjectRef) -> Self { Self(object) }
//! #             fn as_object(&self) -> &ObjectRef { &self.0 }
//! #         }
//! #         impl<S: Tracker + Send + Sync + 'static> Skeleton<S> for TrackerRef {
//! #             fn dispatch(servant: &S, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
//! #                 let range = servant.range(upcall.argument()?)?;
//! #                 upcall.reply(|reply| range.encode(reply))
//! #             }
//! #         }
//! #     } } }
//! #     pub(crate) use include_idl;
//! # }
//! use punctual::prelude::*;
//!
//! // idl/radar.idl: module radar { interface Tracker { double range(in long track); }; };
//! // build.rs calls punctual_build::compile("idl/radar.idl"), and this line includes the result.
//! punctual::include_idl!("radar");
//! use radar::{Tracker, TrackerRef};
//!
//! // Server.
//! struct Radar;
//!
//! impl Tracker for Radar {
//!     fn range(&self, track: i32) -> Result<f64, SystemException> {
//!         Ok(1500.0 * f64::from(track))
//!     }
//! }
//!
//! let orb = Orb::builder().listen("iiop://localhost:2809").build()?;
//! let low = Priority::new(10_922)?;
//! let pool = orb.threadpool().lane(low, 1).lane(Priority::MAX, 1).build()?;
//! let model = PriorityModel::ClientPropagated { default: low };
//! let poa = orb.root_poa().child("rt").threadpool(&pool).priority_model(model).build()?;
//! let tracker: TrackerRef = poa.activate(Radar)?;
//! orb.publish("Tracker", &tracker)?;
//! orb.run();
//!
//! // Client, in another program.
//! let orb = Orb::builder().build()?;
//! let tracker: TrackerRef = orb.resolve("corbaloc::localhost:2809/Tracker")?;
//! orb.current().set_priority(Priority::MAX)?;
//! println!("{} m", tracker.range(17)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Crate beside this one | Purpose |
//! |---|---|
//! | `punctual-build` | Compiles IDL to Rust in a build script |
//! | `punctual-events` | Real-time event channels: typed events, filters, timeouts, dispatching by priority |
//! | `punctual-scheduling` | Scheduling service: priorities of activities, pools and objects by name, from a file |
//! | `punctual-naming` | Naming service (CosNaming): contexts with bindings, in memory or in a file; and its clients |
//! | `punctual-qos` | Adaptive quality of service: contracts over system conditions, and a manager of rates |
//! | `punctual-dispatch` | Dispatcher: bounded queues by preemption priority, each by arrival, deadline or laxity |
//! | `punctual-simulation` | Scenario files for [`rtscheduling::simulator`] |
//! | `punctual-tls` | Transport `ssliop`: IIOP over TLS |
//! | `punctual-zenoh` | Gateways between event channels and Zenoh |
//! | `punctual-toml` | TOML files of these services: errors with line and key, durations with units |
//! | `punctual-cli` | The command `punctual`: IDL, plans of schedules, inspection of running ORBs, benchmarks |

pub use punctual_cdr::{
    BoundedMap, BoundedSeq, BoundedSlice, BoundedStr, BoundedString, CharSet, Fixed, FixedOverflow, Ior,
    LongDouble, TaggedComponent, TaggedProfile, TooLong, WChar, WString,
};
pub use punctual_giop::{UrlError, ior_from_string, ior_to_string};
pub use punctual_orb::{
    AdapterActivator, AnyServant, BidirectionalRule, CallbackQueue, Callbacks, ConnectionStatistics,
    ContractState, Current, Declined, Endpoint, Etherealized, ExpiredRequests, InspectedAt, Inspection,
    InvalidPolicy, LaneSpec, LaneStatistics, LaneWait, Limits, LockError, Mutex, MutexGuard, MutexInUse,
    MutexNotFound, NotAdmitted, ObjectBuilder, OnExcess, Orb, OrbBuilder, OrbError, Peers, Poa, PoaBuilder,
    PoaManager, PoaManagerState, PriorityModel, QueueLimits, QueueStatistics, ReferenceBuilder, ResolveError,
    SchedulerState, SchedulerStatistics, ServantActivator, ServantLocator, SocketOptions, StackUse,
    ThreadLifetime, ThreadPool, ThreadPoolBuilder, ThreadPoolId, ThreadStatistics, at_priority,
    explicit_priority,
};
pub use punctual_os::{CpuSet, Granted, Scheduling, SchedulingClass, Stack, TaskId, Thread, ThreadSpec};
pub use punctual_sched::{
    ContinuousMapping, DirectMapping, LinearMapping, LinearNetworkMapping, NetworkPriority,
    NetworkPriorityMapping, PriorityMapping, PriorityTransform, StandardMapping, UnknownMapping,
};
pub use punctual_stub::{
    AsyncCall, ConnectionMode, ContextProperties, ExposedPolicies, Interface, NativeValue, ObjectRef,
    PoliciesInForce, PolicyConflict, PolicyOverrides, ResponseHandler, Skeleton, SyncScope, WaitStrategy,
};
pub use punctual_transport::{Protocol, ProtocolPolicy, ProtocolProperties};
pub use punctual_types::{
    Completion, Detail, ExceptionOrigin, Minor, NativePriority, OutOfRange, Priority, PriorityBand,
    SystemException, SystemExceptionKind,
};

/// Items that most programs use.
///
/// ```
/// use punctual::prelude::*;
///
/// let orb: Orb = Orb::builder().build()?;
/// let poa: Poa = orb.root_poa();
/// assert!(Priority::MIN < Priority::MAX);
/// # Ok::<(), OrbError>(())
/// ```
pub mod prelude {
    pub use crate::{
        Completion, Interface, ObjectRef, Orb, OrbError, Poa, PolicyOverrides, Priority, PriorityBand,
        PriorityModel, ResolveError, SystemException, SystemExceptionKind, ThreadPool,
    };
}

/// Real-time CORBA 1.2: distributable threads, scheduling segments, and the schedulers of an endsystem.
///
/// A distributable thread is one locus of execution that moves from host to host with its calls, and is
/// scheduled everywhere by its parameters. [`RtScheduling`](rtscheduling::RtScheduling) is installed in each
/// ORB of the process. It holds the scheduler and the mechanism that enforces its decisions; both can be
/// replaced at run time. [`simulator`](rtscheduling::simulator) runs the same schedulers in virtual time.
/// `examples/04-distributable-threads` and `examples/05-scheduler-of-your-own` are complete programs.
///
/// ```
/// use punctual::{Orb, rtscheduling::*};
///
/// let scheduling = RtScheduling::builder()
///     .scheduler(MostImportantFirst::new())
///     .mechanism(Mechanism::ReadyQueue)
///     .processors(1)
///     .build()?;
/// let orb = Orb::builder().initializer(&scheduling).build()?;
///
/// let current = scheduling.current();
/// let important = SchedulingParameters::Importance { importance: 5 };
/// current.segment("track", important, |segment| {
///     // Calls through `orb` take the thread along: `tracker.cube(3)?`.
///     segment.update(SchedulingParameters::Importance { importance: 7 })?;
///     let id = current.id()?;
///     assert!(scheduling.lookup(id).is_some());
///     Ok::<_, SchedulingError>(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod rtscheduling {
    pub use punctual_rtsched::*;
    pub use punctual_sched::{dynamic::*, simulator};
    pub use punctual_types::DistributableThreadId;
}

/// Names in a naming service, as in `corbaname:` URLs, and the errors for names that are not found.
///
/// The crate `punctual-naming` has clients and servants of the service itself.
///
/// ```
/// use punctual::naming::{Name, NameComponent};
///
/// let name = Name::new([NameComponent::new("radar", ""), NameComponent::new("track.1", "fast")])?;
/// assert_eq!(name.to_string(), r"radar/track\.1.fast");
/// assert_eq!(name.to_string().parse(), Ok(name));
/// # Ok::<(), punctual::naming::NameError>(())
/// ```
pub mod naming {
    pub use punctual_giop::{
        NAME_SERVICE, Name, NameComponent, NameError, NameNotFound, NotFoundReason, corbaname_url,
    };
}

/// Transports, which carry octets between ORBs, and the interface for transports of your own.
///
/// [`Tcp`](transport::Tcp), [`Unix`](transport::Unix) and [`Shm`](transport::Shm) are built in;
/// `OrbBuilder::transport` adds others. `examples/03-transport-of-your-own` implements one.
///
/// ```
/// use punctual::{Orb, transport::{Layered, Tcp, Trace}};
///
/// // TCP, with a record of the traffic.
/// let trace = Trace::new(1000);
/// let orb = Orb::builder().transport(Layered::new(Tcp, trace.clone())).build()?;
/// assert_eq!(trace.traffic().connections, 0);
/// # Ok::<(), punctual::OrbError>(())
/// ```
pub mod transport {
    pub use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder, Endian};
    pub use punctual_sched::NetworkPriority;
    pub use punctual_transport::*;
}

/// Portable interceptors: user code that is called for every outgoing and incoming request, and may add
/// service contexts to it.
///
/// [`OrbBuilder::initializer`] registers them. Source: CORBA 3.3 Part 1, clause 16.
///
/// ```
/// use std::sync::Arc;
///
/// use punctual::{Completion, Orb, OrbError, SystemException, SystemExceptionKind, interceptors::*};
///
/// const BADGE: u32 = 0x5a5a_0001;
///
/// /// Shows a badge with every request, and serves no client without one.
/// #[derive(Clone)]
/// struct Badge(&'static [u8]);
///
/// impl ClientRequestInterceptor for Badge {
///     fn name(&self) -> &str {
///         "badge"
///     }
///
///     fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
///         Ok(info.add_request_service_context(BADGE, self.0)?)
///     }
/// }
///
/// impl ServerRequestInterceptor for Badge {
///     fn name(&self) -> &str {
///         "badge"
///     }
///
///     fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
///         match info.get_request_service_context(BADGE) {
///             Some(badge) if badge == self.0 => Ok(()),
///             _ => Err(SystemException::new(SystemExceptionKind::NoPermission, 0, Completion::No).into()),
///         }
///     }
/// }
///
/// impl OrbInitializer for Badge {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_client_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///         info.add_server_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let orb = Orb::builder().initializer(&Badge(b"radar")).build()?;
/// # Ok::<(), OrbError>(())
/// ```
pub mod interceptors {
    pub use punctual_orb::interceptors::*;
}

/// Values whose type is known at run time: `any`, type codes, and dynamic values.
///
/// Servants get an `any` as [`AnyView`](any::AnyView), which lends from the message; results, members and
/// clients' parameters are [`Any`](any::Any). Generated types implement [`Typed`](any::Typed).
///
/// ```
/// use punctual::any::{Any, Kind};
///
/// let any = Any::new("overheated")?;
/// assert_eq!(any.type_code().kind()?, Kind::String);
/// assert_eq!(any.view().get::<&str>()?, "overheated");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod any {
    pub use punctual_any::{
        Any, AnyError, AnyView, Codec, DynValue, Kind, Member, TypeCode, TypeCodeView, Typed, TypedReference,
        UnionCase, UnionMember, Value, ValueMember, ValueModifier,
    };
}

/// Calls and servants without generated code: the dynamic invocation interface (DII) and the dynamic skeleton
/// interface (DSI).
///
/// [`ObjectRef::request`] builds a call whose operation is known only at run time; a
/// [`DynamicServant`](dynamic::DynamicServant) executes such operations, and becomes an object like any other
/// servant. Both use the same path as generated code.
///
/// ```
/// use punctual::{Orb, ObjectRef, any::{Any, Kind, TypeCode}, dynamic::*};
///
/// /// Answers every operation with its name.
/// struct Echo;
///
/// impl DynamicServant for Echo {
///     fn repository_id(&self) -> String {
///         "IDL:Echo:1.0".into()
///     }
///
///     fn invoke(&self, request: &mut Upcall<'_, '_>) -> Result<Vec<Any>, RequestError> {
///         Ok(vec![Any::new(request.operation())?])
///     }
/// }
///
/// let orb = Orb::builder().listen("iiop://localhost:0").build()?;
/// let object: ObjectRef = orb.root_poa().activate(Echo)?;
/// let reply = object.request("hello").returns(TypeCode::basic(Kind::String)).invoke()?;
/// assert_eq!(reply.result().get::<String>()?, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod dynamic {
    pub use punctual_stub::{Upcall, dynamic::*};
}

/// Value types: objects that are passed by value (`docs/mapping.md`, "Value types").
///
/// A `custom` value type states how its state is sent:
///
/// ```
/// use punctual::value::{CdrError, CustomMarshal, Decode, Decoder, Encode, Encoder};
///
/// struct Sparse { numbers: Vec<f64> }
///
/// impl CustomMarshal for Sparse {
///     fn marshal(&self, encoder: &mut Encoder<'_>) -> Result<(), CdrError> {
///         let present: Vec<f64> = self.numbers.iter().copied().filter(|number| *number != 0.0).collect();
///         present.encode(encoder)
///     }
///
///     fn unmarshal(decoder: &mut Decoder<'_>) -> Result<Self, CdrError> {
///         Ok(Self { numbers: Vec::decode(decoder)? })
///     }
/// }
/// ```
pub mod value {
    pub use punctual_cdr::Endian;
    pub use punctual_stub::rt::{
        Abstract, CdrError, CustomMarshal, Decode, Decoder, Encode, Encoder, Inherits, Reserved, Shared,
        ValueGraph, ValueState, ValueType,
    };
}

/// Items for generated code, not for use by hand.
///
/// ```
/// use punctual::rt::{Interface, ObjectRef};
///
/// struct TrackerRef(ObjectRef);
///
/// impl Interface for TrackerRef {
///     const REPOSITORY_ID: &'static str = "IDL:radar/Tracker:1.0";
///     const SUPPORTED_IDS: &'static [&'static str] = &[Self::REPOSITORY_ID];
///
///     fn from_object(object: ObjectRef) -> Self {
///         Self(object)
///     }
///
///     fn as_object(&self) -> &ObjectRef {
///         &self.0
///     }
/// }
/// # assert_eq!(TrackerRef::SUPPORTED_IDS.len(), 1);
/// ```
pub mod rt {
    pub use punctual_stub::rt::*;
}

/// Includes the Rust code that `punctual_build::compile("idl/NAME.idl")` generated in the build script.
///
/// `NAME` is the file's name without folder and `.idl`. Does not compile in a package whose build script has
/// not compiled that file into `OUT_DIR`; the message names those that it has compiled. For the same reason
/// this example is not compiled; the programs in `examples` use the macro.
///
/// ```ignore
/// punctual::include_idl!("track");
/// ```
#[macro_export]
macro_rules! include_idl {
    ($name:literal) => {
        include!(env!(
            concat!("PUNCTUAL_IDL_", $name),
            concat!(
                "build.rs has not compiled `",
                $name,
                ".idl`, but: ",
                env!(
                    "PUNCTUAL_IDL",
                    "no build script has compiled IDL: add a build.rs that calls \
                     `punctual_build::compile(\"idl/NAME.idl\")`, and `punctual-build` to \
                     `[build-dependencies]` in Cargo.toml"
                ),
                ". Name one of these, without folder and `.idl`, or let build.rs call \
                 `punctual_build::compile(\"idl/",
                $name,
                ".idl\")`, too"
            )
        ));
    };
}
