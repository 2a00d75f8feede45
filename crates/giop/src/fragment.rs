//! Putting fragmented messages together. Source: CORBA 3.3 part 2, 9.4.9.

use alloc::vec::Vec;
use core::mem;

use punctual_cdr::{Decode, Decoder, Endian};

use crate::{
    FragmentError, HEADER_SIZE, MessageHeader, MessageType, ServiceContexts, Version, header::MORE_FRAGMENTS,
};

const REQUEST_ID_SIZE: usize = 4;

/// What a connection may make this side keep.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FragmentLimits {
    /// The most octets of a whole message, its header included.
    pub max_message_size: usize,
    /// How many fragmented messages may be under way at a time; 4 unless set.
    pub max_pending: usize,
}

impl FragmentLimits {
    /// These limits with room for 4 messages under way.
    pub const fn new(max_message_size: usize) -> Self {
        Self {
            max_message_size,
            max_pending: 4,
        }
    }
}

/// Puts the fragmented messages of one connection together.
///
/// It keeps at most `max_pending` messages and their buffers, which grow with what was received, never with
/// what was announced. A message that never ends stays until [`Self::cancel`]; time limits are its owner's.
#[derive(Debug)]
pub struct FragmentAssembler {
    limits: FragmentLimits,
    pending: Vec<Pending>,
    started: u64,
    spare: Vec<Vec<u8>>,
    /// Where later fragments begin in the last complete message. Its memory goes to the next message of GIOP
    /// 1.1, of which one at a time is under way.
    starts: Vec<usize>,
}

/// What to do with the message that was pushed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Assembled {
    /// It is no part of a fragmented one: use it as it is.
    Whole,
    /// It was kept; more must follow.
    Pending,
    /// It was the last part of this message, whose header says its new size and no more fragments.
    Complete(Vec<u8>),
}

impl FragmentAssembler {
    /// An assembler for one connection; it allocates when the first fragment comes.
    pub const fn new(limits: FragmentLimits) -> Self {
        Self {
            limits,
            pending: Vec::new(),
            started: 0,
            spare: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Takes the next message of the connection, which `message` holds whole.
    ///
    /// GIOP 1.1 aligns data to the fragment it stands in: read the body of such a message with
    /// [`Self::starts`]. Message headers are read without: a peer that splits one, which none is known to do,
    /// must split at a multiple of 4.
    pub fn push(&mut self, header: &MessageHeader, message: &[u8]) -> Result<Assembled, FragmentError> {
        let message = message
            .get(..header.total_size())
            .ok_or(FragmentError::Truncated)?;
        if header.message_type == MessageType::Fragment {
            self.continue_message(header, message)
        } else if header.more_fragments {
            self.start_message(header, message)
        } else {
            Ok(Assembled::Whole)
        }
    }

    /// Where, in the last complete message, the later fragments of GIOP 1.1 begin; for
    /// `Decoder::with_fragments`.
    ///
    /// Empty for GIOP 1.2, which aligns to the whole message, and once the next message has been started.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Forgets the message with this id, after a CancelRequest; says whether there was one.
    pub fn cancel(&mut self, request_id: u32) -> bool {
        let found = self
            .pending
            .iter()
            .position(|pending| pending.request_id() == Some(request_id));
        if let Some(at) = found {
            let mut pending = self.pending.swap_remove(at);
            pending.starts.clear();
            self.keep_starts(pending.version, pending.starts);
            self.recycle(pending.message);
        }
        found.is_some()
    }

    /// Takes back the buffer of a complete message, so that the next one need not allocate.
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() + self.pending.len() < self.limits.max_pending {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// How many messages are under way.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Which message under way was started first, counted from 1: for a time limit on each of them.
    pub fn oldest(&self) -> Option<u64> {
        self.pending.iter().map(|pending| pending.number).min()
    }

    fn start_message(&mut self, header: &MessageHeader, message: &[u8]) -> Result<Assembled, FragmentError> {
        let key = key(header, message)?;
        if self.pending.iter().any(|pending| pending.key == key) {
            return Err(FragmentError::AlreadyUnderWay(key));
        }
        if self.pending.len() >= self.limits.max_pending {
            return Err(FragmentError::TooManyPending(self.limits.max_pending));
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
            version: header.version,
            endian: header.endian,
            message: buffer,
            starts,
        };
        pending.append(message, self.limits.max_message_size)?;
        self.pending.push(pending);
        Ok(Assembled::Pending)
    }

    fn continue_message(
        &mut self,
        header: &MessageHeader,
        message: &[u8],
    ) -> Result<Assembled, FragmentError> {
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
        // Of an empty fragment nothing is aligned.
        if header.version == Version::V1_1 && !data.is_empty() {
            pending.starts.push(pending.message.len());
        }
        // What is noted about fragments counts as well: a peer may send many that are tiny.
        let noted = size_of_val(pending.starts.as_slice());
        pending.append(data, self.limits.max_message_size.saturating_sub(noted))?;
        if header.more_fragments {
            return Ok(Assembled::Pending);
        }
        let mut complete = self.pending.swap_remove(at);
        let starts = mem::take(&mut complete.starts);
        self.keep_starts(complete.version, starts);
        Ok(Assembled::Complete(complete.finish()))
    }

    fn keep_starts(&mut self, version: Version, starts: Vec<usize>) {
        match version {
            Version::V1_1 => self.starts = starts,
            _ => self.starts.clear(),
        }
    }
}

/// A message whose last fragment has not come.
#[derive(Debug)]
struct Pending {
    number: u64,
    /// The request id that later fragments repeat; `None` in GIOP 1.1, which has one message at a time.
    key: Option<u32>,
    version: Version,
    endian: Endian,
    message: Vec<u8>,
    /// Where later fragments of GIOP 1.1 begin in the message.
    starts: Vec<usize>,
}

impl Pending {
    fn append(&mut self, octets: &[u8], limit: usize) -> Result<(), FragmentError> {
        if octets.len() > limit.saturating_sub(self.message.len()) {
            return Err(FragmentError::TooLarge(limit));
        }
        self.message.extend_from_slice(octets);
        Ok(())
    }

    /// The message with a header that says what it has become.
    fn finish(mut self) -> Vec<u8> {
        // The size fits: the limit of a message does, or its parts would have been refused.
        let size = u32::try_from(self.message.len() - HEADER_SIZE).unwrap_or(u32::MAX);
        let size = match self.endian {
            Endian::Big => size.to_be_bytes(),
            Endian::Little => size.to_le_bytes(),
        };
        self.message[6] &= !MORE_FRAGMENTS;
        self.message[8..HEADER_SIZE].copy_from_slice(&size);
        self.message
    }

    /// In GIOP 1.1 it stands behind the service contexts, perhaps in a fragment that has not come.
    fn request_id(&self) -> Option<u32> {
        self.key.or_else(|| {
            let decoder = &mut Decoder::new(&self.message, self.endian).at(HEADER_SIZE);
            ServiceContexts::decode(decoder, &self.message).ok()?;
            u32::decode(decoder).ok()
        })
    }
}

/// The request id of a GIOP 1.2 message that can be fragmented: it follows the header in all of them.
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
