//! Errors of creating ORBs, thread pools, adapters and objects, and of resolving references.

use std::{io, time::Duration};

use punctual_giop::{Name, NameNotFound, UrlError};
use punctual_inspect::InspectError;
use punctual_lane::LaneError;
use punctual_transport::AddressError;
use punctual_types::{Completion, Minor, OutOfRange, Priority, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::InvalidPolicy;

/// Reason why an ORB, a thread pool, an adapter or an object could not be created.
///
/// ```
/// # use punctual_orb as punctual;
/// use punctual::{Orb, OrbError};
///
/// let orb = Orb::builder().build()?;
/// let radar = orb.root_poa().child("radar").build()?;
/// match orb.root_poa().child("radar").build() {
///     Err(OrbError::AdapterAlreadyExists(name)) => assert_eq!(name, "radar"),
///     _ => unreachable!("the name is taken"),
/// }
/// assert!(matches!(Orb::builder().listen("localhost:2809").build(), Err(OrbError::Address(_))));
/// # Ok::<(), OrbError>(())
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum OrbError {
    /// The text is not an endpoint.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The adapter has been destroyed.
    #[error("the adapter has been destroyed; create another one with `child`")]
    AdapterDestroyed,
    /// The adapter's parent has a child of this name.
    #[error("an adapter named `{0}` already exists here; choose another name, or destroy that adapter first")]
    AdapterAlreadyExists(String),
    /// The adapter's name is empty or too long.
    #[error(
        "`{0}` is not a valid name for an adapter; choose a non-empty name that takes at most 1,000 octets, \
         together with the names of the adapters above it (`/` and `~` take two each)"
    )]
    AdapterName(String),
    /// An object with this id is active in the adapter.
    #[error("an object with this id is already active; deactivate it first or choose another id")]
    AlreadyActive,
    /// The last incarnation of the object with this id has not ended yet: a servant activator must first be
    /// notified of its end.
    #[error(
        "an object with this id is being deactivated, and its servant activator has not etherealized it yet; \
         activate it again later, or outside an upcall, where `activate` waits"
    )]
    BeingDeactivated,
    /// The ORB's table of objects is full.
    #[error("no more objects can be activated: the object table is full")]
    Full,
    /// The policies of an adapter, or of the ORB, contradict each other.
    #[error("{of}: {conflict}")]
    InvalidPolicy {
        /// The owner of these policies: "adapter `radar`", or "the ORB".
        of: String,
        /// The contradiction.
        conflict: InvalidPolicy,
    },
    /// The object's key, which contains its id or name, would be too long.
    #[error(
        "the object key would have {octets} octets, and the limit is {limit}; use a shorter id or name, or raise `max_object_key`"
    )]
    KeyTooLong {
        /// Octets of the key.
        octets: usize,
        /// [`crate::Limits::max_object_key`].
        limit: usize,
    },
    /// The socket could not be opened.
    #[error("cannot listen at {address}: {source}{}", advice(source))]
    Listen {
        /// Address of the endpoint.
        address: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The object is not active in this adapter.
    #[error(
        "the object is not active in this adapter; the reference must come from `activate` of the same adapter"
    )]
    NotActive,
    /// The number is not a priority.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
    /// use punctual::{OrbError, Priority};
    ///
    /// fn urgent() -> Result<Priority, OrbError> {
    ///     Ok(Priority::new(-1)?)
    /// }
    /// assert!(matches!(urgent(), Err(OrbError::Priority(_))));
    /// ```
    #[error(transparent)]
    Priority(#[from] OutOfRange),
    /// A request was still being executed by the object after [`crate::Limits::deactivation`] (TIMEOUT).
    #[error(
        "the object accepts no further request, but has been executing one for more than {0:?}; its servant is dropped \
         when another object is activated or deactivated, or when the ORB is shut down; to wait longer, set \
         `Limits::deactivation`"
    )]
    StillInUse(Duration),
    /// The adapters of a manager were still executing requests, or ending objects, after this time (TIMEOUT).
    #[error("the manager's adapters have been executing requests for more than {0:?}; wait longer")]
    RequestsInProgress(Duration),
    /// The operation waits for upcalls to end, but was called inside one.
    #[error(
        "the operation waits for upcalls to end, so it must not be called inside one; call it on another thread"
    )]
    InUpcall,
    /// The threads of the pool do not wait in a poller, so no lane of it can run the handlers of calls.
    #[error(
        "callback handlers cannot run in a pool that buffers requests or blocks in `read`; choose \
         another pool, or threads of your own with `Orb::callbacks`"
    )]
    CallbacksNeedPolledLanes,
    /// The adapter's manager has been deactivated, which is final (`POAManager::AdapterInactive`).
    #[error("the adapter's manager has been permanently deactivated; create another adapter")]
    ManagerInactive,
    /// The thread pool has been destroyed, or its ORB no longer exists (`RTCORBA::RTORB::InvalidThreadpool`).
    #[error("the thread pool has been destroyed; create another one with `Orb::threadpool`")]
    InvalidThreadPool,
    /// A call of the operating system failed, for example because of a limit.
    #[error("the operating system reported an error: {0}")]
    Os(#[from] io::Error),
    /// The named adapters use the thread pool.
    #[error("the thread pool is used by the adapters {0}; destroy them first with `Poa::destroy`")]
    PoolInUse(String),
    /// Objects of the adapter cannot have this priority (BAD_PARAM).
    #[error(
        "no lane of the adapter's pool serves priority {0}, or no band contains it; use another priority, or \
         add a lane or band"
    )]
    PriorityNotServed(Priority),
    /// The object already has a different priority (BAD_INV_ORDER).
    #[error("this object id already has priority {has}, not {asked}; use that priority or another id")]
    PriorityTaken {
        /// Requested priority.
        asked: Priority,
        /// Priority from the object's activation or from an earlier reference.
        has: Priority,
    },
    /// An operation of the interface could overflow the stack of a thread of the adapter's pool
    /// (NO_RESOURCES).
    #[error(
        "an operation of {interface} needs {needed} octets of stack for its values, but threads of the adapter's \
         pool have {stack_bytes}; set `stack_bytes` of the pool or lane to at least {needed}, or pass large \
         values in sequences or arrays"
    )]
    StackTooSmall {
        /// Repository id of the interface.
        interface: String,
        /// The smallest stack of the pool's threads in octets.
        stack_bytes: usize,
        /// Octets that the largest operation needs.
        needed: usize,
    },
    /// The ORB's mapping has no native priority for this priority (DATA_CONVERSION).
    #[error(
        "priority {0} has no native priority under the ORB's priority mapping; choose another priority or the `linear` \
         mapping, which covers all"
    )]
    PriorityUnmappable(Priority),
    /// A reference to the object cannot be created.
    #[error("cannot create a reference to the object: {0}")]
    Reference(SystemException),
    /// `Limits::max_nesting` is above what the stack of a thread may be used for (BAD_PARAM).
    #[error(
        "`Limits::max_nesting` is {0}, at most {most} are possible; values nested more deeply, such as long linked lists, \
         are better sent as sequences",
        most = punctual_cdr::Decoder::MAX_NESTING_LIMIT
    )]
    NestingLimit(u16),
    /// The queue limits leave no room for a request (BAD_PARAM).
    #[error(
        "a request queue needs room for at least one request: set both limits of `QueueLimits` above 0 (unlimited queues, \
         0 in CORBA, are not supported)"
    )]
    QueueWithoutRoom,
    /// The ORB has been shut down.
    #[error("the ORB has been shut down")]
    ShutDown,
    /// A thread could not be started.
    #[error(
        "thread `{name}` could not be started: {source}; configure fewer threads or smaller stacks, or raise the limits \
         (`ulimit -u`, `ulimit -l`, the control group's `pids.max`)"
    )]
    Thread {
        /// Name of the thread: pool, priority, number.
        name: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Settings of the thread pool are invalid or contradict each other; the text names the setting and the
    /// rule.
    #[error("invalid thread pool: {0}")]
    ThreadPool(String),
    /// A shared servant does not have the interface of the reference
    /// ([`ObjectBuilder::activate_shared`](crate::ObjectBuilder::activate_shared)).
    #[error("the servant implements {servant}, which is neither {reference} nor derived from it")]
    WrongInterface {
        /// Repository id of the servant's interface.
        servant: String,
        /// Repository id of the reference's interface.
        reference: &'static str,
    },
    /// The adapter's policies do not permit the operation (`WrongPolicy`).
    #[error("the adapter's policies do not permit this: {0}")]
    WrongPolicy(&'static str),
}

punctual_types::debug_as_display!(OrbError, ResolveError);

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
                "`allow_borrowing`: {lanes} lanes exceed the kernel's limit for nested pollers, which permits \
                 {limit}; merge lanes, disable borrowing, or add `request_buffering`, which has no such limit"
            )),
        }
    }
}

