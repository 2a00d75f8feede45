//! The calling side: from a typed call to the octets of a request, and back.
//!
//! The steps of a call over an exclusive connection, one file each, in the order of execution: 1 `call`
//! (policies and deadlines `call_context`, attempts) → 2 `binding` (endpoint `route`, connection
//! `connection_cache`) → 3 `exclusive` (send and wait, over a `connection`) → 4 `request` (encode) → steps 5
//! to 8 at the server, from `punctual_lane` on → 9 `reply` (decode and classify). `shared` replaces step 3 on
//! connections of several callers; `asynchronous` starts with `call`, too; `collocated` replaces all further
//! steps for objects of the same ORB.

mod asynchronous;
mod band_binding;
mod binding;
mod binding_rules;
mod call;
mod call_context;
mod call_end;
mod collocated;
mod collocated_reply;
mod connection;
mod connection_cache;
mod core;
mod endpoint;
mod exclusive;
mod intercepted;
mod locate;
mod policy_scopes;
mod profile_contents;
mod reference;
mod reply;
mod request;
mod route;
mod shared;
mod shared_purpose;
pub(crate) mod tls_addresses;

pub use call_context::swap_call_deadline;

pub(crate) use connection_cache::{ConnectionCache, Permit, use_connections_of};
pub(crate) use core::{ClientCore, ClientParts};
pub(crate) use endpoint::{Endpoint, is_same_address};
pub(crate) use locate::Located;
pub(crate) use policy_scopes::{of_thread, replace_of_thread, swap_scope};
pub(crate) use reference::Reference;
pub(crate) use shared_purpose::SharedPurpose;
