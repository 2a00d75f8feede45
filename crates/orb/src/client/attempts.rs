//! Which attempts a call is made of: it follows its object, and goes over another connection where a server has closed one in order.

use std::{
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
};

use punctual_cdr::Ior;
use punctual_types::{Completion, Minor, SystemException, SystemExceptionKind};

use super::{Reference, Route};
use crate::orb_core::OrbCore;

/// What one attempt to deliver a request came to.
pub(super) enum Attempt<R> {
    Done(R),
    /// The object is elsewhere.
    Forward(Ior),
    /// The request was not handled, and is safe to send again.
    Again(SystemException),
}

impl<R> Attempt<R> {
    pub(super) fn map<T>(self, done: impl FnOnce(R) -> T) -> Attempt<T> {
        match self {
            Self::Done(result) => Attempt::Done(done(result)),
            Self::Forward(ior) => Attempt::Forward(ior),
            Self::Again(error) => Attempt::Again(error),
        }
    }
}

/// What has come of a call before this attempt.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    again: usize,
    forwards: usize,
    is_forwarded: bool,
}

impl Before {
    /// Whether another attempt follows on [`Attempt::Again`].
    pub(super) fn may_repeat(self) -> bool {
        self.again < MAX_AGAIN
    }

    /// Whether another attempt follows on [`Attempt::Forward`].
    pub(super) fn may_forward(self, core: &OrbCore) -> bool {
        self.forwards < core.limits.max_forwards
    }

    /// Whether another attempt follows on this error, where the reference itself leads.
    pub(super) fn may_go_home(self, core: &OrbCore, error: &SystemException) -> bool {
        self.is_forwarded && is_unreachable(error) && self.may_forward(core)
    }
}

impl Reference {
    /// Tries, and follows forwards and orderly closes, until `attempt` is done or a limit is reached.
    pub(super) fn deliver<R>(
        &self,
        mut attempt: impl FnMut(&Route, Before) -> Result<Attempt<R>, SystemException>,
    ) -> Result<R, SystemException> {
        let mut before = Before::default();
        loop {
            let forwarded = self.next_attempt(&mut before)?;
            let result = attempt(forwarded.as_ref().unwrap_or(&self.route), before);
            if let ControlFlow::Break(result) = self.judge(result, &mut before) {
                return result;
            }
        }
    }

    /// Where the next attempt leads, unless it is where the reference itself does.
    ///
    /// Fails with BAD_INV_ORDER once the ORB has been shut down.
    #[inline(always)]
    pub(super) fn next_attempt(&self, before: &mut Before) -> Result<Option<Arc<Route>>, SystemException> {
        if self.core.is_shut_down() {
            let (kind, minor) = (SystemExceptionKind::BadInvOrder, Minor::OMG_ORB_SHUT_DOWN);
            return Err(SystemException::new(kind, minor, Completion::No));
        }
        let forwarded = match self.was_forwarded.load(Ordering::Acquire) {
            true => self.forwarded.load_full(),
            false => None,
        };
        before.is_forwarded = forwarded.is_some();
        Ok(forwarded)
    }

    /// Whether an attempt was the last one of its call.
    #[inline(always)]
    pub(super) fn judge<R>(
        &self,
        result: Result<Attempt<R>, SystemException>,
        before: &mut Before,
    ) -> ControlFlow<Result<R, SystemException>> {
        let over = match result {
            Ok(Attempt::Done(result)) => Ok(result),
            Ok(Attempt::Forward(ior)) if before.may_forward(&self.core) => {
                before.forwards += 1;
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
            Ok(Attempt::Again(_)) if before.may_repeat() => {
                before.again += 1;
                return ControlFlow::Continue(());
            }
            // The place it was forwarded to is gone: ask again where the reference itself leads.
            Err(error) if before.may_go_home(&self.core, &error) => {
                before.forwards += 1;
                self.forwarded.store(None);
                return ControlFlow::Continue(());
            }
            Ok(Attempt::Again(error)) | Err(error) => Err(error),
        };
        ControlFlow::Break(over)
    }
}

/// How often a request is sent again after orderly closes; a server that goes on closing is as good as not there.
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
