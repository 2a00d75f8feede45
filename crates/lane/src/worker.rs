//! Step 5 of a call: a thread of a lane waits in the poller, and reads and handles the messages of the
//! connection that is ready, one after the other.

use std::{
    io,
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use punctual_flight::{self as flight, Record, record};
use punctual_giop::{
    MessageHeader, Version,
    connection::{Event, ReceivedReply, Refused},
    write_too_large,
};
use punctual_os::{PiMutexGuard, Scheduling, poller, scheduling};

use crate::{
    CallEnd, Lane, NotExecuted, ServingSlot,
    connections::{
        connection::{Connection, Inbound, Readiness, Received},
        role::{Calls, Role},
    },
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
        work(self, handler, Source::Poller, None);
    }

    /// Removes one thread of the lane; the last one closes the lane.
    pub(crate) fn leave(&self) {
        if self.threads.occupancy.leave() {
            self.close_all();
            H::lane_ended(&self.data);
        }
    }
}

/// Source of the work of a lane thread.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// Events of the lane's poller.
    Poller,
    /// The requests that the I/O thread of a buffering lane has queued.
    Queue,
}

/// Serves a lane on one of its own threads until the lane is stopped, or the thread's lifetime is over.
pub(crate) fn work<H: ServingSlot>(
    lane: &Arc<Lane<H>>,
    handler: &Arc<H>,
    source: Source,
    lifetime: Option<RemainingLifetime>,
) {
    flight::prepare_thread();
    let ended = {
        let _serving = serving_thread::enter(lane, lane, handler);
        let _entered = H::enter_lane(&lane.data);
        Worker::new(lane, lane, handler, WorkerBuffers::new(handler)).run(source, lifetime)
    };
    if ended == Ended::Stopped {
        lane.leave();
    }
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

/// Result of one turn of a thread's loop.
pub(crate) enum Turn {
    /// There was work, which it has done.
    Served,
    /// There was none in time.
    Idle,
    /// Nothing: the lane is stopping.
    Stopped,
}

/// Reason why a thread has stopped serving a lane.
#[derive(Eq, PartialEq)]
enum Ended {
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

    fn run(&mut self, source: Source, mut lifetime: Option<RemainingLifetime>) -> Ended {
        loop {
            let mut timeout = None;
            if let Some(lifetime) = &mut lifetime {
                if self.lane.threads.retire(lifetime) {
                    return Ended::Retired;
                }
                timeout = lifetime.remaining();
            }
            let turn = match source {
                Source::Poller => self.serve_poller(timeout),
                Source::Queue => self.serve_queue(timeout),
            };
            match (turn, &mut lifetime) {
                (Turn::Served, Some(lifetime)) => lifetime.renew(),
                (Turn::Served | Turn::Idle, _) => {}
                (Turn::Stopped, _) => return Ended::Stopped,
            }
        }
    }

    /// Waits for an event within the timeout, unless the lane has something to check before, and handles it.
    fn serve_poller(&mut self, timeout: Option<Duration>) -> Turn {
        if self.lane.is_stopping() {
            return Turn::Stopped;
        }
        match self.step(self.lane.next_check().into_iter().chain(timeout).min()) {
            Ok(true) => Turn::Served,
            Ok(false) => Turn::Idle,
            // It fails only for a bad descriptor, which the poller of a lane cannot be.
            Err(_) => Turn::Stopped,
        }
    }

    /// Waits for an event within the timeout and handles it. `false`: there was none.
    #[inline(always)]
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
    pub(crate) fn handle_event(&mut self, event: poller::Event) {
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

/// Messages of one connection that a thread serves before it checks whether others wait.
pub(crate) const MAX_CONSECUTIVE: usize = 16;

/// Whether the thread continues with the connection.
type Flow = ControlFlow<AfterServing>;

/// Octets after which the thread checks whether others wait although a message is not complete.
const LARGE_PART: usize = 32 << 10;

/// Next state of the connection when the thread stops serving it.
enum AfterServing {
    Keep,
    Close,
    /// It continues behind the others that wait.
    Yield,
}

impl<H: ServingSlot> Worker<'_, H> {
    /// Serves the messages of a connection until none is left, another thread has taken over, or others have
    /// waited long enough. `false`: it has been closed.
    pub(crate) fn serve(&mut self, connection: &Arc<Connection<H>>, readiness: Readiness) -> bool {
        if connection.state.is_unserved() {
            return self.serve_within_budget(connection, readiness);
        }
        self.serve_turn(connection, readiness)
    }

    /// Serves a connection regardless of its earlier cost.
    pub(crate) fn serve_turn(&mut self, connection: &Arc<Connection<H>>, readiness: Readiness) -> bool {
        let open = self.serve_messages(connection, readiness);
        // Another thread may have closed it meanwhile.
        !connection.end_if_closed() && open
    }

    fn serve_messages(&mut self, connection: &Arc<Connection<H>>, mut readiness: Readiness) -> bool {
        // A lent thread serves one request.
        let at_most = if self.is_lent() { 1 } else { MAX_CONSECUTIVE };
        for _ in 0..at_most {
            match self.serve_next(connection, &mut readiness) {
                Flow::Continue(()) => {}
                Flow::Break(AfterServing::Keep) => return true,
                Flow::Break(AfterServing::Yield) => break,
                Flow::Break(AfterServing::Close) => {
                    self.lane.close(connection);
                    return false;
                }
            }
        }
        // A peer that sends without a pause must not keep this thread from the others.
        self.lane.hand_over(connection, readiness);
        true
    }

    fn serve_next(&mut self, connection: &Arc<Connection<H>>, readiness: &mut Readiness) -> Flow {
        match connection.flush() {
            Ok(true) => {}
            // The server does not read requests: its replies are still wanted.
            Ok(false) if matches!(connection.role, Role::Client(_)) => {}
            Ok(false) if connection.accepts_more() => self.lane.watch_congestion(),
            // The peer does not read its replies: its requests can wait, too.
            Ok(false) => {
                self.lane.watch_congestion();
                return Flow::Break(AfterServing::Keep);
            }
            Err(_) => match &connection.role {
                // The server may have sent replies before it closed the connection.
                Role::Client(opened) => self.lane.note_write_failed(connection, &opened.calls),
                _ => return Flow::Break(AfterServing::Close),
            },
        }
        let Some(mut inbound) = connection.claim(*readiness) else {
            return Flow::Break(AfterServing::Keep);
        };
        // The connection has been closed, or dedicated to a thread, since this one was woken for it.
        if connection.state.is_closed_or_dedicated() {
            return Flow::Break(AfterServing::Keep);
        }
        if readiness.readable {
            inbound.drained = false;
        }
        let received = inbound.receive(connection.stream());
        if inbound.protocol.needs_watching() {
            connection.memory.set_received(inbound.protocol.held());
            let pending = &self.lane.pending_work;
            pending.incomplete_messages.store(true, Ordering::SeqCst);
        }
        match received {
            Received::Event(event) => self.serve_event(connection, inbound, event, readiness),
            Received::Part(octets) => {
                self.note_part(connection, inbound);
                connection.add_missed(readiness);
                if octets < LARGE_PART {
                    Flow::Continue(())
                } else {
                    Flow::Break(AfterServing::Yield)
                }
            }
            Received::Nothing => {
                // Waking a lane for nothing costs it as much as a part of a message does.
                self.note_part(connection, inbound);
                self.after_last_message(connection, readiness)
            }
            Received::EndOfStream => {
                // Replies on which other threads are working are still to be sent; then the last of them
                // closes.
                let idle = connection.state.peer_closed();
                drop(inbound);
                Flow::Break(if idle {
                    AfterServing::Close
                } else {
                    AfterServing::Keep
                })
            }
            Received::Refused(refused) => {
                drop(inbound);
                if let Some(calls) = connection.role.calls() {
                    calls.replies.end(refused.into());
                }
                self.reject_received(connection, &refused);
                Flow::Break(AfterServing::Close)
            }
        }
    }

    fn serve_event(
        &mut self,
        connection: &Arc<Connection<H>>,
        inbound: PiMutexGuard<'_, Inbound>,
        event: Event,
        readiness: &mut Readiness,
    ) -> Flow {
        match event {
            Event::Request(header) | Event::LocateRequest(header) => {
                self.serve_request(connection, inbound, &header, readiness)
            }
            Event::Reply(reply) => match connection.role.calls() {
                Some(calls) => self.take_reply(connection, calls, inbound, reply, readiness),
                // The state machine refuses replies to servers.
                None => Flow::Break(AfterServing::Close),
            },
            Event::BidirectionalOffer => {
                self.consider_offer(connection, inbound);
                connection.add_missed(readiness);
                Flow::Continue(())
            }
            Event::Cancelled(request_id) => {
                drop(inbound);
                let cancelled = self.lane.cancel(connection, request_id);
                // One that is kept counts itself out.
                let _ = cancelled || self.lane.cancel_deferred(connection, request_id);
                let usable = self
                    .lane
                    .charge(connection, NotExecuted::Elsewhere, cancelled, || true);
                if cancelled && connection.state.end_request() || !usable {
                    return Flow::Break(AfterServing::Close);
                }
                connection.add_missed(readiness);
                Flow::Continue(())
            }
            Event::Progress => {
                self.note_part(connection, inbound);
                connection.add_missed(readiness);
                Flow::Continue(())
            }
            Event::CloseConnection | Event::MessageError => {
                if let Some(calls) = connection.role.calls() {
                    calls.replies.end(match event {
                        Event::MessageError => CallEnd::Rejected,
                        _ => CallEnd::InOrder,
                    });
                }
                Flow::Break(AfterServing::Close)
            }
        }
    }

    fn serve_request(
        &mut self,
        connection: &Arc<Connection<H>>,
        mut inbound: PiMutexGuard<'_, Inbound>,
        header: &MessageHeader,
        readiness: &mut Readiness,
    ) -> Flow {
        let code_sets = inbound.protocol.code_sets();
        inbound.begin_request();
        let buffers = &mut self.buffers;
        inbound
            .protocol
            .take(&mut buffers.message, &mut buffers.fragment_starts);
        let more = readiness.peer_closed || inbound.has_more();
        connection.state.begin_request();
        drop(inbound);
        let others = self.lane.is_shared();
        let mut rest = Readiness {
            readable: false,
            ..*readiness
        };
        // Threads that were woken for the next request meanwhile rely on this one, which may serve for long.
        connection.add_missed(&mut rest);
        let more = more || rest.readable;
        if more && others {
            self.lane.hand_over(connection, rest);
        }
        let usable = {
            // If its upcall waits for a reply, the thread serves the rest meanwhile.
            let _pending = (more && !others).then(|| serving_thread::set_pending_input(connection, rest));
            self.handle(connection, header, code_sets)
        };
        let last = connection.state.end_request();
        if !usable || last {
            return Flow::Break(AfterServing::Close);
        }
        if connection.state.is_congested() && !connection.accepts_more() || more && others {
            return Flow::Break(AfterServing::Keep);
        }
        readiness.peer_closed |= rest.peer_closed;
        let flow = continue_if_ready(connection, more, readiness);
        readiness.readable |= rest.readable;
        flow
    }

    /// Counts part of a message as work without service, and releases the connection.
    #[cold]
    pub(crate) fn note_part(&self, connection: &Connection<H>, mut inbound: PiMutexGuard<'_, Inbound>) {
        if inbound.is_in_parts() {
            connection.state.set_unserved();
        }
    }

    fn take_reply(
        &mut self,
        connection: &Arc<Connection<H>>,
        calls: &Calls<H>,
        mut inbound: PiMutexGuard<'_, Inbound>,
        reply: ReceivedReply,
        readiness: &mut Readiness,
    ) -> Flow {
        // While it is claimed: the end of the stream must not overtake a reply.
        let buffers = &mut self.buffers;
        inbound
            .protocol
            .take(&mut buffers.message, &mut buffers.fragment_starts);
        let usable = self.deliver_reply(connection, calls, reply);
        let more = readiness.peer_closed || inbound.has_more();
        inbound.used |= usable;
        drop(inbound);
        self.served = usable;
        if !usable {
            return Flow::Break(AfterServing::Close);
        }
        continue_if_ready(connection, more, readiness)
    }

    fn after_last_message(&mut self, connection: &Connection<H>, readiness: &mut Readiness) -> Flow {
        if readiness.peer_closed {
            // Read once more, to the end of the stream.
            *readiness = Readiness {
                peer_closed: false,
                readable: true,
            };
            return Flow::Continue(());
        }
        readiness.readable = false;
        connection.add_missed(readiness);
        if readiness.readable {
            return Flow::Continue(());
        }
        let calls = connection.role.calls();
        Flow::Break(if calls.is_some_and(|calls| calls.has_write_failed()) {
            AfterServing::Close
        } else {
            AfterServing::Keep
        })
    }

    /// Answers a request that is too large, and sends CloseConnection, so that the client sends its next
    /// request over another connection. MessageError for everything else, and if the lane still works on an
    /// earlier request, which CloseConnection would declare as not executed.
    #[cold]
    pub(crate) fn reject_received(&mut self, connection: &Connection<H>, refused: &Refused) {
        let Refused {
            version, request_id, ..
        } = *refused;
        let reply = &mut self.buffers.reply;
        let answered = request_id.is_some_and(|request_id| {
            write_too_large(reply, version, request_id).is_ok() && connection.send(reply, version).is_ok()
        });
        if answered && !connection.state.is_in_service() {
            connection.send_close();
            self.lane.counters.connections.protocol_errors.add_one();
        } else {
            self.reject(connection, version);
        }
    }

    /// Sends MessageError; the connection is of no further use then, hence `false`.
    pub(crate) fn reject(&self, connection: &Connection<H>, version: Version) -> bool {
        self.lane.refuse(connection, version);
        false
    }
}

fn continue_if_ready<H: ServingSlot>(
    connection: &Connection<H>,
    more: bool,
    readiness: &mut Readiness,
) -> Flow {
    readiness.readable = readiness.peer_closed;
    connection.add_missed(readiness);
    if more || readiness.readable {
        Flow::Continue(())
    } else {
        Flow::Break(AfterServing::Keep)
    }
}
