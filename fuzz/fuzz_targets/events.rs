//! Any octets, as sets of events and as subscriptions of an event channel. README.md says how it is run.
#![no_main]

#[path = "../../services/events/tests/events/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
