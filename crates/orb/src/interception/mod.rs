//! Portable interceptors: user code that sees every outgoing and incoming request.
//!
//! Source: CORBA 3.3 part 1, clause 16 (Portable Interceptors). Its flow stack rule holds however a call
//! ends: each interceptor whose starting point completed gets exactly one ending point, in reverse order.

mod added_contexts;
mod client;
mod client_flow;
mod flow;
mod interrupt;
mod server;
mod server_flow;
mod slots;

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use punctual_types::SystemException;

pub use client::{ClientRequestInfo, ClientRequestInterceptor};
pub use interrupt::Interrupt;
pub use server::{ServerRequestInfo, ServerRequestInterceptor};
pub use slots::{InvalidSlot, PiCurrent, SlotId, SlotValue};

pub(crate) use added_contexts::{AddedContexts, with_contexts};
pub(crate) use client::{Arguments, CallTarget, ClientEnding, ClientRequest, Contexts};
pub(crate) use client_flow::{ClientEnd, SeenCall};
pub(crate) use server::ServerRequest;
pub(crate) use server_flow::{SeenRequest, ServerEnd, ServerFlow, enter_slots};
pub(crate) use slots::SlotTable;

/// How a caller waits for the reply to its request.
///
/// ```
/// use punctual_orb::interceptors::CallKind;
///
/// assert!(CallKind::TwoWay.has_reply() && CallKind::Asynchronous.has_reply());
/// assert!(!CallKind::Oneway.has_reply());
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CallKind {
    /// The caller waits for the reply.
    TwoWay,
    /// No reply is expected.
    Oneway,
    /// The caller asks for the reply later. Servers cannot distinguish this from [`Self::TwoWay`].
    Asynchronous,
}

impl CallKind {
    /// Returns whether a reply is expected.
    pub const fn has_reply(self) -> bool {
        !matches!(self, Self::Oneway)
    }
}

/// How a request ended, `PortableInterceptor::ReplyStatus`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ReplyStatus {
    /// Without an exception; a oneway request was sent or has been served.
    Successful,
    /// With a system exception.
    SystemException,
    /// With a user exception.
    UserException,
    /// With a forward: the request is sent again to another reference.
    LocationForward,
    /// With a retry: over another connection, in another form, or at another lane.
    TransportRetry,
    /// Not yet: an asynchronous call was polled, but no reply has been received.
    Unknown,
}

/// Exception that a request ended with.
///
/// ```
/// use punctual_orb::interceptors::Raised;
/// use punctual_types::{Completion, SystemException, SystemExceptionKind};
///
/// let late = SystemException::new(SystemExceptionKind::Timeout, 0, Completion::Maybe);
/// assert_eq!(Raised::System(late).repository_id(), "IDL:omg.org/CORBA/TIMEOUT:1.0");
/// assert_eq!(Raised::User("IDL:radar/Lost:1.0").repository_id(), "IDL:radar/Lost:1.0");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Raised<'a> {
    /// System exception.
    System(SystemException),
    /// Repository id of a user exception that the operation declares.
    User(&'a str),
}

impl<'a> Raised<'a> {
    /// Returns the repository id, `IDL:NAME:1.0`.
    pub fn repository_id(&self) -> &'a str {
        match self {
            Self::System(exception) => exception.repository_id(),
            Self::User(id) => id,
        }
    }
}

/// Interceptors of an ORB, in the order of registration.
#[derive(Default)]
pub(crate) struct Interceptors {
    pub(crate) client: Vec<Arc<dyn ClientRequestInterceptor>>,
    pub(crate) server: Vec<Arc<dyn ServerRequestInterceptor>>,
    pub(crate) slots: SlotTable,
    last_request: AtomicU32,
}

impl Interceptors {
    /// Returns a new [`ClientRequestInfo::request_id`].
    pub(crate) fn new_request_id(&self) -> u32 {
        self.last_request.fetch_add(1, Ordering::Relaxed)
    }
}
