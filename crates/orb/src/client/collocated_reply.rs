//! Collocated calls whose servants answer later: the caller waits, as for any reply.

use std::{cell::RefCell, mem, sync::Arc, time::Instant};

use punctual_cdr::{CharSet, Decoder, Encoder, Endian};
use punctual_os::{PiCondvar, PiMutex, condvar::TimedOut};
use punctual_stub::{Outcome, PendingResponse, ReplyOrigin, ReusePool, Upcall, WriteReply};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{Limits, current};

/// The reply that a caller of the same ORB waits for.
struct LocalReply {
    state: PiMutex<State>,
    changed: PiCondvar,
    limits: Limits,
    priority: Option<Priority>,
    deadline: Option<Instant>,
    response_expected: bool,
}

#[derive(Default)]
struct State {
    /// Results in CDR.
    octets: Vec<u8>,
    end: Option<Result<Outcome, SystemException>>,
    /// The caller has given up.
    is_abandoned: bool,
}

thread_local! {
    /// Replies that upcalls of this thread have deferred, innermost last. Each is taken when its upcall ends.
    static DEFERRED: RefCell<Vec<Arc<LocalReply>>> = const { RefCell::new(Vec::new()) };
}

/// Defers the reply of the collocated upcall that this thread executes; [`wait`] follows.
#[cold]
pub(super) fn defer(
    limits: Limits,
    deadline: Option<Instant>,
    response_expected: bool,
) -> Arc<dyn PendingResponse> {
    let reply = Arc::new(LocalReply {
        state: PiMutex::default(),
        changed: PiCondvar::new(),
        limits,
        priority: current::explicit_priority(),
        deadline,
        response_expected,
    });
    DEFERRED.with_borrow_mut(|deferred| deferred.push(Arc::clone(&reply)));
    reply
}

/// Waits for the reply that the upcall which has just ended on this thread deferred, and stores its results.
/// TIMEOUT after the deadline of the call.
#[cold]
pub(super) fn wait(results: &mut Vec<u8>) -> Result<Outcome, SystemException> {
    let reply = DEFERRED.with_borrow_mut(Vec::pop);
    let Some(reply) = reply.filter(|reply| reply.response_expected) else {
        return Ok(Outcome::NoException);
    };
    let mut state = reply.state.lock();
    let unanswered = |state: &mut State| state.end.is_none();
    match reply.deadline {
        None => reply.changed.wait_while(&mut state, unanswered),
        Some(deadline) => {
            let TimedOut(_) = reply.changed.wait_while_until(&mut state, deadline, unanswered);
        }
    }
    state.is_abandoned = true;
    mem::swap(results, &mut state.octets);
    state.end.take().unwrap_or_else(|| {
        let (kind, minor) = (SystemExceptionKind::Timeout, Minor::REPLY_TIMED_OUT);
        Err(SystemException::new(kind, minor, Completion::Maybe))
    })
}

impl PendingResponse for LocalReply {
    fn answer(&self, _: ReplyOrigin, write: WriteReply<'_>) -> bool {
        if !self.is_awaited() {
            return false;
        }
        // Not under the lock: the conversion of values may be the user's code.
        let (mut octets, mut pool) = (Vec::new(), ReusePool::default());
        let encoder = Encoder::new(&mut octets, Endian::NATIVE)
            .with_char_set(CharSet::Utf8)
            .with_limit(self.limits.max_message_size)
            .with_nesting_limit(self.limits.max_nesting);
        let nothing = Decoder::new(&[], Endian::NATIVE);
        let mut upcall = Upcall::new("", nothing, encoder, 1, true, &mut pool);
        let end = write(&mut upcall).map(|()| upcall.outcome());
        drop(upcall);
        let mut state = self.state.lock();
        let sent = !state.is_abandoned;
        (state.octets, state.end) = (octets, Some(end));
        drop(state);
        self.changed.notify_all();
        sent
    }

    fn priority(&self) -> Option<Priority> {
        self.priority
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn is_awaited(&self) -> bool {
        self.response_expected && !self.state.lock().is_abandoned
    }
}
