use std::io;

use punctual_giop::UrlError;
use punctual_inspect::InspectError;
use punctual_lane::LaneError;
use punctual_transport::AddressError;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::InvalidPolicy;

/// Why an ORB, a thread pool, an adapter or an object could not be made.
///
/// ```
/// use punctual_orb::{Orb, OrbError};
///
/// let orb = Orb::builder().build()?;
/// let radar = orb.root_poa().child("radar").build()?;
/// match orb.root_poa().child("radar").build() {
///     Err(OrbError::AdapterName(name)) => assert_eq!(name, "radar"),
///     _ => unreachable!("the name is taken"),
/// }
/// assert!(matches!(Orb::builder().listen("localhost:2809").build(), Err(OrbError::Address(_))));
/// # Ok::<(), OrbError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OrbError {
    /// The text is no endpoint.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The adapter has been destroyed.
    #[error("the adapter has been destroyed; make another one with `child`")]
    AdapterDestroyed,
    /// The adapter's name is empty, too long, contains `/`, or its parent has a child of this name.
    #[error(
        "`{0}` is no name for a new adapter here; choose one that is not taken, not empty, without `/` and below 1,000 octets"
    )]
    AdapterName(String),
    /// An object with this id is active in the adapter.
    #[error("an object with this id is already active; deactivate it first or choose another id")]
    AlreadyActive,
    /// The ORB's table of objects is full.
    #[error("no more objects can be activated: the table is full")]
    Full,
    /// The policies of an adapter contradict each other.
    #[error(transparent)]
    InvalidPolicy(#[from] InvalidPolicy),
    /// The socket could not be opened.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// Where.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The object is not active in this adapter.
    #[error(
        "the object is not active in this adapter; the reference must come from `activate` of the same adapter"
    )]
    NotActive,
    /// The operation waits for upcalls to end, and was called inside one.
    #[error("this waits for upcalls to end, and so must not be called inside one; call it on another thread")]
    InUpcall,
    /// The thread pool has been destroyed, or its ORB is gone (`RTCORBA::RTORB::InvalidThreadpool`).
    #[error("the thread pool is not there any more; make another one with `Orb::threadpool`")]
    InvalidThreadPool,
    /// A limit or facility of the operating system.
    #[error("the operating system refused: {0}")]
    Os(#[from] io::Error),
    /// Adapters, named here, use the thread pool.
    #[error("the thread pool is used by the adapters {0}; destroy them first, with `Poa::destroy`")]
    PoolInUse(String),
    /// The adapter's objects cannot have this priority (BAD_PARAM).
    #[error(
        "priority {0} is that of no lane of the adapter's pool, or in none of its bands; use one that is, or add a lane or band"
    )]
    PriorityNotServed(Priority),
    /// The object has a priority already, and another one (BAD_INV_ORDER).
    #[error(
        "this object id has priority {has} already, so it cannot have {asked}; use the same, or another id"
    )]
    PriorityTaken {
        /// What was asked for.
        asked: Priority,
        /// What it has, from its activation or from an earlier reference.
        has: Priority,
    },
    /// The priority has no native one under the ORB's mapping (DATA_CONVERSION).
    #[error(
        "priority {0} has no native one under the ORB's priority mapping; choose another priority, or the `linear` mapping, \
         which has one for each"
    )]
    PriorityUnmappable(Priority),
    /// No reference to the object can be made.
    #[error("no reference to the object can be made: {0}")]
    Reference(SystemException),
    /// A queue without room for a request (BAD_PARAM).
    #[error(
        "a queue of requests needs room for one: set both limits of `QueueLimits` above 0, which is no limit in CORBA and not to \
         be had"
    )]
    QueueWithoutRoom,
    /// The ORB has been shut down.
    #[error("the ORB has been shut down")]
    ShutDown,
    /// A thread could not be started.
    #[error(
        "thread `{name}` could not be started: {source}; ask for fewer threads or smaller stacks, or raise the limits \
         (`ulimit -u`, `ulimit -l`, the control group's `pids.max`)"
    )]
    Thread {
        /// Its name: pool, priority, number.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// Settings of a thread pool that contradict each other or themselves: which, and the rule.
    #[error("a thread pool cannot be like this: {0}")]
    ThreadPool(String),
    /// The operation does not fit the adapter's policies (`WrongPolicy`).
    #[error("the adapter's policies do not allow this: {0}")]
    WrongPolicy(&'static str),
}

impl From<InspectError> for OrbError {
    fn from(InspectError { address, source }: InspectError) -> Self {
        Self::Listen { address, source }
    }
}

impl From<LaneError> for OrbError {
    fn from(error: LaneError) -> Self {
        match error {
            LaneError::Address(error) => Self::Address(error),
            LaneError::Listen { address, source } => Self::Listen { address, source },
            LaneError::Thread { name, source } => Self::Thread { name, source },
            LaneError::Os(source) => Self::Os(source),
            LaneError::TooManyBorrowingLanes { lanes, limit } => Self::ThreadPool(format!(
                "`allow_borrowing`: {lanes} lanes exceed the kernel's limit for pollers that wait for each other, which permits \
                 {limit}; merge lanes, do without borrowing, or add `request_buffering`, which has no such limit"
            )),
        }
    }
}

impl OrbError {
    /// The system exception that CORBA has for it, for code that speaks in these.
    ///
    /// Source: what TAO raises in `create_threadpool` and `create_POA` for the same mistakes.
    ///
    /// ```
    /// use punctual_orb::Orb;
    /// use punctual_types::SystemExceptionKind;
    ///
    /// let orb = Orb::builder().build()?;
    /// let no_threads = orb.threadpool().threads(0).build().err().expect("a pool needs threads");
    /// assert_eq!(no_threads.system_exception().kind, SystemExceptionKind::BadParam);
    /// # Ok::<(), punctual_orb::OrbError>(())
    /// ```
    pub fn system_exception(&self) -> SystemException {
        use SystemExceptionKind as Kind;
        let (kind, minor) = match self {
            Self::PriorityUnmappable(_) => (Kind::DataConversion, Minor::OMG_PRIORITY_UNMAPPABLE),
            Self::Thread { .. } => (Kind::Internal, Minor::THREAD_NOT_STARTED),
            Self::Os(_) | Self::Listen { .. } => (Kind::NoResources, Minor::NONE),
            Self::Full => (Kind::ImpLimit, Minor::NONE),
            Self::AdapterDestroyed => (Kind::ObjectNotExist, Minor::NONE),
            Self::ShutDown => (Kind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN),
            Self::InUpcall => (Kind::BadInvOrder, Minor::OMG_WOULD_DEADLOCK),
            Self::AlreadyActive => (Kind::BadInvOrder, Minor::ALREADY_ACTIVE),
            Self::NotActive | Self::PoolInUse(_) => (Kind::BadInvOrder, Minor::NONE),
            Self::InvalidPolicy(_) => (Kind::InvPolicy, Minor::POLICY_CONFLICT),
            Self::WrongPolicy(_) => (Kind::InvPolicy, Minor::NONE),
            Self::PriorityNotServed(_) => (Kind::BadParam, Minor::NONE),
            Self::PriorityTaken { .. } => (Kind::BadInvOrder, Minor::NONE),
            Self::Reference(exception) => return *exception,
            Self::Address(_) | Self::AdapterName(_) | Self::ThreadPool(_) => (Kind::BadParam, Minor::NONE),
            Self::InvalidThreadPool | Self::QueueWithoutRoom => (Kind::BadParam, Minor::NONE),
        };
        SystemException::new(kind, minor, Completion::No)
    }
}

/// Why a text could not be turned into a usable reference.
///
/// ```
/// use punctual_giop::ior_to_string;
/// use punctual_orb::{Orb, ResolveError};
///
/// let orb = Orb::builder().build()?;
/// let nil = ior_to_string(&Default::default());
/// assert!(matches!(orb.resolve_object(&nil), Err(ResolveError::Nil)));
/// assert!(matches!(orb.resolve_object("localhost:2809/Tracker"), Err(ResolveError::Url(_))));
/// assert!(matches!(
///     orb.resolve_object("corbaloc:rir:/NameService"),
///     Err(ResolveError::UnknownInitialReference(name)) if name == "NameService"
/// ));
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The object, or the way to it, failed.
    #[error("{0}")]
    Call(#[from] SystemException),
    /// The text names no object: nil.
    #[error("the reference is nil: it refers to no object")]
    Nil,
    /// The text is no reference.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// `corbaloc:rir:` names something this ORB does not have.
    #[error("`{0}` is no initial reference of this ORB")]
    UnknownInitialReference(String),
    /// The object is there, but has another interface.
    #[error("the object does not support {wanted}; its reference says `{found}`")]
    WrongInterface {
        /// The repository id asked for.
        wanted: &'static str,
        /// The repository id in the reference.
        found: String,
    },
}
