//! Reply messages and the system exceptions in them. Source: CORBA 3.3 part 2, 9.4.3.

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Endian};
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use crate::{
    HEADER_SIZE, MessageHeader, MessageType, ServiceContext, ServiceContexts, Version,
    message::{MessageWriter, align_body, body_offset, header_decoder},
};

/// Outcome of an operation, and type of the body of its reply: `GIOP::ReplyStatusType`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u32)]
pub enum ReplyStatus {
    /// Success: the result, then the `inout` and `out` arguments.
    NoException = 0,
    /// A repository id, then the members of the exception.
    UserException = 1,
    /// A system exception: see [`decode_system_exception`].
    SystemException = 2,
    /// The reference to which the request must be sent instead.
    LocationForward = 3,
    /// The reference that replaces the one used; since 1.2, deprecated.
    LocationForwardPerm = 4,
    /// An [`crate::AddressingDisposition`]: send the request again with such a target; since 1.2.
    NeedsAddressingMode = 5,
}

impl ReplyStatus {
    fn decode(decoder: &mut Decoder<'_>, version: Version) -> Result<Self, CdrError> {
        let status = match u32::decode(decoder)? {
            0 => Self::NoException,
            1 => Self::UserException,
            2 => Self::SystemException,
            3 => Self::LocationForward,
            4 if version >= Version::V1_2 => Self::LocationForwardPerm,
            5 if version >= Version::V1_2 => Self::NeedsAddressingMode,
            _ => return Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
        };
        Ok(status)
    }

    /// Returns whether replies of this version can have the status.
    pub const fn exists_in(self, version: Version) -> bool {
        version.minor >= 2 || !matches!(self, Self::LocationForwardPerm | Self::NeedsAddressingMode)
    }
}

/// The header of a Reply, borrowing from its message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReplyHeader<'a> {
    /// Id of the request.
    pub request_id: u32,
    /// Type of the body.
    pub status: ReplyStatus,
    /// The service contexts.
    pub contexts: ServiceContexts<'a>,
}

impl<'a> ReplyHeader<'a> {
    /// Decodes the header of `message`, which starts with its 12-octet message header, and returns the offset
    /// of the body.
    pub fn decode(message: &'a [u8], header: &MessageHeader) -> Result<(Self, usize), CdrError> {
        let decoder = &mut header_decoder(message, header)?;
        let reply = if header.version >= Version::V1_2 {
            Self {
                request_id: u32::decode(decoder)?,
                status: ReplyStatus::decode(decoder, header.version)?,
                contexts: ServiceContexts::decode(decoder, message)?,
            }
        } else {
            let contexts = ServiceContexts::decode(decoder, message)?;
            Self {
                request_id: u32::decode(decoder)?,
                status: ReplyStatus::decode(decoder, header.version)?,
                contexts,
            }
        };
        Ok((reply, body_offset(decoder, header.version)))
    }
}

/// Decodes the parts that classify a reply: the id of its request, its status, and the offset of its body.
#[inline]
pub(crate) fn decode_reply_outcome(
    message: &[u8],
    header: &MessageHeader,
) -> Result<(u32, ReplyStatus, usize), CdrError> {
    if let Some(request_id) = plain_reply(message, header) {
        return Ok((request_id, ReplyStatus::NoException, PLAIN_BODY));
    }
    decode_other_outcome(message, header)
}

#[inline(never)]
fn decode_other_outcome(
    message: &[u8],
    header: &MessageHeader,
) -> Result<(u32, ReplyStatus, usize), CdrError> {
    let (reply, body) = ReplyHeader::decode(message, header)?;
    Ok((reply.request_id, reply.status, body))
}

