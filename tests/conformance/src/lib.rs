//! Punctual: tests of the whole against the wire.
//!
//! What stands here is for the tests: a server with a servant that can be looked into, and peers that speak GIOP by hand,
//! octet by octet, without the ORB's own encoder, so that both cannot be wrong in the same way.

pub mod peer;
pub mod protocols;
pub mod real_time;
pub mod recorder;
pub mod server;
pub mod wire;

punctual::include_idl!("conformance");
punctual::include_idl!("travel");
