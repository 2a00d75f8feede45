//! Step 3 of a call, its cache: the exclusive connections of the calling thread.

use std::{cell::RefCell, mem, sync::Arc};

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    connection_cache::{ConnectionCache, Permit, PooledConnection, Unused},
    connection_key::{Band, ConnectionKey},
    endpoint::Endpoint,
};

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
