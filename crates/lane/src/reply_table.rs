//! Calls that wait for the replies over one shared connection.
//!
//! Each has a slot, whose number is part of its request id, so the thread that reads finds the caller in O(1) and wakes only
//! that caller. The caller lends its own buffer; a reply is exchanged for it and never copied.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Waker,
    time::Instant,
};

use punctual_giop::{MessageHeader, MessageType, ReplyStatus};
use punctual_os::{Doorbell, PiCondvar, PiMutex, condvar::TimedOut};

/// Calls that are outstanding on one connection, within a limit.
pub struct ReplyTable {
    table: PiMutex<Table>,
    /// One for each slot, so that only the caller concerned is woken.
    arrived: Box<[PiCondvar]>,
    /// Number of bits of a request id that are the slot's number.
    bits: u32,
}

struct Table {
    slots: Box<[Slot]>,
    /// Free slots; the one that was used last is taken first, because its caller's memory is warm.
    free: Vec<u32>,
    /// Number of calls that have timed out and whose replies may still arrive.
    abandoned: u32,
    /// Reason why there will be no further replies.
    ended: Option<CallEnd>,
}

struct Slot {
    /// Rest of the request id; differs for each use.
    sequence: u32,
    wanted: MessageType,
    state: State,
    /// Buffer lent by the caller.
    message: Vec<u8>,
    fragment_starts: Vec<usize>,
    notification: Notification,
}

/// How a caller learns that its call has ended.
#[derive(Default)]
enum Notification {
    /// It sleeps until then, or polls.
    #[default]
    Condvar,
    /// It waits for more than its reply.
    Doorbell(Arc<Doorbell>),
    /// It is a task that no thread runs meanwhile, so another thread must watch its timeouts. The waker's code is the user's:
    /// it must never be run, nor dropped, while the table is locked.
    Task(Waker, CallTimeouts),
}

/// Notification of a call whose caller waits itself for a while.
pub struct SuspendedNotification(Notification);

/// Deadlines of a call; `None`: no deadline.
#[derive(Clone, Copy, Default)]
pub struct CallTimeouts {
    /// Deadline of the reply.
    pub reply: Option<Instant>,
    /// Deadline of the request as long as it may not have been sent; never later than the other one.
    pub unsent: Option<Instant>,
}

#[derive(Clone, Copy)]
enum State {
    Free,
    Waiting,
    Arrived(ReceivedReply),
    Ended(CallEnd),
    /// A deadline has passed: that of the request or that of the reply.
    TimedOut {
        unsent: bool,
    },
}

/// Reply in the caller's buffer.
#[derive(Clone, Copy)]
pub struct ReceivedReply {
    /// Header of the message.
    pub header: MessageHeader,
    /// Status and offset of the body, if the message is a Reply.
    pub reply: Option<(ReplyStatus, usize)>,
}

/// Reason why no reply arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CallEnd {
    /// The peer has sent CloseConnection: it has not handled the request.
    InOrder,
    /// The stream has ended or broken, or an unsolicited message arrived.
    Lost,
    /// The peer has sent MessageError.
    Rejected,
    /// The lane has ended.
    Stopped,
}

/// Memory that a caller lends, and in which it receives its reply.
#[derive(Default)]
pub struct ReplyBuffer {
    /// Octets of the reply.
    pub message: Vec<u8>,
    /// Offsets in it at which fragments of GIOP 1.1 begin.
    pub fragment_starts: Vec<usize>,
}

/// Call in the table. Must be returned to [`ReplyTable::wait`], [`ReplyTable::withdraw`] or [`ReplyTable::abandon`].
#[derive(Debug)]
#[must_use]
pub struct Ticket {
    slot: usize,
    /// Request id of the call.
    pub request_id: u32,
}

/// Reason why a call cannot enter the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refused {
    /// As many calls are outstanding as permitted.
    Full,
    /// The connection has ended.
    Ended,
}

/// How long to wait for a reply.
pub struct ReplyWait<'w> {
    /// Deadlines of the call.
    pub timeouts: CallTimeouts,
    /// Whether the request may not have been sent completely.
    pub is_unsent: &'w dyn Fn() -> bool,
}