impl OrbError {
    /// Returns the corresponding CORBA system exception.
    ///
    /// Source: what TAO raises in `create_threadpool` and `create_POA` for the same mistakes.
    ///
    /// ```
    /// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
    /// use punctual::{Orb, SystemExceptionKind};
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
            Self::StackTooSmall { .. } => (Kind::NoResources, Minor::NONE),
            Self::AdapterDestroyed => (Kind::ObjectNotExist, Minor::NONE),
            Self::ManagerInactive => (Kind::BadInvOrder, Minor::NONE),
            Self::ShutDown => (Kind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN),
            Self::InUpcall => (Kind::BadInvOrder, Minor::OMG_WOULD_DEADLOCK),
            Self::CallbacksNeedPolledLanes => (Kind::InvPolicy, Minor::NONE),
            Self::AlreadyActive => (Kind::BadInvOrder, Minor::ALREADY_ACTIVE),
            Self::BeingDeactivated => (Kind::BadInvOrder, Minor::NONE),
            Self::StillInUse(_) | Self::RequestsInProgress(_) => (Kind::Timeout, Minor::NONE),
            Self::NotActive | Self::PoolInUse(_) => (Kind::BadInvOrder, Minor::NONE),
            Self::InvalidPolicy { .. } => (Kind::InvPolicy, Minor::POLICY_CONFLICT),
            Self::WrongPolicy(_) => (Kind::InvPolicy, Minor::NONE),
            Self::PriorityNotServed(_) => (Kind::BadParam, Minor::NONE),
            Self::PriorityTaken { .. } => (Kind::BadInvOrder, Minor::NONE),
            Self::Reference(exception) => return *exception,
            Self::AdapterAlreadyExists(_) => (Kind::BadInvOrder, Minor::NONE),
            Self::Address(_) | Self::AdapterName(_) | Self::ThreadPool(_) => (Kind::BadParam, Minor::NONE),
            Self::InvalidThreadPool | Self::QueueWithoutRoom | Self::NestingLimit(_) => {
                (Kind::BadParam, Minor::NONE)
            }
            Self::KeyTooLong { .. } => (Kind::ImpLimit, Minor::NONE),
            Self::Priority(_) | Self::WrongInterface { .. } => (Kind::BadParam, Minor::NONE),
        };
        SystemException::new(kind, minor, Completion::No)
    }
}

