//! Connections of a lane.

use std::{
    io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use punctual_flight::{Event, Record, record};
use punctual_os::{Interest, PiMutex, Poller, Trigger};
use punctual_transport::{ProtocolProperties, Stream};

use crate::{
    CallEnd, LaneLimits, RequestHandler,
    accept::peer_rates::PeerKey,
    budgets::kept_memory::LaneMemory,
    connections::{
        connection::{Connection, Idleness},
        role::{OpenedConnection, Role},
        slots::Slots,
    },
    sharing::shared_connection::SharedConnection,
};

/// Connections of a lane, accepted and opened, in the lane's poller or dedicated to threads.
pub(crate) struct ConnectionTable<H: RequestHandler> {
    slots: PiMutex<Slots<Connection<H>>>,
    poller: Arc<Poller>,
    /// Memory that all of them keep.
    pub(crate) memory: Arc<LaneMemory>,
    /// Number of connections, for statistics without the lock.
    open: AtomicUsize,
    /// Number of those that this side opened.
    opened: AtomicUsize,
    /// Index of the connection that is examined next when the lane is full.
    examined: AtomicUsize,
    /// Shared connections, the least recently used one first.
    pub(crate) shared: PiMutex<Vec<SharedConnection<H>>>,
}

/// Result of [`ConnectionTable::examine_oldest`].
pub(crate) enum Oldest<H: RequestHandler> {
    /// No connection exists.
    None,
    /// It was opened or used at this time, which is not early enough.
    Since(Instant),
    /// It was used since it was examined before; it is no longer the oldest.
    Used,
    /// It was not used since then. If callers share it, no further call begins: it must be closed.
    Unused(Arc<Connection<H>>),
}

/// Connections that are examined to find one that can be closed.
const EXAMINED_FOR_ROOM: usize = 16;

impl<H: RequestHandler> ConnectionTable<H> {
    pub(crate) fn new(poller: &Arc<Poller>, limits: &LaneLimits) -> Self {
        Self {
            slots: PiMutex::new(Slots::new()),
            poller: Arc::clone(poller),
            memory: LaneMemory::new(limits.max_memory.max(2 * limits.max_message_size)),
            open: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            examined: AtomicUsize::new(0),
            shared: PiMutex::new(Vec::new()),
        }
    }

    /// Returns the number of accepted connections, and of those that this side opened.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let opened = self.opened.load(Ordering::Relaxed);
        let accepted = self.open.load(Ordering::Relaxed).saturating_sub(opened);
        (accepted, opened)
    }

    pub(crate) fn get(&self, token: u64) -> Option<Arc<Connection<H>>> {
        let index = usize::try_from(token).ok()?;
        self.slots.lock().get(index).cloned()
    }

    /// First result of `find` for the connections from this index on.
    pub(crate) fn find_from<R>(
        &self,
        from: usize,
        mut find: impl FnMut(usize, &Arc<Connection<H>>) -> Option<R>,
    ) -> Option<R> {
        let slots = self.slots.lock();
        (from..slots.end()).find_map(|index| find(index, slots.get(index)?))
    }

    /// First result of `find` for the connections at these indices.
    pub(crate) fn find_within<R>(
        &self,
        indices: Range<usize>,
        mut find: impl FnMut(usize, &Arc<Connection<H>>) -> Option<R>,
    ) -> Option<R> {
        let slots = self.slots.lock();
        let end = indices.end.min(slots.end());
        (indices.start..end).find_map(|index| find(index, slots.get(index)?))
    }

    /// Index behind all connections.
    pub(crate) fn end(&self) -> usize {
        self.slots.lock().end()
    }

    /// First result of `find` for all connections.
    pub(crate) fn find<R>(&self, find: impl FnMut(&Arc<Connection<H>>) -> Option<R>) -> Option<R> {
        let slots = self.slots.lock();
        slots.iter().find_map(find)
    }

    pub(crate) fn for_each(&self, visit: impl FnMut(&Arc<Connection<H>>)) {
        let slots = self.slots.lock();
        slots.iter().for_each(visit);
    }

    /// Returns the number of connections of a peer.
    pub(crate) fn of_peer(&self, peer: PeerKey) -> usize {
        self.slots.lock().of_peer(peer)
    }

    /// Returns an accepted connection that gives way to a new one: one that is stalled, or one that can be
    /// closed gracefully. `peer`: among its own connections.
    pub(crate) fn gives_way(
        &self,
        peer: Option<PeerKey>,
        completion: Duration,
    ) -> Option<Arc<Connection<H>>> {
        self.stalled(peer, completion).or_else(|| self.oldest_idle(peer))
    }

    /// Returns a connection that is stalled, among [`EXAMINED_FOR_ROOM`]: those of a peer in the order of
    /// idleness, or of all in turn.
    fn stalled(&self, peer: Option<PeerKey>, completion: Duration) -> Option<Arc<Connection<H>>> {
        let now = Instant::now();
        let slots = self.slots.lock();
        let from = self.examined.fetch_add(EXAMINED_FOR_ROOM, Ordering::Relaxed);
        let in_turn = (from..from.wrapping_add(EXAMINED_FOR_ROOM)).map(|index| index % slots.end().max(1));
        let is_stalled = |connection: &&Arc<Connection<H>>| {
            connection.is_server() && connection.is_stalled(now, completion)
        };
        let get = |index| slots.get(index).filter(is_stalled).cloned();
        match peer {
            None => in_turn.filter_map(get).next(),
            Some(_) => slots.in_order(peer, EXAMINED_FOR_ROOM).filter_map(get).next(),
        }
    }

    /// A connection that can be closed gracefully, among the first [`EXAMINED_FOR_ROOM`] in the order of
    /// idleness: the first over which nothing has arrived since it was examined before, else the first over
    /// which nothing happens now.
    fn oldest_idle(&self, peer: Option<PeerKey>) -> Option<Arc<Connection<H>>> {
        let mut slots = self.slots.lock();
        let examined: Vec<_> = slots.in_order(peer, EXAMINED_FOR_ROOM).collect();
        let mut quiet = None;
        for index in examined {
            let connection = Arc::clone(slots.get(index)?);
            match connection.idleness() {
                Idleness::Unused if connection.is_server() => return Some(connection),
                Idleness::Quiet if connection.is_server() => {
                    connection.clear_used();
                    quiet.get_or_insert(connection);
                }
                _ => {}
            }
            slots.renew(index);
        }
        quiet
    }

    /// Examines the first connection in the order of idleness.
    pub(crate) fn examine_oldest(&self, idle_before: Instant) -> Oldest<H> {
        let mut slots = self.slots.lock();
        let Some((index, since)) = slots.oldest() else {
            return Oldest::None;
        };
        if since > idle_before {
            return Oldest::Since(since);
        }
        let Some(connection) = slots.get(index).map(Arc::clone) else {
            return Oldest::None;
        };
        if connection.is_unused() {
            return Oldest::Unused(connection);
        }
        connection.clear_used();
        slots.renew(index);
        Oldest::Used
    }

    /// Returns the connection that keeps most memory, if one keeps any.
    pub(crate) fn keeps_most(&self) -> Option<Arc<Connection<H>>> {
        let slots = self.slots.lock();
        let most = slots.iter().max_by_key(|connection| connection.memory.octets())?;
        (most.memory.octets() > 0).then(|| Arc::clone(most))
    }

    /// Adds an accepted connection to the poller, unless `assign` gives it to a thread.
    pub(crate) fn admit(
        &self,
        stream: Box<dyn Stream>,
        key: Option<PeerKey>,
        peer: H::PeerData,
        properties: &ProtocolProperties,
        limits: &LaneLimits,
        assign: impl FnOnce(&Arc<Connection<H>>) -> bool,
    ) {
        let mut slots = self.slots.lock();
        let token = slots.vacant() as u64;
        let role = Role::accepted(peer);
        let connection = Connection::new(
            token,
            stream,
            role,
            properties,
            &self.poller,
            limits,
            &self.memory,
        );
        let connection = Arc::new(connection);
        if assign(&connection) || self.watch(&connection).is_ok() {
            record(|| Record::new(Event::Accepted).link(connection.link).detail(token));
            connection.role.connected();
            slots.insert(connection, key);
            self.open.store(slots.len(), Ordering::Relaxed);
        }
    }

    /// Adds a connection that this side opened to the poller.
    pub(crate) fn add_opened(
        &self,
        stream: Box<dyn Stream>,
        opened: OpenedConnection<H>,
        properties: &ProtocolProperties,
        limits: &LaneLimits,
    ) -> io::Result<Arc<Connection<H>>> {
        let mut slots = self.slots.lock();
        let role = Role::Client(opened);
        let connection = Connection::new(
            slots.vacant() as u64,
            stream,
            role,
            properties,
            &self.poller,
            limits,
            &self.memory,
        );
        let connection = Arc::new(connection);
        self.watch(&connection)?;
        // Requests a peer that shares memory with this process to ring from now on.
        connection.stream().wait_readable(Duration::ZERO)?;
        connection.role.connected();
        slots.insert(Arc::clone(&connection), None);
        self.open.store(slots.len(), Ordering::Relaxed);
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(connection)
    }

    fn watch(&self, connection: &Connection<H>) -> io::Result<()> {
        let (interest, trigger) = (Interest::READ, Trigger::Edge);
        self.poller
            .add(connection.stream(), connection.token, interest, trigger)
    }

    /// Closes a connection, unless another thread has been faster.
    pub(crate) fn close(&self, connection: &Arc<Connection<H>>) {
        let removed = {
            let mut slots = self.slots.lock();
            let index = connection.token as usize;
            // The slot may belong to another connection by now.
            let own = slots
                .get(index)
                .is_some_and(|found| Arc::ptr_eq(found, connection));
            let removed = own.then(|| slots.remove(index));
            self.open.store(slots.len(), Ordering::Relaxed);
            removed
        };
        if removed.is_some() {
            connection.state.close();
            record(|| {
                Record::new(Event::Closed)
                    .link(connection.link)
                    .detail(connection.token)
            });
            self.release(connection);
        }
    }

    /// Notifies all peers that nothing outstanding will be handled, and closes.
    pub(crate) fn close_all(&self) {
        let connections: Vec<_> = {
            let mut slots = self.slots.lock();
            self.open.store(0, Ordering::Relaxed);
            slots.take_all()
        };
        for connection in connections {
            let ends = connection
                .role
                .calls()
                .map(|calls| calls.replies.end(CallEnd::Stopped));
            // A server is notified only if nothing is outstanding with it.
            let is_idle = connection.is_server() || ends.unwrap_or(true);
            if is_idle {
                connection.send_close();
            }
            self.release(&connection);
        }
    }

    /// Releases what belongs to a connection that is no longer in the table.
    fn release(&self, connection: &Arc<Connection<H>>) {
        let _ = self.poller.remove(connection.stream());
        connection.stream().shutdown();
        connection.end();
        connection.role.peer().into_iter().for_each(H::disconnected);
        let opened = connection.role.opened();
        if opened.is_some() {
            self.opened.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(calls) = connection.role.calls() {
            self.forget_shared(connection);
            opened.into_iter().for_each(OpenedConnection::release_permit);
            calls.replies.end(CallEnd::Lost);
        }
    }

    /// Removes a connection from those that calls find.
    pub(crate) fn forget_shared(&self, connection: &Arc<Connection<H>>) {
        let mut list = self.shared.lock();
        let forgotten = list
            .iter()
            .position(|shared| Arc::ptr_eq(&shared.connection, connection))
            .map(|position| list.remove(position));
        drop(list);
        drop(forgotten);
    }

    /// Lets no thread begin to wait in `write` any longer.
    pub(crate) fn unblock_dedicated(&self) {
        for connection in self.dedicated() {
            let _ = connection.stream().set_nonblocking(true);
        }
    }

    /// Ends `read` of the threads that connections are dedicated to. The lane is stopping already.
    ///
    /// A thread that serves a request finishes it and ends then. Each thread counts its request in and then
    /// checks whether the lane stops; here the lane is stopping first, and then the count is checked. So
    /// either the request is seen here, and its thread sends CloseConnection itself, or the thread sees the
    /// stop and drops the request, as the CloseConnection that is sent here promises.
    pub(crate) fn end_dedicated(&self) {
        for connection in self.dedicated() {
            if !connection.state.is_in_service() {
                connection.send_close();
                connection.stream().shutdown();
            }
        }
    }

    /// Ends writes to peers that do not read which began before [`Self::end_dedicated`], after the completion
    /// time of a message.
    pub(crate) fn end_dedicated_writes(&self, completion: Duration) {
        let deadline = Instant::now() + completion;
        for connection in self.dedicated() {
            while connection.is_sending() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(1));
            }
            if connection.is_sending() {
                connection.stream().shutdown();
            }
        }
    }

    fn dedicated(&self) -> Vec<Arc<Connection<H>>> {
        let mut dedicated = Vec::new();
        self.for_each(|connection| {
            if connection.state.is_dedicated() {
                dedicated.push(Arc::clone(connection));
            }
        });
        dedicated
    }

    /// Takes the first connection for which `adopt` holds out of the poller, for the calling thread.
    pub(crate) fn adopt(&self, adopt: impl Fn(&Connection<H>) -> bool) -> Option<Arc<Connection<H>>> {
        self.find(|connection| {
            // A thread that reads it now waits for it in the poller next, and it can be adopted another time.
            let _claim = connection.inspect()?;
            if !adopt(connection) {
                return None;
            }
            // While it is claimed: a thread that claims it later, for an earlier event, sees this.
            connection.state.dedicate();
            let _ = self.poller.remove(connection.stream());
            Some(Arc::clone(connection))
        })
    }
}
