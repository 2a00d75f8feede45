//! Reassembly of fragmented messages. Source: CORBA 3.3 part 2, 9.4.9.

use alloc::vec::Vec;
use core::mem;

use punctual_cdr::Endian;

use super::{ConnectionLimits, request_id::RequestIdSearch};
use crate::{FragmentError, HEADER_SIZE, MessageHeader, MessageType, Version, header::MORE_FRAGMENTS};

const REQUEST_ID_SIZE: usize = 4;

/// Reassembles the fragmented messages of one connection.
///
/// It holds at most `max_fragmented_messages` messages and their buffers, which grow with the received data,
/// never with an announced size. A message that never ends remains until [`Self::cancel`]; its owner enforces
/// time limits. Each part costs time in proportion to its octets, and a cancellation costs a constant one.
///
/// An empty fragment is refused unless it is the last one: it has no purpose, and without octets no limit on
/// the size of a message ends a sequence of them. An empty last fragment is how a sender ends a message whose
/// size it did not know.
#[derive(Debug)]
pub(super) struct FragmentAssembler {
    limits: ConnectionLimits,
    pending: Vec<Pending>,
    started: u64,
    spare: Vec<Vec<u8>>,
    /// Offsets of the later fragments in the last complete message. The next message of GIOP 1.1 reuses the
    /// memory: only one at a time is incomplete.
    starts: Vec<usize>,
}

impl FragmentAssembler {
    /// Creates an assembler for one connection; it allocates when the first fragment arrives.
    pub(super) const fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            pending: Vec::new(),
            started: 0,
            spare: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Adds the next part of a message; returns the message after its last part, with a header that states
    /// its total size and no more fragments.
    ///
    /// GIOP 1.1 aligns data within each fragment: decode the body of such a message with [`Self::starts`].
    /// Message headers are decoded without: a peer that splits one (none is known to) must split it at a
    /// multiple of 4.
    pub(super) fn push(
        &mut self,
        header: &MessageHeader,
        part: &[u8],
    ) -> Result<Option<Vec<u8>>, FragmentError> {
        if header.message_type == MessageType::Fragment {
            self.continue_message(header, part)
        } else {
            self.start_message(header, part).map(|()| None)
        }
    }

    /// Returns the offsets of the later fragments of GIOP 1.1 in the last complete message, for
    /// `Decoder::with_fragments`.
    ///
    /// Empty for GIOP 1.2, which aligns within the whole message, and after the start of the next message.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Discards the message with this id, after a CancelRequest.
    pub(super) fn cancel(&mut self, request_id: u32) {
        let found = self
            .pending
            .iter()
            .position(|pending| pending.id.found() == Some(request_id));
        if let Some(at) = found {
            let mut pending = self.pending.swap_remove(at);
            pending.starts.clear();
            self.keep_starts(pending.version, pending.starts);
            self.recycle(pending.message);
        }
    }

    /// Returns the received part of the incomplete message that the fragment with this header continues.
    pub(super) fn start_of(&self, header: &MessageHeader, part: &[u8]) -> Option<&[u8]> {
        let key = key(header, part).ok()?;
        let found = self.pending.iter().find(|pending| pending.key == key)?;
        Some(&found.message)
    }

    /// Reuses the buffer of a complete message for a later one.
    pub(super) fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() + self.pending.len() < self.limits.max_fragmented_messages {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Returns whether it holds any memory of messages.
    #[inline(always)]
    pub(super) const fn is_used(&self) -> bool {
        !self.pending.is_empty() || !self.spare.is_empty()
    }

    /// Returns the memory of incomplete messages, and of that which is kept for further ones, in octets.
    pub(super) fn held(&self) -> usize {
        let pending = self.pending.iter().map(Pending::held).sum::<usize>();
        let spare = self.spare.iter().map(Vec::capacity).sum::<usize>();
        pending + spare + octets_of(&self.starts)
    }

    /// Gives back the memory that is kept for further messages.
    pub(super) fn release(&mut self) {
        self.spare = Vec::new();
        if self.pending.is_empty() {
            self.pending = Vec::new();
            self.starts = Vec::new();
        }
    }

    /// Returns the number of the oldest incomplete message, counted from 1, for a time limit on each of them.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.pending.iter().map(|pending| pending.number).min()
    }

