//! Framing: where messages begin and end in the receive buffer.

use crate::{HEADER_SIZE, HeaderError, MessageHeader, header::MAGIC};

/// Content at the start of a receive buffer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Framing {
    /// A complete message of [`MessageHeader::total_size`] octets.
    Complete(MessageHeader),
    /// Part of a message.
    Partial {
        /// Number of octets that the buffer must hold before the next call.
        needed: usize,
    },
}

/// Finds the message at the start of `buffer`. Refuses a message above `max_message_size` octets.
///
/// A wrong magic is detected at the first octet that differs.
pub(super) fn next_message(buffer: &[u8], max_message_size: usize) -> Result<Framing, HeaderError> {
    // Between messages: the most frequent case.
    if buffer.is_empty() {
        return Ok(Framing::Partial { needed: HEADER_SIZE });
    }
    if buffer.len() < HEADER_SIZE {
        let seen = buffer.len().min(MAGIC.len());
        if buffer[..seen] != MAGIC[..seen] {
            let mut magic = [0; 4];
            magic[..seen].copy_from_slice(&buffer[..seen]);
            return Err(HeaderError::BadMagic(magic));
        }
        return Ok(Framing::Partial { needed: HEADER_SIZE });
    }
    let header = MessageHeader::parse(buffer, max_message_size)?;
    Ok(if buffer.len() < header.total_size() {
        Framing::Partial {
            needed: header.total_size(),
        }
    } else {
        Framing::Complete(header)
    })
}
