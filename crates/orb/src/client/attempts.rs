//! Step 2 of a call, its attempts: it follows forwards, and uses another connection after a server has closed
//! one without executing the request.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
};

use punctual_cdr::Ior;
use punctual_lane::CallEnd;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{
    call_end::{closed, exception},
    reference::Reference,
    route::Route,
};
use crate::Limits;

/// Result of one attempt to deliver a request.
pub(super) enum Attempt<R> {
    Done(R),
    /// The server has forwarded the call to another reference.
    Forward(Ior),
    /// The request was not executed and can be sent again.
    Again(SystemException),
}

/// Step of an attempt with result `R`: what the next step continues with, or how the attempt ends without it.
pub(super) type Step<T, R> = ControlFlow<Attempt<R>, T>;

impl<R> Attempt<R> {
    /// Returns the step of a longer attempt that this one is.
    pub(super) fn into_step<T>(self) -> Step<R, T> {
        match self {
            Self::Done(result) => ControlFlow::Continue(result),
            Self::Forward(ior) => ControlFlow::Break(Attempt::Forward(ior)),
            Self::Again(error) => ControlFlow::Break(Attempt::Again(error)),
        }
    }

    pub(super) fn map<T>(self, done: impl FnOnce(R) -> T) -> Attempt<T> {
        match self {
            Self::Done(result) => Attempt::Done(done(result)),
            Self::Forward(ior) => Attempt::Forward(ior),
            Self::Again(error) => Attempt::Again(error),
        }
    }
}

/// Earlier attempts of a call.
#[derive(Clone, Copy, Default)]
pub(super) struct AttemptHistory {
    again: usize,
    forwards: usize,
    is_forwarded: bool,
}

impl AttemptHistory {
    /// Whether another attempt follows on [`Attempt::Again`].
    pub(super) fn may_repeat(self) -> bool {
        self.again < MAX_AGAIN
    }

    /// Whether another attempt follows on [`Attempt::Forward`].
    pub(super) fn may_forward(self, limits: &Limits) -> bool {
        self.forwards < limits.max_forwards
    }

    /// Whether another attempt along the route of the reference itself follows on this error.
    pub(super) fn may_go_home(self, limits: &Limits, error: &SystemException) -> bool {
        self.is_forwarded && is_unreachable(error) && self.may_forward(limits)
    }
}

impl Reference {
    /// Makes attempts, following forwards and closed connections, until one succeeds, fails, or a limit is
    /// reached.
    pub(super) fn deliver<R>(
        &self,
        mut attempt: impl FnMut(&Route, AttemptHistory) -> Result<Attempt<R>, SystemException>,
    ) -> Result<R, SystemException> {
        let mut history = AttemptHistory::default();
        loop {
            let forwarded = self.next_attempt(&mut history)?;
            let result = attempt(forwarded.as_ref().unwrap_or(&self.route), history);
            if let ControlFlow::Break(result) = self.evaluate(result, &mut history) {
                return result;
            }
        }
    }

    /// Route of the next attempt; `None`: the route of the reference itself.
    ///
    /// Fails with BAD_INV_ORDER once the ORB has been shut down.
    #[inline(always)]
    pub(super) fn next_attempt(
        &self,
        history: &mut AttemptHistory,
    ) -> Result<Option<Arc<Route>>, SystemException> {
        if self.core.pools.are_shut_down() {
            let (kind, minor) = (SystemExceptionKind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let forwarded = match self.was_forwarded.load(Ordering::Acquire) {
            true => self.forwarded.load_full(),
            false => None,
        };
        history.is_forwarded = forwarded.is_some();
        Ok(forwarded)
    }

    /// Decides whether an attempt was the last one of its call.
    #[inline(always)]
    pub(super) fn evaluate<R>(
        &self,
        result: Result<Attempt<R>, SystemException>,
        history: &mut AttemptHistory,
    ) -> ControlFlow<Result<R, SystemException>> {
        match result {
            Ok(Attempt::Done(result)) => ControlFlow::Break(Ok(result)),
            unfinished => self.evaluate_unfinished(unfinished, history),
        }
    }

    #[cold]
    fn evaluate_unfinished<R>(
        &self,
        result: Result<Attempt<R>, SystemException>,
        history: &mut AttemptHistory,
    ) -> ControlFlow<Result<R, SystemException>> {
        let over = match result {
            Ok(Attempt::Done(result)) => Ok(result),
            Ok(Attempt::Forward(ior)) if history.may_forward(&self.core.configuration.limits) => {
                history.forwards += 1;
                match Route::new(&Arc::new(ior), &self.core) {
                    Ok(route) => {
                        self.forwarded.store(Some(Arc::new(route)));
                        self.was_forwarded.store(true, Ordering::Release);
                        return ControlFlow::Continue(());
                    }
                    Err(error) => Err(error),
                }
            }
            Ok(Attempt::Forward(_)) => Err(too_many_forwards()),
            Ok(Attempt::Again(_)) if history.may_repeat() => {
                history.again += 1;
                return ControlFlow::Continue(());
            }
            // The forwarded location cannot be reached: try the route of the reference itself again.
            Err(error) if history.may_go_home(&self.core.configuration.limits, &error) => {
                history.forwards += 1;
                self.forwarded.store(None);
                return ControlFlow::Continue(());
            }
            Ok(Attempt::Again(error)) | Err(error) => Err(error),
        };
        ControlFlow::Break(over)
    }
}

/// How often a request is sent again after its connection was closed; a server that always closes counts as
/// unreachable.
const MAX_AGAIN: usize = 3;

pub(super) fn too_many_forwards() -> SystemException {
    let (kind, minor) = (SystemExceptionKind::Transient, Minor::TOO_MANY_FORWARDS);
    SystemException::new(kind, minor, Completion::No)
}

fn is_unreachable(error: &SystemException) -> bool {
    error.completed == Completion::No
        && error.minor != Minor::MOVED_WHILE_ASYNCHRONOUS
        && matches!(
            error.kind,
            SystemExceptionKind::Transient
                | SystemExceptionKind::CommFailure
                | SystemExceptionKind::ObjectNotExist
        )
}

/// Converts the end of a connection over which a call waited for its reply.
/// `rejected`: see [`exception`].
#[cold]
pub(super) fn ended<R>(end: CallEnd, rejected: Completion) -> Result<Attempt<R>, SystemException> {
    match end {
        CallEnd::InOrder => Ok(Attempt::Again(closed())),
        end => Err(exception(end, rejected)),
    }
}
