use std::{sync::Arc, time::Duration};

use punctual_types::{Completion, SystemException, SystemExceptionKind};

use crate::{
    activations, dispatcher,
    endsystem::Endsystem,
    error::{Interrupted, SchedulingError},
};

/// Whether an operation that failed is tried again.
///
/// Only while an enclosing operation's deadline and the segment's own allow, never after THREAD_CANCELLED, and unless it is idempotent
/// only where it is certain that it has not run: a system exception with COMPLETED_NO.
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
    /// One attempt.
    pub const fn never() -> Self {
        Self::attempts(1)
    }

    /// So many attempts in all, at least one.
    pub const fn attempts(attempts: u32) -> Self {
        Self {
            attempts,
            idempotent: false,
        }
    }

    /// The operation may run more than once: it is also tried again where it may have run.
    pub const fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }
}

/// What an operation fails with: whether a system exception is behind it.
///
/// ```
/// use punctual_rtsched::{Failure, SchedulingError};
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
///
/// /// An error of one's own is passed on, and tried again where it says so.
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
    /// The system exception; `None`: it is the operation's own result, and not tried again.
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
        // It waits for its turn here where it was not ready any more; without the limit that has passed.
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

/// Whether what is around the operation is not late itself.
fn has_time(endsystem: &Arc<Endsystem>) -> bool {
    let now = dispatcher::now();
    let segment = activations::current_thread(endsystem)
        .ok()
        .and_then(|current| current.parameters.deadline());
    now < activations::deadline() && segment.is_none_or(|deadline| now < deadline)
}
