//! Messages that wait to be sent over one connection, in the order in which they are sent.
//!
//! A long message is divided into fragments, between which shorter messages, and fragments of others, are
//! sent: each message of a connection's user waits for one fragment at most. Nothing is divided unless a
//! fragment size is set.

use alloc::{collections::VecDeque, vec::Vec};
use core::mem;

use super::fragmentation::DividedMessage;
use crate::HEADER_SIZE;

/// Largest number of octets written at once: a bound on the work between two decisions of a thread.
const MAX_WRITE: usize = 64 << 10;

/// Smallest size of fragments in octets: headers are never divided by much.
const MIN_FRAGMENT: usize = 256;

/// Messages that wait to be sent over one connection: see the [module](super).
///
/// A user that sends `message`:
/// 1. writes it, if it is at most [`Self::at_once`] octets long, and [keeps](Self::keep) what the stream had
///    no room for;
/// 2. otherwise, if it [is divided](Self::divides), [adds](Self::divide) it, and writes [`Self::next`] until
///    [`Self::sent`] returns its memory, letting other users write in between;
/// 3. otherwise keeps it.
///
/// When there is room again, it writes [`Self::next`] until the queue is empty.
///
/// ```
/// use punctual_cdr::{CharSet, Endian};
/// use punctual_giop::{MessageType, MessageWriter, Version, connection::SendQueue};
///
/// let mut long = Vec::new();
/// let writer = MessageWriter::new(
///     &mut long, Version::V1_2, MessageType::Reply, Endian::Big, CharSet::Utf8, usize::MAX,
/// );
/// writer.finish()?;
/// long.resize(1000, 7);
/// long[8..12].copy_from_slice(&988_u32.to_be_bytes());
///
/// let mut queue = SendQueue::new(Some(512), 4);
/// assert!(queue.divides(&long) && long.len() > queue.at_once());
/// let ticket = queue.divide(long);
/// assert_eq!(queue.next(Some(ticket)).len(), 512);
/// assert_eq!(queue.sent(512), None);
/// assert_eq!(queue.at_once(), 512, "others may write between fragments");
/// assert_eq!(queue.next(Some(ticket)).len(), 16 + 488);
/// assert!(queue.sent(16 + 488).is_some());
/// # Ok::<(), punctual_cdr::CdrError>(())
/// ```
#[derive(Debug)]
pub struct SendQueue {
    /// Octets of a fragment, a multiple of 8; `usize::MAX`: nothing is divided.
    fragment_size: usize,
    /// Messages that may be divided at the same time.
    max_divided: usize,
    /// Octets of whole messages, behind those that were sent meanwhile.
    whole: Vec<u8>,
    /// Octets of them that were sent.
    sent: usize,
    /// The first is being sent if it has a fragment.
    divided: VecDeque<(Ticket, DividedMessage)>,
    /// Follows everything else.
    last: Option<[u8; HEADER_SIZE]>,
    issued: u64,
    at_once: usize,
}

/// A divided message in the queue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ticket(u64);

/// Outcome of withdrawing a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Withdrawn {
    /// It is not divided, or has been sent.
    Sent,
    /// Part of it has been sent; nothing follows.
    Begun,
    /// No octet of it will be sent.
    Unsent,
}

impl SendQueue {
    /// Creates an empty queue that divides messages longer than `fragment_size` octets (rounded down to a
    /// multiple of 8, at least 256), at most `max_divided` of them at the same time: receivers limit this.
    pub fn new(fragment_size: Option<usize>, max_divided: usize) -> Self {
        let fragment_size = fragment_size.map_or(usize::MAX, |size| (size & !7).max(MIN_FRAGMENT));
        Self {
            fragment_size,
            max_divided: max_divided.max(1),
            whole: Vec::new(),
            sent: 0,
            divided: VecDeque::new(),
            last: None,
            issued: 0,
            at_once: fragment_size.min(MAX_WRITE),
        }
    }

    /// Returns the length in octets up to which a message may be written now; 0 if it has to wait.
    #[inline(always)]
    pub const fn at_once(&self) -> usize {
        self.at_once
    }

    /// Returns whether further messages may be sent before the waiting ones, if there are any.
    pub fn is_clear(&self) -> bool {
        self.at_once > 0
    }

    /// Returns whether such a message is divided.
    pub fn divides(&self, message: &[u8]) -> bool {
        message.len() > self.fragment_size && DividedMessage::is_divisible(message)
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.divided.is_empty() && self.last.is_none()
    }

    /// Returns whether a further message may be accepted although others wait: those that do are divided.
    pub fn has_room(&self) -> bool {
        self.fragment_size < usize::MAX
            && self.whole.len() - self.sent < self.fragment_size
            && self.divided.len() < self.max_divided
    }

    /// Octets that wait.
    pub fn waiting(&self) -> usize {
        let divided = self.divided.iter().map(|(_, message)| message.rest());
        self.whole.len() - self.sent + divided.sum::<usize>()
    }

    /// Returns the memory of the waiting messages, in octets.
    pub fn held(&self) -> usize {
        let divided = self.divided.iter().map(|(_, message)| message.capacity());
        self.whole.capacity() + divided.sum::<usize>()
    }

