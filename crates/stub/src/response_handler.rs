//! The right to answer one request after its upcall has ended: asynchronous method handling (AMH).

use std::{
    fmt,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::Instant,
};

use punctual_cdr::{CdrError, Encoder};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use crate::{OperationError, PendingResponse, ReplyOrigin, Upcall};

/// The right to answer one request, once, on any thread and at any time: the last parameter of operations
/// that were compiled as deferred (`punctual_build::Builder::deferred`). The servant's method returns without
/// a result, its lane serves other requests, and [`Self::respond`] sends the reply later.
///
/// Results are those of `op_async`: return value, then `inout` and `out` parameters. Dropped without an
/// answer, it answers with NO_RESPONSE, or UNKNOWN if a panic drops it: a client never waits for a handler
/// that no longer exists. When the deadline that the client states has passed, the ORB answers TIMEOUT in its
/// place; when the ORB shuts down, NO_RESPONSE. A lane has a limited number of handlers
/// (`Limits::max_deferred_replies`); further requests are refused with TRANSIENT, before the servant is
/// called.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_cdr as value, punctual_stub::*, punctual_types::*}; }
/// # mod local { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/local.rs")); }
/// # mod doubler { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/doubler.rs")); }
/// # use doubler::DoublerRef;
/// # use punctual_stub::{Skeleton, Upcall};
/// use std::thread;
///
/// use punctual::{ResponseHandler, SystemException, value::Encode};
///
/// struct Later;
///
/// impl Later {
///     // The method of the trait generated for `long twice(in long value)`, deferred.
///     fn twice(&self, value: i32, response: ResponseHandler<i32, SystemException>) {
///         thread::spawn(move || response.respond(Ok(2 * value)));
///     }
/// }
/// # impl Skeleton<Later> for DoublerRef {
/// #     fn dispatch(servant: &Later, upcall: &mut Upcall<'_, '_>) -> Result<(), SystemException> {
/// #         let value = upcall.argument()?;
/// #         servant.twice(value, upcall.defer(|results: &i32, reply| results.encode(reply))?);
/// #         Ok(())
/// #     }
/// # }
/// ```
#[must_use = "dropping it answers with NO_RESPONSE: call `respond`"]
pub struct ResponseHandler<T, E> {
    /// `None`: answered.
    pending: Option<Arc<dyn PendingResponse>>,
    write: WriteResults<T>,
    error: PhantomData<fn(E)>,
}

/// Encodes the results of an operation: its return value, then its `inout` and `out` parameters.
pub type WriteResults<T> = fn(&T, &mut Encoder<'_>) -> Result<(), CdrError>;

impl Upcall<'_, '_> {
    /// Lets another thread answer, later: the reply consists of the octets that the result sends; those that
    /// this upcall writes are discarded. `write` encodes the results: return value, then `inout` and `out`
    /// parameters.
    ///
    /// Fails with TRANSIENT if there are too many such requests.
    pub fn defer<T, E: OperationError>(
        &mut self,
        write: WriteResults<T>,
    ) -> Result<ResponseHandler<T, E>, SystemException> {
        Ok(ResponseHandler {
            pending: Some(self.defer_reply()?),
            write,
            error: PhantomData,
        })
    }
}

impl<T, E: OperationError> ResponseHandler<T, E> {
    /// Sends the reply: the results, or the exception. The calling thread encodes and sends it, raised to the
    /// priority of the request if its own is lower. Returns whether it was sent; `false`: the client has
    /// cancelled the call or is gone, the deadline has passed, or the ORB has shut down.
    ///
    /// Results that cannot be encoded are a system exception for the client.
    pub fn respond(mut self, result: Result<T, E>) -> bool {
        let Some(pending) = self.pending.take() else {
            return false;
        };
        let (write, mut result) = (self.write, Some(result));
        pending.answer(ReplyOrigin::Servant, &mut |upcall| {
            let mut answer = || match result.take() {
                Some(Ok(results)) => upcall.reply(|reply| write(&results, reply)),
                Some(Err(error)) => upcall.fail(error).map_err(SystemException::relayed),
                None => Ok(()),
            };
            // The conversion of values may be the user's code; the client waits in any case.
            catch_unwind(AssertUnwindSafe(&mut answer)).unwrap_or_else(|_| Err(panicked()))
        })
    }
}

impl<T, E> ResponseHandler<T, E> {
    /// Returns the CORBA priority of the request, at which its upcall ran; `None` if it has none. A thread
    /// that works for the request can take it over with `Current::set_priority`.
    pub fn priority(&self) -> Option<Priority> {
        self.pending.as_ref()?.priority()
    }

    /// Returns the point in time after which the client does not want the reply, if it states one: counted
    /// from when the request was read.
    pub fn deadline(&self) -> Option<Instant> {
        self.pending.as_ref()?.deadline()
    }

    /// Returns whether a reply would still be sent: work for a client that has cancelled its call, or is
    /// gone, can end early. Oneway requests are never awaited.
    pub fn is_awaited(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.is_awaited())
    }
}

impl<T, E> Drop for ResponseHandler<T, E> {
    fn drop(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let exception = if thread::panicking() {
            panicked()
        } else {
            dropped()
        };
        pending.answer(ReplyOrigin::DroppedHandler, &mut |_| Err(exception));
    }
}

fn panicked() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::Unknown, Minor::SERVANT_PANICKED);
    SystemException::new(kind, minor, Completion::Maybe)
}

fn dropped() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::NoResponse, Minor::RESPONSE_HANDLER_DROPPED);
    SystemException::new(kind, minor, Completion::Maybe)
}

impl<T, E> fmt::Debug for ResponseHandler<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHandler")
            .field("priority", &self.priority())
            .field("is_awaited", &self.is_awaited())
            .finish_non_exhaustive()
    }
}