/// Result of a wait for a reply.
pub enum Outcome {
    /// The reply is in the buffer.
    Arrived(ReceivedReply),
    /// No reply will arrive.
    Ended(CallEnd),
    /// The deadline of the reply has passed.
    TimedOut,
    /// The deadline of the request has passed before it was sent.
    UnsentInTime,
}

/// Result of the delivery of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Delivery {
    ToCaller,
    /// Its caller no longer waits.
    Late,
    /// No caller has ever waited for it.
    Unsolicited,
}

/// More would leave too few bits for the rest of a request id.
const MOST_CALLS: usize = 1 << 16;
/// What a lane's thread gives its connection in exchange for a reply has this size, and so no need to grow.
const FIRST_SIZE: usize = 8 << 10;

impl ReplyTable {
    /// Table for this many calls at a time, at least 1 and at most 65,536.
    pub(crate) fn new(max_calls: usize) -> Self {
        let calls = max_calls.clamp(1, MOST_CALLS);
        let slot = || Slot {
            sequence: 0,
            wanted: MessageType::Reply,
            state: State::Free,
            message: Vec::new(),
            fragment_starts: Vec::new(),
            notification: Notification::Condvar,
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

    /// Enters a call whose reply has this type, before its request is written.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn enter(&self, wanted: MessageType, lent: &mut ReplyBuffer) -> Result<Ticket, Refused> {
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

    /// Returns a request id for a call without a reply.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn id_without_reply(&self) -> Result<u32, Refused> {
        let mut table = self.table.lock();
        let number = table.take()?;
        table.free.push(number);
        Ok(table.next_id(number, self.bits))
    }

    /// Removes a call of which nothing has been sent.
    pub fn withdraw(&self, ticket: Ticket, lent: &mut ReplyBuffer) {
        let notification = self.table.lock().release(ticket.slot, lent);
        drop(notification);
    }

    /// Removes a call whose request has been sent: its reply is dropped when it arrives.
    pub fn abandon(&self, ticket: &Ticket) {
        let mut table = self.table.lock();
        if !table.slots[ticket.slot].has_ended() {
            table.abandoned = table.abandoned.saturating_add(1);
        }
        let notification = table.free(ticket.slot);
        drop(table);
        drop(notification);
    }

    /// Waits for the reply, which is in the buffer then.
    pub fn wait(&self, mut ticket: Ticket, wait: &ReplyWait<'_>, lent: &mut ReplyBuffer) -> Outcome {
        loop {
            match self.wait_until(None, ticket, wait, lent) {
                Ok(outcome) => return outcome,
                Err(unfinished) => ticket = unfinished,
            }
        }
    }

    /// Waits for the reply until `give_up` at most.
    ///
    /// # Errors
    /// The ticket if the call has not ended by then.
    #[inline]
    pub fn wait_until(
        &self,
        give_up: Option<Instant>,
        ticket: Ticket,
        wait: &ReplyWait<'_>,
        lent: &mut ReplyBuffer,
    ) -> Result<Outcome, Ticket> {
        let condition = &self.arrived[ticket.slot];
        let CallTimeouts { reply, unsent } = wait.timeouts;
        let mut request = unsent.filter(|_| (wait.is_unsent)());
        // Declared first: dropped after the table is unlocked.
        let mut before = Notification::Condvar;
        let mut table = self.table.lock();
        let (outcome, given_up) = loop {
            match table.slots[ticket.slot].state {
                State::Arrived(reply) => break (Outcome::Arrived(reply), false),
                State::Ended(end) => break (Outcome::Ended(end), false),
                State::TimedOut { unsent } => break (Outcome::late(unsent), false),
                State::Waiting | State::Free => {}
            }
            let deadline = request.or(reply);
            let Some(until) = deadline.into_iter().chain(give_up).min() else {
                table.sleep_at(ticket.slot, &mut before);
                condition.wait(&mut table);
                continue;
            };
            let now = Instant::now();
            if now < until {
                table.sleep_at(ticket.slot, &mut before);
                // The state tells which came first.
                let TimedOut(_) = condition.wait_until(&mut table, until);
            } else if deadline.is_none_or(|deadline| now < deadline) {
                return Err(ticket);
            } else if request.take().is_none() {
                break (Outcome::late(false), true);
            } else if (wait.is_unsent)() {
                break (Outcome::late(true), true);
            }
        };
        if given_up {
            table.abandoned = table.abandoned.saturating_add(1);
        }
        let notification = table.release(ticket.slot, lent);
        drop(table);
        drop(notification);
        Ok(outcome)
    }

    /// Rings a doorbell when the call ends, for a caller that waits for more than that. `true`: it has ended already.
    pub(crate) fn ring_when_ended(&self, ticket: &Ticket, doorbell: &Arc<Doorbell>) -> bool {
        self.set_notification(ticket, Notification::Doorbell(Arc::clone(doorbell)))
    }

    /// Wakes a task when the call ends, or when one of its deadlines has passed and [`Self::expire`] is called.
    pub fn wake_when_ended(&self, ticket: &Ticket, waker: &Waker, timeouts: CallTimeouts) {
        self.set_notification(ticket, Notification::Task(waker.clone(), timeouts));
    }

    /// Removes the notification of a call whose caller waits itself for a while; [`Self::resume_notification`] follows.
    pub fn suspend_notification(&self, ticket: &Ticket) -> SuspendedNotification {
        SuspendedNotification(mem::take(&mut self.table.lock().slots[ticket.slot].notification))
    }

    /// Restores the notification; a task is woken at once if the call has ended. Otherwise returns the deadlines to watch.
    pub fn resume_notification(
        &self,
        ticket: &Ticket,
        SuspendedNotification(notification): SuspendedNotification,
    ) -> Option<CallTimeouts> {
        let Notification::Task(_, timeouts) = notification else {
            return None;
        };
        let mut table = self.table.lock();
        let slot = &mut table.slots[ticket.slot];
        if slot.has_ended() {
            drop(table);
            self.wake(ticket.slot, notification);
            return None;
        }
        let before = mem::replace(&mut slot.notification, notification);
        drop(table);
        drop(before);
        Some(timeouts)
    }

    /// Sets the notification. `true`: the call has ended already, and the notification is of no use.
    fn set_notification(&self, ticket: &Ticket, notification: Notification) -> bool {
        let mut table = self.table.lock();
        let slot = &mut table.slots[ticket.slot];
        let ended = slot.has_ended();
        let before = mem::replace(&mut slot.notification, notification);
        drop(table);
        drop(before);
        ended
    }

    /// Ends the calls of tasks whose deadlines have passed, and returns the next deadline.
    pub(crate) fn expire(&self, now: Instant, is_unsent: bool) -> Option<Instant> {
        let mut next = None;
        let mut table = self.table.lock();
        for number in 0..self.arrived.len() {
            let slot = &mut table.slots[number];
            let State::Waiting = slot.state else { continue };
            let Notification::Task(_, CallTimeouts { reply, unsent }) = slot.notification else {
                continue;
            };
            let unsent = unsent.filter(|_| is_unsent);
            let Some(deadline) = unsent.or(reply) else {
                continue;
            };
            if now < deadline {
                // The deadline of a request that has only just begun to wait for room is not seen: that of the reply will be.
                next = next.into_iter().chain([deadline]).min();
                continue;
            }
            slot.state = State::TimedOut {
                unsent: unsent.is_some(),
            };
            let notification = mem::take(&mut slot.notification);
            table.abandoned = table.abandoned.saturating_add(1);
            drop(table);
            self.wake(number, notification);
            table = self.table.lock();
        }
        next
    }

    /// Whether [`Self::wait`] would not wait.
    pub(crate) fn has_ended(&self, ticket: &Ticket) -> bool {
        self.table.lock().slots[ticket.slot].has_ended()
    }

    /// Passes a reply to its caller, in exchange for the memory that the caller has lent; calls `before` the caller is woken.
    pub(crate) fn deliver(
        &self,
        request_id: u32,
        reply: ReceivedReply,
        message: &mut Vec<u8>,
        fragment_starts: &mut Vec<usize>,
        before: impl FnOnce(),
    ) -> Delivery {
        let number = (request_id & ((1 << self.bits) - 1)) as usize;
        let mut table = self.table.lock();
        let slot = table.slots.get_mut(number).filter(|slot| {
            slot.sequence == request_id >> self.bits
                && slot.wanted == reply.header.message_type
                && matches!(slot.state, State::Waiting)
        });
        if let Some(slot) = slot {
            slot.exchange(message, fragment_starts);
            slot.state = State::Arrived(reply);
            let notification = mem::take(&mut slot.notification);
            before();
            drop(table);
            // After unlocking: the caller needs the lock next.
            self.wake(number, notification);
            return Delivery::ToCaller;
        }
        // There cannot be more late replies than abandoned calls; a peer that sends more invents them.
        if table.abandoned > 0 {
            table.abandoned -= 1;
            return Delivery::Late;
        }
        Delivery::Unsolicited
    }

    /// Ends all calls whose replies have not arrived, and admits no other one. `true`: there was none, and it had not ended before.
    pub(crate) fn end(&self, end: CallEnd) -> bool {
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
            let notification = mem::take(&mut self.table.lock().slots[number].notification);
            self.wake(number, notification);
        }
        false
    }

