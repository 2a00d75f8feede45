use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_giop::MessageHeader;
use punctual_os::{Doorbell, PiCondvar, PiMutex, condvar::TimedOut};

use super::{
    Lane,
    connection::Connection,
    message_store::{self, MessageStore, Stored},
    worker::Desk,
};
use crate::{QueueLimits, QueueStatistics};

/// Requests that wait for a thread of a lane, in the order in which they came: those that the lane's own I/O thread has
/// buffered, and those that other lanes have handed on.
///
/// The lock is held while one message is copied. Nothing is allocated once room has been provided.
pub(super) struct RequestQueue {
    state: PiMutex<State>,
    seen: Seen,
    /// For threads that wait for nothing else.
    arrived: PiCondvar,
    /// For threads that wait for the reply to a call of their own as well.
    bell: Doorbell,
    /// How many of the latter there are.
    nested: AtomicUsize,
    /// How many requests wait and can be taken: as the state says, for those who do not have the lock.
    requests: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// `None`: no room was provided.
    limits: Option<QueueLimits>,
    waiting: VecDeque<Waiting>,
    messages: MessageStore,
    octets: usize,
    /// Threads in [`RequestQueue::wait`] that nobody has given anything yet.
    idle: usize,
    closed: bool,
}

/// What there is to say about the queue, for whoever looks without the lock; changed by whoever has it.
#[derive(Default)]
struct Seen {
    /// 0: no room was provided.
    limit_requests: AtomicUsize,
    limit_octets: AtomicUsize,
    octets: AtomicUsize,
    most_requests: AtomicUsize,
    accepted: AtomicU64,
    refused: AtomicU64,
    cancelled: AtomicU64,
}

/// A request of the queue, without its message.
pub(super) struct Queued {
    pub(super) connection: Arc<Connection>,
    /// The lane that the connection belongs to, where that is another one.
    pub(super) home: Option<Arc<Lane>>,
    pub(super) header: MessageHeader,
    pub(super) request_id: u32,
    /// When it was read.
    pub(super) read_at: Instant,
}

struct Waiting {
    request: Queued,
    message: Stored,
}

/// What [`RequestQueue::wait`] came to.
pub(super) enum Waited {
    Request(Queued),
    /// Time is over.
    InVain,
    /// A lane above asks for help.
    Asked,
    /// The lane is stopping.
    Closed,
}

/// Why a request may not wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoRoom {
    /// Now; there may be room later.
    Full,
    /// It is larger than all the room there is.
    TooLarge,
}

