//! Work of a lane for which no request is served: refused requests, LocateRequests, CancelRequests, and parts
//! of messages until their request is served. It gets a share of the processor's time; a connection that
//! finds it exhausted waits for its turn, and what its peer sends meanwhile waits in the kernel.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{Interest, PiMutex, Poller, Trigger, clock};

use crate::{
    LaneLimits, RequestHandler, ServingSlot,
    connection::{Connection, Readiness},
    deadline_timer::DeadlineTimer,
    lane::TURN,
    time_budget::TimeBudget,
    worker::Worker,
};

/// Time that may be spent at once: what it takes to receive as much as a lane's connections may keep.
const BURST: Duration = Duration::from_millis(20);

/// What a lane has spent on such work, and the connections that wait for their turns.
pub(crate) struct UnservedWork<H: RequestHandler> {
    budget: PiMutex<TimeBudget>,
    waiting: PiMutex<VecDeque<(Arc<Connection<H>>, Readiness)>>,
    /// Wakes a thread of the lane when the next one may have its turn.
    turn: DeadlineTimer,
}

/// Time that was deducted for a connection since its last served request, in nanoseconds.
#[derive(Default)]
pub(crate) struct Unpaid(AtomicU64);

impl Unpaid {
    fn add(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }

    fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

impl<H: RequestHandler> UnservedWork<H> {
    pub(crate) fn new(limits: &LaneLimits, poller: &Poller) -> io::Result<Self> {
        let turn = DeadlineTimer::new()?;
        poller.add(turn.timer(), TURN, Interest::READ, Trigger::Edge)?;
        Ok(Self {
            budget: PiMutex::new(TimeBudget::new(limits.unserved_percent, BURST)),
            waiting: PiMutex::new(VecDeque::new()),
            turn,
        })
    }

    /// Time until such work may continue; zero: now.
    pub(crate) fn wait(&self) -> Duration {
        self.budget.lock().wait(Instant::now())
    }

    /// Deducts time that was spent on a connection.
    fn charge(&self, connection: &Connection<H>, cost: Duration) {
        connection.unpaid.add(cost);
        self.budget.lock().charge(cost);
    }

    /// A request of the connection was served: gives back what was deducted on its way.
    fn refund(&self, connection: &Connection<H>) {
        let paid = connection.unpaid.take();
        if !paid.is_zero() {
            self.budget.lock().refund(paid);
        }
    }

    /// Puts a connection at the end of the line, unless it waits already.
    fn put_off(&self, connection: &Arc<Connection<H>>, readiness: Readiness, wait: Duration) {
        if connection.joins_line(readiness) {
            self.waiting.lock().push_back((Arc::clone(connection), readiness));
            self.turn.add(Instant::now() + wait);
        }
    }

    /// Takes the connection whose turn it is, and has the next one follow behind what is ready by now.
    fn next(&self) -> Option<(Arc<Connection<H>>, Readiness)> {
        let now = self.turn.take_due()?;
        let wait = self.wait();
        let mut waiting = self.waiting.lock();
        let next = wait.is_zero().then(|| waiting.pop_front()).flatten();
        let more = !waiting.is_empty();
        drop(waiting);
        if more {
            self.turn.add(now + wait);
        }
        next.inspect(|(connection, _)| connection.state.clear_handed_over())
    }

    /// Forgets the connections that wait, which are closed.
    pub(crate) fn clear(&self) {
        self.waiting.lock().clear();
    }
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Serves the connection whose turn it is.
    #[cold]
    pub(crate) fn serve_put_off(&mut self) {
        if let Some((connection, readiness)) = self.lane.unserved.next() {
            self.serve_from_line(&connection, readiness);
        }
    }

    /// Serves a connection that has made the lane work without a served request. `false`: it has been closed.
    #[cold]
    pub(crate) fn serve_in_turn(&mut self, connection: &Arc<Connection<H>>, readiness: Readiness) -> bool {
        if connection.state.is_exhausted() {
            self.lane.close(connection);
            return false;
        }
        if connection.is_in_line(readiness) {
            return true;
        }
        let wait = self.lane.unserved.wait();
        if !wait.is_zero() {
            self.lane.counters.put_off.add_one();
            self.lane.unserved.put_off(connection, readiness, wait);
            return true;
        }
        connection.state.clear_unserved();
        self.served = false;
        let begun = clock::thread_cpu_time();
        let open = self.serve_turn(connection, readiness);
        self.settle(connection, begun);
        open
    }

    /// Ends work for a connection that began at this processor time of the thread.
    pub(crate) fn settle(&self, connection: &Connection<H>, begun: Duration) {
        if self.served {
            return self.lane.unserved.refund(connection);
        }
        connection.state.set_unserved();
        let cost = clock::thread_cpu_time().saturating_sub(begun);
        self.lane.unserved.charge(connection, cost);
    }
}
