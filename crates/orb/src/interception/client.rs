//! Interceptors of outgoing requests, and the request information that they receive.

use std::time::Instant;

use punctual_cdr::{CharSet, Decoder, Encoder, Endian, Ior};
use punctual_giop::{MessageHeader, ReplyHeader, ServiceContexts};
use punctual_stub::{ObjectRef, OrbContext, Phase, PoliciesInForce};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    AddedContexts, CallKind, Interrupt, InvalidSlot, Raised, ReplyStatus, SlotId, SlotTable, SlotValue,
};

/// Interceptor of the requests that an ORB sends, `PortableInterceptor::ClientRequestInterceptor`.
///
/// Starting points are called in the order of registration, ending points in reverse order. Each interceptor
/// whose starting point completed gets exactly one ending point, however the request ends. A request that is
/// sent again, to another address or over another connection, is a new request. All points are called on the
/// calling thread. A panic raises UNKNOWN. Requests of the ORB itself are not intercepted: LocateRequests and
/// the binding of connections to bands.
///
/// ```
/// # use punctual_orb as punctual;
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::sync::{Arc, Mutex};
///
/// use punctual::{Orb, interceptors::*};
///
/// /// Lists the operations that this ORB calls.
/// #[derive(Clone, Default)]
/// struct Called(Arc<Mutex<Vec<String>>>);
///
/// impl ClientRequestInterceptor for Called {
///     fn name(&self) -> &str {
///         "called"
///     }
///
///     fn send_request(&self, info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
///         self.0.lock().unwrap().push(info.operation().to_owned());
///         Ok(())
///     }
/// }
///
/// impl OrbInitializer for Called {
///     fn pre_init(&self, info: &mut OrbInitInfo<'_>) {
///         info.add_client_request_interceptor(Arc::new(self.clone())).expect("the name is free");
///     }
/// }
///
/// let called = Called::default();
/// let orb = Orb::builder().initializer(&called).build()?;
/// let doubler: DoublerRef = orb.root_poa().activate(Doubler)?;
/// doubler.twice(21)?;
/// assert_eq!(*called.0.lock().unwrap(), ["twice"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ClientRequestInterceptor: Send + Sync {
    /// Returns the name. Names are unique within an ORB, except that any number of interceptors may have an
    /// empty one.
    fn name(&self) -> &str;

    /// Starting point: before the arguments are marshalled and a connection is chosen.
    ///
    /// An interrupt ends the request: neither the interceptors after this one nor this one's ending point are
    /// called.
    fn send_request(&self, _info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Starting point of each poll of an asynchronous call: before the caller checks or waits for the reply.
    ///
    /// [`ClientRequestInfo::request_id`] is that of the request, whose sending had its own ending point,
    /// [`Self::receive_other`].
    fn send_poll(&self, _info: &mut ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: a reply without an exception was received. An exception raised here replaces the reply.
    fn receive_reply(&self, _info: &ClientRequestInfo<'_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Ending point: the request has failed locally or at the server; see [`ClientRequestInfo::exception`].
    /// An interrupt replaces the exception.
    fn receive_exception(&self, _info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the request has ended without a reply because it expects none, has none yet, or will be
    /// sent again; see [`ClientRequestInfo::reply_status`].
    fn receive_other(&self, _info: &ClientRequestInfo<'_>) -> Result<(), Interrupt> {
        Ok(())
    }
}

/// Outgoing request, `PortableInterceptor::ClientRequestInfo`.
///
/// ```
/// # mod punctual { pub use {punctual_orb::*, punctual_types::*}; }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs")); }
/// # use doubler::{Doubler, DoublerRef};
/// use std::{sync::Arc, time::{Duration, Instant}};
///
/// use punctual::{Completion, Orb, SystemException, SystemExceptionKind, interceptors::*};
/// # use punctual_stub::Interface;
///
/// /// Refuses requests whose remaining time is too short for a reply.
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

/// Reference that is called, converted to an object reference on demand.
pub(crate) trait CallTarget {
    fn to_object(&self) -> ObjectRef;

    /// ORB of the reference, for decoders.
    fn context(&self) -> &OrbContext;
}

/// Properties of a request that are known from the start.
#[derive(Clone, Copy)]
pub(crate) struct ClientRequest<'a> {
    pub(crate) request_id: u32,
    pub(crate) operation: &'a str,
    pub(crate) kind: CallKind,
    pub(crate) response_expected: bool,
    pub(crate) target: &'a dyn CallTarget,
    /// Reference that the request is sent to: the target, or its latest forward.
    pub(crate) effective: &'a Ior,
    /// Whether the object belongs to this ORB.
    pub(crate) is_collocated: bool,
    /// Type of the ORB that created the effective reference; 0: unknown.
    pub(crate) orb_type: u32,
    pub(crate) deadline: Option<Instant>,
    pub(crate) policies: &'a PoliciesInForce,
    pub(crate) slot_table: &'a SlotTable,
}

/// Arguments, encoded on demand into memory that is reused.
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

/// Service contexts of a received message, or those that interceptors add.
#[derive(Clone, Copy)]
pub(crate) enum Contexts<'a> {
    Received(ServiceContexts<'a>),
    /// Contexts of a reply whose octets up to the body are kept; decoded on demand.
    OfReply(&'a [u8], &'a MessageHeader),
    Added(&'a AddedContexts),
}

impl ClientEnding<'_> {
    /// The request has not ended yet.
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
                // The header has been decoded successfully before.
                let (reply, _) = ReplyHeader::decode(head, header).ok()?;
                reply.contexts.find(id)
            }
            Self::Added(contexts) => contexts.find(id),
        }
    }
}

