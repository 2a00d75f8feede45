//! Step 2 of a call, its cache: open connections that no call uses, of the calling thread, of a lane and of
//! the ORB, and the limit on open connections.

use std::{
    cell::RefCell,
    mem,
    ops::{Deref, DerefMut},
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use punctual_inspect::OpenByBand;
use punctual_os::PiMutex;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    connection::{Band, ClientConnection, ConnectionKey},
    endpoint::Endpoint,
};

/// The open connections of the threads of one lane, or of all threads of an ORB that serve no lane.
///
/// Threads of a lane keep theirs here. Other threads keep their own, without a lock on the path of a call,
/// and leave them here when they end.
///
/// A call finds its connection by endpoint, band and, if it is private, reference. A thread that serves no
/// lane keeps its connections to itself, without a lock, and returns them to the shared cache when it ends.
/// Threads of a lane share the lane's connections under a priority-inheriting lock. Both caches are bounded:
/// the connection that has been unused for longest is closed; if none is unused, the call gets IMP_LIMIT. A
/// timeout cancels its request (CancelRequest) and does not close the connection: a late reply is recognised
/// by its id. An endpoint that could not be reached is tried last for 5 s.
pub(crate) struct ConnectionCache {
    limit: usize,
    open: AtomicUsize,
    pub(crate) by_band: OpenByBand,
    unused: PiMutex<Unused>,
}

impl ConnectionCache {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            open: AtomicUsize::new(0),
            by_band: OpenByBand::default(),
            unused: PiMutex::new(Unused::default()),
        })
    }

    /// The right to have one more connection open, for this band; `None` if the limit is reached.
    pub(crate) fn permit(self: &Arc<Self>, band: Option<Band>) -> Option<Permit> {
        let counted = self
            .open
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| {
                (open < self.limit).then_some(open + 1)
            });
        counted.ok().map(|_| Permit {
            place: self.by_band.enter(band),
            cache: Arc::downgrade(self),
        })
    }

    pub(super) fn take(&self, key: &ConnectionKey<'_>) -> Option<Box<PooledConnection>> {
        self.unused.lock().take(key)
    }

    /// Keeps a connection for any thread's next call.
    pub(super) fn keep(&self, connection: Box<PooledConnection>) {
        self.unused.lock().keep(connection);
    }

    /// Keeps a connection of a thread that ends; closes it if many for the same calls are unused already.
    pub(super) fn leave(&self, connection: Box<PooledConnection>) {
        let mut unused = self.unused.lock();
        if unused.alike(&connection) < MAX_LEFT {
            unused.keep(connection);
        } else {
            drop(unused);
            connection.close();
        }
    }

    /// Closes the connection that was unused for longest. `false`: none is unused.
    pub(crate) fn close_oldest(&self) -> bool {
        let oldest = self.take_oldest();
        let found = oldest.is_some();
        oldest.into_iter().for_each(PooledConnection::close);
        found
    }

    /// Returns the connection that was unused for longest.
    pub(super) fn take_oldest(&self) -> Option<Box<PooledConnection>> {
        self.unused.lock().take_oldest(|_| true)
    }

    /// Drops the connections to a server that has closed one of them gracefully: it will have closed all.
    pub(super) fn forget(&self, endpoint: &Arc<Endpoint>) {
        let forgotten = self
            .unused
            .lock()
            .remove(|connection| connection.leads_to(endpoint));
        drop(forgotten);
    }

    /// Closes connections whose reference has been dropped.
    pub(super) fn sweep(&self) {
        let orphans = self.unused.lock().remove(PooledConnection::is_orphan);
        drop(orphans);
    }

    /// Closes all unused connections.
    pub(crate) fn clear(&self) {
        let all = mem::take(&mut *self.unused.lock());
        drop(all);
    }
}

/// Unused connections for the same calls that ended threads may leave.
const MAX_LEFT: usize = 8;

/// An exclusive connection and its place among those that may be open.
pub(super) struct PooledConnection {
    connection: ClientConnection,
    permit: Permit,
}

impl PooledConnection {
    pub(super) fn new(connection: ClientConnection, permit: Permit) -> Box<Self> {
        Box::new(Self { connection, permit })
    }

    pub(super) fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Returns whether what it was opened for has ended: the only reference that it served, the ORB, or the
    /// lane.
    pub(super) fn is_orphan(&self) -> bool {
        self.permit.is_void() || self.connection.is_orphan()
    }

