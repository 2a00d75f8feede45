use punctual_cdr::{Decoder, Endian, Ior};
use punctual_transport::Peer;
use punctual_types::SystemException;

use super::{
    AddedContexts, CallKind, Interrupt, InvalidSlot, Raised, ReplyStatus, SlotId, SlotTable, SlotValue,
    client::Contexts,
};

/// Sees the requests that come to an ORB, `PortableInterceptor::ServerRequestInterceptor`.
///
/// Starting and ending points, and what becomes of exceptions, are as with
/// [`ClientRequestInterceptor`](super::ClientRequestInterceptor). All points of a request are called on the thread that serves it, from
/// [`Self::receive_request`] on at the priority of the upcall. Requests that are refused before anybody looks at them, because a queue is
/// full or a deadline has passed, are not seen.
///
/// [`ServerRequestInfo`] has an example.
pub trait ServerRequestInterceptor: Send + Sync {
    /// The name, by which no two are registered; any number may be without one.
    fn name(&self) -> &str;

    /// Starting point: before the object is looked for.
    ///
    /// An interrupt ends the request: the interceptors behind this one do not see it, nor does this one's ending point.
    fn receive_request_service_contexts(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Between start and end: the object is there, and its servant comes next. An interrupt ends the request, and this interceptor
    /// gets its ending point.
    fn receive_request(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the servant has returned, and no exception. The client gets what this raises instead.
    ///
    /// Oneway requests end here, too.
    fn send_reply(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Ending point: the request has failed; [`ServerRequestInfo::exception`] says with what. An interrupt takes its place.
    fn send_exception(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the object is elsewhere, or the request comes again at another lane; [`ServerRequestInfo::reply_status`] says
    /// which.
    fn send_other(&self, _info: &mut ServerRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }
}

/// A request on its way in, `PortableInterceptor::ServerRequestInfo`.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::Arc;
///
/// use punctual_orb::{Orb, interceptors::*};
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
///
/// /// Lets nothing out that is too large for the display.
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
///         match punctual_cdr::Decode::decode(&mut results) {
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
    pub(crate) arguments: Option<Decoder<'a>>,
    pub(crate) added: &'a mut AddedContexts,
    pub(crate) ending: ServerEnding<'a>,
}

/// What is known of a request from the start.
#[derive(Clone, Copy)]
pub(crate) struct ServerRequest<'a> {
    pub(crate) request_id: u32,
    pub(crate) operation: &'a str,
    pub(crate) kind: CallKind,
    pub(crate) object_key: Option<&'a [u8]>,
    pub(crate) contexts: Contexts<'a>,
    pub(crate) peer: Option<Peer>,
    pub(crate) endian: Endian,
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
    /// Not yet.
    pub(crate) const NONE: Self = Self {
        status: None,
        exception: None,
        forward: None,
        results: None,
    };
}

impl ServerRequestInfo<'_> {
    /// A number that no other request of the same connection has that is under way: the one on the wire.
    pub fn request_id(&self) -> u32 {
        self.request.request_id
    }

    /// The operation's name in IDL; attributes are `_get_name` and `_set_name`.
    pub fn operation(&self) -> &str {
        self.request.operation
    }

    /// Whether the client expects a reply.
    pub fn kind(&self) -> CallKind {
        self.request.kind
    }

    /// The key of the object, as the request has it; `None` where that names a reference without one.
    pub fn object_key(&self) -> Option<&[u8]> {
        self.request.object_key
    }

    /// The interface of the servant, `IDL:NAME:1.0`; `None` before it has been found.
    pub fn repository_id(&self) -> Option<&str> {
        self.repository_id
    }

    /// Who sends it, as the connection says; `None`: this thread does.
    pub fn peer(&self) -> Option<Peer> {
        self.request.peer
    }

    /// The byte order of the message: for service contexts of other ORBs that do not say their own.
    pub fn endian(&self) -> Endian {
        self.request.endian
    }

    /// Whether the caller is this thread.
    pub fn is_collocated(&self) -> bool {
        self.request.is_collocated
    }

    /// The data of a service context of the request; of a collocated one: what interceptors have added there.
    pub fn get_request_service_context(&self, id: u32) -> Option<&[u8]> {
        self.request.contexts.find(id)
    }

    /// Sends a service context with the reply, if there is one. Costs no allocation once the thread has sent one as long.
    ///
    /// Fails as [`ClientRequestInfo::add_request_service_context`](super::ClientRequestInfo::add_request_service_context).
    pub fn add_reply_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.add(id, data)
    }

    /// As [`Self::add_reply_service_context`], in place of one that another interceptor has added.
    pub fn replace_reply_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.set(id, data)
    }

    /// The data of a service context that interceptors have added to the reply.
    pub fn get_reply_service_context(&self, id: u32) -> Option<&[u8]> {
        self.added.find(id)
    }

    /// The arguments, in order; from [`ServerRequestInterceptor::receive_request`] on.
    pub fn arguments(&self) -> Option<Decoder<'_>> {
        self.arguments.clone()
    }

    /// The results, in order, at [`ServerRequestInterceptor::send_reply`] of requests with a reply.
    pub fn results(&self) -> Option<Decoder<'_>> {
        self.ending.results.clone()
    }

    /// How the request ended; `None` before it has.
    pub fn reply_status(&self) -> Option<ReplyStatus> {
        self.ending.status
    }

    /// The exception that it ended with.
    pub fn exception(&self) -> Option<Raised<'_>> {
        self.ending.exception
    }

    /// Where the client is to send it again.
    pub fn forward_reference(&self) -> Option<&Ior> {
        self.ending.forward
    }

    /// What the request has in a slot: see [`PiCurrent`](super::PiCurrent).
    pub fn get_slot(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        self.request.slot_table.get(id)
    }

    /// Gives the request's slot another value; its servant finds it in [`PiCurrent`](super::PiCurrent).
    pub fn set_slot(&self, id: SlotId, value: SlotValue) -> Result<(), InvalidSlot> {
        self.request.slot_table.set(id, value)
    }
}
