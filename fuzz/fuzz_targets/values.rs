//! Any octets, as values of all kinds of types. README.md says how it is run.
#![no_main]

#[path = "../../crates/cdr/tests/cdr/fuzzed_values.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