    /// Closes it gracefully. Never blocks.
    pub(super) fn close(mut self: Box<Self>) {
        self.connection.close();
    }
}

impl Deref for PooledConnection {
    type Target = ClientConnection;

    fn deref(&self) -> &ClientConnection {
        &self.connection
    }
}

impl DerefMut for PooledConnection {
    fn deref_mut(&mut self) -> &mut ClientConnection {
        &mut self.connection
    }
}

/// The right to have one connection open.
pub(crate) struct Permit {
    cache: Weak<ConnectionCache>,
    /// Its counter in [`OpenByBand`].
    place: usize,
}

impl Permit {
    /// Returns the cache that counts it, unless its lane or ORB has ended.
    pub(super) fn cache(&self) -> Option<Arc<ConnectionCache>> {
        self.cache.upgrade()
    }

    /// Returns whether that cache no longer exists.
    pub(super) fn is_void(&self) -> bool {
        self.cache.strong_count() == 0
    }

    pub(super) fn is_of(&self, cache: &Arc<ConnectionCache>) -> bool {
        self.cache.as_ptr() == Arc::as_ptr(cache)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(cache) = self.cache.upgrade() {
            cache.open.fetch_sub(1, Ordering::Relaxed);
            cache.by_band.leave(self.place);
        }
    }
}

/// Connections that no call uses, the longest unused first.
#[derive(Default)]
#[expect(
    clippy::vec_box,
    reason = "connections pass to calls and back every time: as pointers"
)]
struct Unused(Vec<Box<PooledConnection>>);

impl Unused {
    pub(super) fn take(&mut self, key: &ConnectionKey<'_>) -> Option<Box<PooledConnection>> {
        let position = self.0.iter().rposition(|connection| connection.is_for(key))?;
        if position + 1 == self.0.len() {
            return self.0.pop();
        }
        // Not `swap_remove`: the order is that of their last use.
        Some(self.0.remove(position))
    }

