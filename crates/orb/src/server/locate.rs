//! Replies to LocateRequest.
//!
//! A published name answers LocateRequest with OBJECT_FORWARD and Request with LOCATION_FORWARD to the
//! complete reference; a request for an object that belongs to the lanes of another pool is forwarded in the
//! same way.

use punctual_cdr::{Encode, Endian};
use punctual_giop::{LocateRequestHeader, LocateStatus, MessageType, MessageWriter, encode_locate_reply};
use punctual_lane::{MessageError, RequestMessage};

use super::{Demultiplexed, RequestDispatcher};
use crate::pools::lane_data::LaneContext;

/// Writes the location of an object: here, at the reference published for the key or created for the object's
/// own pool, or unknown.
pub(super) fn answer_locate(
    dispatcher: &RequestDispatcher,
    lane: &LaneContext,
    message: &RequestMessage<'_, RequestDispatcher>,
    reply: &mut Vec<u8>,
) -> Result<(), MessageError> {
    let header = message.header;
    let request = LocateRequestHeader::decode(message.octets, header).map_err(|_| MessageError)?;
    let (status, forward) = match request
        .target
        .object_key()
        .map(|key| dispatcher.objects.demultiplex(key))
    {
        Some(Demultiplexed::Object(object)) if object.poa.pool_id() == lane.pool() => {
            (LocateStatus::ObjectHere, None)
        }
        Some(Demultiplexed::Object(object)) => (LocateStatus::ObjectForward, Some(object.ior.clone())),
        Some(Demultiplexed::Published(ior)) => (LocateStatus::ObjectForward, Some((*ior).clone())),
        Some(Demultiplexed::Unknown)
            if request
                .target
                .object_key()
                .is_some_and(|key| dispatcher.objects.might_serve(key)) =>
        {
            (LocateStatus::ObjectHere, None)
        }
        Some(Demultiplexed::Unknown) | None => (LocateStatus::UnknownObject, None),
    };
    reply.clear();
    let mut writer = MessageWriter::new(
        reply,
        header.version,
        MessageType::LocateReply,
        Endian::NATIVE,
        message.code_sets,
        dispatcher.configuration.limits.max_message_size,
    );
    let encoder = writer.encoder();
    encode_locate_reply(encoder, header.version, request.request_id, status)
        .and_then(|()| forward.map_or(Ok(()), |ior| ior.encode(encoder)))
        .and_then(|()| writer.finish())
        .map_err(|_| MessageError)
}
