//! Calls that wait for the replies that come over one shared connection.
//!
//! Each has a slot, whose number is part of its request id: so the thread that reads finds the caller in O(1), and wakes that
//! one alone. The caller lends its own buffer; a reply is exchanged for it and never copied.

use std::{mem, sync::Arc, time::Instant};

use punctual_giop::{MessageHeader, MessageType, ReplyStatus};
use punctual_os::{Doorbell, PiCondvar, PiMutex, condvar::TimedOut};

/// The calls that are outstanding on one connection, within a limit.
pub(crate) struct Replies {
    table: PiMutex<Table>,
    /// For each slot, so that the hand-off is to one caller by name.
    arrived: Box<[PiCondvar]>,
    /// How many bits of a request id are the slot's number.
    bits: u32,
}

struct Table {
    slots: Box<[Slot]>,
    /// The one that was used last comes first: its caller's memory is warm.
    free: Vec<u32>,
    /// Calls that have timed out and whose replies may still come.
    abandoned: u32,
    /// Why there will be no further replies.
    ended: Option<End>,
}

struct Slot {
    /// The rest of the request id; another one for each use.
    sequence: u32,
    wanted: MessageType,
    state: State,
    /// Lent by the caller.
    message: Vec<u8>,
    fragment_starts: Vec<usize>,
    /// Of a caller that waits for more than its reply.
    bell: Option<Arc<Doorbell>>,
}

#[derive(Clone, Copy)]
enum State {
    Free,
    Waiting,
    Arrived(Reply),
    Ended(End),
}

/// A reply in the caller's buffer.
#[derive(Clone, Copy)]
pub(crate) struct Reply {
    pub(crate) header: MessageHeader,
    /// Of a Reply: its status, and where its body starts.
    pub(crate) reply: Option<(ReplyStatus, usize)>,
}

/// Why no reply comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// The peer has said CloseConnection: it has not handled the request.
    InOrder,
    /// The stream has ended, or broken, or what came over it was no reply of these.
    Lost,
    /// The peer has said MessageError.
    Rejected,
    /// The lane has ended.
    Stopped,
}

/// What a caller lends, and gets its reply in.
#[derive(Default)]
pub(crate) struct ReplyBuffer {
    pub(crate) message: Vec<u8>,
    /// Where fragments of GIOP 1.1 begin in it.
    pub(crate) fragment_starts: Vec<usize>,
}

/// A call in the table. To be given back to [`Replies::wait`] or [`Replies::withdraw`].
#[derive(Debug)]
#[must_use]
pub(crate) struct Ticket {
    slot: usize,
    pub(crate) request_id: u32,
}

/// Why a call cannot be in the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Refused {
    /// As many are as may.
    Full,
    Ended,
}

/// How long to wait for a reply.
pub(crate) struct Wait<'w> {
    /// Without it, for ever.
    pub(crate) until: Option<Instant>,
    /// How long as long as the request may not have been sent.
    pub(crate) unsent_until: Option<Instant>,
    pub(crate) is_unsent: &'w dyn Fn() -> bool,
}

/// How a wait ended.
pub(crate) enum Outcome {
    Arrived(Reply),
    Ended(End),
    TimedOut,
    UnsentInTime,
}

/// What became of a message that was delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Delivered {
    ToItsCaller,
    /// Its caller does not wait any more.
    Late,
    /// Nobody has ever waited for it.
    Unasked,
}

/// More would leave too few bits for the rest of a request id.
const MOST_CALLS: usize = 1 << 16;
/// What a lane's thread gives its connection in exchange for a reply has this size, and so no need to grow.
const FIRST_SIZE: usize = 8 << 10;

impl Replies {
    /// For so many calls at a time, at least 1 and at most 65,536.
    pub(super) fn new(max_calls: usize) -> Self {
        let calls = max_calls.clamp(1, MOST_CALLS);
        let slot = || Slot {
            sequence: 0,
            wanted: MessageType::Reply,
            state: State::Free,
            message: Vec::new(),
            fragment_starts: Vec::new(),
            bell: None,
        };
        Self {
            table: PiMutex::new(Table {
                slots: (0..calls).map(|_| slot()).collect(),
                free: (0..calls as u32).rev().collect(),
                abandoned: 0,
                ended: None,
            }),
            arrived: (0..calls).map(|_| PiCondvar::new()).collect(),
            bits: calls.next_power_of_two().ilog2(),
        }
    }

    /// Enters a call whose reply is of this type, before its request is written.
    pub(crate) fn enter(&self, wanted: MessageType, lent: &mut ReplyBuffer) -> Result<Ticket, Refused> {
        // Here, on the caller's thread, and not on the lane's.
        if lent.message.len() < FIRST_SIZE {
            lent.message.resize(FIRST_SIZE, 0);
        }
        let mut table = self.table.lock();
        let number = table.take()?;
        let request_id = table.next_id(number, self.bits);
        let slot = &mut table.slots[number as usize];
        slot.wanted = wanted;
        slot.state = State::Waiting;
        slot.exchange(&mut lent.message, &mut lent.fragment_starts);
        Ok(Ticket {
            slot: number as usize,
            request_id,
        })
    }

    /// A request id for a call without a reply.
    pub(crate) fn id_without_reply(&self) -> Result<u32, Refused> {
        let mut table = self.table.lock();
        let number = table.take()?;
        table.free.push(number);
        Ok(table.next_id(number, self.bits))
    }

