//! A reply in the buffer of its connection or caller, with what is needed to decode it.

use punctual_cdr::{CharSet, Decoder};
use punctual_giop::MessageHeader;

/// A reply that borrows its octets.
pub(super) struct ReplyView<'m> {
    /// The whole message.
    pub(super) message: &'m [u8],
    pub(super) header: &'m MessageHeader,
    /// Offsets at which fragments of GIOP 1.1 begin.
    pub(super) fragment_starts: &'m [usize],
    pub(super) char_set: CharSet,
}

impl<'m> ReplyView<'m> {
    /// Returns a decoder of what begins at `offset`.
    pub(super) fn decoder(&self, offset: usize) -> Decoder<'m> {
        Decoder::new(self.message, self.header.endian)
            .with_char_set(self.char_set)
            .with_fragments(self.fragment_starts)
            .at(offset)
    }
}