impl ClientRequestInfo<'_> {
    /// Returns a number that is unique among the outstanding requests of this ORB. It is not the id on the
    /// wire.
    pub fn request_id(&self) -> u32 {
        self.request.request_id
    }

    /// Returns the operation's name in IDL; attributes are `_get_name` and `_set_name`.
    pub fn operation(&self) -> &str {
        self.request.operation
    }

    /// Returns how the caller waits for the reply, if at all.
    pub fn kind(&self) -> CallKind {
        self.request.kind
    }

    /// Returns whether the call ends with a reply: no for oneway calls, unless their scope demands one
    /// ([`SyncScope`](punctual_stub::SyncScope)).
    pub fn response_expected(&self) -> bool {
        self.request.response_expected
    }

    /// Returns the policy of this user-defined type in force for the call
    /// ([`PolicyOverrides::policy`](punctual_stub::PolicyOverrides::policy)): `get_request_policy`.
    pub fn policy<T: 'static>(&self) -> Option<&T> {
        self.request.policies.policy()
    }

    /// Returns the called reference, without allocation.
    pub fn target(&self) -> ObjectRef {
        self.request.target.to_object()
    }

    /// Returns the reference that the request is sent to: [`Self::target`], or the one it was forwarded to.
    pub fn effective_target(&self) -> &Ior {
        self.request.effective
    }

    /// Returns the type of the ORB that created [`Self::effective_target`], as the reference states it
    /// (`TAG_ORB_TYPE`): data that this ORB may not understand can be omitted.
    pub fn effective_orb_type(&self) -> Option<u32> {
        Some(self.request.orb_type).filter(|orb_type| *orb_type != 0)
    }

    /// Returns whether the object belongs to this ORB; its server interceptors then run on this thread, too.
    pub fn is_collocated(&self) -> bool {
        self.request.is_collocated
    }

    /// Returns the deadline at which the call ends with TIMEOUT; for a oneway call, the deadline for sending
    /// the request.
    pub fn deadline(&self) -> Option<Instant> {
        self.request.deadline
    }

    /// Returns the value that the calling thread had in a slot of [`PiCurrent`](super::PiCurrent) when the
    /// call began.
    pub fn get_slot(&self, id: SlotId) -> Result<SlotValue, InvalidSlot> {
        let index = self.request.slot_table.index(id)?;
        Ok(self.slots[index].clone())
    }

    /// Marshals the arguments and returns them in order; available only before the request is sent. Fails
    /// with BAD_INV_ORDER at ending points, and if marshalling fails. The latter may happen when an
    /// asynchronous call is sent again, since its arguments are kept in the character set of the first
    /// connection.
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

    /// Adds a service context to the request. Allocates only if the thread has not sent one of this length
    /// yet. Fails with BAD_INV_ORDER if an interceptor has added one with this id or the ORB writes it itself
    /// (1, 7, 10 and 11), and with IMP_LIMIT beyond 16 contexts.
    pub fn add_request_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.add(id, data)
    }

    /// Adds a service context like [`Self::add_request_service_context`], but replaces one that another
    /// interceptor has added.
    pub fn replace_request_service_context(&mut self, id: u32, data: &[u8]) -> Result<(), SystemException> {
        self.added.set(id, data)
    }

    /// Returns the data of a service context that interceptors have added to the request.
    pub fn get_request_service_context(&self, id: u32) -> Option<&[u8]> {
        self.added.find(id)
    }

    /// Returns the data of a service context of the reply.
    pub fn get_reply_service_context(&self, id: u32) -> Option<&[u8]> {
        self.ending.contexts.find(id)
    }

    /// Returns how the request ended; `None` at starting points.
    pub fn reply_status(&self) -> Option<ReplyStatus> {
        self.ending.status
    }

    /// Returns the exception that the request ended with.
    pub fn exception(&self) -> Option<Raised<'_>> {
        self.ending.exception
    }

    /// Returns the reference to which the request will be sent again, if it is forwarded.
    pub fn forward_reference(&self) -> Option<&Ior> {
        self.ending.forward
    }
}
