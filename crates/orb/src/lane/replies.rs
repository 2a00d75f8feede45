//! Calls that wait for the replies that come over one shared connection.
//!
//! Each has a slot, whose number is part of its request id: so the thread that reads finds the caller in O(1), and wakes that
//! one alone. The caller lends its own buffer; a reply is exchanged for it and never copied.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Waker,
    time::Instant,
};

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
    alarm: Alarm,
}

/// How a caller learns that its call is over.
#[derive(Default)]
enum Alarm {
    /// It sleeps until then, or looks.
    #[default]
    Sleeper,
    /// It waits for more than its reply.
    Bell(Arc<Doorbell>),
    /// A task that nobody runs meanwhile, so that somebody else has to look after its time-outs. Waker's code is the user's: never to be
    /// run, nor dropped, while the table is locked.
    Task(Waker, TimeOuts),
}

/// What is woken when a call is over, while its caller waits itself.
pub(crate) struct SetAside(Alarm);

/// When a call is over, whether or not there is a reply; never: without it.
#[derive(Clone, Copy, Default)]
pub(crate) struct TimeOuts {
    pub(crate) reply: Option<Instant>,
    /// As long as the request may not have been sent; never later than the other one.
    pub(crate) unsent: Option<Instant>,
}

#[derive(Clone, Copy)]
enum State {
    Free,
    Waiting,
    Arrived(Reply),
    Ended(End),
    /// A time-out of it has passed, the one for the request or the one for the reply.
    Late {
        unsent: bool,
    },
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
    pub(crate) time_outs: TimeOuts,
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
            alarm: Alarm::Sleeper,
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
        let alarm = self.table.lock().release(ticket.slot, lent);
        drop(alarm);
    }

    /// Takes back a call whose request has been sent: its reply is dropped when it comes.
    pub(crate) fn abandon(&self, ticket: &Ticket) {
        let mut table = self.table.lock();
        if !table.slots[ticket.slot].is_over() {
            table.abandoned = table.abandoned.saturating_add(1);
        }
        let alarm = table.free(ticket.slot);
        drop(table);
        drop(alarm);
    }

    /// Waits for the reply, which is in the buffer then.
    pub(crate) fn wait(&self, mut ticket: Ticket, wait: &Wait<'_>, lent: &mut ReplyBuffer) -> Outcome {
        loop {
            match self.wait_until(None, ticket, wait, lent) {
                Ok(outcome) => return outcome,
                Err(unfinished) => ticket = unfinished,
            }
        }
    }

    /// As [`Self::wait`], until then at most; the call is still in the table then.
    #[inline]
    pub(crate) fn wait_until(
        &self,
        give_up: Option<Instant>,
        ticket: Ticket,
        wait: &Wait<'_>,
        lent: &mut ReplyBuffer,
    ) -> Result<Outcome, Ticket> {
        let condition = &self.arrived[ticket.slot];
        let TimeOuts { reply, unsent } = wait.time_outs;
        let mut request = unsent.filter(|_| (wait.is_unsent)());
        // Declared first: dropped when the table is not locked any more.
        let mut before = Alarm::Sleeper;
        let mut table = self.table.lock();
        let (outcome, given_up) = loop {
            match table.slots[ticket.slot].state {
                State::Arrived(reply) => break (Outcome::Arrived(reply), false),
                State::Ended(end) => break (Outcome::Ended(end), false),
                State::Late { unsent } => break (Outcome::late(unsent), false),
                State::Waiting | State::Free => {}
            }
            let time_out = request.or(reply);
            let Some(until) = time_out.into_iter().chain(give_up).min() else {
                table.sleep_at(ticket.slot, &mut before);
                condition.wait(&mut table);
                continue;
            };
            let now = Instant::now();
            if now < until {
                table.sleep_at(ticket.slot, &mut before);
                // What came first, says the state.
                let TimedOut(_) = condition.wait_until(&mut table, until);
            } else if time_out.is_none_or(|time_out| now < time_out) {
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
        let alarm = table.release(ticket.slot, lent);
        drop(table);
        drop(alarm);
        Ok(outcome)
    }

    /// Has a bell rung when the call is over, for a caller that waits for more than that. `true`: it is over already.
    pub(super) fn ring_when_over(&self, ticket: &Ticket, bell: &Arc<Doorbell>) -> bool {
        self.set_alarm(ticket, Alarm::Bell(Arc::clone(bell)))
    }

    /// Has a task woken when the call is over, or a time-out of it has passed and [`Self::expire`] is told so.
    pub(crate) fn wake_when_over(&self, ticket: &Ticket, waker: &Waker, time_outs: TimeOuts) {
        self.set_alarm(ticket, Alarm::Task(waker.clone(), time_outs));
    }

    /// Takes away whatever waits for the call, for a caller that waits itself for a while: see [`Self::put_back`].
    pub(crate) fn set_aside(&self, ticket: &Ticket) -> SetAside {
        SetAside(mem::take(&mut self.table.lock().slots[ticket.slot].alarm))
    }

    /// Has a task woken as before: at once where the call is over by now. Else the time-outs that somebody has to look after.
    pub(crate) fn put_back(&self, ticket: &Ticket, SetAside(alarm): SetAside) -> Option<TimeOuts> {
        let Alarm::Task(_, time_outs) = alarm else {
            return None;
        };
        let mut table = self.table.lock();
        let slot = &mut table.slots[ticket.slot];
        if slot.is_over() {
            drop(table);
            self.wake(ticket.slot, alarm);
            return None;
        }
        let before = mem::replace(&mut slot.alarm, alarm);
        drop(table);
        drop(before);
        Some(time_outs)
    }

    /// `true`: it is over already, and the alarm of no use.
    fn set_alarm(&self, ticket: &Ticket, alarm: Alarm) -> bool {
        let mut table = self.table.lock();
        let slot = &mut table.slots[ticket.slot];
        let over = slot.is_over();
        let before = mem::replace(&mut slot.alarm, alarm);
        drop(table);
        drop(before);
        over
    }

    /// Ends the calls of tasks whose time-outs have passed, and says when the next one will.
    pub(super) fn expire(&self, now: Instant, is_unsent: bool) -> Option<Instant> {
        let mut next = None;
        let mut table = self.table.lock();
        for number in 0..self.arrived.len() {
            let slot = &mut table.slots[number];
            let State::Waiting = slot.state else { continue };
            let Alarm::Task(_, TimeOuts { reply, unsent }) = slot.alarm else {
                continue;
            };
            let unsent = unsent.filter(|_| is_unsent);
            let Some(time_out) = unsent.or(reply) else {
                continue;
            };
            if now < time_out {
                // One for the request that is only just waiting for room would not be seen: the one for the reply will be.
                next = next.into_iter().chain([time_out]).min();
                continue;
            }
            slot.state = State::Late {
                unsent: unsent.is_some(),
            };
            let alarm = mem::take(&mut slot.alarm);
            table.abandoned = table.abandoned.saturating_add(1);
            drop(table);
            self.wake(number, alarm);
            table = self.table.lock();
        }
        next
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
            let alarm = mem::take(&mut slot.alarm);
            before();
            drop(table);
            // Not while it is locked: the caller needs the lock next.
            self.wake(number, alarm);
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
            let alarm = mem::take(&mut self.table.lock().slots[number].alarm);
            self.wake(number, alarm);
        }
        false
    }

    fn wake(&self, number: usize, alarm: Alarm) {
        match alarm {
            Alarm::Sleeper => self.arrived[number].notify_one(),
            Alarm::Bell(bell) => {
                let _ = bell.ring();
            }
            // A lane's thread does not end because of it.
            Alarm::Task(waker, _) => drop(catch_unwind(AssertUnwindSafe(|| waker.wake()))),
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

    /// The caller sleeps from now on; what it had waited with before is of no use, and not to be dropped here.
    fn sleep_at(&mut self, number: usize, before: &mut Alarm) {
        let alarm = &mut self.slots[number].alarm;
        if !matches!(alarm, Alarm::Sleeper) {
            *before = mem::take(alarm);
        }
    }

    fn next_id(&mut self, number: u32, bits: u32) -> u32 {
        let sequence = &mut self.slots[number as usize].sequence;
        *sequence = sequence.wrapping_add(1) & (u32::MAX >> bits);
        *sequence << bits | number
    }

    /// What it returns is to be dropped when the table is not locked any more.
    #[must_use]
    fn release(&mut self, number: usize, lent: &mut ReplyBuffer) -> Alarm {
        self.slots[number].exchange(&mut lent.message, &mut lent.fragment_starts);
        self.free(number)
    }

    /// As [`Self::release`], but what was lent stays for the slot's next call.
    #[must_use]
    fn free(&mut self, number: usize) -> Alarm {
        let slot = &mut self.slots[number];
        slot.state = State::Free;
        self.free.push(number as u32);
        mem::take(&mut slot.alarm)
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
