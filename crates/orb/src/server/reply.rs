//! Step 8 of a call, its reply: replies are written.

use punctual_cdr::{CdrError, CodeSets, Encode, Encoder, Endian};
use punctual_giop::{
    MessageHeader, MessageType, MessageWriter, RT_CORBA_PRIORITY, ReplyStatus, RequestHeader, ResponseFlags,
    ServiceContext, Version, align_body, encode_reply_header, encode_system_exception,
};
use punctual_types::{Completion, Priority, SystemException, SystemExceptionKind};

use punctual_lane::{Disposition, MessageError, NotExecuted};

use super::RequestDispatcher;
use crate::pools::lane_data::LaneContext;

/// Starts a reply with the header of a successful one.
#[inline(always)]
pub(super) fn begin_reply<'b>(
    dispatcher: &RequestDispatcher,
    lane: &LaneContext,
    code_sets: CodeSets,
    request: &RequestHeader<'_>,
    header: &MessageHeader,
    reply: &'b mut Vec<u8>,
) -> Result<(Encoder<'b>, ReplyHeaderAt), MessageError> {
    reply.clear();
    let writer = MessageWriter::new(
        reply,
        header.version,
        MessageType::Reply,
        Endian::NATIVE,
        code_sets,
        dispatcher.configuration.limits.max_message_size,
    );
    let mut encoder = writer
        .into_encoder()
        .with_nesting_limit(dispatcher.configuration.limits.max_nesting);
    let echo = echo(lane, request);
    encode_reply_header(
        &mut encoder,
        header.version,
        request.request_id,
        ReplyStatus::NoException,
        echo.as_slice(),
    )
    .map_err(|_| MessageError)?;
    let at = ReplyHeaderAt {
        end: encoder.position(),
        version: header.version,
    };
    Ok((encoder, at))
}

/// Returns the service context of the ORB itself: a pool without lanes returns the propagated priority; with
/// lanes the endpoint implies it.
pub(super) fn echo<'r>(lane: &LaneContext, request: &RequestHeader<'r>) -> Option<ServiceContext<'r>> {
    let data = match lane.priority() {
        Some(_) => None,
        None => request.contexts.find(RT_CORBA_PRIORITY),
    };
    data.map(|data| ServiceContext::Raw {
        id: RT_CORBA_PRIORITY,
        data,
    })
}

/// Position of a reply header that has been written.
#[derive(Clone, Copy)]
pub(super) struct ReplyHeaderAt {
    pub(super) end: usize,
    pub(super) version: Version,
}

impl ReplyHeaderAt {
    pub(super) fn set_status(self, encoder: &mut Encoder<'_>, status: ReplyStatus) {
        encoder.patch_u32(self.status_at(), status as u32);
    }

    /// Returns the offset of the status: after the request id from GIOP 1.2 on, at the end of the header
    /// before.
    pub(super) fn status_at(self) -> usize {
        if self.version >= Version::V1_2 {
            punctual_giop::HEADER_SIZE + 4
        } else {
            self.end - 4
        }
    }

    /// Returns the offset at which a body starts.
    pub(super) fn body(self) -> usize {
        if self.version >= Version::V1_2 {
            self.end.next_multiple_of(8)
        } else {
            self.end
        }
    }
}

/// Replaces the reply by a system exception. Returns whether the client expects a reply.
#[cold]
pub(super) fn fail(
    mut encoder: Encoder<'_>,
    header: ReplyHeaderAt,
    exception: &SystemException,
    response: ResponseFlags,
) -> Result<bool, MessageError> {
    encoder.truncate(header.end);
    header.set_status(&mut encoder, ReplyStatus::SystemException);
    let written = align_body(&mut encoder, header.version)
        .and_then(|()| encode_system_exception(&mut encoder, exception));
    written.map_err(|_: CdrError| MessageError)?;
    finish(encoder, response)
}

/// Replaces the reply by a system exception and the priority that would be accepted. No other detail is sent:
/// it may name addresses that do not concern the client.
#[cold]
pub(super) fn refuse(
    mut encoder: Encoder<'_>,
    header: ReplyHeaderAt,
    exception: &SystemException,
    (lane, request): (&LaneContext, &RequestHeader<'_>),
) -> Result<bool, MessageError> {
    let refused = exception.detail().and_then(|detail| detail.as_refused());
    let Some((asked, highest)) = refused else {
        return fail(encoder, header, exception, request.response);
    };
    let refused = ServiceContext::RefusedPriority {
        asked: asked.value(),
        highest: highest.value(),
    };
    let (with_echo, alone) = (echo(lane, request).map(|echo| [echo, refused]), [refused]);
    let contexts = with_echo.as_ref().map_or(&alone[..], |both| &both[..]);
    encoder.truncate(punctual_giop::HEADER_SIZE);
    let status = ReplyStatus::SystemException;
    encode_reply_header(&mut encoder, header.version, request.request_id, status, contexts)
        .map_err(|_| MessageError)?;
    let end = encoder.position();
    fail(
        encoder,
        ReplyHeaderAt { end, ..header },
        exception,
        request.response,
    )
}

/// Completes the reply as a LOCATION_FORWARD. Returns whether the client expects a reply.
#[cold]
pub(super) fn forward(
    mut encoder: Encoder<'_>,
    header: ReplyHeaderAt,
    ior: &punctual_cdr::Ior,
    response: ResponseFlags,
) -> Result<bool, MessageError> {
    header.set_status(&mut encoder, ReplyStatus::LocationForward);
    let written = align_body(&mut encoder, header.version).and_then(|()| ior.encode(&mut encoder));
    written.map_err(|_| MessageError)?;
    finish(encoder, response)
}

/// Completes the reply. Returns whether the client expects one.
pub(super) fn finish(encoder: Encoder<'_>, response: ResponseFlags) -> Result<bool, MessageError> {
    MessageWriter::from_encoder(encoder)
        .finish()
        .map_err(|_| MessageError)?;
    Ok(response.expects_reply())
}

/// Returns the disposition of a request whose reply has been written, to be sent at this priority if the
/// client expects one.
#[inline(always)]
pub(super) fn sent_at(
    priority: Option<Priority>,
    written: Result<bool, MessageError>,
) -> Result<Disposition, MessageError> {
    written.map(|expected| match expected {
        true => Disposition::Reply(priority),
        false => Disposition::NoReply,
    })
}

/// Returns the disposition of a request that was not served, as [`sent_at`] does for others.
#[cold]
pub(super) fn not_executed(
    priority: Option<Priority>,
    written: Result<bool, MessageError>,
    reason: NotExecuted,
) -> Result<Disposition, MessageError> {
    let reply = written?.then_some(priority);
    Ok(Disposition::NotExecuted(reply, reason))
}

/// Returns whether a servant refuses the request: NO_PERMISSION, COMPLETED_NO.
pub(super) fn is_refusal(exception: &SystemException) -> bool {
    exception.kind == SystemExceptionKind::NoPermission && exception.completed == Completion::No
}
