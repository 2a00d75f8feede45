//! Lanes: threads of one priority with everything they need to receive and serve requests, shared with no other lane.

mod acceptor;
mod connection;
mod inbound;
mod worker;

use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_os::{Doorbell, Interest, PiMutex, Poller, Scheduling, Trigger};
use punctual_transport::Stream;
use punctual_types::Priority;
use slab::Slab;

use self::connection::{Connection, Progress};
pub(crate) use self::{
    acceptor::{Acceptor, ListenAt},
    worker::work,
};
use crate::{Limits, OrbError, accepted_priorities::Origin, client::ConnectionCache};

/// Why a connection is looked at.
#[derive(Clone, Copy)]
struct Wake {
    /// The peer has sent its last octet: read until the end of the stream shows.
    ended: bool,
    /// The socket may have something.
    look: bool,
}

/// An acceptor, a waiting place and the connections of one lane. The threads are those that [`work`] on it.
pub(crate) struct Lane {
    pub(crate) name: String,
    /// Which pool it belongs to; 0 is the ORB's default one.
    pub(crate) pool: u32,
    /// `None`: the one lane of a pool without lanes.
    pub(crate) priority: Option<Priority>,
    /// What its threads run as, and go back to after an upcall at another priority. `None`: threads of the user's own.
    pub(crate) scheduling: Option<Scheduling>,
    /// How many threads work on it.
    threads: AtomicUsize,
    /// One for each place it listens at; all of them have the token `ACCEPTOR`.
    acceptors: OnceLock<Vec<Acceptor>>,
    poller: Poller,
    bell: Doorbell,
    stopping: AtomicBool,
    connections: PiMutex<Slab<Arc<Connection>>>,
    /// Connections with a message that another thread of the lane should take.
    ready: PiMutex<VecDeque<(Arc<Connection>, Wake)>>,
    /// A connection may be in the middle of a message: then somebody looks after its time-out.
    incomplete: AtomicBool,
    /// The acceptor failed for want of descriptors: try again.
    accept_again: AtomicBool,
    limits: Limits,
    counters: Counters,
    /// The connections of calls that its threads make.
    calls: Arc<ConnectionCache>,
}

#[derive(Default)]
struct Counters {
    requests: AtomicU64,
    misdirected: AtomicU64,
    refused_priorities: AtomicU64,
    refused_connections: AtomicU64,
    protocol_errors: AtomicU64,
}

/// What a lane has seen since it was made.
///
/// ```
/// use punctual_orb::{LaneStatistics, Orb};
/// use punctual_types::Priority;
///
/// let orb = Orb::builder().build()?;
/// let pool = orb.threadpool().lane(Priority::MIN, 1).lane(Priority::MAX, 1).build()?;
/// for (priority, LaneStatistics { requests, misdirected, .. }) in pool.statistics() {
///     assert_eq!((requests, misdirected), (0, 0), "nobody has called lane {priority:?}");
/// }
/// # Ok::<(), punctual_orb::OrbError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct LaneStatistics {
    /// Requests received, those included that no servant got: refused, forwarded, or for objects that do not exist.
    pub requests: u64,
    /// Requests whose propagated priority belongs to another lane: the client cannot read our endpoints, or forges.
    pub misdirected: u64,
    /// Requests refused for a priority above the highest accepted one.
    pub refused_priorities: u64,
    /// Connections closed because the lane had its limit of them.
    pub refused_connections: u64,
    /// Connections closed because what came over them was not GIOP, or too large, or never complete.
    pub protocol_errors: u64,
    /// Connections now open.
    pub connections: usize,
}

const ACCEPTOR: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;

