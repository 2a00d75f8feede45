//! Tests of the public interface: TAO's captures, round trips, exact octets, bad input, arbitrary input.

mod bad_input;
mod captures;
mod connection;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod describe;
mod fuzzed_names;
mod fuzzed_references;
mod golden;
mod invocation_policies;
mod last_request;
mod messages;
mod properties;
mod references;
