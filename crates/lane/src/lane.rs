//! The lane: its parts, and how it is opened and stopped.

mod borrowing;

use std::{
    collections::VecDeque,
    ops::Deref,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use punctual_os::PiMutex;
use punctual_types::Priority;

pub(crate) use self::borrowing::{Above, Below, Borrowing, Registration};
use crate::{
    Acceptor, Acceptors, ConnectionStatistics, LaneConfig, LaneContext, LaneEndpoint, LaneError, LaneMode,
    LaneStatistics, QueueLimits, RequestHandler, ThreadStatistics,
    accept::{descriptors::DescriptorShare, state::Accepting},
    budgets::overhead_budget::OverheadBudget,
    connections::{
        connection::{Connection, Readiness},
        table::ConnectionTable,
    },
    queue::{
        held_requests::HeldRequests,
        pending_work::PendingWork,
        request_queue::{QueuedRequest, RequestQueue},
        tasks::Tasks,
    },
    threads::{
        lane_events::{DEFERRED, FIRST_ACCEPTOR, LaneEvents},
        lane_threads::LaneThreads,
        mode::Mode,
        self_waits::SelfWaits,
        worker_buffers::WorkerBuffers,
    },
};

/// Acceptors, a poller, the connections and the threads of one lane.
///
/// Its threads are leader and followers: of those that wait, the kernel wakes one for one event, and while
/// that thread reads and serves, the next one is the leader. No thread passes a token on, which would cost
/// each request another wake-up.
pub struct Lane<H: RequestHandler> {
    context: LaneContext<H::LaneData>,
    pub(crate) mode: Mode<H>,
    pub(crate) threads: LaneThreads,
    pub(crate) events: LaneEvents,
    pub(crate) accepting: Accepting,
    pub(crate) pool: PoolOfLanes<H>,
    stopping: AtomicBool,
    pub(crate) connections: Arc<ConnectionTable<H>>,
    /// Connections with a message that another thread of the lane should read.
    handed_over: PiMutex<VecDeque<(Arc<Connection<H>>, Readiness)>>,
    /// Requests that wait for a thread; without capacity unless the lane buffers or other lanes redispatch to
    /// it.
    pub(crate) queue: Arc<RequestQueue<H>>,
    /// Requests that wait for [`Self::release_held`].
    pub(crate) held: HeldRequests<H>,
    pub(crate) tasks: Tasks,
    pub(crate) self_waits: SelfWaits,
    pub(crate) pending_work: PendingWork,
    pub(crate) overhead: OverheadBudget<H>,
}

/// Other lanes of the pool of a lane.
pub(crate) struct PoolOfLanes<H: RequestHandler> {
    /// Set if its lanes borrow threads.
    pub(crate) borrowing: OnceLock<Borrowing<H>>,
    /// All its lanes, for requests that belong to another one of them.
    siblings: OnceLock<Box<[Weak<Lane<H>>]>>,
}

impl<H: RequestHandler> Default for PoolOfLanes<H> {
    fn default() -> Self {
        Self {
            borrowing: OnceLock::new(),
            siblings: OnceLock::new(),
        }
    }
}

impl<H: RequestHandler> Lane<H> {
    /// Creates a lane that does not listen yet and has no threads yet.
    ///
    /// # Errors
    /// [`LaneError::Os`] if the system refuses a descriptor.
    pub fn new(config: LaneConfig, data: H::LaneData) -> Result<Self, LaneError> {
        let events = LaneEvents::new()?;
        let overhead = OverheadBudget::new(&config.limits)?;
        events.add_timer(overhead.timer(), DEFERRED)?;
        let queue = RequestQueue::new()?;
        if let LaneMode::Buffered(limits) = config.mode {
            queue.provide(limits);
        }
        Ok(Self {
            mode: Mode::new(config.mode, config.threads.threads),
            threads: LaneThreads::new(config.threads.clone()),
            accepting: Accepting::new(&config.limits),
            overhead,
            pool: PoolOfLanes::default(),
            stopping: AtomicBool::new(false),
            connections: Arc::new(ConnectionTable::new(&events.poller, &config.limits)),
            events,
            handed_over: PiMutex::new(VecDeque::with_capacity(16)),
            queue: Arc::new(queue),
            held: HeldRequests::default(),
            tasks: Tasks::default(),
            self_waits: SelfWaits::new(&config.name),
            pending_work: PendingWork::default(),
            context: LaneContext::new(config, data),
        })
    }

    /// Makes the lanes of a pool known to each other. Called before their threads start.
    pub fn join_pool(lanes: &[Arc<Self>]) {
        for lane in lanes {
            // Each lane is set once.
            let _ = lane.pool.siblings.set(lanes.iter().map(Arc::downgrade).collect());
        }
    }

    /// Visits the lanes of the same pool.
    pub(crate) fn for_each_sibling(&self, visit: impl FnMut(Arc<Self>)) {
        let lanes = self.pool.siblings.get().into_iter().flatten();
        lanes.filter_map(Weak::upgrade).for_each(visit);
    }

    /// Returns the lane of the same pool with this priority.
    pub(crate) fn sibling(&self, priority: Priority) -> Option<Arc<Self>> {
        let mut lanes = self.pool.siblings.get()?.iter().filter_map(Weak::upgrade);
        lanes.find(|lane| lane.priority() == Some(priority))
    }

    /// Opens the acceptors, unless they are open. Its threads may be waiting already.
    ///
    /// # Errors
    /// [`LaneError::Listen`] and [`LaneError::Address`] if an endpoint cannot be opened.
    pub fn listen(&self, endpoints: &[LaneEndpoint]) -> Result<(), LaneError> {
        if self.accepting.acceptors.are_open() {
            return Ok(());
        }
        let acceptors: Result<Vec<_>, _> = endpoints.iter().map(LaneEndpoint::open).collect();
        let acceptors = self.accepting.acceptors.open(acceptors?);
        for ((endpoint, acceptor), token) in endpoints.iter().zip(acceptors).zip(FIRST_ACCEPTOR..) {
            acceptor
                .listener
                .watch(&self.events.poller, token)
                .map_err(|error| endpoint.explain(error))?;
        }
        let descriptors = acceptors.iter().map(Acceptor::descriptors_per_connection);
        let descriptors = descriptors.max().unwrap_or(0);
        self.accepting
            .share
            .get_or_init(|| DescriptorShare::claim(self.limits().accepting.connections, descriptors));
        Ok(())
    }

    /// Acceptors of the lane; none before it listens.
    pub fn acceptors(&self) -> &Arc<Acceptors> {
        &self.accepting.acceptors
    }

    /// Ensures that requests can wait in the queue, within these limits.
    pub fn provide_queue(&self, limits: QueueLimits) {
        self.queue.provide(limits);
    }

    /// Stops the lane: its threads end after their current upcalls.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        // From now on no thread begins to wait for a peer that does not read.
        self.connections.unblock_dedicated();
        H::end_deferred(&self.data);
        // Level-triggered and never drained from now on: every thread sees it.
        let _ = self.events.doorbell.ring();
        self.queue.close();
        self.end_shared_calls();
        if let Mode::Blocking(threads) = &self.mode {
            threads.stop();
            self.held.announce();
            self.connections.end_dedicated();
        }
        if self.threads.occupancy.threads() == 0 {
            self.close_all();
        }
    }

    /// Waits for its threads to end. Must not be called by one of them.
    pub fn join(&self) {
        self.connections
            .end_dedicated_writes(self.limits().message_completion);
        self.threads.join_all();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Returns whether its threads block in `read`, each for one connection.
    pub fn is_blocking(&self) -> bool {
        self.mode.is_blocking()
    }

    /// Returns whether all of its threads wait in its poller.
    pub fn is_polled(&self) -> bool {
        matches!(self.mode, Mode::Polled)
    }

    /// Returns whether another thread might take what this thread leaves in the poller.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.mode, Mode::Polled) && (self.threads.occupancy.threads() > 1 || self.has_helpers())
    }

    /// Returns whether threads of other lanes may serve its requests.
    pub(crate) fn has_helpers(&self) -> bool {
        self.pool.borrowing.get().is_some_and(Borrowing::has_helpers)
    }

    /// Returns the number of its threads that only read.
    pub(crate) fn io_threads(&self) -> usize {
        usize::from(self.mode.is_buffered())
    }

    /// Returns whether the lane cannot have more than this many threads for upcalls, lent and dynamic ones
    /// included.
    pub(crate) fn has_no_more_than(&self, threads: usize) -> bool {
        !self.has_helpers() && threads >= self.threads.most_threads() - self.io_threads()
    }

    /// Counters of the lane and its present state.
    pub fn statistics(&self) -> LaneStatistics {
        let counted = self.counters.read();
        let (open, shared) = self.connections.counts();
        LaneStatistics {
            connections: ConnectionStatistics {
                open,
                shared,
                memory: self.connections.memory.kept(),
                ..counted.connections
            },
            threads: ThreadStatistics {
                present: self.threads.occupancy.threads(),
                busy: self.threads.occupancy.busy().saturating_sub(self.io_threads()),
                stack: self.threads.stack_use(),
                ..counted.threads
            },
            queue: self.queue.statistics(),
            ..counted
        }
    }

    pub(crate) fn close(&self, connection: &Arc<Connection<H>>) {
        self.connections.close(connection);
    }

    /// Accepts no further connection, notifies the peers that nothing outstanding will be handled, and
    /// closes.
    pub(crate) fn close_all(&self) {
        // They may have been handled. A thread may be here before the one that stops the lane.
        H::end_deferred(&self.data);
        self.acceptors()
            .iter()
            .for_each(|acceptor| acceptor.listener.shutdown());
        self.connections.close_all();
        self.overhead.clear();
        self.queue.clear();
        self.held.clear();
        self.clear_tasks();
    }

    /// Gives a connection with something to read to another thread of the lane. It waits once, however often
    /// it is given: what a peer sends meanwhile gains it no second turn.
    pub(crate) fn hand_over(&self, connection: &Arc<Connection<H>>, readiness: Readiness) {
        if connection.enqueue(readiness) {
            let mut queue = self.handed_over.lock();
            queue.push_back((Arc::clone(connection), readiness));
            drop(queue);
            let _ = self.events.doorbell.ring();
        }
    }

    /// Takes one connection that was handed over, and one request that another lane has redispatched; further
    /// ones are left to other threads.
    #[expect(clippy::type_complexity, reason = "two independent options")]
    pub(crate) fn take_over(
        &self,
        buffers: &mut WorkerBuffers<H>,
    ) -> (Option<(Arc<Connection<H>>, Readiness)>, Option<QueuedRequest<H>>) {
        // In this order: a thread that hands over from now on rings again.
        let _ = self.events.doorbell.drain();
        let mut handed_over = self.handed_over.lock();
        let connection = handed_over.pop_front();
        let more = !handed_over.is_empty();
        drop(handed_over);
        if let Some((connection, _)) = &connection {
            connection.state.clear_handed_over();
        }
        let (request, more_requests) = if self.mode.is_buffered() {
            // The threads that wait for the queue take it.
            (None, false)
        } else {
            self.queue.try_take(buffers)
        };
        if more || more_requests {
            let _ = self.events.doorbell.ring();
        }
        (connection, request)
    }

    /// Wakes a thread of the lane that waits in the poller.
    pub(crate) fn ring(&self) {
        let _ = self.events.doorbell.ring();
    }
}

impl<H: RequestHandler> Deref for Lane<H> {
    type Target = LaneContext<H::LaneData>;

    fn deref(&self) -> &Self::Target {
        &self.context
    }
}
