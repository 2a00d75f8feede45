//! The receive buffer: what has been received, one message behind the other. Its memory is kept.

use alloc::{vec, vec::Vec};
use core::mem;

const FIRST_SIZE: usize = 8 << 10;

#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    octets: Vec<u8>,
    filled: usize,
}

impl ReceiveBuffer {
    pub(super) fn new() -> Self {
        Self {
            octets: vec![0; FIRST_SIZE],
            filled: 0,
        }
    }

    /// The octets received.
    #[inline]
    pub(super) fn received(&self) -> &[u8] {
        &self.octets[..self.filled]
    }

    /// Whether no further octet fits without growing.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.filled == self.octets.len()
    }

    /// Makes room in a full buffer, towards the `needed` octets of a message: the buffer grows with what has
    /// been received, not with what a header announces.
    #[cold]
    pub(super) fn grow(&mut self, needed: usize) {
        let size = needed.min(self.octets.len() * 2).max(FIRST_SIZE);
        self.octets.resize(size, 0);
    }

    /// Room for further octets.
    #[inline]
    pub(super) fn space(&mut self) -> &mut [u8] {
        &mut self.octets[self.filled..]
    }

    /// Counts octets that have been written into [`Self::space`].
    #[inline]
    pub(super) fn add(&mut self, count: usize) {
        self.filled += count;
        assert!(
            self.filled <= self.octets.len(),
            "more octets than there was space"
        );
    }

    /// Discards this many octets from the start.
    #[inline]
    pub(super) fn discard(&mut self, length: usize) {
        // Mostly nothing follows a message, and then not even a call that copies nothing is worth its cost.
        if length < self.filled {
            self.octets.copy_within(length..self.filled, 0);
        }
        self.filled -= length;
    }

    /// Moves this many octets from the start to `message` by exchanging memory: mostly nothing follows a
    /// message.
    pub(super) fn take(&mut self, length: usize, message: &mut Vec<u8>) {
        mem::swap(&mut self.octets, message);
        let rest = length..self.filled;
        let size = rest.len().max(FIRST_SIZE);
        if self.octets.len() < size {
            self.octets.resize(size, 0);
        }
        self.filled = rest.len();
        if self.filled > 0 {
            self.octets[..self.filled].copy_from_slice(&message[rest]);
        }
    }
}
