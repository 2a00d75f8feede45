//! The buffers of one call. A thread has one set for each call that it is inside of, and keeps them from call
//! to call.

use std::cell::RefCell;

use punctual_cdr::Arena;
use punctual_lane::ReplyBuffer;
use punctual_stub::ReusePool;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::request_buffer::RequestBuffer;
use crate::interception::SeenCall;

/// Buffers of one call.
#[derive(Default)]
pub(crate) struct CallFrame {
    pub(super) request: RequestBuffer,
    /// Reply of a collocated call, with what a lane thread would lend to the servant.
    pub(super) reply: Vec<u8>,
    /// Reply of a call over a shared connection. Boxed, because other calls need not carry it.
    pub(super) shared: Option<Box<ReplyBuffer>>,
    pub(super) arena: Arena,
    pub(super) pool: ReusePool,
    /// For calls of ORBs with interceptors. Boxed, because other calls need not carry it.
    pub(super) seen: Option<Box<SeenCall>>,
}

#[derive(Default)]
struct Frames {
    #[expect(
        clippy::vec_box,
        reason = "a call takes one out and puts it back: as a pointer"
    )]
    unused: Vec<Box<CallFrame>>,
    /// Number of calls that the thread is inside of.
    depth: usize,
}

thread_local! {
    static FRAMES: RefCell<Frames> = RefCell::default();
}

/// Runs `call` with its own buffers. Fails with IMP_LIMIT if calls are nested deeper than `max_depth`.
pub(super) fn with_frame<R>(
    max_depth: usize,
    call: impl FnOnce(&mut CallFrame) -> Result<R, SystemException>,
) -> Result<R, SystemException> {
    let mut frame = FRAMES.with_borrow_mut(|frames| {
        if frames.depth == max_depth {
            let minor = Minor::NESTING_OF_CALLS_TOO_DEEP;
            return Err(SystemException::new(
                SystemExceptionKind::ImpLimit,
                minor,
                Completion::No,
            ));
        }
        frames.depth += 1;
        Ok(frames.unused.pop().unwrap_or_default())
    })?;
    // If the call panics, which only user code in a collocated servant can do, the frame is lost but not the
    // count.
    let _leave = Leave;
    let result = call(&mut frame);
    FRAMES.with_borrow_mut(|frames| frames.unused.push(frame));
    result
}

struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(|frames| frames.depth -= 1);
    }
}
