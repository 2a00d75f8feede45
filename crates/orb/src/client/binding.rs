//! Step 2 of a call: from the endpoints of its route to a connection. If one is down, the next is tried
//! (failover).

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use punctual_stub::PoliciesInForce;
use punctual_types::{Minor, Priority, SystemException};

use super::{
    call::{CallFrame, Step},
    call_context::{CallContext, FOREVER},
    call_end::broken,
    connection::{Band, ClientConnection, ConnectionKey},
    connection_cache::{
        PooledConnection, close_oldest, forget_connections, keep_connection, permit_connection,
        take_connection,
    },
    endpoint::Endpoint,
    reference::Reference,
    route::Route,
};
use crate::current;

impl Reference {
    /// Returns the priority that chooses the endpoint and that the request carries. May cost a system call.
    pub(super) fn caller_priority(&self, route: &Route) -> Result<Priority, SystemException> {
        if route.propagates_priority() {
            current::call_priority(&self.core.configuration)
        } else {
            Ok(Priority::MIN)
        }
    }

    /// Returns an exclusive connection for a call of this priority, bound to its band if the policies require
    /// it.
    pub(super) fn bound_connection<R>(
        &self,
        route: &Route,
        priority: Priority,
        frame: &mut CallFrame,
        context: &CallContext<'_>,
    ) -> Result<Step<Box<PooledConnection>, R>, SystemException> {
        let connection = self.connection(route, priority, context)?;
        if context.policies.binds_bands {
            self.bind_band(connection, route, frame, context)
        } else {
            Ok(ControlFlow::Continue(connection))
        }
    }

    /// Returns an exclusive connection for a call of this priority.
    fn connection(
        &self,
        route: &Route,
        priority: Priority,
        context: &CallContext<'_>,
    ) -> Result<Box<PooledConnection>, SystemException> {
        let take = |key: &ConnectionKey<'_>| take_connection(key, &self.core.connections);
        self.bind(route, priority, context, take, |key| {
            self.open(key, route, context)
        })
    }

    /// A connection for calls of this priority: an open one, or one to the first of its endpoints that can be
    /// reached before the deadline of the request.
    pub(super) fn bind<C>(
        &self,
        route: &Route,
        priority: Priority,
        context: &CallContext<'_>,
        take: impl Fn(&ConnectionKey<'_>) -> Option<C>,
        open: impl Fn(&ConnectionKey<'_>) -> Result<C, SystemException>,
    ) -> Result<C, SystemException> {
        let policies = context.policies;
        let owner = policies.private_connection.then_some(&self.policies.identity);
        let band = route.band(priority, policies)?;
        let mut failure = None;
        let key = |endpoint| ConnectionKey {
            endpoint,
            owner,
            band,
        };
        // Endpoints that could not be reached a short time ago: each call would wait for them again.
        let mut avoided = 0_u64;
        for (number, endpoint) in route.endpoints(priority, band, policies)?.enumerate() {
            let key = key(endpoint);
            if let Some(connection) = take(&key) {
                return Ok(connection);
            }
            if number < 64 && endpoint.is_avoided() {
                avoided |= 1 << number;
                continue;
            }
            context.deadlines.check_unsent()?;
            match open(&key) {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = Some(error),
            }
        }
        // No other endpoint could be reached.
        while avoided != 0 {
            let number = avoided.trailing_zeros() as usize;
            avoided &= avoided - 1;
            let Some(endpoint) = endpoint_at(route, priority, band, policies, number) else {
                break;
            };
            context.deadlines.check_unsent()?;
            match open(&key(endpoint)) {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(broken))
    }

    #[cold]
    fn open(
        &self,
        key: &ConnectionKey<'_>,
        route: &Route,
        context: &CallContext<'_>,
    ) -> Result<Box<PooledConnection>, SystemException> {
        let limits = &self.core.configuration.limits;
        let timeout = self.connect_timeout(context);
        let permit = permit_connection(&self.core.connections, key.band)?;
        let protocols = &context.policies.client_protocols;
        loop {
            match ClientConnection::open(key, route.version, protocols, limits, timeout) {
                Ok(connection) => return Ok(PooledConnection::new(connection, permit)),
                // Unused connections, such as those to servers that have gone, make room for a used one.
                Err(error)
                    if error.minor == Minor::DESCRIPTORS_EXHAUSTED
                        && close_oldest(&self.core.connections) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Timeout of connecting.
    pub(super) fn connect_timeout(&self, context: &CallContext<'_>) -> Duration {
        let limit = self.core.configuration.limits.connect_timeout;
        let timeout = context.policies.connection_timeout.unwrap_or(limit).min(FOREVER);
        match context.deadlines.request {
            Some(deadline) => timeout.min(deadline.left()),
            None => timeout,
        }
    }

    /// Keeps a connection for the next call.
    pub(super) fn keep(&self, mut connection: Box<PooledConnection>) {
        let limits = &self.core.configuration.limits;
        connection.free_large(limits.max_kept_buffer);
        keep_connection(connection, limits.max_connections_per_thread);
    }

    /// The server has closed this connection, so it will have closed the unused ones to the same endpoint.
    #[cold]
    pub(super) fn forget(&self, connection: &ClientConnection) {
        forget_connections(connection.endpoint(), &self.core.connections);
    }
}

#[cold]
fn endpoint_at<'r>(
    route: &'r Route,
    priority: Priority,
    band: Option<Band>,
    policies: &'r PoliciesInForce,
    number: usize,
) -> Option<&'r Arc<Endpoint>> {
    route.endpoints(priority, band, policies).ok()?.nth(number)
}
