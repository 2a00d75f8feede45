//! Queue of requests that wait for a thread of a lane.

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

use punctual_cdr::CodeSets;
use punctual_giop::MessageHeader;
use punctual_os::{Doorbell, PiCondvar, PiMutex, condvar::TimedOut};

use crate::{
    QueueLimits, QueueStatistics, RequestHandler,
    budgets::message_store::{self, MessageStore, StoredMessage},
    connections::{connection::Connection, table::ConnectionTable},
    threads::worker_buffers::WorkerBuffers,
};

/// Requests that wait for a thread of a lane, in the order of their arrival: those that the lane's own I/O
/// thread has buffered, and those that other lanes have redispatched.
///
/// The lock is held while one message is copied. Nothing is allocated once capacity has been provided.
///
/// A lane has one queue. Its own I/O thread, `….io`, fills it if the pool buffers; other lanes put requests
/// into it if an adapter redispatches. Its memory is allocated and touched at the start and never grows.
/// Requests start in the order in which they were read. A full queue refuses with TRANSIENT. A CancelRequest
/// withdraws a queued request. Requests that state their deadline (service context INVOCATION_POLICIES) can
/// be dropped after it; relative timeouts count from the lane's read.
pub(crate) struct RequestQueue<H: RequestHandler> {
    state: PiMutex<State<H>>,
    counters: QueueCounters,
    /// Condition of threads that wait for the queue alone.
    arrived: PiCondvar,
    /// Condition of threads that wait for the reply to a call of their own as well.
    doorbell: Doorbell,
    /// Number of the latter.
    nested: AtomicUsize,
    /// Number of requests that can be taken: copy of the state for threads without the lock.
    requests: AtomicUsize,
}

struct State<H: RequestHandler> {
    /// `None`: no capacity was provided.
    limits: Option<QueueLimits>,
    waiting: VecDeque<Waiting<H>>,
    messages: MessageStore,
    octets: usize,
    /// Threads in [`RequestQueue::wait`] that have not been given a request yet.
    idle: usize,
    closed: bool,
}

/// Statistics of the queue, changed under the lock and read without it.
#[derive(Default)]
struct QueueCounters {
    /// 0: no capacity was provided.
    limit_requests: AtomicUsize,
    limit_octets: AtomicUsize,
    octets: AtomicUsize,
    most_requests: AtomicUsize,
    accepted: AtomicU64,
    refused: AtomicU64,
    cancelled: AtomicU64,
}

/// Request of the queue, without its message.
pub(crate) struct QueuedRequest<H: RequestHandler> {
    pub(crate) connection: Arc<Connection<H>>,
    /// Connections of the lane that the connection belongs to, if it is another one.
    pub(crate) origin: Option<Arc<ConnectionTable<H>>>,
    pub(crate) header: MessageHeader,
    pub(crate) request_id: u32,
    /// Time at which it was read.
    pub(crate) read_at: Instant,
    /// Code sets of text and wide text.
    pub(crate) code_sets: CodeSets,
}

struct Waiting<H: RequestHandler> {
    request: QueuedRequest<H>,
    message: StoredMessage,
}

/// Result of [`RequestQueue::wait`].
pub(crate) enum Taken<H: RequestHandler> {
    Request(QueuedRequest<H>),
    TimedOut,
    /// A lane above requests a thread.
    Asked,
    /// The lane is stopping.
    Closed,
}

/// Reason why a request may not wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NoRoom {
    /// The queue is full now; there may be room later.
    Full,
    /// The request is larger than the whole queue.
    TooLarge,
}

