use std::{
    mem,
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use punctual_os::PiMutex;

use super::{Endpoint, connection::ClientConnection, thread_state::close_own_orphans};
use crate::open_by_band::OpenByBand;

/// The open connections of the threads of one lane, or of all threads of an ORB that serve none.
///
/// Threads of a lane find theirs here. Other threads keep them to themselves, without a lock on the way of a call, and leave
/// them here when they end.
pub(crate) struct ConnectionCache {
    limit: usize,
    open: AtomicUsize,
    pub(crate) by_band: OpenByBand,
    unused: PiMutex<Unused>,
}

/// Which calls a connection is for: what they have to agree in to share one.
///
/// Source: the key of TAO's connection cache, the endpoint's address with the policies that forbid sharing.
pub(crate) struct ConnectionKey<'r> {
    pub(crate) endpoint: &'r Arc<Endpoint>,
    /// The reference that it belongs to, where it is private.
    pub(crate) owner: Option<&'r Arc<Identity>>,
    pub(crate) band: Option<Band>,
}

/// What a connection was opened for, as it keeps that.
pub(crate) struct Purpose {
    endpoint: Arc<Endpoint>,
    /// The reference it serves alone.
    owner: Option<Weak<Identity>>,
    band: Option<Band>,
}

impl Purpose {
    pub(crate) fn new(key: &ConnectionKey<'_>) -> Self {
        Self {
            endpoint: Arc::clone(key.endpoint),
            owner: key.owner.map(Arc::downgrade),
            band: key.band,
        }
    }

    /// Whether calls of this kind may share it.
    pub(crate) fn is_for(&self, key: &ConnectionKey<'_>) -> bool {
        let owner = self.owner.as_ref().map(Weak::as_ptr);
        Arc::ptr_eq(&self.endpoint, key.endpoint)
            && self.band == key.band
            && owner == key.owner.map(Arc::as_ptr)
    }

    /// Whether the same calls may share either.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let owner = |purpose: &Self| purpose.owner.as_ref().map(Weak::as_ptr);
        Arc::ptr_eq(&self.endpoint, &other.endpoint) && self.band == other.band && owner(self) == owner(other)
    }

    /// Whether the reference that it served alone is gone.
    pub(crate) fn is_orphan(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.strong_count() == 0)
    }

    pub(super) fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    pub(super) fn band(&self) -> Option<Band> {
        self.band
    }
}

/// What tells one reference from another.
pub(crate) struct Identity;

/// The lowest and the highest priority of a band, as references have them.
pub(crate) type Band = (i16, i16);

impl ConnectionCache {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            open: AtomicUsize::new(0),
            by_band: OpenByBand::default(),
            unused: PiMutex::new(Unused::default()),
        })
    }

    /// The right to have one more connection open, for this band; `None` where so many are.
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

    pub(super) fn take(&self, key: &ConnectionKey<'_>) -> Option<Box<ClientConnection>> {
        self.unused.lock().take(key)
    }

    /// Keeps a connection for any thread's next call.
    pub(super) fn keep(&self, connection: Box<ClientConnection>) {
        self.unused.lock().keep(connection);
    }

    /// As [`Self::keep`], from a thread that ends; closes it where many to the same place are unused already.
    pub(super) fn leave(&self, connection: Box<ClientConnection>) {
        let mut unused = self.unused.lock();
        if unused.alike(&connection) < MAX_LEFT {
            unused.keep(connection);
        } else {
            drop(unused);
            connection.close();
        }
    }

    /// Closes the connection that was unused for longest. `false`: none is.
    pub(crate) fn close_oldest(&self) -> bool {
        let oldest = self.take_oldest();
        let found = oldest.is_some();
        oldest.into_iter().for_each(ClientConnection::close);
        found
    }

    /// The connection that was unused for longest.
    pub(super) fn take_oldest(&self) -> Option<Box<ClientConnection>> {
        self.unused.lock().take_oldest(|_| true)
    }

    /// Drops those to a server that has closed one of them in good order, so it will have closed all.
    pub(super) fn forget(&self, endpoint: &Arc<Endpoint>) {
        let forgotten = self
            .unused
            .lock()
            .remove(|connection| connection.leads_to(endpoint));
        drop(forgotten);
    }

    /// Closes those whose reference is gone.
    pub(super) fn sweep(&self) {
        let orphans = self.unused.lock().remove(ClientConnection::is_orphan);
        drop(orphans);
    }

    /// Closes all that are unused.
    pub(crate) fn clear(&self) {
        let all = mem::take(&mut *self.unused.lock());
        drop(all);
    }
}

/// The thread that drops an ORB closes the connections it had for it; others do when they next connect, or end.
impl Drop for ConnectionCache {
    fn drop(&mut self) {
        close_own_orphans();
    }
}

/// Unused ones to the same place that ended threads may leave.
const MAX_LEFT: usize = 8;

/// One of the connections that a cache may have open.
pub(crate) struct Permit {
    cache: Weak<ConnectionCache>,
    /// Where [`OpenByBand`] counts it.
    place: usize,
}

impl Permit {
    /// The cache that counts it, unless its lane or ORB is gone.
    pub(super) fn cache(&self) -> Option<Arc<ConnectionCache>> {
        self.cache.upgrade()
    }

    /// Whether that is gone.
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
pub(super) struct Unused(Vec<Box<ClientConnection>>);

impl Unused {
    pub(super) fn take(&mut self, key: &ConnectionKey<'_>) -> Option<Box<ClientConnection>> {
        let position = self.0.iter().rposition(|connection| connection.is_for(key))?;
        if position + 1 == self.0.len() {
            return self.0.pop();
        }
        // Not `swap_remove`: the order says which one has been unused for longest.
        Some(self.0.remove(position))
    }

    pub(super) fn keep(&mut self, connection: Box<ClientConnection>) {
        self.0.push(connection);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn take_oldest(
        &mut self,
        among: impl Fn(&ClientConnection) -> bool,
    ) -> Option<Box<ClientConnection>> {
        let position = self.0.iter().position(|connection| among(connection))?;
        Some(self.0.remove(position))
    }

    /// Those that are meant, to be closed by dropping them.
    pub(super) fn remove(&mut self, is_meant: impl Fn(&ClientConnection) -> bool) -> Self {
        Self(self.0.extract_if(.., |connection| is_meant(connection)).collect())
    }

    fn alike(&self, connection: &ClientConnection) -> usize {
        self.0.iter().filter(|other| other.is_alike(connection)).count()
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<ClientConnection>> {
        self.0.drain(..)
    }
}

/// In good order: their servers learn that nothing more will come.
impl Drop for Unused {
    fn drop(&mut self) {
        self.0.drain(..).for_each(ClientConnection::close);
    }
}
