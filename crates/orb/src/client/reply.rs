//! Step 9 of a call: the reply is decoded and classified: results, an exception, a forward, or another
//! attempt.

use punctual_cdr::{CdrError, CharSet, Decode, Decoder, Ior};
use punctual_giop::{
    AddressingDisposition, LocateReplyHeader, LocateStatus, MessageHeader, MessageType, REFUSED_PRIORITY,
    ReplyHeader, ReplyStatus,
    connection::{ReplyBody, ReplyContent},
    decode_refused_priority, decode_system_exception,
};
use punctual_lane::ReplyBuffer;
use punctual_stub::{Call, Phase};
use punctual_types::{Completion, Detail, Minor, Priority, SystemException, SystemExceptionKind};

use super::{
    call::Attempt, connection::ClientConnection, endpoint::Endpoint, reference::Reference, route::Route,
    shared_purpose::SharedPurpose,
};

/// Kind of reply that a caller waits for.
pub(super) trait AwaitedReply: Sized {
    const MESSAGE_TYPE: MessageType;

    /// `None`: the reply is one of the other kind.
    fn of(content: ReplyContent) -> Option<Self>;
}

impl AwaitedReply for ReplyBody {
    const MESSAGE_TYPE: MessageType = MessageType::Reply;

    #[inline(always)]
    fn of(content: ReplyContent) -> Option<Self> {
        match content {
            ReplyContent::Reply(body) => Some(body),
            ReplyContent::LocateReply => None,
        }
    }
}

/// The reply to a LocateRequest.
pub(super) struct Location;

impl AwaitedReply for Location {
    const MESSAGE_TYPE: MessageType = MessageType::LocateReply;

    fn of(content: ReplyContent) -> Option<Self> {
        matches!(content, ReplyContent::LocateReply).then_some(Self)
    }
}

impl Reference {
    /// Decodes a reply.
    pub(super) fn decode_reply(
        &self,
        view: ReplyView<'_>,
        ReplyBody { status, offset }: ReplyBody,
        route: &Route,
        call: &mut Call<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        let mut decode = || {
            let mut decoder = view
                .decoder(offset)
                .with_nesting_limit(self.core.configuration.limits.max_nesting)
                .with_decoded_limit(self.core.configuration.limits.max_decoded_size)
                .with_context(&self.orb);
            Ok(match status {
                ReplyStatus::NoException => {
                    (call.perform)(Phase::Results(&mut decoder))?;
                    Ok(Attempt::Done(()))
                }
                ReplyStatus::UserException => {
                    let id = <String>::decode(&mut decoder)?;
                    if (call.raised)(&id, &mut decoder)? {
                        Ok(Attempt::Done(()))
                    } else {
                        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::EXCEPTION_UNDECLARED);
                        Err(SystemException::new(kind, minor, Completion::Yes))
                    }
                }
                ReplyStatus::SystemException => {
                    let exception = decode_system_exception(&mut decoder)?;
                    let exception = with_subject(&view, exception, route, call.operation);
                    Err(with_priorities(&view, exception).of_reply())
                }
                ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                    Ok(Attempt::Forward(Ior::decode(&mut decoder)?))
                }
                ReplyStatus::NeedsAddressingMode => {
                    readdress(route, AddressingDisposition::decode(&mut decoder)?)
                }
            })
        };
        decode().unwrap_or_else(|error: CdrError| Err(error.system_exception(Completion::Yes)))
    }
}

/// Adds the subject of an exception to its text: the object key, if people can read it, to OBJECT_NOT_EXIST
/// (unless it may be of another object, which a servant has called), the address of the server and the
/// operation to others.
#[cold]
fn with_subject(
    view: &ReplyView<'_>,
    exception: SystemException,
    route: &Route,
    operation: &str,
) -> SystemException {
    let key = &route.object_key;
    let is_of_key =
        exception.kind == SystemExceptionKind::ObjectNotExist && exception.completed == Completion::No;
    if is_of_key && key.iter().all(u8::is_ascii_graphic) {
        exception.with_detail(&Detail::key(key))
    } else {
        let named = view.sender.named_in(exception);
        let detail = named.detail().map(|detail| detail.in_operation(operation));
        detail.map_or(named, |detail| named.with_detail(&detail))
    }
}

