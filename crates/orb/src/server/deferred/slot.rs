//! Place of one deferred request, and what its response handler refers to.

use std::{mem, sync::Weak, time::Instant};

use punctual_os::PiMutex;
use punctual_stub::{PendingResponse, ReplyOrigin, WriteReply};
use punctual_types::{Priority, SystemException};

use super::{
    DeferredReplies,
    pending_reply::{PendingReply, ReplyMemory},
};
use crate::config::configuration::Configuration;

/// Place of one deferred request; used again for another one when its handler no longer exists.
pub(super) struct Slot {
    home: Weak<DeferredReplies>,
    index: usize,
    state: PiMutex<State>,
    /// Held while a reply is written and sent.
    answering: PiMutex<()>,
}

#[derive(Default)]
struct State {
    /// Number of the request.
    of: u64,
    deadline: Option<Instant>,
    priority: Option<Priority>,
    /// `None`: its client has been answered, or does not want an answer.
    pending: Option<PendingReply>,
    memory: ReplyMemory,
}

impl Slot {
    pub(super) fn new(home: Weak<DeferredReplies>, index: usize) -> Self {
        Self {
            home,
            index,
            state: PiMutex::default(),
            answering: PiMutex::default(),
        }
    }

    pub(super) fn fill(
        &self,
        of: u64,
        deadline: Option<Instant>,
        pending: impl FnOnce(&mut ReplyMemory) -> PendingReply,
    ) {
        let mut state = self.state.lock();
        (state.of, state.deadline) = (of, deadline);
        let pending = pending(&mut state.memory);
        state.priority = pending.priority;
        state.pending = Some(pending);
    }

    /// Takes the request with this number, unless it has ended.
    pub(super) fn take(&self, of: u64) -> Option<(PendingReply, ReplyMemory)> {
        let mut state = self.state.lock();
        if state.of != of {
            return None;
        }
        Some((state.pending.take()?, mem::take(&mut state.memory)))
    }

    /// Answers the request with this number with an exception, unless it has ended or is being answered.
    pub(super) fn end(&self, of: u64, configuration: &Configuration, exception: &SystemException) {
        let Some(_answering) = self.answering.try_lock() else {
            return;
        };
        if let Some((pending, mut memory)) = self.take(of) {
            pending.reply(configuration, &mut memory, &mut |_| Err(*exception));
            self.give_back(of, memory);
        }
    }

    /// Waits until no thread is answering.
    pub(super) fn await_answer(&self) {
        drop(self.answering.lock());
    }

    /// Keeps memory for the next request, unless that has begun.
    fn give_back(&self, of: u64, memory: ReplyMemory) {
        let mut state = self.state.lock();
        if state.of == of {
            state.memory = memory;
        }
    }
}

impl PendingResponse for Slot {
    fn answer(&self, origin: ReplyOrigin, write: WriteReply<'_>) -> bool {
        // The number does not change while its handler exists.
        let of = self.state.lock().of;
        let answering = self.answering.lock();
        let taken = self.take(of);
        // A request that has not ended keeps its lane.
        let Some(home) = self.home.upgrade() else {
            return false;
        };
        let sent = taken.is_some_and(|(pending, mut memory)| {
            if origin == ReplyOrigin::DroppedHandler {
                pending.count_unanswered();
            }
            let sent = pending.reply(&home.configuration, &mut memory, write);
            memory.free_large(home.configuration.limits.max_kept_buffer);
            self.give_back(of, memory);
            sent
        });
        drop(answering);
        home.release(self.index);
        sent
    }

    fn priority(&self) -> Option<Priority> {
        self.state.lock().priority
    }

    fn deadline(&self) -> Option<Instant> {
        self.state.lock().deadline
    }

    fn is_awaited(&self) -> bool {
        self.state
            .lock()
            .pending
            .as_ref()
            .is_some_and(PendingReply::is_awaited)
    }
}
