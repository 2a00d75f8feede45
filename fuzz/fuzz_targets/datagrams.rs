//! Any octets, as datagrams of a gateway of events. README.md describes how to run it.
#![no_main]

#[path = "../../services/events/tests/events/fuzzed_datagrams.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
