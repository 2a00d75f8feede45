//! Operations with a deadline, and their retries.

use std::{sync::Arc, time::Duration};

use punctual_types::{Completion, SystemException, SystemExceptionKind};

use crate::{
    activations, dispatcher,
    endsystem::Endsystem,
    error::{Interrupted, SchedulingError},
};

/// Whether a failed operation is tried again.
///
/// A retry requires that neither the deadline of an enclosing operation nor that of the segment has passed,
/// and never follows THREAD_CANCELLED. Unless the operation is idempotent, it also requires certainty that
/// the operation has not run: a system exception with COMPLETED_NO.
///
/// ```
/// use punctual_rtsched::RetryPolicy;
///
/// let twice = RetryPolicy::attempts(2).idempotent();
/// assert_ne!(twice, RetryPolicy::never());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryPolicy {
    attempts: u32,
    idempotent: bool,
}

impl RetryPolicy {
    /// A single attempt.
    pub const fn never() -> Self {
        Self::attempts(1)
    }

    /// At most `attempts` attempts, at least one.
    pub const fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            idempotent: false,
        }
    }

    /// Declares that the operation may run more than once: it is also tried again if it may have run.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }
}

/// Error of an operation, with the system exception behind it, if any.
///
/// ```
/// use punctual_rtsched::{Failure, SchedulingError};
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
///
/// /// The application's own errors are passed on, and retried according to their system exception.
/// enum TrackError {
///     NoSuchTrack,
///     Scheduling(SchedulingError),
/// }
///
/// impl Failure for TrackError {
///     fn system_exception(&self) -> Option<SystemException> {
///         match self {
///             Self::NoSuchTrack => None,
///             Self::Scheduling(error) => error.system_exception(),
///         }
///     }
/// }
///
/// let late = SystemException::new(SystemExceptionKind::Timeout, 0, Completion::No);
/// assert_eq!(TrackError::Scheduling(late.into()).system_exception(), Some(late));
/// assert_eq!(TrackError::NoSuchTrack.system_exception(), None);
/// ```
pub trait Failure {
    /// Returns the system exception; `None`: the error is a result of the operation, which is not tried
    /// again.
    fn system_exception(&self) -> Option<SystemException>;
}

impl Failure for SystemException {
    fn system_exception(&self) -> Option<SystemException> {
        Some(*self)
    }
}

impl Failure for SchedulingError {
    fn system_exception(&self) -> Option<SystemException> {
        match self {
            Self::System(exception) => Some(*exception),
            Self::UnsupportedSchedulingDiscipline { .. } => None,
        }
    }
}

/// `Current::operation`.
pub(crate) fn run<R, E: From<SchedulingError> + Failure>(
    endsystem: &Arc<Endsystem>,
    timeout: Duration,
    retry: RetryPolicy,
    mut work: impl FnMut(u32) -> Result<R, E>,
) -> Result<R, E> {
    let mut attempt = 1;
    loop {
        activations::pass(endsystem).map_err(SchedulingError::System)?;
        let deadline = dispatcher::now() + timeout;
        let result = {
            let _bounded = activations::set_deadline(deadline);
            work(attempt)
        };
        // Waits for the thread's turn without the deadline that has passed.
        activations::pass(endsystem).map_err(SchedulingError::System)?;
        let late = dispatcher::now() >= deadline;
        let error = match result {
            Ok(_) if late => E::from(Interrupted::DeadlinePassed.exception_when(Completion::Yes).into()),
            result @ Ok(_) => return result,
            Err(error) => error,
        };
        let again = attempt < retry.attempts
            && error
                .system_exception()
                .is_some_and(|exception| retry.allows(&exception))
            && has_time(endsystem);
        if !again {
            return Err(error);
        }
        attempt += 1;
    }
}

impl RetryPolicy {
    fn allows(&self, exception: &SystemException) -> bool {
        exception.kind != SystemExceptionKind::ThreadCancelled
            && (self.idempotent || exception.completed == Completion::No)
    }
}

/// Whether the deadlines around the operation have not passed.
fn has_time(endsystem: &Arc<Endsystem>) -> bool {
    let now = dispatcher::now();
    let segment = activations::current_thread(endsystem)
        .ok()
        .and_then(|current| current.parameters.deadline());
    now < activations::deadline() && segment.is_none_or(|deadline| now < deadline)
}