    pub(super) fn keep(&mut self, connection: Box<PooledConnection>) {
        self.0.push(connection);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn take_oldest(
        &mut self,
        among: impl Fn(&PooledConnection) -> bool,
    ) -> Option<Box<PooledConnection>> {
        let position = self.0.iter().position(|connection| among(connection))?;
        Some(self.0.remove(position))
    }

    /// Removes the selected connections; dropping the result closes them.
    pub(super) fn remove(&mut self, is_meant: impl Fn(&PooledConnection) -> bool) -> Self {
        Self(self.0.extract_if(.., |connection| is_meant(connection)).collect())
    }

    fn alike(&self, connection: &PooledConnection) -> usize {
        self.0.iter().filter(|other| other.is_alike(connection)).count()
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<PooledConnection>> {
        self.0.drain(..)
    }
}

/// Closes gracefully: the servers learn that nothing more follows.
impl Drop for Unused {
    fn drop(&mut self) {
        self.0.drain(..).for_each(PooledConnection::close);
    }
}

#[derive(Default)]
struct ThreadConnections {
    /// Cache of the connections while the thread serves a lane.
    lane: Option<Arc<ConnectionCache>>,
    /// The unused connections of a thread that serves no lane.
    unused: Unused,
}

thread_local! {
    static THREAD: RefCell<ThreadConnections> = RefCell::default();
}

/// Returns the connections of a thread that ends, for use by other threads.
impl Drop for ThreadConnections {
    fn drop(&mut self) {
        for connection in self.unused.drain() {
            match connection.permit().cache() {
                Some(cache) => cache.leave(connection),
                None => connection.close(),
            }
        }
    }
}

/// Makes calls of this thread use the connections of its lane until the result is dropped.
pub(crate) fn use_connections_of(lane: &Arc<ConnectionCache>) -> impl Drop {
    let replace = |lane| THREAD.with_borrow_mut(|thread| mem::replace(&mut thread.lane, lane));
    scopeguard::guard(replace(Some(Arc::clone(lane))), move |before| {
        drop(replace(before))
    })
}

/// Takes an unused connection for such calls: this thread's or its lane's own, or one that an ended thread
/// has left in `of_orb`.
pub(super) fn take_connection(
    key: &ConnectionKey<'_>,
    of_orb: &ConnectionCache,
) -> Option<Box<PooledConnection>> {
    let own = THREAD.with_borrow_mut(|thread| match &thread.lane {
        None => Ok(thread.unused.take(key)),
        Some(lane) => Err(Arc::clone(lane)),
    });
    match own {
        Ok(own) => own.or_else(|| of_orb.take(key)),
        Err(lane) => lane.take(key),
    }
}

/// Keeps a connection for the next call; at most `limit` connections of a thread without a lane.
pub(super) fn keep_connection(connection: Box<PooledConnection>, limit: usize) {
    let kept = THREAD.with_borrow_mut(|thread| {
        if let Some(lane) = &thread.lane {
            return Err((connection, Arc::clone(lane)));
        }
        thread.unused.keep(connection);
        Ok(thread.unused.len() <= limit)
    });
    match kept {
        Ok(true) => {}
        Ok(false) => close_surplus(limit),
        // A connection that was opened before the thread entered its lane remains counted where it was.
        Err((connection, lane)) => lane.keep(connection),
    }
}

#[cold]
fn close_surplus(limit: usize) {
    let oldest = || {
        THREAD.with_borrow_mut(|thread| {
            let unused = &mut thread.unused;
            (unused.len() > limit)
                .then(|| unused.take_oldest(|_| true))
                .flatten()
        })
    };
    while let Some(surplus) = oldest() {
        surplus.close();
    }
}

/// Returns the right to open a connection; if the limit is reached, an unused one is closed.
///
/// Fails with IMP_LIMIT if none is unused.
pub(super) fn permit_connection(
    of_orb: &Arc<ConnectionCache>,
    band: Option<Band>,
) -> Result<Permit, SystemException> {
    let cache = THREAD.with_borrow(|thread| thread.lane.clone());
    let cache = cache.as_ref().unwrap_or(of_orb);
    // First those of references that have been dropped.
    close_orphans(cache);
    loop {
        if let Some(permit) = cache.permit(band) {
            return Ok(permit);
        }
        if !close_oldest_of(cache) {
            return Err(SystemException::new(
                SystemExceptionKind::ImpLimit,
                Minor::CLIENT_CONNECTIONS_EXHAUSTED,
                Completion::No,
            ));
        }
    }
}

/// Closes the connection of the calling thread's cache that was unused for longest. `false`: none is unused.
pub(super) fn close_oldest(of_orb: &Arc<ConnectionCache>) -> bool {
    let lane = THREAD.with_borrow(|thread| thread.lane.clone());
    close_oldest_of(lane.as_ref().unwrap_or(of_orb))
}

fn close_oldest_of(cache: &Arc<ConnectionCache>) -> bool {
    let oldest = cache.take_oldest().or_else(|| {
        THREAD.with_borrow_mut(|thread| {
            let unused = &mut thread.unused;
            unused.take_oldest(|connection| connection.permit().is_of(cache))
        })
    });
    let found = oldest.is_some();
    oldest.into_iter().for_each(PooledConnection::close);
    found
}

/// Drops the unused connections to a server that has closed one gracefully: it will have closed all.
pub(super) fn forget_connections(endpoint: &Arc<Endpoint>, of_orb: &ConnectionCache) {
    let lane = THREAD.with_borrow(|thread| thread.lane.clone());
    match lane {
        Some(lane) => lane.forget(endpoint),
        None => {
            let own = THREAD
                .with_borrow_mut(|thread| thread.unused.remove(|connection| connection.leads_to(endpoint)));
            drop(own);
            of_orb.forget(endpoint);
        }
    }
}

/// Closes the private connections of this thread, and those in the cache, whose references have been dropped.
pub(super) fn close_orphans(cache: &ConnectionCache) {
    cache.sweep();
    close_own_orphans();
}

/// Closes connections of this thread whose references or ORBs have ended.
fn close_own_orphans() {
    // References may be dropped while the thread ends.
    let own = THREAD.try_with(|thread| match thread.try_borrow_mut() {
        Ok(mut thread) => thread.unused.remove(PooledConnection::is_orphan),
        Err(_) => Unused::default(),
    });
    drop(own);
}

/// The thread that drops an ORB closes its connections of that ORB; others do when they next connect, or end.
impl Drop for ConnectionCache {
    fn drop(&mut self) {
        close_own_orphans();
    }
}
