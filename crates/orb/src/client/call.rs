//! Step 1 of a call: its context (policies and deadlines), its buffers and its attempts. Each attempt goes
//! over an exclusive connection (step 2), over a shared one, or stays on the calling thread. Attempts follow
//! forwards, and replace a connection that the server has closed without executing the request.

use std::{
    cell::RefCell,
    hash::Hasher,
    ops::ControlFlow,
    sync::{Arc, atomic::Ordering},
};

use punctual_cdr::{Arena, Ior};
use punctual_flight::{Event, Record, record, record_operation};
use punctual_lane::ReplyBuffer;
use punctual_stub::{
    Call, ContextProperties, ExposedPolicies, OrbContext, PendingCall, PoliciesInForce, PolicyConflict,
    PolicyOverrides, ReusePool, Target,
};
use punctual_types::{Completion, Minor, Priority, SystemException, SystemExceptionKind};

use super::{call_context::CallContext, reference::Reference, request::RequestBuffer, route::Route};
use crate::{Limits, interception::SeenCall};

impl Target for Reference {
    fn ior(&self) -> &Ior {
        &self.ior
    }

    fn orb(&self) -> &OrbContext {
        &self.orb
    }

    fn is_equivalent(&self, other: &Ior) -> bool {
        self.names_object_of(other)
    }

    fn hash_object(&self, hasher: &mut dyn Hasher) {
        self.hash_named_object(hasher);
    }

    fn invoke(&self, call: &mut Call<'_>) -> Result<(), SystemException> {
        record_operation(call.operation, || {
            let priority = crate::current::explicit_priority().map(Priority::value);
            Record::new(Event::CallBegin).priority(priority)
        });
        let result = self.with_call_context(|context, frame| {
            let result = if self.core.interceptors.client.is_empty() {
                self.deliver(|route, _| self.attempt(route, frame, call, context))
            } else {
                self.invoke_intercepted(frame, call, context)
            };
            result.map_err(|error| context.named_in(error, call.operation))
        });
        record(|| Record::new(Event::CallEnd).detail(result.is_err().into()));
        result
    }

    fn start(self: Arc<Self>, call: &mut Call<'_>) -> Result<Option<Box<dyn PendingCall>>, SystemException> {
        self.start_call(call)
    }

    fn locate(&self) -> Result<bool, SystemException> {
        self.locate_object()
    }

    fn forwarded(&self) -> Option<Ior> {
        self.forwarded.load_full().map(|route| route.ior().clone())
    }

    fn with_policies(&self, overrides: PolicyOverrides) -> Arc<dyn Target> {
        self.with_overrides(overrides)
    }

    fn exposed_policies(&self) -> ExposedPolicies {
        self.policies_of_server()
    }

    fn policies_in_force(&self) -> PoliciesInForce {
        PoliciesInForce::clone(&self.policies.in_force(&self.core.policies))
    }

    fn context_properties(&self) -> ContextProperties {
        let policies = self.policies.in_force(&self.core.policies);
        policies.context_properties.clone()
    }

    fn inconsistent_policies(&self) -> Vec<PolicyConflict> {
        let forwarded = self.forwarded.load_full();
        let route = forwarded.as_ref().unwrap_or(&self.route);
        let policies = self.policies.in_force(&self.core.policies);
        if route.is_collocated(&policies) {
            return Vec::new();
        }
        // If the thread's own priority has no CORBA priority, calls fail for another reason.
        let priority = self.caller_priority(route).unwrap_or(Priority::MIN);
        route.conflicts(priority, &policies)
    }
}

impl Reference {
    /// Makes a call under the policies in force, with timeouts that start now, and with its own buffers.
    pub(super) fn with_call_context<R>(
        &self,
        call: impl FnOnce(&CallContext<'_>, &mut CallFrame) -> Result<R, SystemException>,
    ) -> Result<R, SystemException> {
        let policies = self.policies.in_force(&self.core.policies);
        let context = CallContext::start(&policies);
        with_frame(&self.core.configuration.limits, |frame| call(&context, frame))
    }

    #[inline(never)]
    fn invoke_intercepted(
        &self,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
    ) -> Result<(), SystemException> {
        self.call_intercepted(frame, call, context, |route, frame, call| {
            self.attempt(route, frame, call, context)
        })
    }

    /// Makes one attempt at a call, along this route.
    // Compiled a second time for calls with interceptors: calls without them are as short as if there were
    // none.
    #[inline(always)]
    fn attempt(
        &self,
        route: &Route,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: &CallContext<'_>,
    ) -> Result<Attempt<()>, SystemException> {
        if route.is_collocated(context.policies) {
            return self.call_locally(route, frame, call, context);
        }
        if let Some(lane) = self.lane_for_shared_call(context)? {
            return self.call_over_shared(&lane, route, frame, call, context);
        }
        let priority = self.caller_priority(route)?;
        let connection = match self.bound_connection(route, priority, frame, context)? {
            ControlFlow::Continue(connection) => connection,
            ControlFlow::Break(instead) => return Ok(instead),
        };
        self.call_over_exclusive(connection, route, priority, frame, call, context)
    }
}

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

/// Buffers of one call. A thread has one set for each call that it is inside of, and keeps them from call to
/// call.
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
