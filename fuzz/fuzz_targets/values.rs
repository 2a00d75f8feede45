//! Any octets, as values of all kinds of types. README.md describes how to run it.
#![no_main]

#[path = "../../crates/cdr/tests/cdr/fuzzed_values.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
