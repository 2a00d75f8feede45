//! The header of every message and where messages end. Source: CORBA 3.3 part 2, 9.4.1.

use punctual_cdr::Endian;

use crate::{HeaderError, Version};

/// The octets of a message header.
pub const HEADER_SIZE: usize = 12;

pub(crate) const MAGIC: [u8; 4] = *b"GIOP";
/// The bit of the flags octet that announces fragments.
pub(crate) const MORE_FRAGMENTS: u8 = 2;

/// The kind of a message, `GIOP::MsgType`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum MessageType {
    /// Calls an operation.
    Request = 0,
    /// Answers a Request.
    Reply = 1,
    /// The sender no longer waits for a reply.
    CancelRequest = 2,
    /// Asks where an object is.
    LocateRequest = 3,
    /// Answers a LocateRequest.
    LocateReply = 4,
    /// The sender closes the connection in good order: what has no reply yet was not run.
    CloseConnection = 5,
    /// The sender did not understand a message.
    MessageError = 6,
    /// Continues a message; since 1.1.
    Fragment = 7,
}

impl MessageType {
    /// The type that the octet stands for in this version.
    pub const fn from_wire(value: u8, version: Version) -> Option<Self> {
        Some(match value {
            0 => Self::Request,
            1 => Self::Reply,
            2 => Self::CancelRequest,
            3 => Self::LocateRequest,
            4 => Self::LocateReply,
            5 => Self::CloseConnection,
            6 => Self::MessageError,
            7 if version.minor > 0 => Self::Fragment,
            _ => return None,
        })
    }

    /// Whether more fragments can follow a message of this type. Source: CORBA 3.3 part 2, 9.4.9.
    pub const fn can_be_fragmented(self, version: Version) -> bool {
        match self {
            Self::Request | Self::Reply | Self::Fragment => version.minor >= 1,
            Self::LocateRequest | Self::LocateReply => version.minor >= 2,
            _ => false,
        }
    }
}

/// The first 12 octets of a message, understood.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MessageHeader {
    /// The version in which the rest is written.
    pub version: Version,
    /// The byte order of the rest.
    pub endian: Endian,
    /// Whether a Fragment message continues this one.
    pub more_fragments: bool,
    /// What the message is.
    pub message_type: MessageType,
    /// The octets after the header.
    pub size: u32,
}

impl MessageHeader {
    /// Reads the header at the start of `octets`; `max_message_size` counts the header too.
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

    /// The octets of the message, the header included.
    pub const fn total_size(&self) -> usize {
        HEADER_SIZE.saturating_add(self.size as usize)
    }
}

/// What a receive buffer holds at its start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Framing {
    /// A whole message of [`MessageHeader::total_size`] octets.
    Complete(MessageHeader),
    /// Part of one.
    Partial {
        /// How many octets the buffer must hold before it makes sense to ask again.
        needed: usize,
    },
}

/// Looks for a message at the start of `buffer`, refusing one that would exceed `max_message_size` octets.
///
/// A wrong magic is found with the first octet that differs.
pub fn next_message(buffer: &[u8], max_message_size: usize) -> Result<Framing, HeaderError> {
    // Between messages, so the most frequent case.
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