/// Adds the priorities that the server names to the text of NO_PERMISSION.
#[cold]
fn with_priorities(view: &ReplyView<'_>, exception: SystemException) -> SystemException {
    let priorities = || {
        let (reply, _) = ReplyHeader::decode(view.message, view.header).ok()?;
        let (asked, highest) = decode_refused_priority(reply.contexts.find(REFUSED_PRIORITY)?).ok()?;
        Some((Priority::new(asked).ok()?, Priority::new(highest).ok()?))
    };
    match priorities() {
        Some((asked, highest)) if exception.minor == Minor::PRIORITY_ABOVE_ACCEPTED => {
            exception.with_detail(&Detail::refused(asked, highest))
        }
        _ => exception,
    }
}

/// Decodes a LocateReply: whether the object exists at the server.
pub(super) fn decode_locate_reply(
    route: &Route,
    view: &ReplyView<'_>,
) -> Result<Attempt<bool>, SystemException> {
    let reply = LocateReplyHeader::decode(view.message, view.header).and_then(|reply| {
        Ok(match reply.status {
            LocateStatus::UnknownObject => Ok(Attempt::Done(false)),
            LocateStatus::ObjectHere => Ok(Attempt::Done(true)),
            LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {
                Ok(Attempt::Forward(reply.forward()?))
            }
            LocateStatus::SystemException => Err(view.sender.named_in(reply.system_exception()?).of_reply()),
            LocateStatus::NeedsAddressingMode => readdress(route, reply.addressing_mode()?),
        })
    });
    reply.map_err(|error| error.system_exception(Completion::No))?
}

/// Handles a server's request for another form of target. Source: CORBA 3.3 part 2, 9.4.3
/// (NEEDS_ADDRESSING_MODE).
///
/// Fails with NO_IMPLEMENT if the request had that form already.
fn readdress<R>(route: &Route, form: AddressingDisposition) -> Result<Attempt<R>, SystemException> {
    let refused = SystemException::new(SystemExceptionKind::NoImplement, Minor::NONE, Completion::No);
    if route.addressing.change(form, route.version) {
        Ok(Attempt::Again(refused))
    } else {
        Err(refused)
    }
}

/// A reply that borrows its octets.
pub(super) struct ReplyView<'m> {
    /// The whole message.
    pub(super) message: &'m [u8],
    pub(super) header: &'m MessageHeader,
    /// Offsets at which fragments of GIOP 1.1 begin.
    pub(super) fragment_starts: &'m [usize],
    pub(super) char_set: CharSet,
    pub(super) sender: Sender<'m>,
}

/// Server that has sent a reply, by its connection.
#[derive(Clone, Copy)]
pub(super) enum Sender<'m> {
    Exclusive(&'m Endpoint),
    Shared(&'m SharedPurpose),
}

impl<'m> ReplyView<'m> {
    /// Returns a view of the reply that an exclusive connection has received last.
    #[inline(always)]
    pub(super) fn of_exclusive(connection: &'m ClientConnection, header: &'m MessageHeader) -> Self {
        let receive = connection.receive_half();
        Self {
            message: receive.message(),
            header,
            fragment_starts: receive.fragment_starts(),
            char_set: receive.char_set(),
            sender: Sender::Exclusive(connection.endpoint()),
        }
    }

    /// Returns a view of a reply that a lane has read from a shared connection.
    pub(super) fn of_shared(
        purpose: &'m SharedPurpose,
        char_set: CharSet,
        buffer: &'m ReplyBuffer,
        header: &'m MessageHeader,
    ) -> Self {
        Self {
            message: &buffer.message[..header.total_size()],
            header,
            fragment_starts: &buffer.fragment_starts,
            char_set,
            sender: Sender::Shared(purpose),
        }
    }

    /// Returns a decoder of what begins at `offset`.
    pub(super) fn decoder(&self, offset: usize) -> Decoder<'m> {
        Decoder::new(self.message, self.header.endian)
            .with_char_set(self.char_set)
            .with_fragments(self.fragment_starts)
            .at(offset)
    }
}

impl Sender<'_> {
    /// Names its address in the text of an exception.
    #[cold]
    pub(super) fn named_in(self, exception: SystemException) -> SystemException {
        match self {
            Self::Exclusive(endpoint) => endpoint.named_in(exception),
            Self::Shared(purpose) => purpose.named_in(exception),
        }
    }
}
