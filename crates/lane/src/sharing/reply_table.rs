//! Calls that wait for the replies over one shared connection.
//!
//! Each has a slot, whose number is part of its request id, so the thread that reads finds the caller in O(1)
//! and wakes only that caller. The caller lends its own buffer; a reply is exchanged for it and never copied.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Waker,
    time::Instant,
};

use punctual_giop::{
    MessageType,
    connection::{self, OutstandingRequests, Parity, ReceivedReply, ReplyMatch},
};
use punctual_os::{Doorbell, PiCondvar, PiMutex, condvar::TimedOut};

/// Calls that are outstanding on one connection, within a limit.
pub struct ReplyTable {
    table: PiMutex<Table>,
    /// One for each slot, so that only the caller concerned is woken.
    arrived: Box<[PiCondvar]>,
}

struct Table {
    requests: OutstandingRequests,
    slots: Box<[Slot]>,
    /// Reason why there will be no further replies.
    ended: Option<CallEnd>,
}

#[derive(Default)]
struct Slot {
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
    /// It is a task that no thread runs meanwhile, so another thread must watch its timeouts. The waker's
    /// code is the user's: it must never be run, nor dropped, while the table is locked.
    Task(Waker, CallDeadlines),
}

/// Notification of a call whose caller waits itself for a while.
pub struct SuspendedNotification(Notification);

/// Deadlines of a call; `None`: no deadline.
#[derive(Clone, Copy, Default)]
pub struct CallDeadlines {
    /// Deadline of the reply.
    pub reply: Option<Instant>,
    /// Deadline of the request as long as it may not have been sent; never later than the other one.
    pub unsent: Option<Instant>,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Free,
    Waiting,
    Received(ReceivedReply),
    Ended(CallEnd),
    /// A deadline has passed: that of the request or that of the reply.
    TimedOut {
        unsent: bool,
    },
}

/// Reason why no reply arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CallEnd {
    /// The peer has sent CloseConnection: it has not handled the request.
    InOrder,
    /// The stream has ended or broken, or an unsolicited message arrived.
    Lost,
    /// The peer has sent a message that is malformed, or that it may not send.
    Malformed,
    /// The peer has sent octets that are not GIOP.
    OtherProtocol,
    /// The peer has sent an alert of TLS: its port is one for TLS, and it has handled nothing.
    UsesTls,
    /// The peer has sent a message above the limit on the size of messages.
    TooLarge,
    /// The peer has sent MessageError.
    Rejected,
    /// The lane has ended.
    Stopped,
}

impl From<connection::Refused> for CallEnd {
    fn from(refused: connection::Refused) -> Self {
        if refused.is_too_large() {
            Self::TooLarge
        } else if refused.is_tls() {
            Self::UsesTls
        } else if refused.is_other_protocol() {
            Self::OtherProtocol
        } else {
            Self::Malformed
        }
    }
}

/// Memory that a caller lends, and in which it receives its reply.
#[derive(Default)]
pub struct ReplyBuffer {
    /// Octets of the reply.
    pub message: Vec<u8>,
    /// Offsets in it at which fragments of GIOP 1.1 begin.
    pub fragment_starts: Vec<usize>,
}

/// Call in the table. Must be returned to [`ReplyTable::wait`], [`ReplyTable::withdraw`] or
/// [`ReplyTable::abandon`].
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
    /// The maximum number of calls is outstanding.
    Full,
    /// The connection has ended.
    Ended,
}

/// How long to wait for a reply.
pub struct ReplyWait<'w> {
    /// Deadlines of the call.
    pub deadlines: CallDeadlines,
    /// Whether the request may not have been sent completely.
    pub is_unsent: &'w dyn Fn() -> bool,
}

/// Result of a wait for a reply.
pub enum Outcome {
    /// The reply is in the buffer.
    Received(ReceivedReply),
    /// No reply will arrive.
    Ended(CallEnd),
    /// The deadline of the reply has passed.
    TimedOut,
    /// The deadline of the request has passed before it was sent.
    UnsentInTime,
}

/// Size of the memory that a lane's thread gives its connection in exchange for a reply: it has no need to
/// grow.
const FIRST_SIZE: usize = 8 << 10;

impl ReplyTable {
    /// Table for this many calls at a time, at least 1 and at most 65,536.
    pub(crate) fn new(max_calls: usize, parity: Parity) -> Self {
        let requests = OutstandingRequests::new(max_calls, parity);
        let calls = requests.capacity();
        Self {
            table: PiMutex::new(Table {
                requests,
                slots: (0..calls).map(|_| Slot::default()).collect(),
                ended: None,
            }),
            arrived: (0..calls).map(|_| PiCondvar::new()).collect(),
        }
    }