    fn start_message(&mut self, header: &MessageHeader, message: &[u8]) -> Result<(), FragmentError> {
        let key = key(header, message)?;
        if self.pending.iter().any(|pending| pending.key == key) {
            return Err(FragmentError::AlreadyUnderWay(key));
        }
        if self.pending.len() >= self.limits.max_fragmented_messages {
            return Err(FragmentError::TooManyPending(self.limits.max_fragmented_messages));
        }
        let buffer = self.spare.pop().unwrap_or_default();
        self.started += 1;
        self.starts.clear();
        let starts = match header.version {
            Version::V1_1 => mem::take(&mut self.starts),
            _ => Vec::new(),
        };
        let mut pending = Pending {
            number: self.started,
            key,
            id: RequestIdSearch::new(key),
            version: header.version,
            endian: header.endian,
            message: buffer,
            starts,
        };
        pending.append(message, self.limits.max_message_size)?;
        self.pending.push(pending);
        Ok(())
    }

    fn continue_message(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
    ) -> Result<Option<Vec<u8>>, FragmentError> {
        let key = key(header, message)?;
        let at = self
            .pending
            .iter()
            .position(|pending| pending.key == key)
            .ok_or(FragmentError::NotUnderWay(key))?;
        let pending = &mut self.pending[at];
        if (pending.version, pending.endian) != (header.version, header.endian) {
            return Err(FragmentError::Inconsistent);
        }
        let data = &message[HEADER_SIZE + key.map_or(0, |_| REQUEST_ID_SIZE)..];
        if data.is_empty() && header.more_fragments {
            return Err(FragmentError::Empty);
        }
        // An empty fragment has no alignment.
        if header.version == Version::V1_1 && !data.is_empty() {
            pending.starts.push(pending.message.len());
        }
        // The offsets of fragments count, too: a peer may send many tiny fragments.
        let noted = size_of_val(pending.starts.as_slice());
        pending.append(data, self.limits.max_message_size.saturating_sub(noted))?;
        if header.more_fragments {
            return Ok(None);
        }
        let mut complete = self.pending.swap_remove(at);
        let starts = mem::take(&mut complete.starts);
        self.keep_starts(complete.version, starts);
        Ok(Some(complete.finish()))
    }

    fn keep_starts(&mut self, version: Version, starts: Vec<usize>) {
        match version {
            Version::V1_1 => self.starts = starts,
            _ => self.starts.clear(),
        }
    }
}

/// An incomplete message.
#[derive(Debug)]
struct Pending {
    number: u64,
    /// Request id that later fragments repeat; `None` in GIOP 1.1, which has one message at a time.
    key: Option<u32>,
    /// Its request id, or the progress of the search for it.
    id: RequestIdSearch,
    version: Version,
    endian: Endian,
    message: Vec<u8>,
    /// Offsets of later fragments of GIOP 1.1 in the message.
    starts: Vec<usize>,
}

impl Pending {
    fn append(&mut self, octets: &[u8], limit: usize) -> Result<(), FragmentError> {
        if octets.len() > limit.saturating_sub(self.message.len()) {
            return Err(FragmentError::TooLarge(limit));
        }
        self.message.extend_from_slice(octets);
        self.id.advance(&self.message, self.endian);
        Ok(())
    }

    fn held(&self) -> usize {
        self.message.capacity() + octets_of(&self.starts)
    }

    /// Returns the message with a header of its total size.
    fn finish(mut self) -> Vec<u8> {
        // The size fits: otherwise the fragments would have been refused.
        let size = u32::try_from(self.message.len() - HEADER_SIZE).unwrap_or(u32::MAX);
        let size = match self.endian {
            Endian::Big => size.to_be_bytes(),
            Endian::Little => size.to_le_bytes(),
        };
        self.message[6] &= !MORE_FRAGMENTS;
        self.message[8..HEADER_SIZE].copy_from_slice(&size);
        self.message
    }
}

const fn octets_of(starts: &Vec<usize>) -> usize {
    starts.capacity() * size_of::<usize>()
}

/// Returns the request id of a GIOP 1.2 message that can be fragmented: it follows the header in all of them.
fn key(header: &MessageHeader, message: &[u8]) -> Result<Option<u32>, FragmentError> {
    if header.version < Version::V1_2 {
        return Ok(None);
    }
    let id: &[u8; REQUEST_ID_SIZE] = message[HEADER_SIZE..]
        .first_chunk()
        .ok_or(FragmentError::Truncated)?;
    Ok(Some(match header.endian {
        Endian::Big => u32::from_be_bytes(*id),
        Endian::Little => u32::from_le_bytes(*id),
    }))
}
