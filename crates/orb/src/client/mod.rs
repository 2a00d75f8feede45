//! The calling side: from a typed call to the octets of a request, and back.

mod addressing;
mod asynchronous;
mod attempts;
mod band_binding;
mod binding;
mod binding_rules;
mod collocated;
mod connection;
mod connection_cache;
mod deadline;
mod endpoint;
mod intercepted;
mod invoke;
mod locate;
mod policies;
mod request_buffer;
mod route;
mod shared;
mod thread_state;

pub use deadline::swap_call_limit;

pub(crate) use connection_cache::{ConnectionCache, Permit, Purpose};
pub(crate) use endpoint::{Endpoint, Endpoints};
pub(crate) use invoke::Reference;
pub(crate) use locate::Located;
pub(crate) use policies::{OrbPolicies, ThreadScope, of_thread, set_of_thread, swap_scope};
pub(crate) use route::Route;
pub(crate) use thread_state::use_connections_of;