/// Returns the request id of a successful reply of GIOP 1.2 without service contexts, as nearly all are:
/// three numbers at fixed offsets.
#[inline]
fn plain_reply(message: &[u8], header: &MessageHeader) -> Option<u32> {
    let numbers: &[u8; 12] = message.get(HEADER_SIZE..header.total_size())?.first_chunk()?;
    let [i0, i1, i2, i3, status_and_contexts @ ..] = *numbers;
    if u64::from_ne_bytes(status_and_contexts) != 0 || header.version != Version::V1_2 {
        return None;
    }
    let id = [i0, i1, i2, i3];
    Some(match header.endian {
        Endian::Big => u32::from_be_bytes(id),
        Endian::Little => u32::from_le_bytes(id),
    })
}

/// Offset of the body of such a reply: aligned to 8 already.
const PLAIN_BODY: usize = HEADER_SIZE + 12;

/// Encodes the header of a reply after the message header; [`crate::begin_body`] starts the results.
///
/// Fails if the status does not exist in this version.
pub fn encode_reply_header(
    encoder: &mut Encoder<'_>,
    version: Version,
    request_id: u32,
    status: ReplyStatus,
    contexts: &[ServiceContext<'_>],
) -> Result<(), CdrError> {
    if !status.exists_in(version) {
        return Err(encoder.error(CdrErrorKind::ValueNotRepresentable));
    }
    if version >= Version::V1_2 {
        // Nearly always without contexts: a single copy of constant length.
        let numbers = [request_id, status as u32, contexts.len() as u32];
        let octets = match encoder.endian() {
            Endian::Big => numbers.map(u32::to_be_bytes),
            Endian::Little => numbers.map(u32::to_le_bytes),
        };
        encoder.align(size_of::<u32>())?;
        encoder.octets(octets.as_flattened())?;
        contexts.iter().try_for_each(|context| context.encode(encoder))
    } else {
        (contexts, request_id, status as u32).encode(encoder)
    }
}

/// Encodes the body of a [`ReplyStatus::SystemException`].
pub fn encode_system_exception(
    encoder: &mut Encoder<'_>,
    exception: &SystemException,
) -> Result<(), CdrError> {
    (
        exception.repository_id(),
        exception.minor.0,
        exception.completed as u32,
    )
        .encode(encoder)
}

/// Writes the reply IMP_LIMIT (not completed) to a request of GIOP 1.2 that exceeds the limit on the size of
/// messages. Fails for other versions only.
pub fn write_too_large(buffer: &mut Vec<u8>, version: Version, request_id: u32) -> Result<(), CdrError> {
    buffer.clear();
    let too_large = SystemException::new(
        SystemExceptionKind::ImpLimit,
        Minor::MESSAGE_TOO_LARGE,
        Completion::No,
    );
    let mut reply = MessageWriter::new(
        buffer,
        version,
        MessageType::Reply,
        Endian::NATIVE,
        CharSet::Utf8,
        usize::MAX,
    );
    let encoder = reply.encoder();
    encode_reply_header(encoder, version, request_id, ReplyStatus::SystemException, &[])?;
    align_body(encoder, version)?;
    encode_system_exception(encoder, &too_large)?;
    reply.finish()
}

/// Decodes the body of a [`ReplyStatus::SystemException`].
///
/// A non-standard exception becomes UNKNOWN with its minor code and completion.
pub fn decode_system_exception(decoder: &mut Decoder<'_>) -> Result<SystemException, CdrError> {
    // As octets: an id that is not valid text is merely unknown.
    let id = <&[u8]>::decode(decoder)?;
    let Some((0, id)) = id.split_last() else {
        return Err(decoder.error(CdrErrorKind::StringUnterminated));
    };
    let kind = core::str::from_utf8(id)
        .ok()
        .and_then(SystemExceptionKind::from_repository_id)
        .unwrap_or(SystemExceptionKind::Unknown);
    let minor = Minor(u32::decode(decoder)?);
    let completed = Completion::from_wire(u32::decode(decoder)?)
        .ok_or_else(|| decoder.error(CdrErrorKind::EnumOutOfRange))?;
    Ok(SystemException::new(kind, minor, completed))
}
