//! Requests on their way to a servant.

use punctual_any::{AnyView, TypeCode};
use std::{sync::Arc, time::Instant};

use punctual_cdr::{CdrError, Decode, Decoder, Encoder};
use punctual_giop::Peer;
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{Reset, ReusePool};

/// A request that the ORB passes to a skeleton.
///
/// `'m` is the lifetime of the received message and the arena, from which arguments are lent; `'l` that of
/// the lane thread's buffers.
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

/// Where a request comes from and leads to, as an ORB knows it.
pub trait RequestOrigin {
    /// Returns the sender according to its connection; `None` for a caller in the same ORB.
    fn peer(&self) -> Option<Peer>;

    /// Returns the key of the object; `None` if the request names it otherwise.
    fn object_key(&self) -> Option<&[u8]>;

    /// Lets the reply be sent after the upcall. `response_expected`: the client waits for it.
    ///
    /// Fails with TRANSIENT if there are too many such requests; by default, with NO_IMPLEMENT.
    fn defer(&self, response_expected: bool) -> Result<Arc<dyn PendingResponse>, SystemException> {
        let _ = response_expected;
        Err(cannot_defer())
    }
}

/// Writes the contents of a reply; fails with the system exception that takes their place.
pub type WriteAnswer<'w> = &'w mut dyn FnMut(&mut Upcall<'_, '_>) -> Result<(), SystemException>;

/// A reply that is owed: the runtime's side of a [`ResponseHandler`](crate::ResponseHandler).
pub trait PendingResponse: Send + Sync {
    /// Sends the reply that `write` writes, unless nobody waits for it any longer, and frees what the request
    /// occupies. Returns whether it was sent. Called once.
    fn answer(&self, answer: Answer, write: WriteAnswer<'_>) -> bool;

    /// Returns the priority at which the request is served, if it has one.
    fn priority(&self) -> Option<Priority>;

    /// Returns the deadline that the client states.
    fn deadline(&self) -> Option<Instant>;

    /// Returns whether the client still waits.
    fn is_awaited(&self) -> bool;
}

/// Whose answer it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The servant's.
    Given,
    /// Nobody's: the handler was dropped.
    Missing,
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
    /// Nothing yet: a [`ResponseHandler`](crate::ResponseHandler) answers.
    Deferred,
}

impl<'m, 'l> Upcall<'m, 'l> {
    /// For the ORB: creates an upcall. `arguments` is at the request's body, `reply` after the reply's
    /// header.
    ///
    /// `body_alignment` is 8 in GIOP 1.2 and 1 before; it does not apply to an empty body.
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

    /// For the ORB: sets where the request comes from and leads to.
    pub fn set_origin(&mut self, origin: &'m dyn RequestOrigin) {
        self.origin = Some(origin);
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

    /// Decodes the next `in` parameter. Fails with MARSHAL or the like, not completed.
    pub fn argument<T: Decode<'m>>(&mut self) -> Result<T, SystemException> {
        T::decode(&mut self.arguments).map_err(|error| error.system_exception(Completion::No))
    }

    /// Passes over the next argument, of a type that is known at run time, and lends it from the message: its
    /// parts are decoded when they are asked for. Fails with MARSHAL or the like, not completed.
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

    /// Stores a value from [`Self::reuse`] or [`Self::recycle`] for later use, unless request or reply is
    /// large.
    pub fn keep<T: Send + 'static>(&mut self, value: Box<T>) {
        let octets = self.arguments.decoded().max(self.reply.position());
        self.pool.keep(value, octets);
    }

    /// Encodes the results: return value, then `inout` and `out` parameters, in order.
    ///
    /// Fails for a value that cannot be encoded, completed.
    pub fn reply(
        &mut self,
        write: impl FnOnce(&mut Encoder<'l>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        self.body(write)
    }

    /// Lets the result answer, in place of this upcall.
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

    /// For the ORB, after the skeleton has succeeded: returns the content of the reply.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// For the ORB, after the skeleton has returned this: returns the content of the reply. If it has been
    /// deferred, its handler answers in any case.
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

    /// For the ORB, after the skeleton has returned: returns the reply as encoded so far.
    pub fn into_reply(self) -> Encoder<'l> {
        self.reply
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
