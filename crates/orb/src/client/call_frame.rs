//! Step 1 of a call, its buffers. A thread has one set for each call that it is inside of, and keeps them
//! from call to call.

use std::cell::RefCell;

use punctual_cdr::Arena;
use punctual_lane::ReplyBuffer;
use punctual_stub::ReusePool;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::request::RequestBuffer;
use crate::{Limits, interception::SeenCall};

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
    /// State of calls of ORBs with interceptors. Boxed, because other calls need not carry it.
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

impl CallFrame {
    /// Frees buffers of more than `max_kept` octets.
    #[inline]
    fn free_large(&mut self, max_kept: usize) {
        let shared = self.shared.as_ref().map_or(0, |reply| reply.message.capacity());
        // At least the largest of them.
        let any = self.request.capacity() | self.reply.capacity() | shared | self.arena.allocated_bytes();
        if any > max_kept {
            self.free_larger_than(max_kept);
        }
    }

    #[cold]
    fn free_larger_than(&mut self, max_kept: usize) {
        let shared = self.shared.as_mut().map(|reply| &mut reply.message);
        for buffer in shared.into_iter().chain([&mut self.reply]) {
            if buffer.capacity() > max_kept {
                *buffer = Vec::new();
            }
        }
        if self.request.capacity() > max_kept {
            self.request = RequestBuffer::default();
        }
        if self.arena.allocated_bytes() > max_kept {
            self.arena = Arena::new();
        }
    }
}

/// Runs `call` with its own buffers. Fails with IMP_LIMIT if calls are nested too deeply.
pub(super) fn with_frame<R>(
    limits: &Limits,
    call: impl FnOnce(&mut CallFrame) -> Result<R, SystemException>,
) -> Result<R, SystemException> {
    let mut frame = FRAMES.with_borrow_mut(|frames| {
        if frames.depth == limits.max_nested_calls {
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
    frame.free_large(limits.max_kept_buffer);
    FRAMES.with_borrow_mut(|frames| frames.unused.push(frame));
    result
}

struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(|frames| frames.depth -= 1);
    }
}