impl Lane {
    pub(crate) fn new(
        name: String,
        pool: u32,
        priority: Option<Priority>,
        scheduling: Option<Scheduling>,
        limits: &Limits,
    ) -> Result<Self, OrbError> {
        let poller = Poller::new()?;
        let bell = Doorbell::new()?;
        poller.add(&bell, BELL, Interest::READ, Trigger::Level)?;
        Ok(Self {
            name,
            pool,
            priority,
            scheduling,
            threads: AtomicUsize::new(0),
            acceptors: OnceLock::new(),
            poller,
            bell,
            stopping: AtomicBool::new(false),
            connections: PiMutex::new(Slab::with_capacity(16)),
            ready: PiMutex::new(VecDeque::with_capacity(16)),
            incomplete: AtomicBool::new(false),
            accept_again: AtomicBool::new(false),
            limits: limits.clone(),
            counters: Counters::default(),
            calls: ConnectionCache::new(limits.max_client_connections),
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
        self.stopping.store(true, Ordering::Release);
        // Level-triggered and never drained from now on: every thread sees it.
        let _ = self.bell.ring();
        if self.threads.load(Ordering::Acquire) == 0 {
            self.close_all();
        }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub(crate) fn count_request(&self) {
        self.counters.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_misdirected(&self) {
        self.counters.misdirected.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_refused_priority(&self) {
        self.counters.refused_priorities.fetch_add(1, Ordering::Relaxed);
    }

    fn count_protocol_error(&self) {
        self.counters.protocol_errors.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn statistics(&self) -> LaneStatistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LaneStatistics {
            requests: read(&self.counters.requests),
            misdirected: read(&self.counters.misdirected),
            refused_priorities: read(&self.counters.refused_priorities),
            refused_connections: read(&self.counters.refused_connections),
            protocol_errors: read(&self.counters.protocol_errors),
            connections: self.connections.lock().len(),
        }
    }

    /// How long a thread may wait before it must look after something; for ever where there is nothing to look after.
    fn patience(&self) -> Option<Duration> {
        if self.accept_again.load(Ordering::Relaxed) {
            return Some(Duration::from_millis(50));
        }
        self.incomplete
            .load(Ordering::Relaxed)
            .then(|| self.inspection_interval())
    }

    /// How often to look for messages that do not become complete, as long as there may be any.
    fn inspection_interval(&self) -> Duration {
        (self.limits.message_completion / 4).max(Duration::from_millis(10))
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
        if connections.len() >= self.limits.max_connections {
            drop(connections);
            self.counters.refused_connections.fetch_add(1, Ordering::Relaxed);
            return connection::refuse(&*stream);
        }
        let entry = connections.vacant_entry();
        let token = entry.key() as u64;
        let origin = Origin {
            peer: stream.peer(),
            highest: acceptor.highest_priority,
        };
        let connection = Connection::new(token, stream, origin, &acceptor.properties, &self.limits);
        let connection = Arc::new(connection);
        let added = self
            .poller
            .add(connection.stream(), token, Interest::READ_WRITE, Trigger::Edge);
        if added.is_ok() {
            entry.insert(connection);
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
            own.then(|| connections.remove(index))
        };
        if removed.is_some() {
            connection.set_closed();
            let _ = self.poller.remove(connection.stream());
            connection.stream().shutdown();
        }
    }

    /// Gives a connection with something to read to another thread of the lane.
    fn hand_over(&self, connection: &Arc<Connection>, wake: Wake) {
        self.ready.lock().push_back((Arc::clone(connection), wake));
        let _ = self.bell.ring();
    }

    /// Takes a connection that was handed over; others are left to other threads.
    fn take_over(&self) -> Option<(Arc<Connection>, Wake)> {
        // In this order: whoever hands over from now on rings again.
        let _ = self.bell.drain();
        let mut ready = self.ready.lock();
        let taken = ready.pop_front();
        let more = !ready.is_empty();
        drop(ready);
        if more {
            let _ = self.bell.ring();
        }
        taken
    }

    /// Closes connections whose peer does not complete what it has begun.
    fn close_incomplete(&self) {
        let Some(late_before) = Instant::now().checked_sub(self.limits.message_completion) else {
            return;
        };
        // Before looking: whoever begins a message from now on sets it again.
        self.incomplete.store(false, Ordering::SeqCst);
        let late = || {
            let connections = self.connections.lock();
            connections
                .iter()
                .find_map(|(_, connection)| match connection.progress(late_before) {
                    Progress::None => None,
                    Progress::Incomplete => {
                        self.incomplete.store(true, Ordering::SeqCst);
                        None
                    }
                    Progress::Late(version) => Some((connection.clone(), version)),
                })
        };
        while let Some((connection, version)) = late() {
            self.count_protocol_error();
            connection.reject(version);
            self.close(&connection);
        }
    }

    /// Accepts nobody any more, tells the peers that nothing outstanding will be handled, and closes.
    fn close_all(&self) {
        self.acceptors()
            .iter()
            .for_each(|acceptor| acceptor.listener.shutdown());
        let connections: Vec<_> = self.connections.lock().drain().collect();
        for connection in connections {
            connection.say_close();
            let _ = self.poller.remove(connection.stream());
            connection.stream().shutdown();
        }
    }
}
