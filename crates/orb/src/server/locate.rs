use punctual_cdr::{CharSet, Encode, Endian};
use punctual_giop::{
    LocateRequestHeader, LocateStatus, MessageHeader, MessageType, MessageWriter, encode_locate_reply,
};

use super::{Answer, Buffers, Demultiplexed, Unintelligible};
use crate::{lane::Lane, orb_core::OrbCore};

/// Answers where an object is: here, at the reference published for the key or made for the object's own pool, or nowhere.
pub(crate) fn answer_locate(
    core: &OrbCore,
    lane: &Lane,
    char_set: CharSet,
    message: &[u8],
    header: &MessageHeader,
    buffers: &mut Buffers,
) -> Result<Answer, Unintelligible> {
    let request = LocateRequestHeader::decode(message, header).map_err(|_| Unintelligible)?;
    let (status, forward) = match request.target.object_key().map(|key| core.demultiplex(key)) {
        Some(Demultiplexed::Object(object)) if object.poa.pool_id() == lane.pool => {
            (LocateStatus::ObjectHere, None)
        }
        Some(Demultiplexed::Object(object)) => (LocateStatus::ObjectForward, Some(object.ior.clone())),
        Some(Demultiplexed::Published(ior)) => (LocateStatus::ObjectForward, Some((*ior).clone())),
        Some(Demultiplexed::Unknown) | None => (LocateStatus::UnknownObject, None),
    };
    buffers.reply.clear();
    let mut writer = MessageWriter::new(
        &mut buffers.reply,
        header.version,
        MessageType::LocateReply,
        Endian::NATIVE,
        char_set,
        core.limits.max_message_size,
    );
    let encoder = writer.encoder();
    encode_locate_reply(encoder, header.version, request.request_id, status)
        .and_then(|()| forward.map_or(Ok(()), |ior| ior.encode(encoder)))
        .and_then(|()| writer.finish())
        .map_err(|_| Unintelligible)?;
    Ok(Answer::Reply)
}
