//! Message headers and framing. Source: CORBA 3.3 part 2, 9.4.1.

use punctual_cdr::Endian;

use crate::{HeaderError, MessageType, Version};

/// Size of a message header in octets.
pub const HEADER_SIZE: usize = 12;

pub(crate) const MAGIC: [u8; 4] = *b"GIOP";
/// The bit of the flags octet that announces fragments.
pub(crate) const MORE_FRAGMENTS: u8 = 2;

/// The first 12 octets of a message, decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MessageHeader {
    /// Version of the message.
    pub version: Version,
    /// Byte order of the message.
    pub endian: Endian,
    /// Whether a Fragment message continues this message.
    pub more_fragments: bool,
    /// Type of the message.
    pub message_type: MessageType,
    /// Number of octets after the header.
    pub size: u32,
}

impl MessageHeader {
    /// Decodes the header at the start of `octets`; `max_message_size` includes the header.
    pub fn parse(octets: &[u8], max_message_size: usize) -> Result<Self, HeaderError> {
        let octets: &[u8; HEADER_SIZE] = octets
            .first_chunk()
            .ok_or(HeaderError::Incomplete(octets.len()))?;
        let [m0, m1, m2, m3, major, minor, flags, message_type, size @ ..] = *octets;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(HeaderError::BadMagic([m0, m1, m2, m3]));
        }
        let version = Version { major, minor };
        if !version.is_supported() {
            return Err(HeaderError::UnsupportedVersion(version));
        }
        let message_type = MessageType::from_wire(message_type, version).ok_or(HeaderError::UnknownType {
            version,
            value: message_type,
        })?;
        let more_fragments = flags & MORE_FRAGMENTS != 0;
        if more_fragments && !message_type.can_be_fragmented(version) {
            return Err(HeaderError::CannotBeFragmented {
                version,
                message_type,
            });
        }
        let endian = Endian::from_flag(flags);
        let size = match endian {
            Endian::Big => u32::from_be_bytes(size),
            Endian::Little => u32::from_le_bytes(size),
        };
        let total = u64::from(size) + HEADER_SIZE as u64;
        if total > max_message_size as u64 {
            return Err(HeaderError::TooLarge {
                size: total,
                limit: max_message_size,
            });
        }
        Ok(Self {
            version,
            endian,
            more_fragments,
            message_type,
            size,
        })
    }

    /// Returns the size of the message in octets, including the header.
    pub const fn total_size(&self) -> usize {
        HEADER_SIZE.saturating_add(self.size as usize)
    }
}
