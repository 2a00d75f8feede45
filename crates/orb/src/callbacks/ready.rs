//! Calls that have ended, in the order in which their handlers run: the highest priority first, then in the
//! order in which they ended.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc, time::Instant};

use punctual_os::{PiCondvar, PiMutex, condvar::TimedOut};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

/// Queue of a bounded number of calls. Nothing is allocated after its creation.
pub(super) struct ReadyCalls {
    state: PiMutex<State>,
    arrived: PiCondvar,
}

struct State {
    ready: BinaryHeap<Ready>,
    /// Calls that have ended so far.
    ended: u64,
    /// Calls whose handlers have not begun, ended or not.
    admitted: usize,
    capacity: usize,
    closed: bool,
}

/// A call that may continue: it has ended, or has to be sent again.
pub(super) struct Ready {
    pub(super) priority: Priority,
    order: Reverse<u64>,
    pub(super) call: Arc<dyn Continue>,
}

/// A call with its handler.
pub(super) trait Continue: Send + Sync {
    /// Continues it; calls the handler if it has ended.
    fn run(self: Arc<Self>);
}

impl ReadyCalls {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            state: PiMutex::new(State {
                ready: BinaryHeap::with_capacity(capacity),
                ended: 0,
                admitted: 0,
                capacity,
                closed: false,
            }),
            arrived: PiCondvar::new(),
        }
    }

    /// Admits a call; [`Self::release`] follows. Fails with TRANSIENT if there is no room.
    pub(super) fn admit(&self) -> Result<(), SystemException> {
        let mut state = self.state.lock();
        if state.closed || state.admitted == state.capacity {
            let (kind, minor) = (SystemExceptionKind::Transient, Minor::CALLBACKS_FULL);
            return Err(SystemException::new(kind, minor, Completion::Maybe));
        }
        state.admitted += 1;
        Ok(())
    }

    /// Makes room for another call.
    pub(super) fn release(&self) {
        self.state.lock().admitted -= 1;
    }

    /// Returns the number of calls whose handlers have not begun.
    pub(super) fn admitted(&self) -> usize {
        self.state.lock().admitted
    }

    pub(super) fn push(&self, priority: Priority, call: Arc<dyn Continue>) {
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return drop(call);
        }
        state.ended += 1;
        let order = Reverse(state.ended);
        state.ready.push(Ready {
            priority,
            order,
            call,
        });
        drop(state);
        self.arrived.notify_one();
    }

    pub(super) fn pop(&self) -> Option<Ready> {
        self.state.lock().ready.pop()
    }

    /// Waits for a call until the deadline; `None`: there is none, or the queue is closed.
    pub(super) fn wait(&self, deadline: Option<Instant>) -> Option<Ready> {
        let mut state = self.state.lock();
        let nothing = |state: &mut State| state.ready.is_empty() && !state.closed;
        match deadline {
            None => self.arrived.wait_while(&mut state, nothing),
            Some(deadline) => {
                let TimedOut(_) = self.arrived.wait_while_until(&mut state, deadline, nothing);
            }
        }
        state.ready.pop()
    }

    /// Admits no further call; handlers that have not begun are dropped.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        let forgotten = std::mem::take(&mut state.ready);
        drop(state);
        self.arrived.notify_all();
        // Handlers are the user's.
        drop(forgotten);
    }
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.priority, self.order).cmp(&(other.priority, other.order))
    }
}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ready {}
