//! Step 1 of a call: its context and its buffers; for each attempt (step 2) the way of the request: on the
//! calling thread, over a shared connection, or over an exclusive one (steps 3 to 6).

use std::{hash::Hasher, ops::ControlFlow, sync::Arc};

use punctual_cdr::Ior;
use punctual_flight::{Event, Record, record, record_operation};
use punctual_stub::{
    Call, ContextProperties, ExposedPolicies, OrbContext, PendingCall, PoliciesInForce, PolicyConflict,
    PolicyOverrides, Target,
};
use punctual_types::{Priority, SystemException};

use super::{
    attempts::Attempt,
    call_context::CallContext,
    call_frame::{CallFrame, with_frame},
    reference::Reference,
    route::Route,
};

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
        call: impl FnOnce(CallContext<'_>, &mut CallFrame) -> Result<R, SystemException>,
    ) -> Result<R, SystemException> {
        let policies = self.policies.in_force(&self.core.policies);
        let context = CallContext::start(&policies);
        with_frame(&self.core.configuration.limits, |frame| call(context, frame))
    }

    #[inline(never)]
    fn invoke_intercepted(
        &self,
        frame: &mut CallFrame,
        call: &mut Call<'_>,
        context: CallContext<'_>,
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
        context: CallContext<'_>,
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
