//! A message that is sent in fragments of GIOP 1.2, without being copied. Source: CORBA 3.3 part 2, 9.4.9.

use alloc::vec::Vec;

use crate::{
    HEADER_SIZE, MessageType, Version,
    header::{MAGIC, MORE_FRAGMENTS},
};

/// Size of a Fragment's header with the request id.
const FRAGMENT_HEADER: usize = HEADER_SIZE + 4;

/// A message of which a part may have been sent.
///
/// The header of each fragment is written over octets that have been sent.
#[derive(Debug)]
pub(super) struct DividedMessage {
    octets: Vec<u8>,
    /// Begin of the octets that are not sent.
    at: usize,
    /// End of the fragment that is being sent; not behind `at` if there is none.
    end: usize,
    little_endian: bool,
    request_id: [u8; 4],
}

impl DividedMessage {
    /// Returns whether a message can be divided: one of GIOP 1.2 that may have fragments.
    ///
    /// GIOP 1.1 aligns data within each fragment, so an encoded message cannot be divided afterwards.
    pub(super) fn is_divisible(message: &[u8]) -> bool {
        let &[_, _, _, _, major, minor, _, message_type, ..] = message else {
            return false;
        };
        let version = Version { major, minor };
        version >= Version::V1_2
            && message.len() > FRAGMENT_HEADER
            && MessageType::from_wire(message_type, version)
                .is_some_and(|message_type| message_type.can_be_fragmented(version))
    }

    /// Creates a whole message that [`Self::is_divisible`].
    pub(super) fn new(octets: Vec<u8>) -> Self {
        let mut request_id = [0; 4];
        request_id.copy_from_slice(&octets[HEADER_SIZE..FRAGMENT_HEADER]);
        Self {
            little_endian: octets[6] & 1 == 1,
            request_id,
            at: 0,
            end: 0,
            octets,
        }
    }

    pub(super) fn request_id(&self) -> u32 {
        if self.little_endian {
            u32::from_le_bytes(self.request_id)
        } else {
            u32::from_be_bytes(self.request_id)
        }
    }

    /// Returns whether an octet of it has been sent, or a fragment begun.
    pub(super) fn is_begun(&self) -> bool {
        self.end > 0
    }

    /// Octets of the fragment that is being sent.
    pub(super) fn fragment(&self) -> &[u8] {
        self.octets.get(self.at..self.end).unwrap_or_default()
    }

    /// Octets that are not sent.
    pub(super) fn rest(&self) -> usize {
        self.octets.len() - self.at
    }

    pub(super) fn capacity(&self) -> usize {
        self.octets.capacity()
    }

    /// Begins the next fragment of at most `size` octets, a multiple of 8.
    pub(super) fn begin_fragment(&mut self, size: usize) {
        if self.at > 0 {
            self.at -= FRAGMENT_HEADER;
            self.octets[self.at..][..4].copy_from_slice(&MAGIC);
            self.octets[self.at + 4..][..4].copy_from_slice(&[1, 2, 0, MessageType::Fragment as u8]);
            self.octets[self.at + HEADER_SIZE..][..4].copy_from_slice(&self.request_id);
        }
        self.end = self.octets.len().min(self.at + size);
        let more = if self.end < self.octets.len() {
            MORE_FRAGMENTS
        } else {
            0
        };
        // The fragment is no longer than the message, whose size fits.
        let size = (self.end - self.at - HEADER_SIZE) as u32;
        let size = if self.little_endian {
            size.to_le_bytes()
        } else {
            size.to_be_bytes()
        };
        self.octets[self.at + 6] = u8::from(self.little_endian) | more;
        self.octets[self.at + 8..][..4].copy_from_slice(&size);
    }

    /// Counts octets of the fragment as sent.
    pub(super) fn advance(&mut self, count: usize) {
        assert!(count <= self.fragment().len(), "more octets than there were");
        self.at += count;
    }

    /// Drops the octets behind the fragment that is being sent.
    pub(super) fn cut(&mut self) {
        self.octets.truncate(self.end.max(self.at));
    }

    /// Its memory.
    pub(super) fn into_memory(self) -> Vec<u8> {
        self.octets
    }
}
