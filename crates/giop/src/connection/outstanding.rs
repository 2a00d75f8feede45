//! Ids of requests of which several are outstanding on one connection: issued, matched with replies,
//! abandoned.

use alloc::{boxed::Box, vec::Vec};

use crate::MessageType;

/// The requests that are outstanding on one connection, within a limit.
///
/// Each occupies a slot whose number is part of its request id, so that a reply finds its caller in O(1); the
/// user keeps its own data in an array of the same length. A slot passes from [`Self::begin`] over
/// [`Self::complete`] (or [`Self::abandon`]) to [`Self::release`]. It allocates in [`Self::new`] only.
#[derive(Debug)]
pub struct OutstandingRequests {
    slots: Box<[Slot]>,
    /// The slot that was used last comes first: the memory of its caller is warm.
    free: Vec<u32>,
    /// How many bits of a request id are the slot's number.
    slot_bits: u32,
    parity: Parity,
    /// Requests whose callers have stopped waiting and whose replies may still arrive.
    abandoned: u32,
}

/// Request ids that one side of a connection issues (CORBA 3.3 part 2, 9.8.1).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Parity {
    /// All: only this side sends requests.
    #[default]
    Any,
    /// Even ones: this side has opened a bidirectional connection.
    Even,
    /// Odd ones: the peer has.
    Odd,
}

impl Parity {
    /// Number of bits of a request id that identify the side.
    const fn bits(self) -> u32 {
        match self {
            Self::Any => 0,
            Self::Even | Self::Odd => 1,
        }
    }

    const fn bit(self) -> u32 {
        match self {
            Self::Any | Self::Even => 0,
            Self::Odd => 1,
        }
    }
}

/// A request that is outstanding.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OutstandingRequest {
    /// Number of its slot, below the limit.
    pub slot: usize,
    /// Its request id.
    pub request_id: u32,
}

/// Request to which a reply belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReplyMatch {
    /// The request in this slot.
    Request(usize),
    /// A request that was abandoned; the reply is to be discarded.
    Late,
    /// No request: the peer breaks the protocol.
    Unknown,
}

#[derive(Debug)]
struct Slot {
    /// The rest of the request id, different for each use.
    sequence: u32,
    /// Type of the reply that the caller waits for; `None` once it no longer waits.
    wanted: Option<MessageType>,
}

/// More slots would leave too few bits for the rest of a request id.
const MAX_SLOTS: usize = 1 << 16;

impl OutstandingRequests {
    /// Creates an empty table for at most `max` (1 to 65,536) outstanding requests.
    pub fn new(max: usize, parity: Parity) -> Self {
        let count = max.clamp(1, MAX_SLOTS);
        let slot = || Slot {
            sequence: 0,
            wanted: None,
        };
        Self {
            slots: (0..count).map(|_| slot()).collect(),
            free: (0..count as u32).rev().collect(),
            slot_bits: count.next_power_of_two().ilog2(),
            parity,
            abandoned: 0,
        }
    }

    /// How many requests may be outstanding.
    pub const fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether no slot is in use.
    pub const fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// Enters a request whose reply has the type `wanted`; `None` if all slots are in use.
    pub fn begin(&mut self, wanted: MessageType) -> Option<OutstandingRequest> {
        let number = self.free.pop()?;
        let request_id = self.next_id(number);
        let slot = number as usize;
        self.slots[slot].wanted = Some(wanted);
        Some(OutstandingRequest { slot, request_id })
    }

    /// Issues the id of a request without a reply; `None` if all slots are in use.
    pub fn id_without_reply(&mut self) -> Option<u32> {
        let number = *self.free.last()?;
        Some(self.next_id(number))
    }

    /// Returns whether the request in this slot still waits for its reply.
    pub fn is_waiting(&self, slot: usize) -> bool {
        self.slots[slot].wanted.is_some()
    }

    /// Matches a reply of this type; its request then no longer waits.
    pub fn complete(&mut self, request_id: u32, reply_type: MessageType) -> ReplyMatch {
        let bits = self.parity.bits();
        let is_own = request_id & ((1 << bits) - 1) == self.parity.bit();
        let number = ((request_id >> bits) & ((1 << self.slot_bits) - 1)) as usize;
        let sequence = request_id >> (self.slot_bits + bits);
        if is_own
            && let Some(slot) = self.slots.get_mut(number)
            && slot.sequence == sequence
            && slot.wanted == Some(reply_type)
        {
            slot.wanted = None;
            return ReplyMatch::Request(number);
        }
        // At most this many replies can be late; a peer that sends more invents them.
        if self.abandoned > 0 {
            self.abandoned -= 1;
            return ReplyMatch::Late;
        }
        ReplyMatch::Unknown
    }

    /// The request in this slot has been sent, and its caller stops waiting: the reply will be a late one.
    pub fn abandon(&mut self, slot: usize) {
        if self.slots[slot].wanted.take().is_some() {
            self.abandoned = self.abandoned.saturating_add(1);
        }
    }

    /// The request in this slot no longer waits and no reply to it can arrive: the connection has ended.
    pub fn end(&mut self, slot: usize) {
        self.slots[slot].wanted = None;
    }

    /// Gives back the slot of a request that no longer waits, or was not sent.
    pub fn release(&mut self, slot: usize) {
        self.slots[slot].wanted = None;
        debug_assert!(!self.free.contains(&(slot as u32)), "a slot is released once");
        self.free.push(slot as u32);
    }

    fn next_id(&mut self, number: u32) -> u32 {
        let bits = self.parity.bits();
        let sequence = &mut self.slots[number as usize].sequence;
        *sequence = sequence.wrapping_add(1) & (u32::MAX >> (self.slot_bits + bits));
        (*sequence << self.slot_bits | number) << bits | self.parity.bit()
    }
}