impl RequestQueue {
    /// A queue without room.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            state: PiMutex::default(),
            seen: Seen::default(),
            arrived: PiCondvar::new(),
            bell: Doorbell::new()?,
            nested: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        })
    }

    /// Makes room for this much, unless there is more already.
    pub(super) fn provide(&self, limits: QueueLimits) {
        let mut state = self.state.lock();
        let before = state.limits.unwrap_or(limits);
        let limits = QueueLimits {
            requests: before.requests.max(limits.requests),
            octets: before.octets.max(limits.octets),
        };
        state.limits = Some(limits);
        self.seen.limit_requests.store(limits.requests, Ordering::Relaxed);
        self.seen.limit_octets.store(limits.octets, Ordering::Relaxed);
        state.messages.provide(limits.requests, limits.octets);
        let more = limits.requests - state.waiting.len();
        state.waiting.reserve(more);
    }

    /// Lets a request in, if it keeps to these limits. The connection owes its reply from then on.
    pub(super) fn push(
        &self,
        limits: QueueLimits,
        request: Queued,
        message: &[u8],
        fragment_starts: &[usize],
    ) -> Result<(), NoRoom> {
        let mut state = self.state.lock();
        let size = message_store::size(message.len(), fragment_starts.len());
        let full = state.closed
            || state.waiting.len() >= limits.requests
            || state.octets.saturating_add(size) > limits.octets;
        let stored = if full {
            None
        } else {
            state.messages.put(message, fragment_starts)
        };
        let Some(message) = stored else {
            self.seen.refused.fetch_add(1, Ordering::Relaxed);
            return Err(if size > limits.octets {
                NoRoom::TooLarge
            } else {
                NoRoom::Full
            });
        };
        request.connection.enter();
        state.octets += size;
        state.waiting.push_back(Waiting { request, message });
        self.seen.accepted.fetch_add(1, Ordering::Relaxed);
        self.publish(&state);
        let enough_idle = state.waiting.len() <= state.idle;
        drop(state);
        self.arrived.notify_one();
        if !enough_idle {
            self.wake_nested();
        }
        Ok(())
    }

    /// Waits for a request, for so long at most (`None`: without a deadline), and puts the oldest one on the desk; or until
    /// `is_asked`, which comes first, and which [`Self::wake_for_others`] has looked at again.
    pub(super) fn wait(
        &self,
        desk: &mut Desk,
        patience: Option<Duration>,
        is_asked: impl Fn() -> bool,
    ) -> Waited {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        let mut state = self.state.lock();
        state.idle += 1;
        let empty = |state: &mut State| !state.closed && state.waiting.is_empty() && !is_asked();
        match deadline {
            None => self.arrived.wait_while(&mut state, empty),
            Some(deadline) => {
                let TimedOut(_) = self.arrived.wait_while_until(&mut state, deadline, empty);
            }
        }
        state.idle -= 1;
        if state.closed {
            return Waited::Closed;
        }
        if is_asked() {
            let left_behind = !state.waiting.is_empty();
            let enough_idle = state.waiting.len() <= state.idle;
            drop(state);
            // What has woken this thread may have been a request of the own queue.
            if left_behind {
                self.arrived.notify_one();
            }
            if !enough_idle {
                self.wake_nested();
            }
            return Waited::Asked;
        }
        let taken = state.take(desk);
        self.publish(&state);
        taken.map_or(Waited::InVain, Waited::Request)
    }

    /// Has a thread that waits look whether a lane above asks for help.
    pub(super) fn wake_for_others(&self) {
        // Whoever looked before is waiting once this lock is had.
        let state = self.state.lock();
        let enough_idle = state.waiting.len() < state.idle;
        drop(state);
        self.arrived.notify_one();
        if !enough_idle {
            self.wake_nested();
        }
    }

    /// Whether there is something to take.
    pub(super) fn has_requests(&self) -> bool {
        self.requests.load(Ordering::SeqCst) > 0
    }

    /// While the state is locked, after each change of it.
    fn publish(&self, state: &State) {
        let requests = if state.closed { 0 } else { state.waiting.len() };
        self.requests.store(requests, Ordering::SeqCst);
        self.seen.octets.store(state.octets, Ordering::Relaxed);
        self.seen.most_requests.fetch_max(requests, Ordering::Relaxed);
    }

    /// The oldest request, if there is one, and whether there are more.
    pub(super) fn try_take(&self, desk: &mut Desk) -> (Option<Queued>, bool) {
        let mut state = self.state.lock();
        if state.closed {
            return (None, false);
        }
        let taken = state.take(desk);
        self.publish(&state);
        (taken, !state.waiting.is_empty())
    }

    /// Takes back the request with this id that came over the connection. `false`: it is not here, or being served.
    pub(super) fn cancel(&self, connection: &Arc<Connection>, request_id: u32) -> bool {
        let mut state = self.state.lock();
        let found = state.waiting.iter().position(|Waiting { request, .. }| {
            request.request_id == request_id && Arc::ptr_eq(&request.connection, connection)
        });
        let Some(cancelled) = found.and_then(|index| state.waiting.remove(index)) else {
            return false;
        };
        state.octets -= cancelled.message.size();
        state.messages.discard(&cancelled.message);
        self.seen.cancelled.fetch_add(1, Ordering::Relaxed);
        self.publish(&state);
        drop(state);
        // Not under the lock: it may be the last one that holds the connection.
        drop(cancelled);
        true
    }

    /// Lets nothing in or out any more.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        self.publish(&state);
        drop(state);
        self.arrived.notify_all();
        self.wake_nested();
    }

    /// Forgets what waits: its clients were told that it is not handled.
    pub(super) fn clear(&self) {
        let mut state = self.state.lock();
        let forgotten = std::mem::take(&mut state.waiting);
        forgotten
            .iter()
            .for_each(|waiting| state.messages.discard(&waiting.message));
        state.octets = 0;
        self.publish(&state);
        drop(state);
        drop(forgotten);
    }

    /// Announces a thread that waits for [`Self::rung`] and more; [`Self::leave_nested`] takes it back.
    pub(super) fn enter_nested(&self) {
        self.nested.fetch_add(1, Ordering::SeqCst);
        // What came before rang for nobody.
        if !self.state.lock().waiting.is_empty() {
            self.wake_nested();
        }
    }

    pub(super) fn leave_nested(&self) {
        self.nested.fetch_sub(1, Ordering::SeqCst);
        // The last ring may have been for it.
        let state = self.state.lock();
        let others = state.waiting.len() > state.idle;
        drop(state);
        if others {
            self.wake_nested();
        }
    }

    /// Wakes a thread that waits for more than this queue, if there is one.
    pub(super) fn wake_nested(&self) {
        if self.nested.load(Ordering::SeqCst) > 0 {
            let _ = self.bell.ring();
        }
    }

    /// What is readable for [`Self::enter_nested`] threads once there is something to take; until [`Self::silence`].
    pub(super) fn rung(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    pub(super) fn silence(&self) {
        let _ = self.bell.drain();
    }

    /// Without the lock: a snapshot in which a request may be counted in one place and not yet in the other.
    pub(super) fn statistics(&self) -> QueueStatistics {
        let requests = self.seen.limit_requests.load(Ordering::Relaxed);
        let limits = QueueLimits {
            requests,
            octets: self.seen.limit_octets.load(Ordering::Relaxed),
        };
        QueueStatistics {
            limits: (requests > 0).then_some(limits),
            requests: self.requests.load(Ordering::Relaxed),
            octets: self.seen.octets.load(Ordering::Relaxed),
            most_requests: self.seen.most_requests.load(Ordering::Relaxed),
            accepted: self.seen.accepted.load(Ordering::Relaxed),
            refused: self.seen.refused.load(Ordering::Relaxed),
            cancelled: self.seen.cancelled.load(Ordering::Relaxed),
        }
    }
}

impl State {
    fn take(&mut self, desk: &mut Desk) -> Option<Queued> {
        let Waiting {
            request,
            message: stored,
        } = self.waiting.pop_front()?;
        self.octets -= stored.size();
        self.messages
            .take(stored, &mut desk.message, &mut desk.buffers.fragment_starts);
        Some(request)
    }
}
