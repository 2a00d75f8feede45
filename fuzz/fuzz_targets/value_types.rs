//! Any octets, as values of value types. README.md says how it is run.
#![no_main]

#[path = "../../crates/cdr/tests/cdr/fuzzed_value_types.rs"]
#[allow(dead_code)]
mod fuzzed;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzzed::check(input));
