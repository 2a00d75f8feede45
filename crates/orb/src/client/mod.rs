//! The calling side: from a typed call to the octets of a request, and back.
//!
//! One call, step by step: 1 `call` (policies, deadlines) → 2 `attempts` → 3 `binding` (a connection, from
//! `thread_connections`) → 4 `route` (endpoints by priority) → 5 `exclusive` or `shared` (send, wait), which
//! calls 6 `request` (encode) → 7 `reply` (classify). `asynchronous` starts with `call`, too; `collocated`
//! replaces steps 3 to 7 for objects of the same ORB.

mod addressing;
mod asynchronous;
mod attempts;
mod band_binding;
mod binding;
mod binding_rules;
mod call;
mod call_context;
mod call_end;
mod call_frame;
mod collocated;
mod collocated_reply;
mod connection;
mod connection_cache;
mod connection_key;
mod core;
mod deadline;
mod endpoint;
mod exclusive;
mod intercepted;
mod locate;
mod policies;
mod profile_contents;
mod reference;
mod reply;
mod reply_view;
mod request;
mod request_buffer;
mod route;
mod shared;
mod shared_purpose;
mod thread_connections;

pub use deadline::swap_call_deadline;

pub(crate) use connection_cache::{ConnectionCache, Permit};
pub(crate) use core::{ClientCore, ClientParts};
pub(crate) use endpoint::{Endpoint, is_same_address};
pub(crate) use locate::Located;
pub(crate) use policies::{of_thread, replace_of_thread, swap_scope};
pub(crate) use reference::Reference;
pub(crate) use shared_purpose::SharedPurpose;
pub(crate) use thread_connections::use_connections_of;
