//! The ORB without generated code of its own: calls, layers of transports, protocol policies.
// The real-time rules are for the ORB, not for a program that tests it.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod calls;
mod errors;
mod layers;
mod notices;
mod protocol_policies;
mod transports;
mod unstarted_servers;

mod doubler {
    #![allow(dead_code, missing_docs)]
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../stub/doc/doubler.rs"));
}
