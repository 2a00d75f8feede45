//! Flow stack: the interceptors whose starting points completed, and whose ending points will be called.
//! Starting points run in the order of registration, so a number represents the stack.

use std::panic::{AssertUnwindSafe, catch_unwind};

use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::Interrupt;

/// Calls one interception point and turns a panic into UNKNOWN.
pub(super) fn call_point(
    completed: Completion,
    point: impl FnOnce() -> Result<(), Interrupt>,
) -> Result<(), Interrupt> {
    // The interceptor is responsible for its own state; the state of the request stays consistent.
    catch_unwind(AssertUnwindSafe(point)).unwrap_or_else(|_| {
        let (kind, minor) = (SystemExceptionKind::Unknown, Minor::INTERCEPTOR_PANICKED);
        Err(SystemException::new(kind, minor, completed).into())
    })
}

/// Calls the starting points until one interrupts; returns the number of those that completed.
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