    fn wake(&self, number: usize, notification: Notification) {
        match notification {
            Notification::Condvar => self.arrived[number].notify_one(),
            Notification::Doorbell(doorbell) => {
                let _ = doorbell.ring();
            }
            // A panic of the waker must not end a lane's thread.
            Notification::Task(waker, _) => drop(catch_unwind(AssertUnwindSafe(|| waker.wake()))),
        }
    }

    /// Admits no other call if there is none now. `false`: there is one, or the table had ended before.
    pub(crate) fn end_if_idle(&self) -> bool {
        let mut table = self.table.lock();
        let idle = table.ended.is_none() && table.is_idle();
        if idle {
            table.ended = Some(CallEnd::InOrder);
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

    /// Notes that the caller sleeps from now on; its earlier notification is of no use, and must not be dropped here.
    fn sleep_at(&mut self, number: usize, before: &mut Notification) {
        let notification = &mut self.slots[number].notification;
        if !matches!(notification, Notification::Condvar) {
            *before = mem::take(notification);
        }
    }

    fn next_id(&mut self, number: u32, bits: u32) -> u32 {
        let sequence = &mut self.slots[number as usize].sequence;
        *sequence = sequence.wrapping_add(1) & (u32::MAX >> bits);
        *sequence << bits | number
    }

    /// Releases a slot and returns the lent memory. The result must be dropped after the table is unlocked.
    #[must_use]
    fn release(&mut self, number: usize, lent: &mut ReplyBuffer) -> Notification {
        self.slots[number].exchange(&mut lent.message, &mut lent.fragment_starts);
        self.free(number)
    }

    /// Releases a slot; the lent memory stays for the slot's next call. The result must be dropped after the table is unlocked.
    #[must_use]
    fn free(&mut self, number: usize) -> Notification {
        let slot = &mut self.slots[number];
        slot.state = State::Free;
        self.free.push(number as u32);
        mem::take(&mut slot.notification)
    }

    fn is_idle(&self) -> bool {
        self.free.len() == self.slots.len()
    }
}

impl Outcome {
    fn late(unsent: bool) -> Self {
        if unsent {
            Self::UnsentInTime
        } else {
            Self::TimedOut
        }
    }
}

impl Slot {
    fn has_ended(&self) -> bool {
        !matches!(self.state, State::Waiting)
    }

    fn exchange(&mut self, message: &mut Vec<u8>, fragment_starts: &mut Vec<usize>) {
        mem::swap(&mut self.message, message);
        mem::swap(&mut self.fragment_starts, fragment_starts);
    }
}

#[cfg(test)]
mod tests;
