//! Operations with a deadline, and their retries.

use std::{sync::Arc, time::Duration};

use punctual_sched::dynamic::{SheddingPoint, SheddingPolicy, TimedWork};
use punctual_types::{Completion, SystemException, SystemExceptionKind};

use crate::{
    activations, dispatcher,
    endsystem::Endsystem,
    error::{Interrupted, SchedulingError},
};

/// Error of an operation, with the system exception behind it, if any.
///
/// ```
/// # mod punctual { pub(crate) use {punctual_rtsched as rtscheduling, punctual_types::*}; }
/// use punctual::{Completion, SystemException, SystemExceptionKind};
/// use punctual::rtscheduling::{Failure, SchedulingError};
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
    /// Returns the system exception; `None`: the error is a result of the operation, which is not retried.
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
    policy: SheddingPolicy,
    mut work: impl FnMut(u32) -> Result<R, E>,
) -> Result<R, E> {
    let mut attempt = 1;
    loop {
        let error = match run_once(endsystem, timeout, policy, || work(attempt)) {
            result @ Ok(_) => return result,
            Err(error) => error,
        };
        let delay = policy.retry_after(attempt - 1).filter(|_| {
            error
                .system_exception()
                .is_some_and(|exception| may_be_repeated(policy, &exception))
                && has_time(endsystem)
        });
        let Some(delay) = delay else {
            return Err(error);
        };
        if !delay.is_zero() {
            let waited = activations::wait_until(endsystem, dispatcher::now() + delay);
            waited.map_err(SchedulingError::System)?;
        }
        attempt += 1;
    }
}

/// One attempt.
fn run_once<R, E: From<SchedulingError>>(
    endsystem: &Arc<Endsystem>,
    timeout: Duration,
    policy: SheddingPolicy,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, E> {
    let operation = TimedWork {
        deadline: dispatcher::now() + timeout,
        execution_time: Duration::ZERO,
        is_critical: false,
    };
    let cancelled = |completed| E::from(Interrupted::Hopeless.exception_when(completed).into());
    let is_shed = |at| policy.sheds(&operation, Duration::ZERO, dispatcher::now(), at);
    activations::pass(endsystem).map_err(SchedulingError::System)?;
    if is_shed(SheddingPoint::Dispatch) {
        return Err(cancelled(Completion::No));
    }
    let result = {
        let bound = policy.examines_checkpoints().then_some(operation.deadline);
        let _bounded = bound.map(activations::set_deadline);
        work()
    };
    // Waits for the thread's turn without the deadline that has passed.
    activations::pass(endsystem).map_err(SchedulingError::System)?;
    match result {
        Ok(_) if is_shed(SheddingPoint::Checkpoint) => Err(cancelled(Completion::Yes)),
        result => result,
    }
}

fn may_be_repeated(policy: SheddingPolicy, exception: &SystemException) -> bool {
    exception.kind != SystemExceptionKind::ThreadCancelled
        && (policy.is_idempotent() || exception.completed == Completion::No)
}

/// Returns whether the deadlines around the operation have not passed.
fn has_time(endsystem: &Arc<Endsystem>) -> bool {
    let now = dispatcher::now();
    let segment = activations::current_thread(endsystem)
        .ok()
        .and_then(|current| current.parameters.deadline());
    now < activations::deadline() && segment.is_none_or(|deadline| now < deadline)
}
