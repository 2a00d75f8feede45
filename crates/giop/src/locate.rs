//! LocateRequest and LocateReply messages. Source: CORBA 3.3 part 2, 9.4.5 and 9.4.6.

use punctual_cdr::{CdrError, CdrErrorKind, CharSet, Decode, Decoder, Encode, Encoder, Ior};
use punctual_types::SystemException;

use crate::{
    AddressingDisposition, MessageHeader, Target, TargetAddress, Version, decode_system_exception,
    message::header_decoder,
};

/// A LocateRequest that borrows from its message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LocateRequestHeader<'a> {
    /// Request id; unique among those of requests, too.
    pub request_id: u32,
    /// The object.
    pub target: Target<'a>,
}

impl<'a> LocateRequestHeader<'a> {
    /// Decodes `message`, which starts with its 12-octet message header.
    pub fn decode(message: &'a [u8], header: &MessageHeader) -> Result<Self, CdrError> {
        let decoder = &mut header_decoder(message, header)?;
        Ok(Self {
            request_id: u32::decode(decoder)?,
            target: Target::decode(decoder, message, header.version)?,
        })
    }
}

/// Encodes a LocateRequest after the message header.
pub fn encode_locate_request(
    encoder: &mut Encoder<'_>,
    version: Version,
    request_id: u32,
    target: TargetAddress<'_>,
) -> Result<(), CdrError> {
    request_id.encode(encoder)?;
    target.encode(encoder, version)
}

/// Location of an object, and type of the body of the LocateReply: `GIOP::LocateStatusType`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u32)]
pub enum LocateStatus {
    /// The server knows no such object. No body.
    UnknownObject = 0,
    /// The object is at this server. No body.
    ObjectHere = 1,
    /// The object is elsewhere: see [`LocateReplyHeader::forward`].
    ObjectForward = 2,
    /// The object is permanently elsewhere; since 1.2, deprecated.
    ObjectForwardPerm = 3,
    /// The request failed: see [`LocateReplyHeader::system_exception`]; since 1.2.
    SystemException = 4,
    /// Send the request again with another form of target: see [`LocateReplyHeader::addressing_mode`]; since
    /// 1.2.
    NeedsAddressingMode = 5,
}

impl LocateStatus {
    fn decode(decoder: &mut Decoder<'_>, version: Version) -> Result<Self, CdrError> {
        let status = match u32::decode(decoder)? {
            0 => Self::UnknownObject,
            1 => Self::ObjectHere,
            2 => Self::ObjectForward,
            3 if version >= Version::V1_2 => Self::ObjectForwardPerm,
            4 if version >= Version::V1_2 => Self::SystemException,
            5 if version >= Version::V1_2 => Self::NeedsAddressingMode,
            _ => return Err(decoder.error(CdrErrorKind::EnumOutOfRange)),
        };
        Ok(status)
    }

    /// Returns whether replies of this version can have the status.
    pub const fn exists_in(self, version: Version) -> bool {
        version.minor >= 2 || matches!(self, Self::UnknownObject | Self::ObjectHere | Self::ObjectForward)
    }
}

/// A LocateReply that borrows from its message.
///
/// Its body directly follows the header, in GIOP 1.2 too. CORBA 2.4 and 2.5 aligned it to 8; earlier and
/// later versions do not, nor does TAO. Both forms are decoded; the unaligned one is encoded.
#[derive(Clone, Copy, Debug)]
pub struct LocateReplyHeader<'a> {
    /// Id of the request.
    pub request_id: u32,
    /// Type of the body.
    pub status: LocateStatus,
    header: MessageHeader,
    message: &'a [u8],
    body: usize,
}

impl<'a> LocateReplyHeader<'a> {
    /// Decodes `message`, which starts with its 12-octet message header.
    pub fn decode(message: &'a [u8], header: &MessageHeader) -> Result<Self, CdrError> {
        let decoder = &mut header_decoder(message, header)?;
        Ok(Self {
            request_id: u32::decode(decoder)?,
            status: LocateStatus::decode(decoder, header.version)?,
            header: *header,
            message: &message[..header.total_size()],
            body: decoder.position(),
        })
    }

    /// Returns the offset of the body, unless its sender aligned it.
    pub fn body_offset(&self) -> usize {
        self.body
    }

    /// Returns the reference of an [`LocateStatus::ObjectForward`] or [`LocateStatus::ObjectForwardPerm`].
    pub fn forward(&self) -> Result<Ior, CdrError> {
        self.read_body(Ior::decode)
    }

    /// Returns the exception of a [`LocateStatus::SystemException`].
    pub fn system_exception(&self) -> Result<SystemException, CdrError> {
        self.read_body(|decoder| decode_system_exception(decoder))
    }

    /// Returns the form of target requested by a [`LocateStatus::NeedsAddressingMode`].
    pub fn addressing_mode(&self) -> Result<AddressingDisposition, CdrError> {
        self.read_body(AddressingDisposition::decode)
    }

    /// Decodes the body directly after the header or, if that does not consume all of it, aligned to 8.
    fn read_body<T>(&self, read: impl Fn(&mut Decoder<'a>) -> Result<T, CdrError>) -> Result<T, CdrError> {
        let decoder = Decoder::new(self.message, self.header.endian).with_char_set(CharSet::Utf8);
        let read_at = |offset| {
            let mut decoder = decoder.clone().at(offset);
            read(&mut decoder).map(|value| (value, decoder.remaining()))
        };
        let at_once = read_at(self.body);
        if let Ok((value, 0)) = at_once {
            return Ok(value);
        }
        match read_at(self.body.next_multiple_of(8)) {
            Ok((value, 0)) if self.header.version >= Version::V1_2 => Ok(value),
            _ => at_once.map(|(value, _)| value),
        }
    }
}

/// Encodes the header of a LocateReply after the message header; the body follows directly.
///
/// Fails if the status does not exist in this version.
pub fn encode_locate_reply(
    encoder: &mut Encoder<'_>,
    version: Version,
    request_id: u32,
    status: LocateStatus,
) -> Result<(), CdrError> {
    if !status.exists_in(version) {
        return Err(encoder.error(CdrErrorKind::ValueNotRepresentable));
    }
    (request_id, status as u32).encode(encoder)
}