    /// Enters a call whose reply has this type, before its request is written.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn enter(&self, wanted: MessageType, reply_buffer: &mut ReplyBuffer) -> Result<Ticket, Refused> {
        // Here, on the caller's thread, and not on the lane's.
        if reply_buffer.message.len() < FIRST_SIZE {
            reply_buffer.message.resize(FIRST_SIZE, 0);
        }
        let mut table = self.table.lock();
        table.check_open()?;
        let request = table.requests.begin(wanted).ok_or(Refused::Full)?;
        let slot = &mut table.slots[request.slot];
        slot.state = State::Waiting;
        slot.exchange(&mut reply_buffer.message, &mut reply_buffer.fragment_starts);
        Ok(Ticket {
            slot: request.slot,
            request_id: request.request_id,
        })
    }

    /// Returns a request id for a call without a reply.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn id_without_reply(&self) -> Result<u32, Refused> {
        let mut table = self.table.lock();
        table.check_open()?;
        table.requests.id_without_reply().ok_or(Refused::Full)
    }

    /// Removes a call of which nothing has been sent.
    pub fn withdraw(&self, ticket: Ticket, reply_buffer: &mut ReplyBuffer) {
        let notification = self.table.lock().release(ticket.slot, reply_buffer);
        drop(notification);
    }

    /// Removes a call whose request has been sent: its reply is dropped when it arrives. Returns whether it
    /// may still arrive.
    pub fn abandon(&self, ticket: &Ticket) -> bool {
        let mut table = self.table.lock();
        let state = table.slots[ticket.slot].state;
        if let State::Waiting = state {
            table.requests.abandon(ticket.slot);
        }
        let notification = table.free(ticket.slot);
        drop(table);
        drop(notification);
        matches!(state, State::Waiting | State::TimedOut { .. })
    }

    /// Waits for the reply, which is in the buffer then.
    pub fn wait(&self, mut ticket: Ticket, wait: &ReplyWait<'_>, reply_buffer: &mut ReplyBuffer) -> Outcome {
        loop {
            match self.wait_until(None, ticket, wait, reply_buffer) {
                Ok(outcome) => return outcome,
                Err(unfinished) => ticket = unfinished,
            }
        }
    }

    /// Waits for the reply until `deadline` at most.
    ///
    /// # Errors
    /// The ticket if the call has not ended by then.
    #[inline]
    pub fn wait_until(
        &self,
        deadline: Option<Instant>,
        ticket: Ticket,
        wait: &ReplyWait<'_>,
        reply_buffer: &mut ReplyBuffer,
    ) -> Result<Outcome, Ticket> {
        let condition = &self.arrived[ticket.slot];
        let CallDeadlines { reply, unsent } = wait.deadlines;
        let mut request = unsent.filter(|_| (wait.is_unsent)());
        // Declared first: dropped after the table is unlocked.
        let mut before = Notification::Condvar;
        let mut table = self.table.lock();
        let (outcome, has_timed_out) = loop {
            match table.slots[ticket.slot].state {
                State::Received(reply) => break (Outcome::Received(reply), false),
                State::Ended(end) => break (Outcome::Ended(end), false),
                State::TimedOut { unsent } => break (Outcome::late(unsent), false),
                State::Waiting | State::Free => {}
            }
            let of_call = request.or(reply);
            let Some(until) = of_call.into_iter().chain(deadline).min() else {
                table.sleep_at(ticket.slot, &mut before);
                condition.wait(&mut table);
                continue;
            };
            let now = Instant::now();
            if now < until {
                table.sleep_at(ticket.slot, &mut before);
                // The state shows which came first.
                let TimedOut(_) = condition.wait_until(&mut table, until);
            } else if of_call.is_none_or(|of_call| now < of_call) {
                return Err(ticket);
            } else if request.take().is_none() {
                break (Outcome::late(false), true);
            } else if (wait.is_unsent)() {
                break (Outcome::late(true), true);
            }
        };
        if has_timed_out {
            table.requests.abandon(ticket.slot);
        }
        let notification = table.release(ticket.slot, reply_buffer);
        drop(table);
        drop(notification);
        Ok(outcome)
    }

    /// Rings a doorbell when the call ends, for a caller that waits for more than that. `true`: it has ended
    /// already.
    pub(crate) fn ring_when_ended(&self, ticket: &Ticket, doorbell: &Arc<Doorbell>) -> bool {
        self.set_notification(ticket, Notification::Doorbell(Arc::clone(doorbell)))
    }

    /// Wakes a task when the call ends, or when one of its deadlines has passed.
    pub fn wake_when_ended(&self, ticket: &Ticket, waker: &Waker, deadlines: CallDeadlines) {
        self.set_notification(ticket, Notification::Task(waker.clone(), deadlines));
    }

    /// Removes the notification of a call whose caller waits itself for a while;
    /// [`Self::resume_notification`] follows.
    pub fn suspend_notification(&self, ticket: &Ticket) -> SuspendedNotification {
        SuspendedNotification(mem::take(&mut self.table.lock().slots[ticket.slot].notification))
    }

    /// Restores the notification; a task is woken at once if the call has ended. Otherwise returns the
    /// deadlines to watch.
    pub fn resume_notification(
        &self,
        ticket: &Ticket,
        SuspendedNotification(notification): SuspendedNotification,
    ) -> Option<CallDeadlines> {
        let Notification::Task(_, deadlines) = notification else {
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
        Some(deadlines)
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
            let Notification::Task(_, CallDeadlines { reply, unsent }) = slot.notification else {
                continue;
            };
            let unsent = unsent.filter(|_| is_unsent);
            let Some(deadline) = unsent.or(reply) else {
                continue;
            };
            if now < deadline {
                // The deadline of a request that has only just begun to wait for room is not seen: that of
                // the reply will be.
                next = next.into_iter().chain([deadline]).min();
                continue;
            }
            slot.state = State::TimedOut {
                unsent: unsent.is_some(),
            };
            let notification = mem::take(&mut slot.notification);
            table.requests.abandon(number);
            drop(table);
            self.wake(number, notification);
            table = self.table.lock();
        }
        next
    }

    /// Returns whether [`Self::wait`] would not wait.
    pub(crate) fn has_ended(&self, ticket: &Ticket) -> bool {
        self.table.lock().slots[ticket.slot].has_ended()
    }

    /// Passes a reply to its caller, in exchange for the memory that the caller has lent; calls `before` the
    /// caller is woken.
    pub(crate) fn deliver(
        &self,
        reply: ReceivedReply,
        message: &mut Vec<u8>,
        fragment_starts: &mut Vec<usize>,
        before: impl FnOnce(),
    ) -> ReplyMatch {
        let mut table = self.table.lock();
        let matched = table
            .requests
            .complete(reply.request_id, reply.header.message_type);
        if let ReplyMatch::Request(number) = matched {
            let slot = &mut table.slots[number];
            slot.exchange(message, fragment_starts);
            slot.state = State::Received(reply);
            let notification = mem::take(&mut slot.notification);
            before();
            drop(table);
            // After unlocking: the caller needs the lock next.
            self.wake(number, notification);
        }
        matched
    }

    /// Ends all calls whose replies have not arrived, and admits no other one. `true`: there was none, and it
    /// had not ended before.
    pub(crate) fn end(&self, end: CallEnd) -> bool {
        let mut table = self.table.lock();
        if table.ended.is_some() {
            return false;
        }
        table.ended = Some(end);
        if table.requests.is_idle() {
            return true;
        }
        let Table { requests, slots, .. } = &mut *table;
        for (number, slot) in slots.iter_mut().enumerate() {
            if matches!(slot.state, State::Waiting) {
                slot.state = State::Ended(end);
                requests.end(number);
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
        let idle = table.ended.is_none() && table.requests.is_idle();
        if idle {
            table.ended = Some(CallEnd::InOrder);
        }
        idle
    }
}

impl Table {
    fn check_open(&self) -> Result<(), Refused> {
        match self.ended {
            Some(_) => Err(Refused::Ended),
            None => Ok(()),
        }
    }

    /// Notes that the caller sleeps from now on; its earlier notification is of no use, and must not be
    /// dropped here.
    fn sleep_at(&mut self, number: usize, before: &mut Notification) {
        let notification = &mut self.slots[number].notification;
        if !matches!(notification, Notification::Condvar) {
            *before = mem::take(notification);
        }
    }

    /// Releases a slot and returns the lent memory. The result must be dropped after the table is unlocked.
    #[must_use]
    fn release(&mut self, number: usize, reply_buffer: &mut ReplyBuffer) -> Notification {
        self.slots[number].exchange(&mut reply_buffer.message, &mut reply_buffer.fragment_starts);
        self.free(number)
    }

    /// Releases a slot; the lent memory stays for the slot's next call. The result must be dropped after the
    /// table is unlocked.
    #[must_use]
    fn free(&mut self, number: usize) -> Notification {
        let slot = &mut self.slots[number];
        slot.state = State::Free;
        let notification = mem::take(&mut slot.notification);
        self.requests.release(number);
        notification
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
