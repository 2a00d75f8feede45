//! The receive buffer and the framing of messages: received octets, one message behind the other.
//!
//! Each received octet is copied at most twice: an incomplete message moves once, to the start of the buffer,
//! and a message that is taken moves at most once more. Memory beyond [`FIRST_SIZE`] is kept as long as
//! messages need it.

use alloc::{vec, vec::Vec};
use core::mem;

use crate::{HEADER_SIZE, HeaderError, MessageHeader, header::MAGIC};

/// Size of the buffer of a new connection.
pub(super) const FIRST_SIZE: usize = 8 << 10;

/// Largest number of octets that one read may add: a bound on the work between two decisions of a thread.
const MAX_READ: usize = 64 << 10;

/// Number of reads after which memory is given back that none of them needed.
const WINDOW: u32 = 64;

#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    octets: Vec<u8>,
    /// Begin of the received octets; 0 if there are none.
    start: usize,
    /// End of the received octets.
    filled: usize,
    /// Most octets that the buffer has held in this window, if more than [`FIRST_SIZE`].
    most: usize,
    /// Reads into an empty buffer in this window, while it is larger than [`FIRST_SIZE`].
    reads: u32,
    #[cfg(test)]
    moved: usize,
}

impl ReceiveBuffer {
    pub(super) fn new() -> Self {
        Self {
            octets: vec![0; FIRST_SIZE],
            start: 0,
            filled: 0,
            most: 0,
            reads: 0,
            #[cfg(test)]
            moved: 0,
        }
    }

    /// Returns the octets received.
    #[inline(always)]
    pub(super) fn received(&self) -> &[u8] {
        &self.octets[self.start..self.filled]
    }

    /// Returns the first `length` octets received.
    #[inline(always)]
    pub(super) fn first(&self, length: usize) -> &[u8] {
        &self.octets[self.start..][..length]
    }

    /// Returns whether it is empty and has its first size.
    #[inline(always)]
    pub(super) fn is_fresh(&self) -> bool {
        self.filled == 0 && self.octets.len() == FIRST_SIZE
    }

