//! Request messages. Source: CORBA 3.3 part 2, 9.4.2.

use punctual_cdr::{CdrError, Decode, Encode, Encoder};

use crate::{
    MessageHeader, ServiceContext, ServiceContexts, Target, TargetAddress, Version,
    message::{body_offset, header_decoder},
};

/// The header of a Request, borrowing from its message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RequestHeader<'a> {
    /// Request id, repeated by the reply; unique among the outstanding requests of the connection.
    pub request_id: u32,
    /// Whether and when the client expects a reply.
    pub response: ResponseFlags,
    /// The object.
    pub target: Target<'a>,
    /// The operation in IDL, `_get_` and `_set_` before the names of attributes.
    pub operation: &'a str,
    /// The service contexts.
    pub contexts: ServiceContexts<'a>,
}

impl<'a> RequestHeader<'a> {
    /// Decodes the header of `message`, which starts with its 12-octet message header, and returns the offset
    /// of the body.
    ///
    /// The body extends to the end of the message. The principal of GIOP 1.0 and 1.1 is skipped.
    pub fn decode(message: &'a [u8], header: &MessageHeader) -> Result<(Self, usize), CdrError> {
        let decoder = &mut header_decoder(message, header)?;
        let request = if header.version >= Version::V1_2 {
            let request_id = u32::decode(decoder)?;
            let response = ResponseFlags::from_wire(u8::decode(decoder)?);
            let _reserved = decoder.octets(3)?;
            Self {
                request_id,
                response,
                target: Target::decode(decoder, message, header.version)?,
                operation: <&str>::decode(decoder)?,
                contexts: ServiceContexts::decode(decoder, message)?,
            }
        } else {
            let contexts = ServiceContexts::decode(decoder, message)?;
            let request_id = u32::decode(decoder)?;
            let response = if bool::decode(decoder)? {
                ResponseFlags::WithTarget
            } else {
                ResponseFlags::None
            };
            // The reserved octets of 1.1 are padding in 1.0.
            let target = Target::decode(decoder, message, header.version)?;
            let operation = <&str>::decode(decoder)?;
            let _principal = <&[u8]>::decode(decoder)?;
            Self {
                request_id,
                response,
                target,
                operation,
                contexts,
            }
        };
        Ok((request, body_offset(decoder, header.version)))
    }
}

/// Whether and when a reply is expected.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum ResponseFlags {
    /// No reply: oneway operations with SYNC_NONE or SYNC_WITH_TRANSPORT.
    None = 0,
    /// A reply without results before the upcall: oneway operations with SYNC_WITH_SERVER.
    WithServer = 1,
    /// A reply after the upcall: two-way operations, and oneway operations with SYNC_WITH_TARGET.
    WithTarget = 3,
}

impl ResponseFlags {
    /// Returns whether a reply must be sent.
    pub const fn expects_reply(self) -> bool {
        !matches!(self, Self::None)
    }

    /// Decodes the flags. The other bits are reserved; without bit 0 no reply is requested.
    const fn from_wire(flags: u8) -> Self {
        match flags & 3 {
            3 => Self::WithTarget,
            1 => Self::WithServer,
            _ => Self::None,
        }
    }
}

/// A request to send.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingRequest<'a> {
    /// Request id; unique among the outstanding requests of the connection.
    pub request_id: u32,
    /// Whether and when a reply is expected.
    pub response: ResponseFlags,
    /// The object.
    pub target: TargetAddress<'a>,
    /// The operation in IDL, `_get_` and `_set_` before the names of attributes.
    pub operation: &'a str,
    /// Service contexts, in the order of transmission.
    pub contexts: &'a [ServiceContext<'a>],
}

/// Encodes the header of a request after the message header; [`crate::begin_body`] starts the arguments.
pub fn encode_request(
    encoder: &mut Encoder<'_>,
    version: Version,
    request: &OutgoingRequest<'_>,
) -> Result<(), CdrError> {
    if version >= Version::V1_2 {
        request.request_id.encode(encoder)?;
        encoder.octets(&[request.response as u8, 0, 0, 0])?;
        request.target.encode(encoder, version)?;
        request.operation.encode(encoder)?;
        request.contexts.encode(encoder)
    } else {
        request.contexts.encode(encoder)?;
        request.request_id.encode(encoder)?;
        request.response.expects_reply().encode(encoder)?;
        // The reserved octets of 1.1 are padding in 1.0.
        request.target.encode(encoder, version)?;
        request.operation.encode(encoder)?;
        // The principal, deprecated since CORBA 2.2: none.
        0_u32.encode(encoder)
    }
}
