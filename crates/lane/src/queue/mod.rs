//! Requests and other work that wait for a thread: queued, held, answered later, posted.

pub(crate) mod buffering;
pub(crate) mod deferred_request;
pub(crate) mod held_requests;
pub(crate) mod holding;
pub(crate) mod pending_work;
pub(crate) mod posting;
pub(crate) mod redispatch;
pub(crate) mod request_queue;
pub(crate) mod tasks;