    /// Returns whether it is larger than the buffer of a new connection.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.octets.len() > FIRST_SIZE
    }

    /// Returns the memory in octets beyond that of a new connection.
    pub(super) fn extra(&self) -> usize {
        self.octets.capacity().saturating_sub(FIRST_SIZE)
    }

    /// All of it: the room of a fresh buffer.
    #[inline(always)]
    pub(super) fn all(&mut self) -> &mut [u8] {
        &mut self.octets
    }

    /// Makes room for at least one octet, towards the `needed` octets of the first message, which is
    /// incomplete: the buffer grows with received octets, not with the size that a header announces.
    #[cold]
    pub(super) fn provide(&mut self, needed: usize) -> &mut [u8] {
        if self.start > 0 {
            self.move_to_front();
        } else if self.filled == 0 {
            self.end_read();
        }
        if self.filled == self.octets.len() {
            let size = needed.min(self.octets.len() * 2).max(self.filled + 1);
            self.octets.reserve_exact(size - self.filled);
            self.octets.resize(size, 0);
        }
        let end = self.octets.len().min(self.filled + MAX_READ);
        &mut self.octets[self.filled..end]
    }

    /// Counts octets that have been written into [`Self::all`] or [`Self::provide`].
    #[inline(always)]
    pub(super) fn add(&mut self, count: usize) {
        self.filled += count;
        if self.filled > FIRST_SIZE {
            self.note_large();
        }
    }

    #[cold]
    fn note_large(&mut self) {
        assert!(
            self.filled <= self.octets.len(),
            "more octets than there was space"
        );
        self.most = self.most.max(self.filled);
    }

    /// Discards this many octets from the start.
    #[inline(always)]
    pub(super) fn discard(&mut self, length: usize) {
        // Mostly nothing follows a message, and none was before it.
        if self.filled == length {
            self.filled = 0;
        } else {
            self.discard_part(length);
        }
    }

    #[cold]
    fn discard_part(&mut self, length: usize) {
        self.start += length;
        if self.start == self.filled {
            (self.start, self.filled) = (0, 0);
        }
    }

    /// Moves this many octets from the start to `message`: by exchanging memory if nothing follows them.
    #[inline(always)]
    pub(super) fn take(&mut self, length: usize, message: &mut Vec<u8>) {
        if self.filled == length && message.capacity() <= self.octets.capacity() {
            self.exchange(message);
            self.filled = 0;
        } else {
            self.take_part(length, message);
        }
    }

    /// Copies the message, or what follows it, whichever is shorter. A buffer never gets more memory from
    /// `message` than its own messages have needed.
    #[cold]
    fn take_part(&mut self, length: usize, message: &mut Vec<u8>) {
        let rest = self.received().len() - length;
        if self.start == 0 && rest < length && message.capacity() <= self.octets.capacity() {
            self.exchange(message);
            if self.octets.len() < rest {
                self.octets.resize(rest, 0);
            }
            self.octets[..rest].copy_from_slice(&message[length..length + rest]);
            self.note_moved(rest);
            self.filled = rest;
            return;
        }
        if message.len() < length {
            message.resize(length, 0);
        }
        message[..length].copy_from_slice(self.first(length));
        self.note_moved(length);
        self.discard(length);
    }

    #[inline(always)]
    fn exchange(&mut self, message: &mut Vec<u8>) {
        mem::swap(&mut self.octets, message);
        if self.octets.len() < FIRST_SIZE {
            self.begin();
        }
    }

    #[cold]
    fn begin(&mut self) {
        self.octets.resize(FIRST_SIZE, 0);
    }

    /// Frees memory beyond that of a new connection's buffer, if the buffer is empty.
    pub(super) fn release(&mut self) {
        if self.is_large() && self.filled == 0 {
            self.octets = vec![0; FIRST_SIZE];
        }
    }

    /// Moves an incomplete message to the front, where it remains until it is complete.
    fn move_to_front(&mut self) {
        let rest = self.start..self.filled;
        self.note_moved(rest.len());
        self.filled = rest.len();
        self.start = 0;
        self.octets.copy_within(rest, 0);
    }

    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests count"))]
    fn note_moved(&mut self, _count: usize) {
        #[cfg(test)]
        {
            self.moved += _count;
        }
    }

    /// A further read begins with an empty buffer.
    fn end_read(&mut self) {
        self.reads += 1;
        if self.reads < WINDOW {
            return;
        }
        let size = self.most.max(FIRST_SIZE);
        if size <= self.octets.len() / 4 {
            self.octets = vec![0; size];
        }
        (self.reads, self.most) = (0, 0);
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 4 << 20;

    /// Reads once, as much as there is room for, towards a first message of this size.
    fn read(buffer: &mut ReceiveBuffer, needed: usize, at_most: usize) -> usize {
        let space = if buffer.is_fresh() {
            buffer.all()
        } else {
            buffer.provide(needed)
        };
        let count = space.len().min(at_most);
        assert!(count > 0, "there is always room");
        buffer.add(count);
        count
    }

    fn receive_large(buffer: &mut ReceiveBuffer) {
        while buffer.received().len() < LARGE {
            let missing = LARGE - buffer.received().len();
            read(buffer, LARGE, missing);
        }
    }

    /// Returns a buffer that a large message has made large.
    fn grown() -> ReceiveBuffer {
        let mut buffer = ReceiveBuffer::new();
        receive_large(&mut buffer);
        buffer.discard(LARGE);
        buffer
    }

    #[test]
    fn messages_in_a_large_buffer_are_moved_once_however_small_they_are() {
        for (size, takes) in [(16, false), (16, true), (17, false), (61, true), (9000, false)] {
            let mut buffer = grown();
            let (mut message, mut received) = (Vec::new(), 0);
            while received < 2 * LARGE {
                received += read(&mut buffer, size, LARGE);
                while buffer.received().len() >= size {
                    if takes {
                        buffer.take(size, &mut message);
                    } else {
                        buffer.discard(size);
                    }
                }
            }
            let bound = if takes { 2 * received } else { received };
            assert!(buffer.moved <= bound, "{} of {received} octets", buffer.moved);
        }
    }

    #[test]
    fn a_message_that_fills_the_buffer_is_moved_once() {
        let mut buffer = grown();
        // Behind a small message: 16 octets at the end do not fit.
        let mut received = 0;
        while received < LARGE {
            received += read(&mut buffer, LARGE, LARGE - received);
        }
        buffer.discard(16);
        for _ in 0..16 {
            read(&mut buffer, LARGE, 1);
        }
        assert_eq!(buffer.received().len(), LARGE);
        assert_eq!(buffer.moved, LARGE - 16);
    }

    #[test]
    fn memory_that_further_messages_do_not_need_is_given_back() {
        let mut buffer = grown();
        for _ in 0..WINDOW * 2 {
            assert!(buffer.extra() >= LARGE - FIRST_SIZE, "this is its size");
            receive_large(&mut buffer);
            buffer.discard(LARGE);
        }
        for _ in 0..WINDOW * 2 {
            let count = read(&mut buffer, 100, 100);
            buffer.discard(count);
        }
        assert_eq!((buffer.extra(), buffer.octets.len()), (0, FIRST_SIZE));

        let mut idle = grown();
        idle.release();
        assert_eq!((idle.extra(), idle.octets.len()), (0, FIRST_SIZE));
        let mut busy = grown();
        read(&mut busy, LARGE, 1);
        busy.release();
        assert_eq!(busy.received().len(), 1);
    }

    #[test]
    fn a_small_connection_gets_no_large_memory_with_what_is_taken() {
        let mut message = Vec::new();
        let mut large = ReceiveBuffer::new();
        receive_large(&mut large);
        large.take(LARGE, &mut message);
        assert_eq!(large.extra(), 0, "its memory went with the message");
        let mut small = ReceiveBuffer::new();
        for _ in 0..3 {
            read(&mut small, 100, 100);
            small.take(100, &mut message);
            assert_eq!(small.extra(), 0);
        }
        // Its own need is the same as before: the memory is exchanged without allocation from now on.
        for _ in 0..3 {
            receive_large(&mut large);
            large.take(LARGE, &mut message);
            assert_eq!(large.extra(), LARGE - FIRST_SIZE);
        }
    }
}
