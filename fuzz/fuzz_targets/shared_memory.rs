//! Any octets, as control words of shared memory and steps of both sides. README.md describes how to run it.
#![no_main]

#[path = "../../crates/transport/tests/transport/fuzzed_memory.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
