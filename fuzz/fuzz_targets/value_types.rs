//! Any octets, as values of value types. README.md describes how to run it.
#![no_main]

#[path = "../../crates/cdr/tests/cdr/fuzzed_value_types.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
