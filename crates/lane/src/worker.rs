//! Step 7 of a call: a thread of a lane waits for events of the poller and handles them.

use std::{
    io,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_flight::{self as flight, Record, record};
use punctual_os::{Scheduling, poller::Event, scheduling};

use crate::{
    Lane, ServingSlot,
    connections::connection::{Connection, Readiness},
    threads::{
        lane_events::{CALL_TIMEOUT, CHORES, DEFERRED, DOORBELL, FIRST_ABOVE, FIRST_ACCEPTOR, LAST_ABOVE},
        lifetime::RemainingLifetime,
        serving_thread,
        worker_buffers::WorkerBuffers,
    },
};

impl<H: ServingSlot> Lane<H> {
    /// Serves the lane on the calling thread, which belongs to the user, until the lane is stopped.
    pub fn work_on_calling_thread(self: &Arc<Self>, handler: &Arc<H>) {
        self.threads.occupancy.join();
        work_until_stopped(self, handler);
    }

    /// Removes one thread of the lane; the last one closes the lane.
    pub(crate) fn leave(&self) {
        if self.threads.occupancy.leave() {
            self.close_all();
            H::lane_ended(&self.data);
        }
    }
}

/// Serves a lane on one of its own threads until the lane is stopped.
pub(crate) fn work_until_stopped<H: ServingSlot>(lane: &Arc<Lane<H>>, handler: &Arc<H>) {
    work(lane, handler, None);
}

/// Serves a lane on one of its own threads until the lane is stopped, or the thread's lifetime is over.
pub(crate) fn work<H: ServingSlot>(
    lane: &Arc<Lane<H>>,
    handler: &Arc<H>,
    lifetime: Option<RemainingLifetime>,
) {
    let ended = as_thread_of(lane, handler, |worker| worker.run(lifetime));
    if ended == Ended::Stopped {
        lane.leave();
    }
}

/// Runs a function as a thread of the lane.
pub(crate) fn as_thread_of<H: ServingSlot, R>(
    lane: &Arc<Lane<H>>,
    handler: &Arc<H>,
    run: impl FnOnce(Worker<'_, H>) -> R,
) -> R {
    flight::prepare_thread();
    let _serving = serving_thread::enter(lane, lane, handler);
    let _entered = H::enter_lane(&lane.data);
    run(Worker::new(lane, lane, handler, WorkerBuffers::new(handler)))
}

/// Thread that serves a lane.
///
/// The poller of a lane is edge-triggered. A read that returns less than requested has drained the stream,
/// so a request costs wait + read + write. One thread at a time reads a connection. Another thread that is
/// woken for the same connection marks it (`Connection::claim`), and the reader checks the mark after it has
/// released the connection, so no wake-up is lost. If several messages arrive at once on a lane of several
/// threads, the reader hands the connection to another thread before its upcall. Before it waits again, a
/// real-time thread yields once to threads of equal priority that were woken earlier (`Worker::give_way`):
/// otherwise a thread that always finds an event keeps the CPU, and the oldest requests are served last.
/// Without this, a pool without lanes starved one of the demo's three clients completely. Writability is
/// waited for only while replies are pending: a Unix socket reports it each time its peer reads.
pub(crate) struct Worker<'l, H: ServingSlot> {
    pub(crate) lane: &'l Arc<Lane<H>>,
    /// Lane that the thread belongs to: another one while the thread is lent.
    pub(crate) home: &'l Arc<Lane<H>>,
    pub(crate) handler: &'l Arc<H>,
    pub(crate) buffers: WorkerBuffers<H>,
    /// A request has been served, or put into a queue, since this was last cleared.
    pub(crate) served: bool,
    /// Connection that was served last.
    last: Option<Arc<Connection<H>>>,
    /// Time of its last check for incomplete messages.
    checked: Instant,
}

/// Reason why a thread has stopped serving a lane.
#[derive(Eq, PartialEq)]
pub(crate) enum Ended {
    /// The lane is stopping.
    Stopped,
    /// The thread is no longer needed and has been removed from the lane.
    Retired,
}

impl<'l, H: ServingSlot> Worker<'l, H> {
    pub(crate) fn new(
        lane: &'l Arc<Lane<H>>,
        home: &'l Arc<Lane<H>>,
        handler: &'l Arc<H>,
        buffers: WorkerBuffers<H>,
    ) -> Self {
        Self {
            lane,
            home,
            handler,
            buffers,
            served: false,
            last: None,
            checked: Instant::now(),
        }
    }

    pub(crate) fn into_buffers(self) -> WorkerBuffers<H> {
        self.buffers
    }

    fn run(mut self, mut lifetime: Option<RemainingLifetime>) -> Ended {
        while !self.lane.is_stopping() {
            let mut timeout = self.lane.next_check();
            if let Some(lifetime) = &mut lifetime {
                if self.lane.threads.retire(lifetime) {
                    return Ended::Retired;
                }
                timeout = timeout.into_iter().chain(lifetime.remaining()).min();
            }
            match (self.step(timeout), &mut lifetime) {
                (Ok(true), Some(lifetime)) => lifetime.renew(),
                (Ok(_), _) => {}
                // It fails only for a bad descriptor, which the poller of a lane cannot be.
                (Err(_), _) => return Ended::Stopped,
            }
        }
        Ended::Stopped
    }

    /// Waits for an event within the timeout and handles it. `false`: there was none.
    pub(crate) fn step(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        // One event at a time: what this thread does not fetch, another thread of the lane can.
        let event = self.lane.events.poller.wait_one(timeout)?;
        if let Some(event) = event {
            self.handle_event(event);
        }
        self.do_housekeeping();
        Ok(event.is_some())
    }

    /// Does the work that is due although no descriptor is ready.
    pub(crate) fn do_housekeeping(&mut self) {
        let pending = &self.lane.pending_work;
        let unfinished = pending.unfinished_search.load(Ordering::Relaxed);
        if unfinished || pending.incomplete_messages.load(Ordering::Relaxed) {
            self.watch_connections(unfinished);
        }
        self.lane.expire_calls();
    }

    /// Watches the memory of connections, and the age of incomplete messages and unread replies.
    #[cold]
    fn watch_connections(&mut self, unfinished: bool) {
        if self.lane.connections.memory.is_exceeded() {
            self.lane.relieve_memory();
        }
        if unfinished || self.checked.elapsed() >= self.lane.check_interval() {
            self.lane.close_incomplete();
            self.checked = Instant::now();
        }
    }

    /// Handles an event of the lane's poller.
    pub(crate) fn handle_event(&mut self, event: Event) {
        record(|| Record::new(flight::Event::Woken).detail(event.token()));
        match event.token() {
            CHORES => self.lane.do_chores(),
            DOORBELL => self.answer_doorbell(),
            // As after each event, calls whose timeouts have passed are ended next.
            CALL_TIMEOUT => {}
            DEFERRED => self.serve_deferred(),
            token @ LAST_ABOVE..=FIRST_ABOVE => self.lane.help_above(self.home, token, self.handler),
            token @ FIRST_ACCEPTOR.. => self.lane.accept(token),
            token => {
                if let Some(connection) = self.connection(token) {
                    if event.is_error() && connection.state.is_unserved() {
                        // The peer has gone and awaits no reply: the connection does not wait for its turn.
                        return self.lane.close(&connection);
                    }
                    let peer_closed = event.is_peer_closed() || event.is_error();
                    let readable = true;
                    let open = self.serve(
                        &connection,
                        Readiness {
                            peer_closed,
                            readable,
                        },
                    );
                    // Its descriptors would stay open until the next request.
                    self.last = open.then_some(connection);
                    self.give_way();
                }
            }
        }
    }

    /// Returns whether the thread belongs to another lane.
    pub(crate) fn is_lent(&self) -> bool {
        !Arc::ptr_eq(self.lane, self.home)
    }

    /// Returns the connection of a token: mostly the one served last, without the lock of the lane's table.
    fn connection(&mut self, token: u64) -> Option<Arc<Connection<H>>> {
        let last = self
            .last
            .take()
            .filter(|last| last.token == token && !last.state.is_closed());
        last.or_else(|| self.lane.connections.get(token))
    }

    /// Lets another thread of the lane run first that was woken for an earlier request.
    pub(crate) fn give_way(&self) {
        // If the lane buffers, the other threads serve what was read.
        let realtime = self.lane.scheduling().is_some_and(Scheduling::is_realtime);
        if realtime && self.lane.threads.occupancy.threads() > 1 {
            scheduling::give_way();
        }
    }

    fn answer_doorbell(&mut self) {
        if self.lane.is_stopping() {
            return;
        }
        let (handed_over, queued) = self.lane.take_over(&mut self.buffers);
        if !self.lane.mode.is_buffered() {
            self.run_task();
        }
        // Requests that another lane has redispatched are mostly older.
        if let Some(request) = queued {
            self.serve_queued(request);
        }
        if let Some((connection, readiness)) = handed_over {
            self.serve_enqueued(&connection, readiness);
        }
    }

    /// Serves a connection that has waited for its turn, unless it was closed meanwhile.
    pub(crate) fn serve_enqueued(&mut self, connection: &Arc<Connection<H>>, readiness: Readiness) {
        if !connection.state.is_closed() {
            self.serve(connection, readiness);
        }
    }
}