impl<H: RequestHandler> RequestQueue<H> {
    /// Creates a queue without capacity.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            state: PiMutex::new(State {
                limits: None,
                waiting: VecDeque::new(),
                messages: MessageStore::default(),
                octets: 0,
                idle: 0,
                closed: false,
            }),
            counters: QueueCounters::default(),
            arrived: PiCondvar::new(),
            doorbell: Doorbell::new()?,
            nested: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        })
    }

    /// Provides this capacity, unless the queue has more already.
    pub(crate) fn provide(&self, limits: QueueLimits) {
        let mut state = self.state.lock();
        let before = state.limits.unwrap_or(limits);
        let limits = QueueLimits {
            requests: before.requests.max(limits.requests),
            octets: before.octets.max(limits.octets),
        };
        state.limits = Some(limits);
        self.counters
            .limit_requests
            .store(limits.requests, Ordering::Relaxed);
        self.counters.limit_octets.store(limits.octets, Ordering::Relaxed);
        state.messages.provide(limits.requests, limits.octets);
        let more = limits.requests - state.waiting.len();
        state.waiting.reserve(more);
    }

    /// Provides this much more capacity.
    pub(crate) fn extend(&self, by: QueueLimits) {
        let before = self.state.lock().limits;
        let (requests, octets) = before.map_or((0, 0), |before| (before.requests, before.octets));
        self.provide(QueueLimits {
            requests: requests.saturating_add(by.requests),
            octets: octets.saturating_add(by.octets),
        });
    }

    /// Moves the waiting requests to another queue, as far as it has room; returns their number.
    pub(crate) fn move_to(&self, other: &Self) -> usize {
        let (mut message, mut fragment_starts) = (Vec::new(), Vec::new());
        let waiting = self.state.lock().waiting.len();
        for moved in 0..waiting {
            let mut state = self.state.lock();
            let taken = state.take(&mut message, &mut fragment_starts);
            self.publish(&state);
            let limits = other.state_limits();
            drop(state);
            let Some(request) = taken else { return moved };
            let connection = Arc::clone(&request.connection);
            let octets = &message[..request.header.total_size()];
            // Fails only if the lane has ended: its clients have been notified.
            let _ = other.push(limits, request, octets, &fragment_starts);
            // The other queue counts it, too.
            connection.state.end_request();
        }
        waiting
    }

    fn state_limits(&self) -> QueueLimits {
        let requests = self.counters.limit_requests.load(Ordering::Relaxed);
        let octets = self.counters.limit_octets.load(Ordering::Relaxed);
        QueueLimits { requests, octets }
    }

    /// Admits a request within these limits. The connection owes its reply from then on.
    pub(crate) fn push(
        &self,
        limits: QueueLimits,
        request: QueuedRequest<H>,
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
            self.counters.refused.fetch_add(1, Ordering::Relaxed);
            return Err(if size > limits.octets {
                NoRoom::TooLarge
            } else {
                NoRoom::Full
            });
        };
        request.connection.state.begin_queued_request();
        state.octets += size;
        state.waiting.push_back(Waiting { request, message });
        self.counters.accepted.fetch_add(1, Ordering::Relaxed);
        self.publish(&state);
        let enough_idle = state.waiting.len() <= state.idle;
        drop(state);
        self.arrived.notify_one();
        if !enough_idle {
            self.wake_nested();
        }
        Ok(())
    }

    /// Waits for a request within the timeout (`None`: forever) and moves the oldest one to the buffers; or
    /// until `is_asked`, which has precedence, and which a thread checks again after
    /// [`Self::wake_for_others`].
    pub(crate) fn wait(
        &self,
        buffers: &mut WorkerBuffers<H>,
        timeout: Option<Duration>,
        is_asked: impl Fn() -> bool,
    ) -> Taken<H> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.state.lock();
        state.idle += 1;
        let empty = |state: &mut State<H>| !state.closed && state.waiting.is_empty() && !is_asked();
        match deadline {
            None => self.arrived.wait_while(&mut state, empty),
            Some(deadline) => {
                let TimedOut(_) = self.arrived.wait_while_until(&mut state, deadline, empty);
            }
        }
        state.idle -= 1;
        if state.closed {
            return Taken::Closed;
        }
        if is_asked() {
            let left_behind = !state.waiting.is_empty();
            let enough_idle = state.waiting.len() <= state.idle;
            drop(state);
            // This thread may have been woken for a request of its own queue.
            if left_behind {
                self.arrived.notify_one();
            }
            if !enough_idle {
                self.wake_nested();
            }
            return Taken::Asked;
        }
        let taken = state.take(&mut buffers.message, &mut buffers.fragment_starts);
        self.publish(&state);
        taken.map_or(Taken::TimedOut, Taken::Request)
    }

    /// Wakes a waiting thread to check whether a lane above requests a thread.
    pub(crate) fn wake_for_others(&self) {
        // A thread that checked before is waiting once this lock has been acquired.
        let state = self.state.lock();
        let enough_idle = state.waiting.len() < state.idle;
        drop(state);
        self.arrived.notify_one();
        if !enough_idle {
            self.wake_nested();
        }
    }

    /// Returns whether a request can be taken.
    pub(crate) fn has_requests(&self) -> bool {
        self.requests.load(Ordering::SeqCst) > 0
    }

    /// Copies the state to the counters; under the lock, after each change.
    fn publish(&self, state: &State<H>) {
        let requests = if state.closed { 0 } else { state.waiting.len() };
        self.requests.store(requests, Ordering::SeqCst);
        self.counters.octets.store(state.octets, Ordering::Relaxed);
        self.counters.most_requests.fetch_max(requests, Ordering::Relaxed);
    }

    /// Takes the oldest request, if there is one, and returns whether there are more.
    pub(crate) fn try_take(&self, buffers: &mut WorkerBuffers<H>) -> (Option<QueuedRequest<H>>, bool) {
        let mut state = self.state.lock();
        if state.closed {
            return (None, false);
        }
        let taken = state.take(&mut buffers.message, &mut buffers.fragment_starts);
        self.publish(&state);
        (taken, !state.waiting.is_empty())
    }

    /// Takes back the request with this id from this connection. `false`: it is not in the queue, or is being
    /// served.
    pub(crate) fn cancel(&self, connection: &Arc<Connection<H>>, request_id: u32) -> bool {
        let mut state = self.state.lock();
        let found = state.waiting.iter().position(|Waiting { request, .. }| {
            request.request_id == request_id && Arc::ptr_eq(&request.connection, connection)
        });
        let Some(cancelled) = found.and_then(|index| state.waiting.remove(index)) else {
            return false;
        };
        state.octets -= cancelled.message.size();
        state.messages.discard(&cancelled.message);
        self.counters.cancelled.fetch_add(1, Ordering::Relaxed);
        self.publish(&state);
        drop(state);
        // Not under the lock: it may be the last one that holds the connection.
        drop(cancelled);
        true
    }

    /// Admits and returns no further request.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        self.publish(&state);
        drop(state);
        self.arrived.notify_all();
        self.wake_nested();
    }

    /// Drops the waiting requests: their clients have been notified that they are not handled.
    pub(crate) fn clear(&self) {
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

    /// Announces a thread that waits for [`Self::rung`] and more; [`Self::leave_nested`] follows.
    pub(crate) fn enter_nested(&self) {
        self.nested.fetch_add(1, Ordering::SeqCst);
        // A request that arrived before rang for no thread.
        if !self.state.lock().waiting.is_empty() {
            self.wake_nested();
        }
    }

    /// Withdraws the announcement of [`Self::enter_nested`].
    pub(crate) fn leave_nested(&self) {
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
    pub(crate) fn wake_nested(&self) {
        if self.nested.load(Ordering::SeqCst) > 0 {
            let _ = self.doorbell.ring();
        }
    }

    /// Descriptor that is readable for [`Self::enter_nested`] threads while a request can be taken; until
    /// [`Self::silence`].
    pub(crate) fn rung(&self) -> BorrowedFd<'_> {
        self.doorbell.as_fd()
    }

    /// Resets the doorbell.
    pub(crate) fn silence(&self) {
        let _ = self.doorbell.drain();
    }

    /// Statistics, read without the lock: a request may be counted in one place and not yet in another.
    pub(crate) fn statistics(&self) -> QueueStatistics {
        let limits = self.state_limits();
        QueueStatistics {
            limits: (limits.requests > 0).then_some(limits),
            requests: self.requests.load(Ordering::Relaxed),
            octets: self.counters.octets.load(Ordering::Relaxed),
            most_requests: self.counters.most_requests.load(Ordering::Relaxed),
            accepted: self.counters.accepted.load(Ordering::Relaxed),
            refused: self.counters.refused.load(Ordering::Relaxed),
            cancelled: self.counters.cancelled.load(Ordering::Relaxed),
        }
    }
}

impl<H: RequestHandler> State<H> {
    fn take(&mut self, octets: &mut Vec<u8>, fragment_starts: &mut Vec<usize>) -> Option<QueuedRequest<H>> {
        let Waiting {
            request,
            message: stored,
        } = self.waiting.pop_front()?;
        self.octets -= stored.size();
        self.messages.take(stored, octets, fragment_starts);
        Some(request)
    }
}
