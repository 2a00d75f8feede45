//! Service contexts that interceptors add to a reply. They precede the body, but are known only after it was
//! written.

use punctual_cdr::{CdrError, CdrErrorKind, Endian};
use punctual_giop::{
    MessageType, MessageWriter, PUNCTUAL_ORB_TYPE, ReplyStatus, ServiceContext, Version, encode_reply_header,
};

use super::{
    reply::{ReplyHeaderAt, echo},
    serving::Serving,
};
use crate::interception::{AddedContexts, with_contexts};

/// Puts the contexts into the header of a finished reply; the body moves by a multiple of 8 octets, so it
/// stays aligned. The new header is first written into `head`. If the message becomes too large, this fails
/// and leaves it unchanged.
#[cold]
pub(super) fn insert(
    serving: &Serving<'_>,
    header: ReplyHeaderAt,
    added: &AddedContexts,
    reply: &mut Vec<u8>,
    head: &mut Vec<u8>,
) -> Result<(), CdrError> {
    let request = &serving.incoming.header;
    let echo = echo(serving.lane, request);
    let mut write = |own: &[ServiceContext<'_>]| {
        head.clear();
        let mut writer = MessageWriter::new(
            head,
            header.version,
            MessageType::Reply,
            Endian::NATIVE,
            serving.message.code_sets,
            serving.dispatcher.configuration.limits.max_message_size,
        );
        let encoder = writer.encoder();
        with_contexts(own, Some(added), |contexts| {
            let status = ReplyStatus::NoException;
            encode_reply_header(encoder, header.version, request.request_id, status, contexts)
        })?;
        Ok::<_, CdrError>(encoder.position())
    };
    let mut end = write(echo.as_slice())?;
    if header.version < Version::V1_2 && !(end - header.end).is_multiple_of(8) {
        // Before GIOP 1.2 the body is not padded: an unknown context of 12 octets aligns it.
        let filler = ServiceContext::Raw {
            id: FILLER,
            data: &[0; 4],
        };
        end = match echo {
            Some(echo) => write(&[echo, filler])?,
            None => write(&[filler])?,
        };
    }
    let status = {
        let at = header.status_at();
        [reply[at], reply[at + 1], reply[at + 2], reply[at + 3]]
    };
    let moved = ReplyHeaderAt { end, ..header };
    head[moved.status_at()..][..4].copy_from_slice(&status);
    let body = header.body().min(reply.len());
    let length = reply.len() - body;
    let start = if length == 0 { end } else { moved.body() };
    if start + length > serving.dispatcher.configuration.limits.max_message_size {
        return Err(CdrError {
            kind: CdrErrorKind::TooLarge,
            offset: start,
        });
    }
    head.resize(start, 0);
    reply.resize((start + length).max(reply.len()), 0);
    reply.copy_within(body..body + length, start);
    reply.truncate(start + length);
    reply[..start].copy_from_slice(head);
    MessageWriter::from_encoder(serving.resume(reply)).finish()
}

/// Id of the context that pads headers, from Punctual's own range.
const FILLER: u32 = PUNCTUAL_ORB_TYPE;
