//! Requests on the way from the ORB to a servant.

use punctual_any::{AnyView, TypeCode};
use std::{sync::Arc, time::Instant};

use punctual_cdr::{CdrError, Decode, Decoder, Encode as _, Encoder, Ior};
use punctual_giop::Peer;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{ContextProperties, Reset, ReusePool};

/// A request that the ORB passes to a skeleton.
///
/// `'m` is the lifetime of the received message and the arena, from which arguments are lent; `'l` is that of
/// the lane thread's buffers.
///
/// ```
/// # mod punctual { pub use {punctual_stub::*, punctual_types::*}; }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # use doubler::DoublerRef;
/// use punctual::{Skeleton, SystemException, rt::{Encode, Upcall}};
///
/// struct Saturating;
///
/// impl Skeleton<Saturating> for DoublerRef {
///     fn dispatch(_: &Saturating, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
///         if upcall.operation() != "twice" {
///             return Err(upcall.unknown_operation());
///         }
///         let value: i32 = upcall.argument()?;
///         upcall.reply(|results| value.saturating_mul(2).encode(results))
///     }
/// }
/// let doubler: DoublerRef = local::activate(Saturating);
/// assert_eq!(doubler.twice(i32::MAX)?, i32::MAX);
/// # Ok::<(), SystemException>(())
/// ```
pub struct Upcall<'m, 'l> {
    operation: &'m str,
    arguments: Decoder<'m>,
    reply: Encoder<'l>,
    body_start: usize,
    body_alignment: usize,
    response_expected: bool,
    outcome: Outcome,
    origin: Option<&'m dyn RequestOrigin>,
    pool: &'l mut ReusePool,
}

/// Origin and target of a request.
pub trait RequestOrigin {
    /// Returns the sender according to its connection; `None` for a caller in the same ORB.
    fn peer(&self) -> Option<Peer>;

    /// Returns the key of the object; `None` if the request names it otherwise.
    fn object_key(&self) -> Option<&[u8]>;

    /// Defers the reply until after the upcall. `response_expected`: the client waits for a reply.
    ///
    /// Fails with TRANSIENT if too many replies are deferred. The default implementation fails with
    /// NO_IMPLEMENT.
    fn defer(&self, response_expected: bool) -> Result<Arc<dyn PendingResponse>, SystemException> {
        let _ = response_expected;
        Err(cannot_defer())
    }

    /// Sets the context properties that the servant can read; `None` ends that. The default implementation
    /// ignores them.
    fn set_context_properties(&self, properties: Option<ContextProperties>) {
        let _ = properties;
    }
}

/// Writes the content of a reply; fails with the system exception that is sent instead.
pub type WriteReply<'w> = &'w mut dyn FnMut(&mut Upcall<'_, '_>) -> Result<(), SystemException>;

/// A deferred reply: the runtime's side of a [`ResponseHandler`](crate::ResponseHandler).
pub trait PendingResponse: Send + Sync {
    /// Sends the reply that `write` writes, unless the client no longer waits, and releases the resources of
    /// the request. Returns whether the reply was sent. Called once.
    fn answer(&self, origin: ReplyOrigin, write: WriteReply<'_>) -> bool;

    /// Returns the priority at which the request is served, if it has one.
    fn priority(&self) -> Option<Priority>;

    /// Returns the deadline that the client has stated.
    fn deadline(&self) -> Option<Instant>;

    /// Returns whether the client is still waiting.
    fn is_awaited(&self) -> bool;
}

/// Origin of a deferred reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReplyOrigin {
    /// The servant has replied.
    Servant,
    /// The response handler was dropped without a reply.
    DroppedHandler,
}

fn cannot_defer() -> SystemException {
    SystemException::new(SystemExceptionKind::NoImplement, Minor::NONE, Completion::No)
}

/// Content of the reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Results, if any.
    NoException,
    /// A user exception.
    UserException,
    /// A reference to which the client sends the request again.
    Forwarded,
    /// Nothing yet: a [`ResponseHandler`](crate::ResponseHandler) sends the reply.
    Deferred,
}

impl<'m, 'l> Upcall<'m, 'l> {
    /// Creates an upcall; for the ORB. `arguments` is positioned at the body of the request, `reply` after
    /// the header of the reply.
    ///
    /// `body_alignment` is 8 in GIOP 1.2, and 1 in earlier versions; it does not apply to an empty body.
    pub fn new(
        operation: &'m str,
        arguments: Decoder<'m>,
        reply: Encoder<'l>,
        body_alignment: usize,
        response_expected: bool,
        pool: &'l mut ReusePool,
    ) -> Self {
        let body_start = reply.position();
        Self {
            operation,
            arguments,
            reply,
            body_start,
            body_alignment,
            response_expected,
            outcome: Outcome::NoException,
            origin: None,
            pool,
        }
    }

    /// Sets origin and target of the request; for the ORB.
    pub fn set_origin(&mut self, origin: &'m dyn RequestOrigin) {
        self.origin = Some(origin);
    }

