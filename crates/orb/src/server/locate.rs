//! Answers to LocateRequest.

use punctual_cdr::{Encode, Endian};
use punctual_giop::{LocateRequestHeader, LocateStatus, MessageType, MessageWriter, encode_locate_reply};
use punctual_lane::MessageError;

use super::Demultiplexed;
use crate::{
    lane::{LaneContext, RequestMessage},
    orb_core::OrbCore,
};

/// Writes where an object is: here, at the reference published for the key or made for the object's own pool, or nowhere.
pub(super) fn answer_locate(
    core: &OrbCore,
    lane: &LaneContext,
    message: &RequestMessage<'_>,
    reply: &mut Vec<u8>,
) -> Result<(), MessageError> {
    let header = message.header;
    let request = LocateRequestHeader::decode(message.octets, header).map_err(|_| MessageError)?;
    let (status, forward) = match request.target.object_key().map(|key| core.demultiplex(key)) {
        Some(Demultiplexed::Object(object)) if object.poa.pool_id() == lane.pool() => {
            (LocateStatus::ObjectHere, None)
        }
        Some(Demultiplexed::Object(object)) => (LocateStatus::ObjectForward, Some(object.ior.clone())),
        Some(Demultiplexed::Published(ior)) => (LocateStatus::ObjectForward, Some((*ior).clone())),
        Some(Demultiplexed::Unknown) | None => (LocateStatus::UnknownObject, None),
    };
    reply.clear();
    let mut writer = MessageWriter::new(
        reply,
        header.version,
        MessageType::LocateReply,
        Endian::NATIVE,
        message.char_set,
        core.limits.max_message_size,
    );
    let encoder = writer.encoder();
    encode_locate_reply(encoder, header.version, request.request_id, status)
        .and_then(|()| forward.map_or(Ok(()), |ior| ior.encode(encoder)))
        .and_then(|()| writer.finish())
        .map_err(|_| MessageError)
}
