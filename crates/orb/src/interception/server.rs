//! Interceptors of incoming requests, and the request information that they receive.

use punctual_cdr::{Decoder, Endian, Ior};
use punctual_os::Scheduling;
use punctual_stub::UserPolicies;
use punctual_transport::Peer;
use punctual_types::{Priority, SystemException};

use super::{
    AddedContexts, CallKind, Interrupt, InvalidSlot, Raised, ReplyStatus, SlotId, SlotTable, SlotValue,
    client::Contexts,
};

/// Interceptor of the requests that an ORB receives, `PortableInterceptor::ServerRequestInterceptor`.
/// Starting points, ending points and exceptions follow the rules of
/// [`ClientRequestInterceptor`](super::ClientRequestInterceptor). All points of a request are called on the
/// thread that serves it, from [`Self::receive_request`] on at the priority of the upcall. Requests that are
/// refused because a queue is full or a deadline has passed are not intercepted.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::Arc;
///
/// use punctual::{Completion, Orb, SystemException, SystemExceptionKind, interceptors::*};
///
/// /// Refuses requests that would change the state of objects.
/// #[derive(Clone)]
/// struct ReadOnly;
///
/// impl ServerRequestInterceptor for ReadOnly {
///     fn name(&self) -> &str {
///         "read only"
///     }
///
///     fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
///         if info.operation().starts_with("_get_") {
///             return Ok(());
///         }
///         Err(SystemException::new(SystemExceptionKind::NoPermission, 0, Completion::No).into())
///     }
/// }
///
/// impl OrbInitializer for ReadOnly {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_server_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let orb = Orb::builder().initializer(&ReadOnly).build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// assert_eq!(doubler.twice(4).unwrap_err().kind, SystemExceptionKind::NoPermission);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub trait ServerRequestInterceptor: Send + Sync {
    /// Returns the name. Names are unique within an ORB, except that any number of interceptors may have an
    /// empty one.
    fn name(&self) -> &str;

    /// Starting point: before the object is looked up.
    ///
    /// An interrupt ends the request: neither the interceptors after this one nor this one's ending point are
    /// called.
    fn receive_request_service_contexts(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Intermediate point: the object has been found, and its servant is called next. An interrupt ends the
    /// request, and the ending point of this interceptor is called.
    fn receive_request(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the servant has returned without an exception. An exception raised here replaces the
    /// reply. Oneway requests end here as well.
    fn send_reply(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Ending point: the request has failed; see [`ServerRequestInfo::exception`]. An interrupt replaces the
    /// exception.
    fn send_exception(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the request is forwarded, or starts again at another lane; see
    /// [`ServerRequestInfo::reply_status`].
    fn send_other(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }
}

/// Incoming request, `PortableInterceptor::ServerRequestInfo`.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::Arc;
///
/// use punctual::{Completion, Orb, SystemException, SystemExceptionKind, interceptors::*};
///
/// /// Refuses results that are too large for the display.
/// #[derive(Clone)]
/// struct Display;
///
/// impl ServerRequestInterceptor for Display {
///     fn name(&self) -> &str {
///         "display"
///     }
///
///     fn send_reply(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
///         let Some(mut results) = info.results().filter(|_| info.operation() == "twice") else {
///             return Ok(());
///         };
///         match punctual::value::Decode::decode(&mut results) {
///             Ok(100..=i32::MAX) => {
///                 Err(SystemException::new(SystemExceptionKind::NoResources, 0, Completion::Yes))
///             }
///             _ => Ok(()),
///         }
///     }
/// }
///
/// impl OrbInitializer for Display {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_server_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let orb = Orb::builder().initializer(&Display).build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// assert_eq!(doubler.twice(4), Ok(8));
/// assert_eq!(doubler.twice(400).unwrap_err().kind, SystemExceptionKind::NoResources);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub struct ServerRequestInfo<'a> {
    pub(crate) request: ServerRequest<'a>,
    pub(crate) repository_id: Option<&'a str>,
    pub(crate) policies: Option<&'a UserPolicies>,
    pub(crate) arguments: Option<Decoder<'a>>,
    pub(crate) added: &'a mut AddedContexts,
    pub(crate) keeps_native_priority: &'a mut bool,
    pub(crate) ending: ServerEnding<'a>,
}

/// Lane that serves a request, in [`ServerRequestInfo::lane`].
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::{Arc, Mutex};
///
/// use punctual::{Orb, Priority, PriorityModel, interceptors::*};
///
/// /// Notes the priority of the lane that has served the last request.
/// #[derive(Clone, Default)]
/// struct LastLane(Arc<Mutex<Option<Priority>>>);
///
/// impl ServerRequestInterceptor for LastLane {
///     fn name(&self) -> &str {
///         "last lane"
///     }
///
///     fn receive_request(&self, info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
///         *self.0.lock().unwrap() = info.lane().map(|lane: ServingLane| lane.priority);
///         Ok(())
///     }
/// }
/// # impl OrbInitializer for LastLane {
/// #     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
/// #         info.add_server_request_interceptor(Arc::new(self.clone())).expect("the name is free");
/// #     }
/// # }
///
/// let last_lane = LastLane::default();
/// let server = Orb::builder().initializer(&last_lane).listen("iiop://localhost:0").build()?;
/// let pool = server.threadpool().lane(Priority::MIN, 1).build()?;
/// let model = PriorityModel::ServerDeclared(Priority::MIN);
/// let poa = server.root_poa().child("numbers").threadpool(&pool).priority_model(model).build()?;
/// let doubler: DoublerRef = poa.activate(Doubler)?;
/// # use punctual_stub::Interface;
/// # let client = Orb::builder().build()?;
/// # let doubler: DoublerRef = client.resolve(&doubler.as_object().to_ior())?;
/// doubler.twice(21)?;
/// assert_eq!(*last_lane.0.lock().unwrap(), Some(Priority::MIN));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ServingLane {
    /// CORBA priority at which its threads wait for requests.
    pub priority: Priority,
    /// Configured scheduling of its threads; `None`: they are the user's own.
    pub scheduling: Option<Scheduling>,
}

/// Properties of a request that are known from the start.
#[derive(Clone, Copy)]
pub(crate) struct ServerRequest<'a> {
    pub(crate) request_id: u32,
    pub(crate) operation: &'a str,
    pub(crate) kind: CallKind,
    pub(crate) object_key: Option<&'a [u8]>,
    pub(crate) contexts: Contexts<'a>,
    pub(crate) peer: Option<Peer>,
    pub(crate) endian: Endian,
    pub(crate) lane: Option<ServingLane>,
    pub(crate) is_collocated: bool,
    pub(crate) slot_table: &'a SlotTable,
}