    pub(crate) fn origin(&self) -> Option<&'m dyn RequestOrigin> {
        self.origin
    }

    /// Returns the sender of the request according to its connection; `None` for a caller in the same ORB.
    pub fn peer(&self) -> Option<Peer> {
        self.origin?.peer()
    }

    /// Returns the key of the object that the request is for; `None` if the request names it otherwise.
    pub fn object_key(&self) -> Option<&'m [u8]> {
        self.origin?.object_key()
    }

    /// Returns the name of the operation in IDL; attributes are `_get_name` and `_set_name`.
    pub fn operation(&self) -> &'m str {
        self.operation
    }

    /// Decodes the next `in` parameter. Fails with MARSHAL or a similar exception, not completed.
    pub fn argument<T: Decode<'m>>(&mut self) -> Result<T, SystemException> {
        T::decode(&mut self.arguments).map_err(|error| error.system_exception(Completion::No))
    }

    /// Skips the next argument, whose type is known at run time, and lends it from the message: its parts are
    /// decoded on access. Fails with MARSHAL or a similar exception, not completed.
    pub fn argument_of(&mut self, type_code: &TypeCode) -> Result<AnyView<'m>, SystemException> {
        AnyView::decode_value(type_code, &mut self.arguments)
            .map_err(|error| error.system_exception(Completion::No))
    }

    /// Decodes the next `inout` parameter into reused memory.
    pub fn argument_into<T: Decode<'m>>(&mut self, value: &mut T) -> Result<(), SystemException> {
        value
            .decode_into(&mut self.arguments)
            .map_err(|error| error.system_exception(Completion::No))
    }

    /// Returns an empty value whose memory the lane thread reuses.
    pub fn reuse<T: Default + Reset + Send + 'static>(&mut self) -> Box<T> {
        self.pool.take()
    }

    /// Returns a value whose memory the lane thread reuses, with its last content: for `inout` parameters,
    /// which are decoded into it.
    pub fn recycle<T: Send + 'static>(&mut self, make: impl FnOnce() -> T) -> Box<T> {
        self.pool.take_unreset(make)
    }

    /// Stores a value from [`Self::reuse`] or [`Self::recycle`] for later use, unless the request or reply is
    /// large.
    pub fn keep<T: Send + 'static>(&mut self, value: Box<T>) {
        let octets = self.arguments.decoded().max(self.reply.position());
        self.pool.keep(value, octets);
    }

    /// Encodes the results: return value, then `inout` and `out` parameters, in order.
    ///
    /// Fails for a value that cannot be encoded, with a completed exception.
    pub fn reply(
        &mut self,
        write: impl FnOnce(&mut Encoder<'l>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        self.body(write)
    }

    /// Defers the reply to a response handler instead of this upcall.
    pub(crate) fn defer_reply(&mut self) -> Result<Arc<dyn PendingResponse>, SystemException> {
        let origin = self.origin.ok_or_else(cannot_defer)?;
        let pending = origin.defer(self.response_expected)?;
        self.outcome = Outcome::Deferred;
        Ok(pending)
    }

    /// Returns the exception for an operation that the interface does not have.
    pub fn unknown_operation(&self) -> SystemException {
        SystemException::new(
            SystemExceptionKind::BadOperation,
            Minor::OPERATION_UNKNOWN,
            Completion::No,
        )
    }

    /// Returns the content of the reply after the skeleton has succeeded; for the ORB.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the content of the reply after the skeleton has returned `result`; for the ORB. A deferred
    /// reply is sent by its handler in any case.
    pub fn concluded(&self, result: Result<(), SystemException>) -> Result<Outcome, SystemException> {
        match result {
            Ok(()) => Ok(self.outcome),
            Err(exception) => self.failed(exception),
        }
    }

    #[cold]
    fn failed(&self, exception: SystemException) -> Result<Outcome, SystemException> {
        match self.outcome {
            Outcome::Deferred => Ok(Outcome::Deferred),
            _ => Err(exception),
        }
    }

    /// Returns the reply as encoded so far, after the skeleton has returned; for the ORB.
    pub fn into_reply(self) -> Encoder<'l> {
        self.reply
    }

    /// Has the client send its request to this object instead: LOCATION_FORWARD, instead of all results.
    ///
    /// # Errors
    /// MARSHAL or a similar exception if the reply has no room for the reference.
    pub fn forward(&mut self, to: &Ior) -> Result<(), SystemException> {
        self.reply.truncate(self.body_start);
        self.outcome = Outcome::Forwarded;
        self.body(|encoder| to.encode(encoder))
    }

    pub(crate) fn user_exception(
        &mut self,
        write: impl FnOnce(&mut Encoder<'l>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        self.outcome = Outcome::UserException;
        self.body(write)
    }

    fn body(
        &mut self,
        write: impl FnOnce(&mut Encoder<'l>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        if !self.response_expected {
            return Ok(());
        }
        let mut written = self.reply.align(self.body_alignment);
        let empty = self.reply.position();
        written = written.and_then(|()| write(&mut self.reply));
        if self.reply.position() == empty {
            self.reply.truncate(self.body_start);
        }
        written.map_err(|error| error.system_exception(Completion::Yes))
    }
}
