//! The transports from outside.
// The real-time rules are for the ORB, not for a program that tests it.
#![allow(clippy::disallowed_macros)]

mod conformance;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod fuzzed_memory;
mod properties;
