//! Any octets, in any parts, for the state machine of a connection. README.md describes how to run it.
#![no_main]

#[path = "../../crates/giop/tests/giop/connection/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
