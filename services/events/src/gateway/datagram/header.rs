//! Header of a datagram, as TAO's gateways over UDP and multicast have it.

/// Number of octets of the header.
pub(super) const LENGTH: usize = 32;

/// Octets 1 to 3.
const MAGIC: [u8; 3] = *b"ABC";

/// Content of a datagram: a message, or one of its fragments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Header {
    pub(super) is_little_endian: bool,
    /// Number of the message among those of its sender.
    pub(super) request: u32,
    /// Number of octets of the whole message.
    pub(super) message_size: u32,
    /// Number of octets of this fragment, and where in the message they begin.
    pub(super) size: u32,
    pub(super) offset: u32,
    /// Number of this fragment, from 0, and of all fragments.
    pub(super) fragment: u32,
    pub(super) fragments: u32,
}

impl Header {
    /// Writes it in the sender's byte order. Octets 28 to 31, in which TAO may place a checksum, are 0.
    pub(super) fn encode(&self) -> [u8; LENGTH] {
        let mut octets = [0; LENGTH];
        octets[0] = u8::from(self.is_little_endian);
        octets[1..4].copy_from_slice(&MAGIC);
        let numbers = [
            self.request,
            self.message_size,
            self.size,
            self.offset,
            self.fragment,
            self.fragments,
        ];
        for (place, number) in octets[4..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&match self.is_little_endian {
                true => number.to_le_bytes(),
                false => number.to_be_bytes(),
            });
        }
        octets
    }

    /// Reads a datagram: its header, and the octets of its fragment. `None`: it contradicts itself, or is
    /// none of these.
    pub(super) fn decode(datagram: &[u8]) -> Option<(Self, &[u8])> {
        let (header, content) = datagram.split_first_chunk::<LENGTH>()?;
        let is_little_endian = match header[0] {
            0 => false,
            1 => true,
            _ => return None,
        };
        if header[1..4] != MAGIC {
            return None;
        }
        let number = |place: usize| {
            let octets = [
                header[place],
                header[place + 1],
                header[place + 2],
                header[place + 3],
            ];
            match is_little_endian {
                true => u32::from_le_bytes(octets),
                false => u32::from_be_bytes(octets),
            }
        };
        let header = Self {
            is_little_endian,
            request: number(4),
            message_size: number(8),
            size: number(12),
            offset: number(16),
            fragment: number(20),
            fragments: number(24),
        };
        header.is_consistent(content.len()).then_some((header, content))
    }

    fn is_consistent(&self, received: usize) -> bool {
        let ends = u64::from(self.offset) + u64::from(self.size);
        self.size > 0
            && usize::try_from(self.size) == Ok(received)
            && ends <= self.message_size.into()
            && self.fragment < self.fragments
            && self.fragments <= self.message_size
            && (self.fragments > 1 || self.size == self.message_size)
    }
}
