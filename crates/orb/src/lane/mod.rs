//! Lanes: threads of one priority with everything they need to receive and serve requests, shared with no other lane.

mod acceptor;
mod blocking;
mod borrowing;
mod buffering;
mod call_deadlines;
mod connection;
mod crew;
mod inbound;
mod inspection;
mod message_store;
mod occupancy;
mod redispatch;
pub(crate) mod replies;
mod request_queue;
mod service_times;
pub(crate) mod serving;
pub(crate) mod shared;
mod statistics;
mod worker;

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use punctual_flight::{Event, Record, record};
use punctual_os::{Doorbell, Interest, Notice, PiMutex, Poller, Scheduling, Trigger};
use punctual_transport::Stream;
use punctual_types::Priority;
use slab::Slab;

pub use self::statistics::LaneStatistics;
pub(crate) use self::{
    acceptor::{Acceptor, ListenAt},
    borrowing::let_borrow,
    crew::{CrewPlan, start},
    service_times::ServiceTimes,
    worker::work_on_calling_thread,
};
use self::{
    blocking::Blocking,
    borrowing::Borrowing,
    call_deadlines::CallDeadlines,
    connection::Connection,
    crew::Crew,
    replies::End,
    request_queue::{Queued, RequestQueue},
    shared::SharedConnections,
    statistics::Counters,
    worker::Desk,
};
use crate::{
    ExpiredRequests, Limits, OrbError, QueueLimits, accepted_priorities::Origin, bound_band::BoundBand,
    client::ConnectionCache, notice, open_by_band::OpenByBand, orb_core::OrbCore,
};

/// Why a connection is looked at.
#[derive(Clone, Copy)]
struct Wake {
    /// The peer has sent its last octet: read until the end of the stream shows.
    ended: bool,
    /// The socket may have something.
    look: bool,
}

/// An acceptor, a waiting place, the connections and the threads of one lane.
///
/// Its threads are leader and followers: of those that wait, the kernel wakes one for one event, and while that thread reads and
/// serves, the next one is the leader. Nobody hands a token on, which would cost each request a wake-up more.
pub(crate) struct Lane {
    pub(crate) name: String,
    /// Which pool it belongs to; 0 is the ORB's default one.
    pub(crate) pool: u32,
    /// `None`: the one lane of a pool without lanes.
    pub(crate) priority: Option<Priority>,
    /// What its threads run as, and go back to after an upcall at another priority. `None`: threads of the user's own.
    pub(crate) scheduling: Option<Scheduling>,
    crew: Crew,
    /// One for each place it listens at; all of them have the token `ACCEPTOR`.
    acceptors: OnceLock<Vec<Acceptor>>,
    poller: Arc<Poller>,
    /// Set where its pool lets lanes borrow.
    borrowing: OnceLock<Borrowing>,
    /// For a lane whose threads block in `read`.
    blocking: Option<Blocking>,
    bell: Doorbell,
    stopping: AtomicBool,
    connections: PiMutex<Slab<Arc<Connection>>>,
    /// How many there are, for whoever only looks.
    open: AtomicUsize,
    pub(crate) by_band: Arc<OpenByBand>,
    /// Connections with a message that another thread of the lane should take.
    ready: PiMutex<VecDeque<(Arc<Connection>, Wake)>>,
    /// Requests that wait for a thread; without room unless it buffers or others hand requests on.
    queue: Arc<RequestQueue>,
    /// Its one reading thread only fills the queue, within these limits.
    pub(crate) buffering: Option<QueueLimits>,
    pub(crate) expired_requests: ExpiredRequests,
    /// Threads that block in calls to this very lane.
    waiting_for_itself: AtomicUsize,
    deadlock: Notice,
    /// A connection may be in the middle of a message: then somebody looks after its time-out.
    incomplete: AtomicBool,
    /// When idle connections were last looked for.
    idle_inspected: PiMutex<Instant>,
    /// The acceptor failed for want of descriptors: try again.
    accept_again: AtomicBool,
    limits: Limits,
    counters: Counters,
    /// Where the ORB is inspected.
    pub(crate) service_times: Option<ServiceTimes>,
    /// The connections of calls that its threads make.
    pub(crate) calls: Arc<ConnectionCache>,
    /// Those that callers share, in the waiting place.
    shared: SharedConnections,
    /// Of asynchronous calls over them.
    call_deadlines: CallDeadlines,
    /// How many of `connections` this side has opened.
    opened: AtomicUsize,
    /// The priority at which its threads wait, and read.
    pub(crate) waits_at: Priority,
}

const ACCEPTOR: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;
const CALL_DEADLINE: u64 = u64::MAX - 2;
/// Lanes above that ask for help, downwards from here.
const FIRST_ABOVE: u64 = u64::MAX - 3;
/// Below it are connections.
const LAST_ABOVE: u64 = u64::MAX - 16;