/// Reason why a text could not be resolved to a reference.
///
/// ```
/// # mod punctual { pub use {punctual_giop::*, punctual_orb::*}; }
/// use punctual::{Orb, ResolveError, ior_to_string};
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
#[derive(Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// A call to the object, or to an object that leads to it, failed.
    #[error("{}{exception}", quoted(.text))]
    Call {
        /// The text that was to be resolved, if it is a URL.
        text: String,
        /// Why.
        exception: SystemException,
    },
    /// The reference is nil.
    #[error("the reference is nil: it refers to no object")]
    Nil,
    /// The text is not a reference.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// `corbaloc:rir:` names an initial reference that this ORB does not have.
    #[error(
        "this ORB has no initial reference `{0}`; set its URL with `OrbBuilder::initial_reference`, or in the \
         environment: PUNCTUAL_INITIAL_REFERENCES={0}=corbaloc::HOST:2809/{0}"
    )]
    UnknownInitialReference(String),
    /// Initial references or files lead to each other, or there are too many of them.
    #[error(
        "`{0}` is not followed: initial references and files lead from one to the next more than 8 times; does \
         one lead back to itself?"
    )]
    TooManySteps(String),
    /// The file of a `file:` URL cannot be read.
    #[error(
        "cannot read the reference in `{path}`: {source}; it has to be a text file with an `IOR:` or a URL"
    )]
    File {
        /// Path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A naming context does not contain the name in a `corbaname:` URL.
    #[error(transparent)]
    NameNotFound(#[from] NameNotFound),
    /// A naming context does not accept the name in a `corbaname:` URL, or refers to other contexts without
    /// end.
    #[error(
        "the naming context refuses the name `{0}`: it is too long or empty for this server, or the server can \
         neither proceed nor name another context that can"
    )]
    NameRefused(Name),
    /// The object exists but has a different interface.
    #[error(
        "{}the object does not support {wanted}; its reference states `{found}`: resolve it as a reference of \
         that interface, or look up another object",
        quoted(.text)
    )]
    WrongInterface {
        /// The text that was to be resolved, if it is a URL.
        text: String,
        /// Requested repository id.
        wanted: &'static str,
        /// Repository id in the reference.
        found: String,
    },
}

