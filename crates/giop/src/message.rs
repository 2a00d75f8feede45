//! Encoding of whole messages, and the alignment of bodies.

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CdrErrorKind, CharSet, CodeSets, Decode, Decoder, Encoder, Endian};

use crate::{HEADER_SIZE, MessageHeader, MessageType, Version, header::MAGIC};

const SIZE_AT: usize = 8;

/// Encodes one message at the end of a buffer that its owner reuses.
#[derive(Debug)]
pub struct MessageWriter<'b> {
    encoder: Encoder<'b>,
}

impl<'b> MessageWriter<'b> {
    /// Appends the header of a message of at most `limit` octets, including the header.
    pub fn new(
        buffer: &'b mut Vec<u8>,
        version: Version,
        message_type: MessageType,
        endian: Endian,
        code_sets: impl Into<CodeSets>,
        limit: usize,
    ) -> Self {
        let origin = buffer.len();
        buffer.extend_from_slice(&empty_header(version, message_type, endian));
        Self {
            encoder: Encoder::resume_from(buffer, origin, endian)
                .with_code_sets(code_sets.into())
                .with_limit(limit),
        }
    }

    /// Reuses the header of a GIOP 1.2 request for another request to the same object: the first `kept`
    /// octets of `buffer`, in the native byte order, with a new request id.
    ///
    /// # Panics
    /// If these octets do not contain a request id.
    pub fn repeat_request(
        buffer: &'b mut Vec<u8>,
        kept: usize,
        request_id: u32,
        code_sets: impl Into<CodeSets>,
        limit: usize,
    ) -> Self {
        buffer.truncate(kept);
        let mut encoder = Encoder::resume(buffer, Endian::NATIVE)
            .with_code_sets(code_sets.into())
            .with_limit(limit);
        encoder.patch_u32(HEADER_SIZE, request_id);
        Self { encoder }
    }

    /// Limits the depth of values that contain each other.
    pub fn with_nesting_limit(self, limit: u16) -> Self {
        Self {
            encoder: self.encoder.with_nesting_limit(limit),
        }
    }

    /// Returns the encoder for the rest of the message; positions count from its start.
    pub fn encoder(&mut self) -> &mut Encoder<'b> {
        &mut self.encoder
    }

    /// Returns the encoder by value; [`Self::from_encoder`] continues.
    pub fn into_encoder(self) -> Encoder<'b> {
        self.encoder
    }

    /// Continues a message from [`Self::into_encoder`].
    pub fn from_encoder(encoder: Encoder<'b>) -> Self {
        Self { encoder }
    }

    /// Writes the size into the header. Fails if it does not fit.
    #[inline]
    pub fn finish(mut self) -> Result<(), CdrError> {
        let size = u32::try_from(self.encoder.position() - HEADER_SIZE)
            .map_err(|_| self.encoder.error(CdrErrorKind::TooLarge))?;
        self.encoder.patch_u32(SIZE_AT, size);
        Ok(())
    }

    /// Removes the message, including its header, after an error.
    pub fn abandon(mut self) {
        self.encoder.truncate(0);
    }
}

/// The start of a body, from [`begin_body`] for [`end_body`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "an empty body must be ended, or its padding stays in the message"]
pub struct Body {
    header_end: usize,
    start: usize,
}

/// Starts the body of a Request or Reply: pads to 8 octets in GIOP 1.2, and does nothing in earlier versions.
pub fn begin_body(encoder: &mut Encoder<'_>, version: Version) -> Result<Body, CdrError> {
    let header_end = encoder.position();
    align_body(encoder, version)?;
    Ok(Body {
        header_end,
        start: encoder.position(),
    })
}

/// Ends the body: removes the padding if nothing was written, because an empty body has none.
///
/// Source: CORBA 3.3 part 2, 9.4.2.2.
pub fn end_body(encoder: &mut Encoder<'_>, body: Body) {
    if encoder.position() == body.start {
        encoder.truncate(body.header_end);
    }
}

/// Pads to the start of a body that is never empty and therefore needs no [`end_body`].
pub fn align_body(encoder: &mut Encoder<'_>, version: Version) -> Result<(), CdrError> {
    if version >= Version::V1_2 {
        encoder.align(8)
    } else {
        Ok(())
    }
}

/// Returns the offset of the body for a decoder after the header; an empty body starts at its end.
pub(crate) fn body_offset(decoder: &mut Decoder<'_>, version: Version) -> usize {
    // Some senders, such as TAO, pad although no body follows; a message that ends within the padding has
    // none.
    if version >= Version::V1_2 && decoder.align(8).is_err() {
        decoder.rest();
    }
    decoder.position()
}

/// Returns a decoder for the part after the message header, limited by the size in it.
///
/// Strings in message headers are identifiers in ASCII, so that the code set of the connection does not
/// matter.
pub(crate) fn header_decoder<'a>(message: &'a [u8], header: &MessageHeader) -> Result<Decoder<'a>, CdrError> {
    let whole = message.get(..header.total_size()).ok_or(CdrError {
        kind: CdrErrorKind::Truncated,
        offset: message.len(),
    })?;
    Ok(Decoder::new(whole, header.endian)
        .with_char_set(CharSet::Utf8)
        .at(HEADER_SIZE))
}

/// Appends a CloseConnection message.
pub fn write_close_connection(buffer: &mut Vec<u8>, version: Version) {
    write_empty(buffer, version, MessageType::CloseConnection);
}

/// Appends a MessageError message; `version` is the highest supported one if the peer's is unknown.
pub fn write_message_error(buffer: &mut Vec<u8>, version: Version) {
    write_empty(buffer, version, MessageType::MessageError);
}

/// Appends a CancelRequest message for a request or locate request.
pub fn write_cancel_request(buffer: &mut Vec<u8>, version: Version, request_id: u32) {
    buffer.extend_from_slice(&cancel_request(version, request_id));
}

/// Size of a CancelRequest message in octets.
pub(crate) const CANCEL_SIZE: usize = HEADER_SIZE + 4;

/// Returns a CancelRequest message in the native byte order.
pub(crate) fn cancel_request(version: Version, request_id: u32) -> [u8; CANCEL_SIZE] {
    let mut message = [0; CANCEL_SIZE];
    message[..HEADER_SIZE].copy_from_slice(&empty_message(version, MessageType::CancelRequest));
    message[SIZE_AT..HEADER_SIZE].copy_from_slice(&4_u32.to_ne_bytes());
    message[HEADER_SIZE..].copy_from_slice(&request_id.to_ne_bytes());
    message
}

/// Decodes the request id of a CancelRequest message, complete in `message`.
pub fn decode_cancel_request(message: &[u8], header: &MessageHeader) -> Result<u32, CdrError> {
    u32::decode(&mut header_decoder(message, header)?)
}

/// Returns a message without a body, in the native byte order.
pub(crate) fn empty_message(version: Version, message_type: MessageType) -> [u8; HEADER_SIZE] {
    empty_header(version, message_type, Endian::NATIVE)
}

/// Appends a message without a body.
fn write_empty(buffer: &mut Vec<u8>, version: Version, message_type: MessageType) {
    buffer.extend_from_slice(&empty_message(version, message_type));
}

fn empty_header(version: Version, message_type: MessageType, endian: Endian) -> [u8; HEADER_SIZE] {
    let [m0, m1, m2, m3] = MAGIC;
    let Version { major, minor } = version;
    [
        m0,
        m1,
        m2,
        m3,
        major,
        minor,
        endian.flag(),
        message_type as u8,
        0,
        0,
        0,
        0,
    ]
}