    /// Adds a message, or the rest of one that the stream has begun to take.
    pub fn keep(&mut self, octets: &[u8]) {
        // Sent octets are dropped before the memory grows, if they are most of it.
        if self.sent > self.whole.len() - self.sent {
            self.whole.drain(..self.sent);
            self.sent = 0;
        }
        self.whole.extend_from_slice(octets);
        self.update();
    }

    /// Adds a message by exchanging memory, if that is possible; `message` has been sent up to `sent`.
    pub fn keep_by_exchange(&mut self, message: &mut Vec<u8>, sent: usize) {
        if self.whole.is_empty() {
            mem::swap(&mut self.whole, message);
            self.sent = sent;
            self.update();
        } else {
            self.keep(&message[sent..]);
        }
    }

    /// Adds a message that [is divided](Self::divides).
    pub fn divide(&mut self, message: Vec<u8>) -> Ticket {
        self.issued += 1;
        let ticket = Ticket(self.issued);
        self.divided.push_back((ticket, DividedMessage::new(message)));
        ticket
    }

    /// Adds the message that follows all others.
    pub(super) fn end_with(&mut self, message: [u8; HEADER_SIZE]) {
        self.last = Some(message);
    }

    /// Returns whether this message waits.
    pub fn contains(&self, ticket: Ticket) -> bool {
        self.divided.iter().any(|(other, _)| *other == ticket)
    }

    /// Returns whether a message waits that is divided.
    pub fn is_dividing(&self) -> bool {
        !self.divided.is_empty()
    }

    /// Returns the octets to be written next, at most one fragment; empty if nothing waits. Of several
    /// divided messages, they are of `preferred`, or taken in turn.
    pub fn next(&mut self, preferred: Option<Ticket>) -> &[u8] {
        let in_fragment = self.fragment_length() > 0;
        if !in_fragment && self.whole.is_empty() {
            if self.divided.is_empty()
                && let Some(last) = self.last.take()
            {
                self.keep(&last);
            } else {
                self.begin_fragment(preferred);
                self.update();
            }
        }
        match self.divided.front() {
            Some((_, message)) if !message.fragment().is_empty() => bounded(message.fragment()),
            _ => bounded(&self.whole[self.sent..]),
        }
    }

    /// Counts octets of [`Self::next`] as written. Returns the memory of a divided message with its last
    /// octet.
    pub fn sent(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut finished = None;
        if self.fragment_length() > 0 {
            finished = self.advance(count);
        } else {
            self.sent += count;
            assert!(self.sent <= self.whole.len(), "more octets than there were");
            if self.sent == self.whole.len() {
                (self.whole, self.sent) = (Vec::new(), 0);
            }
        }
        self.update();
        finished
    }

    /// Withdraws a request: its unsent octets are dropped.
    pub(super) fn withdraw(&mut self, request_id: u32) -> Withdrawn {
        let is_meant = |(_, message): &(Ticket, DividedMessage)| message.request_id() == request_id;
        let Some(at) = self.divided.iter().position(is_meant) else {
            return Withdrawn::Sent;
        };
        let message = &mut self.divided[at].1;
        if !message.is_begun() {
            self.divided.remove(at);
            return Withdrawn::Unsent;
        }
        if message.fragment().is_empty() {
            self.divided.remove(at);
        } else {
            message.cut();
        }
        Withdrawn::Begun
    }

    /// Frees the waiting messages: the stream is closed.
    pub fn clear(&mut self) {
        *self = Self {
            issued: self.issued,
            ..Self::new(
                (self.fragment_size < usize::MAX).then_some(self.fragment_size),
                self.max_divided,
            )
        };
    }

    fn advance(&mut self, count: usize) -> Option<Vec<u8>> {
        let (ticket, mut message) = self.divided.pop_front()?;
        message.advance(count);
        if message.rest() == 0 {
            return Some(message.into_memory());
        }
        if message.fragment().is_empty() {
            self.divided.push_back((ticket, message));
        } else {
            self.divided.push_front((ticket, message));
        }
        None
    }

    fn begin_fragment(&mut self, preferred: Option<Ticket>) {
        let begun = self.divided.iter().filter(|(_, message)| message.is_begun());
        let may_begin = begun.count() < self.max_divided;
        let may_be_sent = |(_, message): &(Ticket, DividedMessage)| may_begin || message.is_begun();
        let is_preferred =
            |waiting: &(Ticket, DividedMessage)| preferred == Some(waiting.0) && may_be_sent(waiting);
        let preferred = self.divided.iter().position(is_preferred);
        let Some(at) = preferred.or_else(|| self.divided.iter().position(may_be_sent)) else {
            return;
        };
        if let Some((ticket, mut message)) = self.divided.remove(at) {
            message.begin_fragment(self.fragment_size);
            self.divided.push_front((ticket, message));
        }
    }

    fn fragment_length(&self) -> usize {
        self.divided
            .front()
            .map_or(0, |(_, message)| message.fragment().len())
    }

    fn update(&mut self) {
        let is_clear = self.whole.is_empty() && self.fragment_length() == 0;
        self.at_once = if is_clear {
            self.fragment_size.min(MAX_WRITE)
        } else {
            0
        };
    }
}

fn bounded(octets: &[u8]) -> &[u8] {
    &octets[..octets.len().min(MAX_WRITE)]
}
