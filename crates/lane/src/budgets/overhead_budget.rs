//! Work of a lane for which no request is served: refused requests, LocateRequests, CancelRequests, and parts
//! of messages until their request is served. It gets a share of the processor's time; a connection that
//! finds it exhausted waits for its turn, and what its peer sends meanwhile waits in the kernel.

use std::{
    collections::VecDeque,
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use punctual_os::PiMutex;

use crate::{
    LaneLimits, RequestHandler,
    budgets::time_budget::TimeBudget,
    connections::connection::{Connection, Readiness},
    sharing::deadline_timer::DeadlineTimer,
};

/// Time that may be spent at once: what it takes to receive as much as a lane's connections may keep.
const BURST: Duration = Duration::from_millis(20);

/// Time that a lane has spent on such work, and the connections that wait for their turns.
pub(crate) struct OverheadBudget<H: RequestHandler> {
    budget: PiMutex<TimeBudget>,
    waiting: PiMutex<VecDeque<(Arc<Connection<H>>, Readiness)>>,
    /// Wakes a thread of the lane when the next one may have its turn.
    timer: DeadlineTimer,
}

impl<H: RequestHandler> OverheadBudget<H> {
    pub(crate) fn new(limits: &LaneLimits) -> io::Result<Self> {
        Ok(Self {
            budget: PiMutex::new(TimeBudget::new(limits.unserved_percent, BURST)),
            waiting: PiMutex::new(VecDeque::new()),
            timer: DeadlineTimer::new()?,
        })
    }

    /// Timer that fires when the next connection may have its turn.
    pub(crate) fn timer(&self) -> &DeadlineTimer {
        &self.timer
    }

    /// Time until such work may continue; zero: now.
    pub(crate) fn wait(&self) -> Duration {
        self.budget.lock().wait(Instant::now())
    }

    /// Deducts time that was spent on a connection.
    pub(crate) fn charge(&self, connection: &Connection<H>, cost: Duration) {
        connection.unaccounted_time.add(cost);
        self.budget.lock().charge(cost);
    }

    /// A request of the connection was served: gives back what was deducted on its way.
    pub(crate) fn refund(&self, connection: &Connection<H>) {
        let paid = connection.unaccounted_time.take();
        if !paid.is_zero() {
            self.budget.lock().refund(paid);
        }
    }

    /// Puts a connection at the end of the queue, unless it waits already.
    pub(crate) fn defer(&self, connection: &Arc<Connection<H>>, readiness: Readiness, wait: Duration) {
        if connection.enqueue(readiness) {
            self.waiting.lock().push_back((Arc::clone(connection), readiness));
            self.timer.add(Instant::now() + wait);
        }
    }

    /// Takes the connection whose turn it is, and has the next one follow behind what is ready by now.
    pub(crate) fn next(&self) -> Option<(Arc<Connection<H>>, Readiness)> {
        let now = self.timer.take_due()?;
        let wait = self.wait();
        let mut waiting = self.waiting.lock();
        let next = wait.is_zero().then(|| waiting.pop_front()).flatten();
        let more = !waiting.is_empty();
        drop(waiting);
        if more {
            self.timer.add(now + wait);
        }
        next.inspect(|(connection, _)| connection.state.clear_handed_over())
    }

    /// Forgets the connections that wait, which are closed.
    pub(crate) fn clear(&self) {
        self.waiting.lock().clear();
    }
}
