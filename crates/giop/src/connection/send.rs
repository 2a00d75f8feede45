//! The sending half: request ids, the version for unsolicited messages of this side, and what may still be
//! sent.

use super::{Role, SendQueue, State, Withdrawn};
use crate::{
    HEADER_SIZE, MessageType, Version,
    message::{CANCEL_SIZE, cancel_request, empty_message},
};

/// The sending half of a connection: see [`super::Connection`].
#[derive(Debug)]
pub struct SendHalf {
    role: Role,
    state: State,
    version: Version,
    next_request_id: u32,
    announces_code_sets: bool,
    /// Messages that wait to be sent.
    pub queue: SendQueue,
}

impl SendHalf {
    /// Creates the half of a connection that nothing has been sent over.
    pub fn new(role: Role, version: Version) -> Self {
        Self {
            role,
            state: State::Open,
            version,
            next_request_id: 0,
            announces_code_sets: false,
            queue: SendQueue::new(None, 1),
        }
    }

    /// Sets a queue that divides long messages.
    #[must_use]
    pub fn with_queue(self, queue: SendQueue) -> Self {
        Self { queue, ..self }
    }

    #[must_use]
    pub(super) fn with_announcement(self, announce: bool) -> Self {
        Self {
            announces_code_sets: announce,
            ..self
        }
    }

    /// Returns the state of this half.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Returns the highest version used so far; unsolicited messages of this side have it.
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Notes the version of a message that is sent: for a reply, that of its request.
    pub fn use_version(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    /// Issues a request id, for a connection with at most one request outstanding: a reply with any other id
    /// is a late one. [`super::OutstandingRequests`] issues the ids of connections with several.
    pub const fn new_request_id(&mut self) -> u32 {
        let id = self.next_request_id;
        self.next_request_id = id.wrapping_add(1);
        id
    }

    /// Returns whether the next request has to announce the code sets in use (CORBA 3.3 part 2, 7.10.2.5).
    pub const fn announces_code_sets(&self) -> bool {
        self.announces_code_sets
    }

    /// Notes that a request has been sent, and with it the code sets.
    pub const fn request_sent(&mut self) {
        self.announces_code_sets = false;
    }

    /// Begins to close the connection: the CloseConnection message to send. `None` if nothing may be sent:
    /// the first call has sent it already, or this side is the client of a connection before GIOP 1.2, where
    /// only servers send it. It follows messages that are being sent in fragments, if there are any, in
    /// [`Self::queue`].
    pub fn close(&mut self) -> Option<[u8; HEADER_SIZE]> {
        if self.state != State::Open {
            return None;
        }
        self.state = State::Draining;
        let may_send = self.role != Role::Client || self.version >= Version::V1_2;
        let message = may_send.then(|| empty_message(self.version, MessageType::CloseConnection))?;
        if self.queue.is_dividing() {
            self.queue.end_with(message);
            return None;
        }
        Some(message)
    }

    /// Returns the CancelRequest message to send for a request whose reply is no longer wanted. `None` if
    /// nothing may be sent, or nothing of the request has been sent: what is not is dropped.
    pub fn cancel(&mut self, request_id: u32) -> Option<[u8; CANCEL_SIZE]> {
        (self.state == State::Open && self.queue.withdraw(request_id) != Withdrawn::Unsent)
            .then(|| cancel_request(self.version, request_id))
    }

    /// The MessageError message to send for what the receiving half has refused, in the version that it
    /// states. `None` if one has been sent already.
    pub fn message_error(&mut self, version: Version) -> Option<[u8; HEADER_SIZE]> {
        if self.state == State::Closed {
            return None;
        }
        self.state = State::Closed;
        Some(empty_message(version, MessageType::MessageError))
    }
}
