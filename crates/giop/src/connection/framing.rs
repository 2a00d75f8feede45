//! Framing: where messages begin and end in the receive buffer.

use crate::{HEADER_SIZE, HeaderError, MessageHeader, header::MAGIC};

/// Finds the message at the start of `buffer`; `None` if it is not complete. Refuses a message above
/// `max_message_size` octets by its header.
///
/// A wrong magic is detected at the first octet that differs.
#[inline(always)]
pub(super) fn next_message(
    buffer: &[u8],
    max_message_size: usize,
) -> Result<Option<MessageHeader>, HeaderError> {
    if buffer.len() < HEADER_SIZE {
        return check_magic(buffer).map(|()| None);
    }
    let header = MessageHeader::parse(buffer, max_message_size)?;
    Ok((header.total_size() <= buffer.len()).then_some(header))
}

/// Returns the octets of the message at the start of `buffer`, as far as they are known.
pub(super) fn needed(buffer: &[u8], max_message_size: usize) -> usize {
    match MessageHeader::parse(buffer, max_message_size) {
        Ok(header) => header.total_size(),
        Err(_) => HEADER_SIZE,
    }
}

#[cold]
fn check_magic(buffer: &[u8]) -> Result<(), HeaderError> {
    let seen = buffer.len().min(MAGIC.len());
    if buffer[..seen] == MAGIC[..seen] {
        return Ok(());
    }
    let mut magic = [0; 4];
    magic[..seen].copy_from_slice(&buffer[..seen]);
    Err(HeaderError::BadMagic(magic))
}
