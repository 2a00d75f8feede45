use punctual_cdr::{CdrError, Decode, Decoder, Encode, Encoder};
use punctual_giop::Peer;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{OperationError, Reset, ReusePool, UserException};

/// One request on its way to a servant: what the ORB hands to a skeleton.
///
/// `'m` is the received message and the arena, from which arguments are lent; `'l` what belongs to the lane's thread.
pub struct Upcall<'m, 'l> {
    operation: &'m str,
    arguments: Decoder<'m>,
    reply: Encoder<'l>,
    body_start: usize,
    body_alignment: usize,
    response_expected: bool,
    outcome: Outcome,
    peer: Option<Peer>,
    pool: &'l mut ReusePool,
}

/// What stands in the reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Results, or nothing.
    NoException,
    /// A user exception.
    UserException,
}

impl<'m, 'l> Upcall<'m, 'l> {
    /// For the ORB. `arguments` stands at the request's body, `reply` behind the reply's header.
    ///
    /// `body_alignment` is 8 from GIOP 1.2 on, else 1; it is not applied to an empty body.
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
            peer: None,
            pool,
        }
    }

    /// For the ORB: who sends the request.
    pub fn sent_by(mut self, peer: Peer) -> Self {
        self.peer = Some(peer);
        self
    }

    /// Who sends the request, as the connection says; `None`: a caller in the same ORB. For servants that are written by hand.
    pub fn peer(&self) -> Option<Peer> {
        self.peer
    }

    /// The operation's name in IDL; attributes are `_get_name` and `_set_name`.
    pub fn operation(&self) -> &'m str {
        self.operation
    }

    /// The next `in` parameter. Fails with MARSHAL and its like, not completed.
    pub fn argument<T: Decode<'m>>(&mut self) -> Result<T, SystemException> {
        T::decode(&mut self.arguments).map_err(|error| error.system_exception(Completion::No))
    }

    /// The next `inout` parameter, into memory that is reused.
    pub fn argument_into<T: Decode<'m>>(&mut self, value: &mut T) -> Result<(), SystemException> {
        value
            .decode_into(&mut self.arguments)
            .map_err(|error| error.system_exception(Completion::No))
    }

    /// A value whose memory the lane keeps from call to call, reset.
    pub fn reuse<T: Default + Reset + Send + 'static>(&mut self) -> Box<T> {
        self.pool.take()
    }

    /// A value whose memory the lane keeps, as the last call left it: for `inout` parameters, which are decoded into it.
    pub fn recycle<T: Send + 'static>(&mut self, make: impl FnOnce() -> T) -> Box<T> {
        self.pool.take_as_left(make)
    }

    /// Gives a value from [`Self::reuse`] or [`Self::recycle`] back.
    pub fn keep<T: Send + 'static>(&mut self, value: Box<T>) {
        self.pool.keep(value);
    }

    /// Writes the results: return value, then `inout` and `out` parameters, in order.
    ///
    /// A value that cannot be sent fails with its system exception, completed.
    pub fn reply(
        &mut self,
        write: impl FnOnce(&mut Encoder<'l>) -> Result<(), CdrError>,
    ) -> Result<(), SystemException> {
        self.body(write)
    }

    /// Writes a user exception.
    pub fn raise<E: UserException>(&mut self, exception: &E) -> Result<(), SystemException> {
        self.outcome = Outcome::UserException;
        self.body(|reply| {
            E::REPOSITORY_ID.encode(reply)?;
            exception.encode(reply)
        })
    }

    /// Writes whatever the servant failed with.
    pub fn fail<E: OperationError>(&mut self, error: E) -> Result<(), SystemException> {
        error.raise(self)
    }

    /// What a skeleton returns for an operation its interface does not have.
    pub fn unknown_operation(&self) -> SystemException {
        SystemException::new(
            SystemExceptionKind::BadOperation,
            Minor::OPERATION_UNKNOWN,
            Completion::No,
        )
    }

    /// For the ORB, after the skeleton succeeded: which status the reply has.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// For the ORB, after the skeleton has returned: the reply, with whatever has been written to it.
    pub fn into_reply(self) -> Encoder<'l> {
        self.reply
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
