use std::io;

use punctual_giop::{Framing, HeaderError, next_message};
use punctual_transport::Stream;

/// What has been received over a connection, messages one behind the other; its memory is kept.
pub(crate) struct ReceiveBuffer {
    octets: Vec<u8>,
    filled: usize,
    max_message_size: usize,
}

const FIRST_SIZE: usize = 8 << 10;

impl ReceiveBuffer {
    pub(crate) fn new(max_message_size: usize) -> Self {
        Self {
            octets: vec![0; FIRST_SIZE],
            filled: 0,
            max_message_size,
        }
    }

    /// What there is.
    pub(crate) fn received(&self) -> &[u8] {
        &self.octets[..self.filled]
    }

    /// Whether a whole message stands at the start, or how much of one is needed.
    pub(crate) fn framing(&self) -> Result<Framing, HeaderError> {
        next_message(self.received(), self.max_message_size)
    }

    /// Reads once, towards the `needed` octets of the next message. Says how much came, and whether there was room for more.
    pub(crate) fn read(&mut self, stream: &dyn Stream, needed: usize) -> io::Result<(usize, bool)> {
        if self.filled == self.octets.len() {
            // Grow with what has really arrived, not with what a header announces.
            let size = needed.min(self.octets.len() * 2).max(FIRST_SIZE);
            self.octets.resize(size, 0);
        }
        let room = &mut self.octets[self.filled..];
        let size = room.len();
        let count = stream.read(room)?;
        self.filled += count;
        Ok((count, count < size))
    }

    /// Drops this many octets from the start.
    pub(crate) fn discard(&mut self, length: usize) {
        // Mostly nothing follows a message, and then not even the call to copy nothing is worth its cost.
        if length < self.filled {
            self.octets.copy_within(length..self.filled, 0);
        }
        self.filled -= length;
    }
}