/// How the request ended.
#[derive(Clone)]
pub(crate) struct ServerEnding<'a> {
    pub(crate) status: Option<ReplyStatus>,
    pub(crate) exception: Option<Raised<'a>>,
    pub(crate) forward: Option<&'a Ior>,
    pub(crate) results: Option<Decoder<'a>>,
}

impl ServerEnding<'_> {
    /// The request has not ended yet.
    pub(crate) const NONE: Self = Self {
        status: None,
        exception: None,
        forward: None,
        results: None,
    };
}

impl ServerRequestInfo<'_> {
    /// Returns the request id on the wire, which is unique among the outstanding requests of the connection.
    pub fn request_id(&self) -> u32 {
        self.request.request_id
    }

    /// Returns the operation's name in IDL; attributes are `_get_name` and `_set_name`.
    pub fn operation(&self) -> &str {
        self.request.operation
    }

    /// Returns whether the client expects a reply.
    pub fn kind(&self) -> CallKind {
        self.request.kind
    }

    /// Returns the object key in the request; `None` if the request names a reference without one.
    pub fn object_key(&self) -> Option<&[u8]> {
        self.request.object_key
    }

    /// Returns the interface of the servant, `IDL:NAME:1.0`; `None` before the servant has been found.
    pub fn repository_id(&self) -> Option<&str> {
        self.repository_id
    }

    /// Returns the policy of this user-defined type that the adapter of the object was created with
    /// ([`PoaBuilder::policy`](crate::PoaBuilder::policy)): `get_server_policy`. `None` before the object has
    /// been found.
    pub fn policy<T: 'static>(&self) -> Option<&T> {
        self.policies?.get()
    }

    /// Returns the sender as identified by the connection; `None` if this thread is the caller.
    pub fn peer(&self) -> Option<Peer> {
        self.request.peer
    }

    /// States that the interceptor decides on the native priority of the serving thread until its ending
    /// point. From its starting point on, the upcall leaves that priority as it is, also in a pool without
    /// lanes, where it otherwise takes on the priority of the request.
    pub fn keep_native_priority(&mut self) {
        *self.keeps_native_priority = true;
    }

    /// Returns the lane that serves the request; `None` if this thread is the caller.
    pub fn lane(&self) -> Option<ServingLane> {
        self.request.lane
    }

    /// Returns the byte order of the message, for service contexts of other ORBs that do not state theirs.
    pub fn endian(&self) -> Endian {
        self.request.endian
    }

    /// Returns whether this thread is the caller.
    pub fn is_collocated(&self) -> bool {
        self.request.is_collocated
    }

    /// Returns the data of a service context of the request; for a collocated request, of a context that
    /// client interceptors have added.
    pub fn get_request_service_context(&self, id: u32) -> Option<&[u8]> {
        self.request.contexts.find(id)
    }

    /// Adds a service context to the reply, if one is sent. Allocates only if the thread has not sent one of
    /// this length yet. Fails like
    /// [`ClientRequestInfo::add_request_service_context`](super::ClientRequestInfo::add_request_service_context).
    pub fn add_reply_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.add(id, data)
    }

    /// Adds a service context like [`Self::add_reply_service_context`], but replaces one that another
    /// interceptor has added.
    pub fn replace_reply_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.set(id, data)
    }

    /// Returns the data of a service context that interceptors have added to the reply.
    pub fn get_reply_service_context(&self, id: u32) -> Option<&[u8]> {
        self.added.find(id)
    }

    /// Returns the arguments in order; available from [`ServerRequestInterceptor::receive_request`] on.
    pub fn arguments(&self) -> Option<Decoder<'_>> {
        self.arguments.clone()
    }

    /// Returns the results in order, at [`ServerRequestInterceptor::send_reply`] of requests with a reply.
    pub fn results(&self) -> Option<Decoder<'_>> {
        self.ending.results.clone()
    }

    /// Returns how the request ended; `None` before its end.
    pub fn reply_status(&self) -> Option<ReplyStatus> {
        self.ending.status
    }

    /// Returns the exception that the request ended with.
    pub fn exception(&self) -> Option<Raised<'_>> {
        self.ending.exception
    }

    /// Returns the reference to which the client will send the request again.
    pub fn forward_reference(&self) -> Option<&Ior> {
        self.ending.forward
    }

    /// Returns the value of a slot of the request; see [`PiCurrent`](super::PiCurrent).
    pub fn get_slot(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        self.request.slot_table.get(id)
    }

    /// Sets the value of a slot of the request; its servant finds it in [`PiCurrent`](super::PiCurrent).
    pub fn set_slot(&self, id: SlotId, value: SlotValue) -> Result<(), InvalidSlot> {
        self.request.slot_table.set(id, value)
    }
}
