//! A reply in the buffer of its connection or caller, with what is needed to decode it.

use punctual_cdr::{CharSet, Decoder};
use punctual_giop::MessageHeader;
use punctual_lane::ReplyBuffer;
use punctual_types::SystemException;

use super::{endpoint::Endpoint, shared_purpose::SharedPurpose};

/// A reply that borrows its octets.
pub(super) struct ReplyView<'m> {
    /// The whole message.
    pub(super) message: &'m [u8],
    pub(super) header: &'m MessageHeader,
    /// Offsets at which fragments of GIOP 1.1 begin.
    pub(super) fragment_starts: &'m [usize],
    pub(super) char_set: CharSet,
    pub(super) sender: Sender<'m>,
}

/// Server that has sent a reply, by its connection.
#[derive(Clone, Copy)]
pub(super) enum Sender<'m> {
    Exclusive(&'m Endpoint),
    Shared(&'m SharedPurpose),
}

impl<'m> ReplyView<'m> {
    /// Returns a view of a reply that a lane has read from a shared connection.
    pub(super) fn of_shared(
        purpose: &'m SharedPurpose,
        char_set: CharSet,
        buffer: &'m ReplyBuffer,
        header: &'m MessageHeader,
    ) -> Self {
        Self {
            message: &buffer.message[..header.total_size()],
            header,
            fragment_starts: &buffer.fragment_starts,
            char_set,
            sender: Sender::Shared(purpose),
        }
    }

    /// Returns a decoder of what begins at `offset`.
    pub(super) fn decoder(&self, offset: usize) -> Decoder<'m> {
        Decoder::new(self.message, self.header.endian)
            .with_char_set(self.char_set)
            .with_fragments(self.fragment_starts)
            .at(offset)
    }
}

impl Sender<'_> {
    /// Names its address in the text of an exception.
    #[cold]
    pub(super) fn named_in(self, exception: SystemException) -> SystemException {
        match self {
            Self::Exclusive(endpoint) => endpoint.named_in(exception),
            Self::Shared(purpose) => purpose.named_in(exception),
        }
    }
}
