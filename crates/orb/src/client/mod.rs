//! The calling side: from a typed call to the octets of a request, and back.
//!
//! One call, step by step: 1 `call` (`call_context`, `call_frame`) → 2 `attempts` → 3 `binding` (`route`,
//! `connection_cache`) → 4 `exclusive` (send and wait, over a `connection`) or `shared`, which calls 5
//! `request` (encode) → 6 `reply` (classify and decode). `asynchronous` starts with `call`, too; `collocated`
//! replaces steps 3 to 6 for objects of the same ORB.

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
mod endpoint;
mod exclusive;
mod intercepted;
mod locate;
mod policies;
mod profile_contents;
mod reference;
mod reply;
mod request;
mod route;
pub(crate) mod secured;
mod shared;
mod shared_purpose;

pub use call_context::swap_call_deadline;

pub(crate) use connection_cache::{ConnectionCache, Permit, use_connections_of};
pub(crate) use core::{ClientCore, ClientParts};
pub(crate) use endpoint::{Endpoint, is_same_address};
pub(crate) use locate::Located;
pub(crate) use policies::{of_thread, replace_of_thread, swap_scope};
pub(crate) use reference::Reference;
pub(crate) use shared_purpose::SharedPurpose;
