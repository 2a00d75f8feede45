//! What interceptors see of a call.

use std::time::Instant;

use punctual_cdr::{CharSet, Decoder, Encoder, Endian, Ior};
use punctual_giop::{MessageHeader, ReplyHeader, ServiceContexts};
use punctual_stub::{ObjectRef, OrbContext, Phase};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    AddedContexts, CallKind, Interrupt, InvalidSlot, Raised, ReplyStatus, SlotId, SlotTable, SlotValue,
};

/// Sees the requests that leave an ORB, `PortableInterceptor::ClientRequestInterceptor`.
///
/// Starting points are called in the order of registration, ending points in reverse order. Of the interceptors whose starting
/// point completed each gets exactly one ending point, whatever becomes of the request. A request that is sent again, to another
/// place or over another connection, is another one. All points are called on the calling thread. One that panics has raised
/// UNKNOWN.
///
/// What the ORB asks by itself is not seen: LocateRequests, and the binding of connections to bands.
///
/// [`OrbInitializer`](crate::interceptors::OrbInitializer) has an example.
pub trait ClientRequestInterceptor: Send + Sync {
    /// The name, by which no two are registered; any number may be without one.
    fn name(&self) -> &str;

    /// Starting point: before the arguments are marshalled and a connection is chosen.
    ///
    /// An interrupt ends the request: the interceptors behind this one do not see it, nor does this one's ending point.
    fn send_request(&self, _info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Starting point of an asynchronous call whose caller comes for the reply: before it looks, or waits. It may come often.
    ///
    /// [`ClientRequestInfo::request_id`] is what it was when the request was sent; that had its own ending point then,
    /// [`Self::receive_other`].
    fn send_poll(&self, _info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the reply has come, and no exception. The caller gets what this raises instead.
    fn receive_reply(&self, _info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Ending point: the request has failed, here or there; [`ClientRequestInfo::exception`] says with what. An interrupt takes
    /// its place.
    fn receive_exception(&self, _info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the request is over without a reply, because it wants none, or none yet, or because it will be sent again;
    /// [`ClientRequestInfo::reply_status`] says which.
    fn receive_other(&self, _info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }
}

/// A request on its way out, `PortableInterceptor::ClientRequestInfo`.
///
/// ```
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::{sync::Arc, time::{Duration, Instant}};
///
/// use punctual_orb::{Orb, interceptors::*};
/// # use punctual_stub::Interface;
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
///
/// /// Does not even try what has no time left for an answer.
/// #[derive(Clone)]
/// struct InTime(Duration);
///
/// impl ClientRequestInterceptor for InTime {
///     fn name(&self) -> &str {
///         "in time"
///     }
///
///     fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
///         let Some(deadline) = info.deadline().filter(|_| info.kind().has_reply()) else {
///             return Ok(());
///         };
///         if deadline.saturating_duration_since(Instant::now()) < self.0 {
///             return Err(SystemException::new(SystemExceptionKind::Timeout, 0, Completion::No).into());
///         }
///         Ok(())
///     }
/// }
///
/// impl OrbInitializer for InTime {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_client_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let orb = Orb::builder().initializer(&InTime(Duration::from_secs(1))).build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// assert_eq!(doubler.twice(4), Ok(8), "it has no deadline");
/// let prompt: DoublerRef = doubler.as_object().with_timeout(Duration::from_millis(500)).unchecked();
/// assert_eq!(prompt.twice(4).unwrap_err().kind, SystemExceptionKind::Timeout);
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
pub struct ClientRequestInfo<'a> {
    pub(crate) request: ClientRequest<'a>,
    pub(crate) slots: &'a [SlotValue],
    pub(crate) added: &'a mut AddedContexts,
    pub(crate) arguments: Option<Arguments<'a>>,
    pub(crate) ending: ClientEnding<'a>,
}

/// Reference that is called, as interceptors may ask for it.
pub(crate) trait CallTarget {
    fn to_object(&self) -> ObjectRef;

    /// ORB of the reference, for decoders.
    fn context(&self) -> &OrbContext;
}

/// What is known of a request from the start.
#[derive(Clone, Copy)]
pub(crate) struct ClientRequest<'a> {
    pub(crate) request_id: u32,
    pub(crate) operation: &'a str,
    pub(crate) kind: CallKind,
    pub(crate) target: &'a dyn CallTarget,
    /// Reference that the request is sent to: that of a forward, if there was one.
    pub(crate) effective: &'a Ior,
    /// Whether that object is one of this ORB's.
    pub(crate) is_collocated: bool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) slot_table: &'a SlotTable,
}

/// Writes the arguments when somebody asks, into memory that is reused.
pub(crate) struct Arguments<'a> {
    pub(crate) perform: &'a mut dyn FnMut(Phase<'_, '_>) -> Result<(), punctual_cdr::CdrError>,
    pub(crate) octets: &'a mut Vec<u8>,
    pub(crate) limit: usize,
}

