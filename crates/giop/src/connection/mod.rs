//! The state machine of one GIOP connection, without I/O.
//!
//! [`Connection`] knows no socket, clock or thread: its user moves the octets and supplies the time. It has
//! two halves, which share nothing, so that one thread can read while others send: [`ReceiveHalf`] turns
//! octets into [`Event`]s, [`SendHalf`] decides what may still be sent. A single-threaded user keeps them
//! together.
//!
//! # Methods, and the order in which they are called
//!
//! - **Getters** change nothing: [`ReceiveHalf::message`], [`ReceiveHalf::char_set`],
//!   [`ReceiveHalf::has_message`], [`SendHalf::version`], ….
//! - **Inputs**: read from the stream into [`ReceiveHalf::space`] and report the count to
//!   [`ReceiveHalf::received`]; report that time has passed to [`ReceiveHalf::handle_timeout`].
//! - **Outputs**: [`ReceiveHalf::poll`] returns the next event, [`ReceiveHalf::poll_timeout`] the deadline of
//!   the message that is not complete.
//! - **Mutators** are the application's: [`Connection::close`], [`ReceiveHalf::take`],
//!   [`SendHalf::new_request_id`], ….
//!
//! The order:
//! 1. [`ReceiveHalf::poll`] until it returns `None`; use or take the message of each event before the next
//!    call. Each call does a bounded amount of work (at most one message is examined), so the caller decides
//!    how long one peer may occupy a thread.
//! 2. On [`Refused`]: send [`SendHalf::message_error`], or a reply and [`SendHalf::close`] if it names a
//!    request, then close the stream.
//! 3. After `None`: [`ReceiveHalf::poll_timeout`], wait for the stream or that deadline, then read, or
//!    [`ReceiveHalf::handle_timeout`].
//!
//! # States
//!
//! ```text
//!                close: CloseConnection sent
//!        ┌──────┐ ───────────────────────► ┌──────────┐
//!   ───► │ Open │                          │ Draining │  receive: requests are dropped, replies pass
//!        └──┬───┘                          └────┬─────┘  send: nothing more
//!           │                                   │
//!           │  CloseConnection or MessageError received, message refused, MessageError sent
//!           ▼                                   ▼
//!        ┌─────────────────────────────────────────┐
//!        │                 Closed                  │     receive: no further event; send: nothing more
//!        └─────────────────────────────────────────┘
//! ```
//!
//! The end of the stream ends the connection without a state: its user sees it first. Without CloseConnection
//! before it, outstanding requests may have been executed.
//!
//! ```
//! use std::time::Instant;
//!
//! use punctual_giop::connection::{Connection, ConnectionLimits, Event, Role};
//! use punctual_giop::{Version, write_cancel_request};
//!
//! let mut server = Connection::new(Role::Server, Version::V1_0, ConnectionLimits::default());
//! let mut octets = Vec::new();
//! write_cancel_request(&mut octets, Version::V1_2, 7);
//!
//! server.receive.space()[..octets.len()].copy_from_slice(&octets); // a read from the stream
//! server.receive.received(octets.len());
//! assert_eq!(server.receive.poll(Instant::now)?, Some(Event::Cancelled(7)));
//! assert_eq!(server.receive.poll(Instant::now)?, None);
//! # Ok::<(), punctual_giop::connection::Refused>(())
//! ```
//!
//! # Sending
//!
//! Its user writes messages itself; octets for which the stream has no room wait in [`SendHalf::queue`],
//! which also divides long messages into fragments, so that others pass between them: see [`SendQueue`].
//!
//! Source: CORBA 3.3 part 2, 9.4 (messages), 9.5 (connection management), 9.8 (bidirectional connections).

mod buffer;
mod event;
mod fragmentation;
mod incomplete;
mod limits;
mod outstanding;
mod reassembly;
mod receive;
mod refused;
mod request_id;
mod send;
mod send_queue;

use punctual_cdr::CharSet;

use crate::{HEADER_SIZE, MessageType, Version};

pub use self::{
    event::{Event, ReceivedReply, ReplyBody, ReplyContent},
    limits::ConnectionLimits,
    outstanding::{OutstandingRequest, OutstandingRequests, Parity, ReplyMatch},
    receive::ReceiveHalf,
    refused::{Refusal, Refused},
    send::SendHalf,
    send_queue::{SendQueue, Ticket, Withdrawn},
};

/// One GIOP connection: see the [module](self).
///
/// The halves can be moved out and kept under separate locks. A user that does this and sends CloseConnection
/// calls [`SendHalf::close`] and, if it continues to read, [`ReceiveHalf::drain`].
#[derive(Debug)]
pub struct Connection {
    /// Turns received octets into events.
    pub receive: ReceiveHalf,
    /// Decides what may be sent.
    pub send: SendHalf,
}

/// Role of this side of a connection.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Role {
    /// Sends requests and receives replies.
    Client,
    /// Receives requests and sends replies.
    Server,
    /// Both: a bidirectional connection (CORBA 3.3 part 2, 9.8).
    Both,
}

/// State of one half of a connection: see the diagram of the [module](self).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum State {
    /// All messages of the role pass.
    Open,
    /// This side has sent CloseConnection.
    Draining,
    /// The protocol has ended; the stream is to be closed.
    Closed,
}

impl Connection {
    /// Creates a new connection. A client states the version in which it will send, a server GIOP 1.0.
    pub fn new(role: Role, version: Version, limits: ConnectionLimits) -> Self {
        Self {
            receive: ReceiveHalf::new(role, limits),
            send: SendHalf::new(role, version),
        }
    }

    /// The code set of `char` and `string`, negotiated from the server's reference; the first request
    /// announces it if `announce` is set. Without it, the first request received that announces code sets
    /// determines them.
    #[must_use]
    pub fn with_char_set(self, char_set: CharSet, announce: bool) -> Self {
        Self {
            receive: self.receive.with_char_set(char_set),
            send: self.send.with_announcement(announce),
        }
    }

    /// Begins to close the connection: see [`SendHalf::close`] and [`ReceiveHalf::drain`].
    pub fn close(&mut self) -> Option<[u8; HEADER_SIZE]> {
        self.receive.drain();
        self.send.close()
    }
}

impl Role {
    /// Whether a peer of this side may send such a message.
    pub const fn accepts(self, message_type: MessageType) -> bool {
        match message_type {
            MessageType::Request | MessageType::LocateRequest => matches!(self, Self::Server | Self::Both),
            MessageType::Reply | MessageType::LocateReply => matches!(self, Self::Client | Self::Both),
            // A client has nothing to cancel and discards CancelRequests.
            MessageType::CancelRequest
            | MessageType::CloseConnection
            | MessageType::MessageError
            | MessageType::Fragment => true,
        }
    }
}
