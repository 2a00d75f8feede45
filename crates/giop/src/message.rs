//! Writing whole messages, and the gap between a header and its body.

use alloc::vec::Vec;

use punctual_cdr::{CdrError, CdrErrorKind, CharSet, Decode, Decoder, Encoder, Endian};

use crate::{HEADER_SIZE, MessageHeader, MessageType, Version, header::MAGIC};

const SIZE_AT: usize = 8;

/// Writes one message at the end of a buffer that its owner keeps.
#[derive(Debug)]
pub struct MessageWriter<'b> {
    encoder: Encoder<'b>,
}

impl<'b> MessageWriter<'b> {
    /// Appends the header of a message that may grow to `limit` octets, header included.
    pub fn new(
        buffer: &'b mut Vec<u8>,
        version: Version,
        message_type: MessageType,
        endian: Endian,
        char_set: CharSet,
        limit: usize,
    ) -> Self {
        let mut encoder = Encoder::new(buffer, endian).with_char_set(char_set);
        let header = empty_header(version, message_type, endian);
        encoder.octets(&header).expect("the limit is not set yet");
        Self {
            encoder: encoder.with_limit(limit),
        }
    }

    /// Goes on with a message of GIOP 1.2 that `buffer` starts with, in this machine's byte order, behind its first `kept` octets:
    /// a request, of which these are the header, becomes another one to the same object by another request id.
    ///
    /// # Panics
    /// When there are fewer octets, or no request id among them.
    pub fn repeat_request(
        buffer: &'b mut Vec<u8>,
        kept: usize,
        request_id: u32,
        char_set: CharSet,
        limit: usize,
    ) -> Self {
        buffer.truncate(kept);
        let mut encoder = Encoder::resume(buffer, Endian::NATIVE)
            .with_char_set(char_set)
            .with_limit(limit);
        encoder.patch_u32(HEADER_SIZE, request_id);
        Self { encoder }
    }

    /// Writes what follows the header; positions count from the start of the message.
    pub fn encoder(&mut self) -> &mut Encoder<'b> {
        &mut self.encoder
    }

    /// Hands the encoder to whoever writes the rest; [`Self::from_encoder`] takes it back.
    pub fn into_encoder(self) -> Encoder<'b> {
        self.encoder
    }

    /// Goes on with a message from [`Self::into_encoder`].
    pub fn from_encoder(encoder: Encoder<'b>) -> Self {
        Self { encoder }
    }

    /// Puts the size into the header. Fails where it does not fit.
    pub fn finish(mut self) -> Result<(), CdrError> {
        let size = u32::try_from(self.encoder.position() - HEADER_SIZE)
            .map_err(|_| self.encoder.error(CdrErrorKind::TooLarge))?;
        self.encoder.patch_u32(SIZE_AT, size);
        Ok(())
    }

    /// Takes the message back, header included, after an error.
    pub fn abandon(mut self) {
        self.encoder.truncate(0);
    }
}

/// Where a body starts; made by [`begin_body`] for [`end_body`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "an empty body must be ended, or its padding stays in the message"]
pub struct Body {
    header_end: usize,
    start: usize,
}

/// Starts the body of a Request or Reply: pads to 8 octets in GIOP 1.2, does nothing before.
pub fn begin_body(encoder: &mut Encoder<'_>, version: Version) -> Result<Body, CdrError> {
    let header_end = encoder.position();
    align_body(encoder, version)?;
    Ok(Body {
        header_end,
        start: encoder.position(),
    })
}

/// Ends the body: takes the padding back if nothing was written, because an empty body has none.
///
/// Source: CORBA 3.3 part 2, 9.4.2.2.
pub fn end_body(encoder: &mut Encoder<'_>, body: Body) {
    if encoder.position() == body.start {
        encoder.truncate(body.header_end);
    }
}

/// Pads to where a body that is not empty starts, for bodies that need no [`end_body`].
pub fn align_body(encoder: &mut Encoder<'_>, version: Version) -> Result<(), CdrError> {
    if version >= Version::V1_2 {
        encoder.align(8)
    } else {
        Ok(())
    }
}

/// Where the body starts, for a decoder that stands behind the header: at the end of an empty one.
pub(crate) fn body_offset(decoder: &mut Decoder<'_>, version: Version) -> usize {
    // Some senders pad although no body follows, TAO among them; what ends within the padding has none.
    if version >= Version::V1_2 && decoder.align(8).is_err() {
        decoder.rest();
    }
    decoder.position()
}

/// A decoder behind the message header, bounded by the size in it, for the headers of messages.
///
/// Their strings are identifiers: ASCII, so the code set of the connection does not matter.
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

/// Appends a MessageError message; `version` is the highest one spoken when the peer's is unknown.
pub fn write_message_error(buffer: &mut Vec<u8>, version: Version) {
    write_empty(buffer, version, MessageType::MessageError);
}

/// Appends a CancelRequest message for a request or locate request.
pub fn write_cancel_request(buffer: &mut Vec<u8>, version: Version, request_id: u32) {
    let start = buffer.len();
    write_empty(buffer, version, MessageType::CancelRequest);
    buffer[start + SIZE_AT..start + HEADER_SIZE].copy_from_slice(&4_u32.to_ne_bytes());
    buffer.extend_from_slice(&request_id.to_ne_bytes());
}

/// The request id in a CancelRequest message, which `message` holds whole.
pub fn decode_cancel_request(message: &[u8], header: &MessageHeader) -> Result<u32, CdrError> {
    u32::decode(&mut header_decoder(message, header)?)
}

/// A message without a body, in the byte order of this machine.
pub(crate) fn empty_message(version: Version, message_type: MessageType) -> [u8; HEADER_SIZE] {
    empty_header(version, message_type, Endian::NATIVE)
}

/// Appends such a message.
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
