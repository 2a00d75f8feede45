use std::{cell::RefCell, sync::Arc};

use punctual_cdr::Arena;
use punctual_lane::ReplyBuffer;
use punctual_stub::ReusePool;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    Endpoint,
    connection::ClientConnection,
    connection_cache::{Band, ConnectionCache, ConnectionKey, Permit, Unused},
    request_buffer::RequestBuffer,
};
use crate::interceptors::SeenCall;

/// The buffers of one call; a thread has one for each call it is inside of.
#[derive(Default)]
pub(crate) struct CallFrame {
    /// The request.
    pub(super) request: RequestBuffer,
    /// For collocated calls: the reply, and what a lane's thread would lend to the servant.
    pub(super) reply: Vec<u8>,
    /// For calls over a shared connection: what the reply comes in. Boxed, because others need not carry it around.
    pub(super) shared: Option<Box<ReplyBuffer>>,
    pub(super) arena: Arena,
    pub(super) pool: ReusePool,
    /// For calls of ORBs with interceptors; boxed because others need not carry it around.
    pub(super) seen: Option<Box<SeenCall>>,
}

/// What a calling thread keeps from call to call, so that it shares nothing with other callers.
#[derive(Default)]
struct ThreadState {
    #[expect(
        clippy::vec_box,
        reason = "a call takes one out and puts it back: as a pointer"
    )]
    frames: Vec<Box<CallFrame>>,
    /// Calls this thread is inside of.
    depth: usize,
    /// Where its connections are while it serves a lane.
    lane: Option<Arc<ConnectionCache>>,
    /// Its connections while it serves none.
    unused: Unused,
}

thread_local! {
    static THREAD: RefCell<ThreadState> = RefCell::default();
}

/// When a thread ends, others may go on with its connections.
impl Drop for ThreadState {
    fn drop(&mut self) {
        for connection in self.unused.drain() {
            match connection.permit().cache() {
                Some(cache) => cache.leave(connection),
                None => connection.close(),
            }
        }
    }
}

/// Until the result is dropped, calls of this thread use the connections of its lane.
pub(crate) fn use_connections_of(lane: &Arc<ConnectionCache>) -> impl Drop {
    struct Restore(Option<Arc<ConnectionCache>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            THREAD.with_borrow_mut(|thread| thread.lane = self.0.take());
        }
    }
    let lane = Some(Arc::clone(lane));
    Restore(THREAD.with_borrow_mut(|thread| std::mem::replace(&mut thread.lane, lane)))
}

/// Runs `call` with buffers of its own. Fails with IMP_LIMIT where calls are nested too deep.
pub(super) fn with_frame<R>(
    max_depth: usize,
    call: impl FnOnce(&mut CallFrame) -> Result<R, SystemException>,
) -> Result<R, SystemException> {
    let mut frame = THREAD.with_borrow_mut(|thread| {
        if thread.depth == max_depth {
            let minor = Minor::NESTING_OF_CALLS_TOO_DEEP;
            return Err(SystemException::new(
                SystemExceptionKind::ImpLimit,
                minor,
                Completion::No,
            ));
        }
        thread.depth += 1;
        Ok(thread.frames.pop().unwrap_or_default())
    })?;
    // Should the call panic, which only user code in a collocated servant can, the frame is lost but not the count.
    let _leave = Leave;
    let result = call(&mut frame);
    THREAD.with_borrow_mut(|thread| thread.frames.push(frame));
    result
}

struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        THREAD.with_borrow_mut(|thread| thread.depth -= 1);
    }
}

/// An unused connection for such calls: this thread's or its lane's own, or one that an ended thread has left.
///
/// `of_orb` has those of threads without a lane.
pub(super) fn take_connection(
    key: &ConnectionKey<'_>,
    of_orb: &ConnectionCache,
) -> Option<Box<ClientConnection>> {
    let own = THREAD.with_borrow_mut(|thread| match &thread.lane {
        None => Ok(thread.unused.take(key)),
        Some(lane) => Err(Arc::clone(lane)),
    });
    match own {
        Ok(own) => own.or_else(|| of_orb.take(key)),
        Err(lane) => lane.take(key),
    }
}

/// Keeps a connection for the next call; at most `limit` for a thread without a lane.
pub(super) fn keep_connection(connection: Box<ClientConnection>, limit: usize) {
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
        // One that was opened before the thread came to its lane stays counted where it was.
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

/// The right to open a connection; where there are too many, one that is unused makes room.
///
/// Fails with IMP_LIMIT where none is.
pub(super) fn permit_connection(
    of_orb: &Arc<ConnectionCache>,
    band: Option<Band>,
) -> Result<Permit, SystemException> {
    let cache = THREAD.with_borrow(|thread| thread.lane.clone());
    let cache = cache.as_ref().unwrap_or(of_orb);
    // Those of references that are gone, before any that is of use.
    close_orphans(cache);
    loop {
        if let Some(permit) = cache.permit(band) {
            return Ok(permit);
        }
        let oldest = cache.take_oldest().or_else(|| {
            THREAD.with_borrow_mut(|thread| {
                thread
                    .unused
                    .take_oldest(|connection| connection.permit().is_of(cache))
            })
        });
        match oldest {
            Some(connection) => connection.close(),
            None => {
                return Err(SystemException::new(
                    SystemExceptionKind::ImpLimit,
                    Minor::CLIENT_CONNECTIONS_EXHAUSTED,
                    Completion::No,
                ));
            }
        }
    }
}

/// Drops the unused connections to a server that has closed one in good order, so it will have closed all.
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

/// Closes this thread's private connections, and those in the cache, whose references are gone.
pub(super) fn close_orphans(cache: &ConnectionCache) {
    cache.sweep();
    close_own_orphans();
}

/// Closes this thread's connections whose references or ORBs are gone.
pub(super) fn close_own_orphans() {
    // References may be dropped while the thread ends.
    let own = THREAD.try_with(|thread| match thread.try_borrow_mut() {
        Ok(mut thread) => thread.unused.remove(ClientConnection::is_orphan),
        Err(_) => Unused::default(),
    });
    drop(own);
}
