//! The flow stack: which interceptors have started a request, and so end it.
//!
//! They start in the order of registration, each or none, so the stack is a number.

use std::panic::{AssertUnwindSafe, catch_unwind};

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::Interrupt;

/// Calls one point. A panic becomes UNKNOWN.
pub(super) fn call_point(
    completed: Completion,
    point: impl FnOnce() -> Result<(), Interrupt>,
) -> Result<(), Interrupt> {
    // What the interceptor keeps is its own to keep in order; the request's is not half done anywhere.
    catch_unwind(AssertUnwindSafe(point)).unwrap_or_else(|_| {
        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::INTERCEPTOR_PANICKED);
        Err(SystemException::new(kind, minor, completed).into())
    })
}

/// Calls the starting points until one interrupts; returns how many completed.
pub(super) fn start<I: ?Sized>(
    interceptors: &[std::sync::Arc<I>],
    mut point: impl FnMut(&I) -> Result<(), Interrupt>,
) -> (usize, Result<(), Interrupt>) {
    for (completed, interceptor) in interceptors.iter().enumerate() {
        if let Err(interrupt) = call_point(Completion::No, || point(interceptor)) {
            return (completed, Err(interrupt));
        }
    }
    (interceptors.len(), Ok(()))
}