/// How the request ended.
#[derive(Clone, Copy)]
pub(crate) struct ClientEnding<'a> {
    pub(crate) status: Option<ReplyStatus>,
    pub(crate) exception: Option<Raised<'a>>,
    pub(crate) forward: Option<&'a Ior>,
    pub(crate) contexts: Contexts<'a>,
}

/// The service contexts of a message: of a received one, or what interceptors add.
#[derive(Clone, Copy)]
pub(crate) enum Contexts<'a> {
    Received(ServiceContexts<'a>),
    /// Of a reply, of which this is kept up to its body; read when somebody asks.
    OfReply(&'a [u8], &'a MessageHeader),
    Added(&'a AddedContexts),
}

impl ClientEnding<'_> {
    /// Not yet.
    pub(crate) const NONE: Self = Self {
        status: None,
        exception: None,
        forward: None,
        contexts: Contexts::NONE,
    };
}

impl<'a> Contexts<'a> {
    pub(crate) const NONE: Self = Self::Received(ServiceContexts::EMPTY);

    pub(crate) fn find(&self, id: u32) -> Option<&'a [u8]> {
        match self {
            Self::Received(contexts) => contexts.find(id),
            Self::OfReply(head, header) => {
                // It was understood before.
                let (reply, _) = ReplyHeader::decode(head, header).ok()?;
                reply.contexts.find(id)
            }
            Self::Added(contexts) => contexts.find(id),
        }
    }
}

impl ClientRequestInfo<'_> {
    /// A number that no other request of this ORB has that is under way. It is not the one on the wire.
    pub fn request_id(&self) -> u32 {
        self.request.request_id
    }

    /// The operation's name in IDL; attributes are `_get_name` and `_set_name`.
    pub fn operation(&self) -> &str {
        self.request.operation
    }

    /// How the caller goes on meanwhile.
    pub fn kind(&self) -> CallKind {
        self.request.kind
    }

    /// The reference that is called. Costs no allocation.
    pub fn target(&self) -> ObjectRef {
        self.request.target.to_object()
    }

    /// Where the request goes: what [`Self::target`] says, or where its object is by now.
    pub fn effective_target(&self) -> &Ior {
        self.request.effective
    }

    /// Whether the object is one of this ORB's: then its interceptors of incoming requests run on this thread, too.
    pub fn is_collocated(&self) -> bool {
        self.request.is_collocated
    }

    /// When the call ends with TIMEOUT, at the latest; of a oneway call: when its request must have been sent.
    pub fn deadline(&self) -> Option<Instant> {
        self.request.deadline
    }

    /// What the calling thread had in a slot of [`PiCurrent`](super::PiCurrent) when the call began.
    pub fn get_slot(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        let index = self.request.slot_table.index(id)?;
        Ok(self.slots[index].clone())
    }

    /// The arguments, marshalled for whoever asks, in order; of requests that have not been sent only.
    ///
    /// Fails with BAD_INV_ORDER at ending points, and as marshalling does; so may those of an asynchronous call that is sent again,
    /// whose arguments are kept in the character set of the connection that they went over first.
    pub fn arguments(&mut self) -> Result<Decoder<'_>, SystemException> {
        let Some(Arguments {
            perform,
            octets,
            limit,
        }) = &mut self.arguments
        else {
            let (kind, minor) = (SystemExceptionKind::BadInvOrder, Minor::OMG_INVALID_PI_CALL);
            return Err(SystemException::new(kind, minor, Completion::No));
        };
        octets.clear();
        let mut encoder = Encoder::new(octets, Endian::NATIVE)
            .with_char_set(CharSet::Utf8)
            .with_limit(*limit);
        perform(Phase::Arguments(&mut encoder)).map_err(|error| error.system_exception(Completion::No))?;
        Ok(Decoder::new(octets, Endian::NATIVE)
            .with_char_set(CharSet::Utf8)
            .with_context(self.request.target.context()))
    }

    /// Sends a service context with the request. Costs no allocation once the thread has sent one as long.
    ///
    /// Fails with BAD_INV_ORDER where an interceptor has added one with this id, or for those that the ORB writes itself (1, 7, 10
    /// and 11), and with IMP_LIMIT where there are 16.
    pub fn add_request_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.add(id, data)
    }

    /// As [`Self::add_request_service_context`], in place of one that another interceptor has added.
    pub fn replace_request_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.set(id, data)
    }

    /// The data of a service context that interceptors have added to the request.
    pub fn get_request_service_context(&self, id: u32) -> Option<&[u8]> {
        self.added.find(id)
    }

    /// The data of a service context of the reply.
    pub fn get_reply_service_context(&self, id: u32) -> Option<&[u8]> {
        self.ending.contexts.find(id)
    }

    /// How the request ended; `None` at starting points.
    pub fn reply_status(&self) -> Option<ReplyStatus> {
        self.ending.status
    }

    /// The exception that it ended with.
    pub fn exception(&self) -> Option<Raised<'_>> {
        self.ending.exception
    }

    /// Where it is to be sent again, where that is somewhere else.
    pub fn forward_reference(&self) -> Option<&Ior> {
        self.ending.forward
    }
}
