//! Any octets, as service context 30 of requests. README.md describes how to run it.
#![no_main]

#[path = "../../crates/rtsched/tests/rtsched/wire/fuzzed.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
