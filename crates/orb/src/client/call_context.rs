//! State that all attempts of one call share: policies, deadlines, and the calling thread's buffers.

use std::time::{SystemTime, UNIX_EPOCH};

use punctual_giop::InvocationPolicies;
use punctual_stub::{PoliciesInForce, Response, SyncScope};
use punctual_types::SystemException;

use super::{
    call_frame::{CallFrame, with_frame},
    deadline::Deadlines,
    reference::Reference,
    route::Route,
};

/// Policies and deadlines of one call.
#[derive(Clone, Copy)]
pub(super) struct CallContext<'c> {
    pub(super) policies: &'c PoliciesInForce,
    pub(super) deadlines: Deadlines,
}

impl Reference {
    /// Makes a call under the policies in force, with timeouts that start now, and with its own buffers.
    pub(super) fn with_call_context<R>(
        &self,
        call: impl FnOnce(CallContext<'_>, &mut CallFrame) -> Result<R, SystemException>,
    ) -> Result<R, SystemException> {
        let policies = self.policies.in_force(&self.core.policies);
        let context = CallContext {
            deadlines: Deadlines::start(&policies),
            policies: &policies,
        };
        with_frame(&self.core.configuration.limits, |frame| call(context, frame))
    }
}

impl CallContext<'_> {
    /// Whether a call along this route stays on the calling thread.
    #[inline(always)]
    pub(super) fn is_local(&self, route: &Route) -> bool {
        route.is_local && !self.policies.remote_only
    }

    /// Reply for which the caller waits: in a oneway call, the one that its scope demands.
    #[inline(always)]
    pub(super) fn response(&self, declared: Response) -> Response {
        match (declared, self.policies.sync_scope) {
            (Response::None, SyncScope::Server) => Response::WithServer,
            (Response::None, SyncScope::Target) => Response::WithTarget,
            _ => declared,
        }
    }

    /// Returns whether requests state their deadlines.
    pub(super) fn sends_deadlines(&self) -> bool {
        self.policies.sends_deadlines && self.deadlines.request.is_some()
    }

    /// Returns the timeouts in the form in which requests carry them, absolute ones by the clock of this
    /// host.
    pub(super) fn invocation_policies(&self) -> InvocationPolicies {
        let Deadlines { request, reply } = self.deadlines;
        let request = request.filter(|_| self.policies.request_timeout.is_some());
        let left = [request, reply].map(|deadline| deadline.map(|deadline| deadline.left()));
        // Read last: if the thread is interrupted in between, the server learns too late a time rather than
        // too early a one.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let [request_end, reply_end] = left.map(|left| left.map(|left| now + left));
        InvocationPolicies {
            request_end,
            reply_end,
            relative_request: self.policies.request_timeout,
            relative_roundtrip: self.policies.roundtrip_timeout,
        }
    }
}
