use std::{cell::RefCell, sync::Arc};

use punctual_cdr::Arena;
use punctual_stub::ReusePool;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{Endpoint, connection::ClientConnection};

/// The buffers of one call; a thread has one for each call it is inside of.
#[derive(Default)]
pub(crate) struct CallFrame {
    /// The request.
    pub(super) request: Vec<u8>,
    /// For collocated calls: the reply, and what a lane's thread would lend to the servant.
    pub(super) reply: Vec<u8>,
    pub(super) arena: Arena,
    pub(super) pool: ReusePool,
}

/// What a calling thread keeps from call to call, so that it shares nothing with other callers.
#[derive(Default)]
struct ThreadState {
    frames: Vec<CallFrame>,
    /// Calls this thread is inside of.
    depth: usize,
    /// Exclusive ones, the longest unused first.
    connections: Vec<(Arc<Endpoint>, Box<ClientConnection>)>,
}

thread_local! {
    static THREAD: RefCell<ThreadState> = RefCell::default();
}

/// When a thread ends, others may go on with its connections.
impl Drop for ThreadState {
    fn drop(&mut self) {
        self.connections
            .drain(..)
            .for_each(|(endpoint, connection)| endpoint.keep_idle(connection));
    }
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

/// This thread's connection to the endpoint, which nobody else uses, or one that an ended thread has left.
pub(super) fn take_connection(endpoint: &Arc<Endpoint>) -> Option<Box<ClientConnection>> {
    let own = THREAD.with_borrow_mut(|thread| {
        let position = thread
            .connections
            .iter()
            .position(|(of, _)| Arc::ptr_eq(of, endpoint))?;
        if position + 1 == thread.connections.len() {
            return thread.connections.pop().map(|(_, connection)| connection);
        }
        // Not `swap_remove`: the order says which one has been unused for longest.
        Some(thread.connections.remove(position).1)
    });
    own.or_else(|| endpoint.take_idle())
}

/// Keeps a connection for this thread's next call.
pub(super) fn keep_connection(endpoint: &Arc<Endpoint>, connection: Box<ClientConnection>, limit: usize) {
    let surplus = THREAD.with_borrow_mut(|thread| {
        thread.connections.push((Arc::clone(endpoint), connection));
        (thread.connections.len() > limit).then(|| thread.connections.remove(0))
    });
    drop(surplus);
}
