//! The calling side: from a typed call to the octets of a request, and back.

mod collocated;
mod connection;
mod endpoint;
mod invoke;
mod route;
mod thread_state;

pub(crate) use endpoint::{Endpoint, Endpoints};
pub(crate) use invoke::{Located, Reference};
pub(crate) use route::Route;
