//! Connection to a server that callers share.

use std::sync::Arc;

use punctual_cdr::CodeSets;
use punctual_flight::Link;
use punctual_giop::Peer;
use punctual_sched::NetworkPriorityMapping;
use punctual_types::Priority;

use crate::{
    ReplyTable, RequestHandler,
    connections::{
        connection::Connection,
        role::{Calls, OpenedConnection},
    },
};

/// Connection of a lane that callers share.
pub struct SharedConnection<H: RequestHandler> {
    pub(crate) connection: Arc<Connection<H>>,
    pub(crate) calls: Arc<Calls<H>>,
}

impl<H: RequestHandler> Clone for SharedConnection<H> {
    fn clone(&self) -> Self {
        Self {
            connection: Arc::clone(&self.connection),
            calls: Arc::clone(&self.calls),
        }
    }
}

impl<H: RequestHandler> SharedConnection<H> {
    /// Returns the identification of the connection for the flight recorder.
    pub fn link(&self) -> Link {
        self.connection.link
    }

    /// Calls that may share it.
    pub fn purpose(&self) -> &H::Purpose {
        &self.calls.purpose
    }

    /// Returns the code sets of requests.
    pub fn code_sets(&self) -> CodeSets {
        self.calls.code_sets
    }

    /// Returns whether the next request announces the code sets.
    pub fn announces_code_sets(&self) -> bool {
        self.opened().is_some_and(OpenedConnection::announces_code_sets)
    }

    /// Returns whether the next request states for which addresses this side serves requests over it.
    pub fn announces_listen_points(&self) -> bool {
        self.opened()
            .is_some_and(OpenedConnection::announces_listen_points)
    }

    /// Returns the process at the other end.
    #[cold]
    pub fn peer(&self) -> Peer {
        self.connection.stream().origin().peer
    }

    fn opened(&self) -> Option<&OpenedConnection<H>> {
        self.connection.role.opened()
    }

    /// Calls that wait for replies.
    pub fn replies(&self) -> &ReplyTable {
        &self.calls.replies
    }

    /// Sets the mark of the next request's packets.
    pub fn set_network_priority(&self, mapping: &dyn NetworkPriorityMapping, priority: Option<Priority>) {
        let connection = &self.connection;
        connection.mark.set(connection.stream(), mapping, priority);
    }

    /// Notifies the server that the reply to this request is no longer wanted. Never blocks.
    #[cold]
    pub fn cancel(&self, request_id: u32) {
        self.connection.send_cancel(request_id);
    }

    /// Returns whether part of what was to be sent waits for room.
    pub fn is_congested(&self) -> bool {
        self.connection.state.is_congested()
    }
}
