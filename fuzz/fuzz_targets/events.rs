//! Any octets, as sets of events and as subscriptions of an event channel. README.md describes how to run it.
#![no_main]

#[path = "../../services/events/tests/events/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
