//! The request id of a message of which only the first part has been received. Source: CORBA 3.3 part 2,
//! 9.4.2: in GIOP 1.2 it follows the message header, in earlier versions the service contexts.

use punctual_cdr::Endian;

use crate::{HEADER_SIZE, MessageType};

/// Search for the request id, which continues with each part: every octet is examined once.
#[derive(Clone, Copy, Debug)]
pub(super) enum RequestIdSearch {
    /// The id.
    Found(u32),
    /// The number of service contexts has not been received.
    List,
    /// Number of service contexts that follow, the first of them, or the id, at this offset.
    Contexts {
        /// Contexts still to be skipped.
        left: u32,
        /// Offset in the message; behind its end if the data of a context has not been received.
        at: usize,
    },
}

const LONG: usize = 4;

impl RequestIdSearch {
    /// Creates the search in a message whose id is known, or has to be found.
    pub(super) fn new(known: Option<u32>) -> Self {
        known.map_or(Self::List, Self::Found)
    }

    /// The id, if it has been found.
    pub(super) const fn found(self) -> Option<u32> {
        match self {
            Self::Found(id) => Some(id),
            Self::List | Self::Contexts { .. } => None,
        }
    }

    /// Continues in the received part of the message.
    pub(super) fn advance(&mut self, message: &[u8], endian: Endian) {
        while let Some(next) = self.step(message, endian) {
            *self = next;
        }
    }

    /// The next state; `None` if there is none, or if it needs further octets.
    fn step(self, message: &[u8], endian: Endian) -> Option<Self> {
        match self {
            Self::Found(_) => None,
            Self::List => Some(Self::Contexts {
                left: long(message, HEADER_SIZE, endian)?,
                at: HEADER_SIZE + LONG,
            }),
            Self::Contexts { left: 0, at } => long(message, at, endian).map(Self::Found),
            Self::Contexts { left, at } => {
                let data = at.checked_add(2 * LONG)?;
                let length = long(message, at + LONG, endian)? as usize;
                Some(Self::Contexts {
                    left: left - 1,
                    at: data.checked_add(length)?.checked_next_multiple_of(LONG)?,
                })
            }
        }
    }
}

/// Returns the id of the Request of GIOP 1.2 that begins so, if it expects a reply. In earlier versions the
/// id has no fixed place.
pub(super) fn awaited_request(start: &[u8]) -> Option<u32> {
    let [
        b'G',
        b'I',
        b'O',
        b'P',
        1,
        2..=u8::MAX,
        flags,
        REQUEST,
        _,
        _,
        _,
        _,
        id @ ..,
    ] = start
    else {
        return None;
    };
    let endian = if flags & 1 == 0 {
        Endian::Big
    } else {
        Endian::Little
    };
    let expects_reply = *id.get(LONG)? != 0;
    long(id, 0, endian).filter(|_| expects_reply)
}

const REQUEST: u8 = MessageType::Request as u8;

fn long(message: &[u8], at: usize, endian: Endian) -> Option<u32> {
    let octets = message.get(at..)?.first_chunk()?;
    Some(match endian {
        Endian::Big => u32::from_be_bytes(*octets),
        Endian::Little => u32::from_le_bytes(*octets),
    })
}