impl From<SystemException> for ResolveError {
    fn from(exception: SystemException) -> Self {
        let (text, exception) = (String::new(), exception.of_call());
        Self::Call { text, exception }
    }
}

/// Exception of a servant that could not resolve a reference: the exception of the failed call, otherwise
/// BAD_PARAM for texts that are not references, and INV_OBJREF for references to other objects.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// use punctual::{Orb, ResolveError, SystemException, SystemExceptionKind};
///
/// let orb = Orb::builder().build()?;
/// let error = orb.resolve_object("localhost:2809/Tracker").unwrap_err();
/// assert_eq!(SystemException::from(error).kind, SystemExceptionKind::BadParam);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
impl From<ResolveError> for SystemException {
    fn from(error: ResolveError) -> Self {
        let raised = |kind, minor| Self::new(kind, minor, Completion::Maybe);
        match error {
            ResolveError::Call { exception, .. } => exception,
            ResolveError::Url(_)
            | ResolveError::UnknownInitialReference(_)
            | ResolveError::TooManySteps(_)
            | ResolveError::File { .. }
            | ResolveError::NameNotFound(_)
            | ResolveError::NameRefused(_) => raised(SystemExceptionKind::BadParam, Minor::OMG_NO_REFERENCE),
            ResolveError::Nil | ResolveError::WrongInterface { .. } => {
                raised(SystemExceptionKind::InvObjref, Minor::NONE)
            }
        }
    }
}

impl ResolveError {
    /// Names the URL in the error. A text of hexadecimal digits would be of no use.
    pub(crate) fn of(mut self, url: &str) -> Self {
        if let Self::Call { text, .. } | Self::WrongInterface { text, .. } = &mut self
            && !url.starts_with("IOR:")
        {
            url.clone_into(text);
        }
        self
    }
}

fn quoted(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("`{text}`: "),
    }
}
/// Advice for the user if listening has failed.
fn advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::AddrInUse => {
            "; another program or lane listens there (`ss -ltnp` shows which): end it, or choose another port"
        }
        std::io::ErrorKind::AddrNotAvailable => {
            "; it is no address of this machine (`ip address` lists those): choose one of them, or `localhost`"
        }
        std::io::ErrorKind::PermissionDenied => {
            "; ports below 1024 need CAP_NET_BIND_SERVICE (choose a higher one, or `sudo setcap \
             cap_net_bind_service+ep PROGRAM`), a socket file needs a folder in which this user may write"
        }
        // The kind of a failed lookup is not public.
        _ if source.to_string().contains("lookup address") => {
            "; this host does not know the name: check it, or listen at `localhost` or an address of this machine"
        }
        _ => "",
    }
}