    /// Takes back a call of which nothing has been sent.
    pub(crate) fn withdraw(&self, ticket: Ticket, lent: &mut ReplyBuffer) {
        self.table.lock().release(ticket.slot, lent);
    }

    /// Waits for the reply, which is in the buffer then.
    pub(crate) fn wait(&self, ticket: Ticket, wait: &Wait<'_>, lent: &mut ReplyBuffer) -> Outcome {
        let condition = &self.arrived[ticket.slot];
        // The one for the request is never later than the one for the reply.
        let (mut request, reply) = (wait.unsent_until.filter(|_| (wait.is_unsent)()), wait.until);
        let mut table = self.table.lock();
        let outcome = loop {
            match table.slots[ticket.slot].state {
                State::Arrived(reply) => break Outcome::Arrived(reply),
                State::Ended(end) => break Outcome::Ended(end),
                State::Waiting | State::Free => {}
            }
            let Some(deadline) = request.or(reply) else {
                condition.wait(&mut table);
                continue;
            };
            if Instant::now() < deadline {
                // What came first, says the state.
                let TimedOut(_) = condition.wait_until(&mut table, deadline);
            } else if request.take().is_none() {
                break Outcome::TimedOut;
            } else if (wait.is_unsent)() {
                break Outcome::UnsentInTime;
            }
        };
        if matches!(outcome, Outcome::TimedOut | Outcome::UnsentInTime) {
            table.abandoned = table.abandoned.saturating_add(1);
        }
        table.release(ticket.slot, lent);
        outcome
    }

    /// Has a bell rung when the call is over, for a caller that waits for more than that. `true`: it is over already.
    pub(super) fn ring_when_over(&self, ticket: &Ticket, bell: &Arc<Doorbell>) -> bool {
        let slot = &mut self.table.lock().slots[ticket.slot];
        slot.bell = Some(Arc::clone(bell));
        slot.is_over()
    }

    /// Whether [`Self::wait`] would not wait.
    pub(super) fn is_over(&self, ticket: &Ticket) -> bool {
        self.table.lock().slots[ticket.slot].is_over()
    }

    /// Gives a reply to its caller, in exchange for what that has lent; runs `before` it is woken.
    pub(super) fn deliver(
        &self,
        request_id: u32,
        message_type: MessageType,
        reply: Reply,
        message: &mut Vec<u8>,
        fragment_starts: &mut Vec<usize>,
        before: impl FnOnce(),
    ) -> Delivered {
        let number = (request_id & ((1 << self.bits) - 1)) as usize;
        let mut table = self.table.lock();
        let slot = table.slots.get_mut(number).filter(|slot| {
            slot.sequence == request_id >> self.bits
                && slot.wanted == message_type
                && matches!(slot.state, State::Waiting)
        });
        if let Some(slot) = slot {
            slot.exchange(message, fragment_starts);
            slot.state = State::Arrived(reply);
            let bell = slot.bell.take();
            before();
            drop(table);
            // Not while it is locked: the caller needs the lock next.
            self.wake(number, bell);
            return Delivered::ToItsCaller;
        }
        // So many late ones there can be; a peer that sends more makes them up.
        if table.abandoned > 0 {
            table.abandoned -= 1;
            return Delivered::Late;
        }
        Delivered::Unasked
    }

    /// Ends all calls whose replies have not come, and lets no other one in. `true`: there was none, and it had not ended before.
    pub(super) fn end(&self, end: End) -> bool {
        let mut table = self.table.lock();
        if table.ended.is_some() {
            return false;
        }
        table.ended = Some(end);
        if table.is_idle() {
            return true;
        }
        for slot in &mut table.slots {
            if matches!(slot.state, State::Waiting) {
                slot.state = State::Ended(end);
            }
        }
        drop(table);
        for number in 0..self.arrived.len() {
            let bell = self.table.lock().slots[number].bell.take();
            self.wake(number, bell);
        }
        false
    }

    fn wake(&self, number: usize, bell: Option<Arc<Doorbell>>) {
        match bell {
            None => self.arrived[number].notify_one(),
            Some(bell) => {
                let _ = bell.ring();
            }
        }
    }

    /// Lets no other call in, if there is none now. `false`: there is one, or it had ended before.
    pub(super) fn end_if_idle(&self) -> bool {
        let mut table = self.table.lock();
        let idle = table.ended.is_none() && table.is_idle();
        if idle {
            table.ended = Some(End::InOrder);
        }
        idle
    }
}

impl Table {
    fn take(&mut self) -> Result<u32, Refused> {
        match self.ended {
            Some(_) => Err(Refused::Ended),
            None => self.free.pop().ok_or(Refused::Full),
        }
    }

    fn next_id(&mut self, number: u32, bits: u32) -> u32 {
        let sequence = &mut self.slots[number as usize].sequence;
        *sequence = sequence.wrapping_add(1) & (u32::MAX >> bits);
        *sequence << bits | number
    }

    fn release(&mut self, number: usize, lent: &mut ReplyBuffer) {
        let slot = &mut self.slots[number];
        slot.exchange(&mut lent.message, &mut lent.fragment_starts);
        slot.state = State::Free;
        slot.bell = None;
        self.free.push(number as u32);
    }

    fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }
}

impl Slot {
    fn is_over(&self) -> bool {
        !matches!(self.state, State::Waiting)
    }

    fn exchange(&mut self, message: &mut Vec<u8>, fragment_starts: &mut Vec<usize>) {
        mem::swap(&mut self.message, message);
        mem::swap(&mut self.fragment_starts, fragment_starts);
    }
}

#[cfg(test)]
mod tests;