impl Lane {
    pub(crate) fn new(
        name: String,
        pool: u32,
        priority: Option<Priority>,
        crew: CrewPlan,
        limits: &Limits,
    ) -> Result<Self, OrbError> {
        let poller = Arc::new(Poller::new()?);
        let crew = Crew::new(crew);
        let bell = Doorbell::new()?;
        poller.add(&bell, BELL, Interest::READ, Trigger::Level)?;
        let call_deadlines = CallDeadlines::new()?;
        poller.add(
            call_deadlines.timer(),
            CALL_DEADLINE,
            Interest::READ,
            Trigger::Edge,
        )?;
        Ok(Self {
            deadlock: notice::deadlock(&name),
            name,
            pool,
            priority,
            scheduling: crew.scheduling(),
            blocking: crew.is_blocking().then(|| Blocking::new(crew.planned())),
            crew,
            acceptors: OnceLock::new(),
            poller,
            borrowing: OnceLock::new(),
            bell,
            stopping: AtomicBool::new(false),
            connections: PiMutex::new(Slab::with_capacity(16)),
            open: AtomicUsize::new(0),
            by_band: Arc::default(),
            ready: PiMutex::new(VecDeque::with_capacity(16)),
            queue: Arc::new(RequestQueue::new()?),
            buffering: None,
            expired_requests: ExpiredRequests::Serve,
            waiting_for_itself: AtomicUsize::new(0),
            incomplete: AtomicBool::new(false),
            idle_inspected: PiMutex::new(Instant::now()),
            accept_again: AtomicBool::new(false),
            limits: limits.clone(),
            counters: Counters::default(),
            service_times: None,
            calls: ConnectionCache::new(limits.max_client_connections),
            shared: SharedConnections::default(),
            call_deadlines,
            opened: AtomicUsize::new(0),
            waits_at: Priority::MIN,
        })
    }

    /// Opens the acceptors, unless they are open. Its threads may be waiting already.
    pub(crate) fn listen(&self, places: &[ListenAt]) -> Result<(), OrbError> {
        if self.acceptors.get().is_some() {
            return Ok(());
        }
        let acceptors: Result<Vec<_>, _> = places.iter().map(ListenAt::open).collect();
        let acceptors = acceptors?;
        let acceptors = self.acceptors.get_or_init(|| acceptors);
        for (place, acceptor) in places.iter().zip(acceptors) {
            // Edge-triggered: one thread wakes for one connection.
            self.poller
                .add(acceptor.listener.as_fd(), ACCEPTOR, Interest::READ, Trigger::Edge)
                .map_err(|error| place.explain(error))?;
        }
        Ok(())
    }

    /// Where clients reach it; nothing before it listens.
    pub(crate) fn acceptors(&self) -> &[Acceptor] {
        self.acceptors.get().map_or(&[], Vec::as_slice)
    }

