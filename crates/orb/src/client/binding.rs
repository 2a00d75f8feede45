//! From a reference, its policies and the caller's priority to a connection.

use std::{sync::Arc, time::Duration};

use punctual_types::{Priority, SystemException};

use super::{
    Reference, Route,
    connection::ClientConnection,
    connection_cache::{ConnectionKey, Identity, Purpose},
    deadline::FOREVER,
    invoke::{Terms, broken},
    thread_state::{close_orphans, forget_connections, keep_connection, permit_connection, take_connection},
};
use crate::current;

impl Reference {
    /// The priority that chooses the endpoint and travels along; asking for it may cost a system call.
    pub(super) fn caller_priority(&self, route: &Route) -> Result<Priority, SystemException> {
        if route.propagates_priority() {
            current::call_priority(&self.core)
        } else {
            Ok(Priority::MIN)
        }
    }

    /// A connection for one call of this priority.
    pub(super) fn connection(
        &self,
        route: &Route,
        priority: Priority,
        terms: Terms<'_>,
    ) -> Result<Box<ClientConnection>, SystemException> {
        let take = |key: &ConnectionKey<'_>| take_connection(key, &self.core.connections);
        self.bind(route, priority, terms, take, |key| self.open(key, route, terms))
    }

    /// What is there already for calls of this priority, or opened at the first of its endpoints that answers.
    pub(super) fn bind<C>(
        &self,
        route: &Route,
        priority: Priority,
        terms: Terms<'_>,
        take: impl Fn(&ConnectionKey<'_>) -> Option<C>,
        open: impl Fn(&ConnectionKey<'_>) -> Result<C, SystemException>,
    ) -> Result<C, SystemException> {
        let policies = terms.policies;
        let owner = policies.private_connection.then_some(&self.policies.identity);
        let band = route.band(priority, policies)?;
        let mut failure = None;
        let key = |endpoint| ConnectionKey {
            endpoint,
            owner,
            band,
        };
        // One that could not be reached just now would be waited for again in each call.
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
            match open(&key) {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = Some(error),
            }
        }
        if avoided != 0 {
            // There is no other.
            for (number, endpoint) in route.endpoints(priority, band, policies)?.enumerate() {
                if number >= 64 || avoided & (1 << number) == 0 {
                    continue;
                }
                match open(&key(endpoint)) {
                    Ok(connection) => return Ok(connection),
                    Err(error) => failure = Some(error),
                }
            }
        }
        Err(failure.unwrap_or_else(broken))
    }

    #[cold]
    fn open(
        &self,
        key: &ConnectionKey<'_>,
        route: &Route,
        terms: Terms<'_>,
    ) -> Result<Box<ClientConnection>, SystemException> {
        let limits = &self.core.limits;
        let timeout = self.connect_timeout(terms);
        let permit = permit_connection(&self.core.connections, key.band)?;
        let protocols = &terms.policies.client_protocols;
        ClientConnection::open(key, permit, route.version, protocols, limits, timeout).map(Box::new)
    }

    /// How long connecting may take.
    pub(super) fn connect_timeout(&self, terms: Terms<'_>) -> Duration {
        let limit = self.core.limits.connect_timeout;
        let timeout = terms.policies.connection_timeout.unwrap_or(limit).min(FOREVER);
        match terms.deadlines.request {
            Some(deadline) => timeout.min(deadline.left()),
            None => timeout,
        }
    }

    pub(super) fn keep(&self, connection: Box<ClientConnection>) {
        keep_connection(connection, self.core.limits.max_connections_per_thread);
    }

    /// The server has closed this one, so it will have closed those to the same place that nobody uses.
    #[cold]
    pub(super) fn forget(&self, connection: &ClientConnection) {
        forget_connections(connection.endpoint(), &self.core.connections);
    }
}

/// Private connections close with their reference.
impl Drop for Reference {
    fn drop(&mut self) {
        // Whoever else knows the identity: connections, and threads with policies of their own.
        if Arc::weak_count(&self.policies.identity) > 0 {
            self.policies.identity = Arc::new(Identity);
            close_orphans(&self.core.connections);
            if let Some(pool) = &*self.core.reply_pool.load() {
                pool.lanes
                    .iter()
                    .for_each(|lane| lane.close_obsolete(Purpose::is_orphan));
            }
        }
    }
}