    /// Lets its threads end after the upcalls they are in.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        // Level-triggered and never drained from now on: every thread sees it.
        let _ = self.bell.ring();
        self.queue.close();
        self.end_shared_calls();
        if let Some(blocking) = &self.blocking {
            blocking.stop(self);
        }
        if self.crew.occupancy.threads() == 0 {
            self.close_all();
        }
    }

    /// Waits for its threads to end. Not on one of them.
    pub(crate) fn join(&self) {
        if let Some(blocking) = &self.blocking {
            blocking.end_writes(self);
        }
        self.crew.join_all();
    }

    /// Whether another thread might take what this one leaves in the waiting place.
    fn is_shared(&self) -> bool {
        let one_reads = self.blocking.is_some() || self.buffering.is_some();
        !one_reads && (self.crew.occupancy.threads() > 1 || self.has_helpers())
    }

    /// Whether threads of other lanes may come to help.
    fn has_helpers(&self) -> bool {
        self.borrowing.get().is_some_and(Borrowing::has_helpers)
    }

    /// Gets threads from elsewhere: for whoever leaves nobody waiting.
    fn reinforce(self: &Arc<Self>, core: &Arc<OrbCore>) {
        if self.crew.may_grow() {
            crew::grow(self, core);
            if !self.crew.occupancy.is_exhausted() {
                return;
            }
        }
        borrowing::call_for_help(self);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    pub(crate) fn count_misdirected(&self) {
        self.counters.misdirected.add_one();
    }

    pub(crate) fn count_refused_priority(&self) {
        self.counters.refused_priorities.add_one();
    }

    pub(crate) fn count_expired(&self) {
        self.counters.expired.add_one();
    }

    fn count_protocol_error(&self) {
        self.counters.protocol_errors.add_one();
    }

    pub(crate) fn statistics(&self) -> LaneStatistics {
        let shared_connections = self.opened.load(Ordering::Relaxed);
        LaneStatistics {
            connections: self
                .open
                .load(Ordering::Relaxed)
                .saturating_sub(shared_connections),
            shared_connections,
            threads: self.crew.occupancy.threads(),
            busy: self.crew.occupancy.busy().saturating_sub(self.reading_threads()),
            queue: self.queue.statistics(),
            ..self.counters.read()
        }
    }

    /// Accepts whoever waits.
    fn accept(&self) {
        self.accept_again.store(false, Ordering::Relaxed);
        for acceptor in self.acceptors() {
            loop {
                match acceptor.listener.accept() {
                    Ok(Some(stream)) => self.admit(stream, acceptor),
                    Ok(None) => break,
                    Err(_) => {
                        self.accept_again.store(true, Ordering::Relaxed);
                        break;
                    }
                }
            }
        }
    }

    fn admit(&self, stream: Box<dyn Stream>, acceptor: &Acceptor) {
        let mut connections = self.connections.lock();
        if connections.len() >= self.limits.max_connections + self.opened.load(Ordering::Relaxed) {
            drop(connections);
            self.counters.refused_connections.add_one();
            return connection::refuse(&*stream);
        }
        let entry = connections.vacant_entry();
        let token = entry.key() as u64;
        let origin = Origin {
            peer: stream.peer(),
            highest: acceptor.highest_priority,
            band: BoundBand::among(&self.by_band),
        };
        let properties = &acceptor.properties;
        let connection = Connection::new(token, stream, origin, properties, &self.poller, &self.limits);
        let connection = Arc::new(connection);
        let given = self
            .blocking
            .as_ref()
            .is_some_and(|blocking| blocking.give(&connection));
        let wait_for = |stream| self.poller.add(stream, token, Interest::READ, Trigger::Edge);
        if given || wait_for(connection.stream()).is_ok() {
            record(|| Record::new(Event::Accepted).link(connection.link).detail(token));
            connection.origin.band.count();
            entry.insert(connection);
            self.open.store(connections.len(), Ordering::Relaxed);
        }
    }

    fn connection(&self, token: u64) -> Option<Arc<Connection>> {
        let index = usize::try_from(token).ok()?;
        self.connections.lock().get(index).cloned()
    }

    fn close(&self, connection: &Arc<Connection>) {
        let removed = {
            let mut connections = self.connections.lock();
            let index = connection.token as usize;
            // Another thread may have been faster, and the slot may be another connection's by now.
            let own = connections
                .get(index)
                .is_some_and(|found| Arc::ptr_eq(found, connection));
            let removed = own.then(|| connections.remove(index));
            self.open.store(connections.len(), Ordering::Relaxed);
            removed
        };
        if removed.is_some() {
            connection.origin.band.release();
            connection.set_closed();
            record(|| {
                Record::new(Event::Closed)
                    .link(connection.link)
                    .detail(connection.token)
            });
            let _ = self.poller.remove(connection.stream());
            connection.stream().shutdown();
            if let Some(opened) = connection.opened() {
                self.end_opened(connection, opened);
            }
        }
    }

    /// Gives a connection with something to read to another thread of the lane.
    fn hand_over(&self, connection: &Arc<Connection>, wake: Wake) {
        self.ready.lock().push_back((Arc::clone(connection), wake));
        let _ = self.bell.ring();
    }

    /// Takes a connection that was handed over and a request that another lane has handed on; others are left to other
    /// threads.
    fn take_over(&self, desk: &mut Desk) -> (Option<(Arc<Connection>, Wake)>, Option<Queued>) {
        // In this order: whoever hands over from now on rings again.
        let _ = self.bell.drain();
        let mut ready = self.ready.lock();
        let connection = ready.pop_front();
        let more = !ready.is_empty();
        drop(ready);
        let (request, more_requests) = match self.buffering {
            // Its other threads do that.
            Some(_) => (None, false),
            None => self.queue.try_take(desk),
        };
        if more || more_requests {
            let _ = self.bell.ring();
        }
        (connection, request)
    }

    /// Makes room for requests that wait.
    pub(crate) fn provide_queue(&self, limits: QueueLimits) {
        self.queue.provide(limits);
    }

    /// Tells its threads that another lane has put something into the queue.
    fn wake_for_queue(&self) {
        if self.buffering.is_some() {
            borrowing::after_push(self);
        } else {
            let _ = self.bell.ring();
        }
    }

    /// Takes back a request that waits. `false`: it does not.
    fn cancel(&self, connection: &Arc<Connection>, request_id: u32) -> bool {
        self.buffering.is_some() && self.queue.cancel(connection, request_id)
    }

    /// How many of its threads only read.
    fn reading_threads(&self) -> usize {
        usize::from(self.buffering.is_some())
    }

    /// Whether so many threads are all that it could have for upcalls, lent and dynamic ones included.
    fn has_no_more_than(&self, threads: usize) -> bool {
        !self.has_helpers() && threads >= self.crew.most_threads() - self.reading_threads()
    }

    /// Accepts nobody any more, tells the peers that nothing outstanding will be handled, and closes.
    fn close_all(&self) {
        self.acceptors()
            .iter()
            .for_each(|acceptor| acceptor.listener.shutdown());
        let connections: Vec<_> = {
            let mut connections = self.connections.lock();
            self.open.store(0, Ordering::Relaxed);
            connections.drain().collect()
        };
        for connection in connections {
            connection.origin.band.release();
            // A server is told only where nothing is outstanding with it.
            if connection
                .opened()
                .is_none_or(|opened| opened.replies.end(End::Stopped))
            {
                connection.say_close();
            }
            let _ = self.poller.remove(connection.stream());
            connection.stream().shutdown();
            if let Some(opened) = connection.opened() {
                self.end_opened(&connection, opened);
            }
        }
        self.queue.clear();
    }
}
